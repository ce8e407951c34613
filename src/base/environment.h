#pragma once

#include <optional>
#include <string>

namespace rh {

/// The value of an environment variable in UTF-8; nothing where it is not set.
std::optional<std::string> environment_variable(const char* name);

}  // namespace rh
