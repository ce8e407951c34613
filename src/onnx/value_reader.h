#pragma once

#include <string_view>

#include "graph/type.h"
#include "tensor/value.h"

namespace rh::onnx {

/// The message of the kind that `kind` says (TensorProto where it is unknown); elements are copied.
Value read_value_message(std::string_view message, ValueType::Kind kind);

}  // namespace rh::onnx
