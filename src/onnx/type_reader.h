#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "graph/type.h"

namespace rh::onnx {

/// The element type of that number in TensorProto.DataType. Throws Error{invalid_graph} where there is none.
DType checked_dtype(int64_t number);
/// A TypeProto. Negative and nameless dimensions are unknown ones. Throws Error{invalid_graph} on unknown element types and absurd nesting.
ValueType read_type(std::string_view bytes);
/// Whether a tensor's type has no more dimensions than read_type() takes; true of other types.
bool has_known_rank(std::string_view bytes);
/// The TypeProto; empty for unknown types.
std::string write_type(const ValueType& type);

}  // namespace rh::onnx
