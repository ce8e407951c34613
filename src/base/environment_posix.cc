#include <cstdlib>

#include "base/environment.h"

namespace rh {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace rh
