#pragma once

#include <vector>

#include "settings/settings.h"

namespace rh {

struct ValueInfo;

/// Throws Error where entries of the interface do not go together, or ask for what only a part of it does.
void check_interface_keys(const Settings& settings);

/// Throws Error{fail} where a shape is of no input of the model, or contradicts what it says of one.
void check_max_shapes(const ShapesByName& shapes, const std::vector<ValueInfo>& inputs);

}  // namespace rh
