#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rh::onnx {

/// Denotations of the dimensions of the main graph's inputs ("DATA_BATCH"), by input, one string a dimension, empty where it has none.
/// Types of values do not carry them: they mean nothing to operators. Throws Error{invalid_protobuf}.
std::map<std::string, std::vector<std::string>> read_dim_denotations(std::span<const std::byte> model);

}  // namespace rh::onnx
