#pragma once

#include <roundhouse/onnxruntime_cxx_api.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rh::cli {

/// A tensor with memory of its own; throws std::runtime_error for types without a fixed width.
Ort::Value make_tensor(ONNXTensorElementDataType type, const std::vector<int64_t>& shape);

/// Bytes of an element, 0 for strings and types narrower than a byte.
size_t element_bytes(ONNXTensorElementDataType type);
const char* element_name(ONNXTensorElementDataType type);

using NamedValue = std::pair<std::string, Ort::Value>;

/// .npy: one value without a name; .npz: one a member, named; .pb: a TensorProto. Throws std::runtime_error naming file and what is wrong.
std::vector<NamedValue> read_arrays(const std::string& path);

/// The values of a .json file as tensors of an input's type: {"input": nested lists, ...}, or nested lists alone, which have no name.
/// `type_of` gives the element type for a name. Throws std::runtime_error naming file and what is wrong.
std::vector<NamedValue> read_json_arrays(const std::string& path,
                                         const std::function<ONNXTensorElementDataType(const std::string& name)>& type_of);

/// One tensor as .npy.
void write_npy(const std::string& path, const Ort::Value& value);

}  // namespace rh::cli
