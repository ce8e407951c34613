#pragma once

#include <string_view>
#include <vector>

#include "base/name_list.h"

namespace rh {

/// The passes that a name stands for: the pass of the name, those that do what the pass did that had it once (old_pass_names.inc), or what
/// ONNX Runtime's optimizer of the name does (optimizer_list.inc). Empty where nothing has the name.
std::vector<std::string_view> passes_named(std::string_view name);

}  // namespace rh
