#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "session/options.h"

namespace rh {

struct ValueInfo;

/// Throws Error where an entry of the interface has a value that ONNX Runtime refuses, or asks for what only a part of it does.
void check_interface_keys(const SessionOptions& options);

/// "session.max_shape_override", "x:[1,3];y:[5]": the shapes that inputs have at most, by name. Throws Error{fail} for another form.
std::map<std::string, std::vector<int64_t>> max_shapes(const SessionOptions& options);
/// Throws Error{fail} where a shape is of no input of the model, or contradicts what it says of one.
void check_max_shapes(const std::map<std::string, std::vector<int64_t>>& shapes, const std::vector<ValueInfo>& inputs);

}  // namespace rh
