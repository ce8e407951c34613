#include "passes/driver/pass.h"

#include <algorithm>

namespace rh {

const Pass* find_pass(std::span<const Pass> passes, std::string_view name) {
  const auto at = std::find_if(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; });
  return at == passes.end() ? nullptr : &*at;
}

}  // namespace rh
