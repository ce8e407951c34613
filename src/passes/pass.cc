#include "passes/pass.h"

#include <algorithm>

namespace rh {

namespace passes {
#define RH_PASS(name, level) Edit name(const Graph& graph, PassContext& context);
#include "passes/cpu_pass_list.inc"
#include "passes/pass_list.inc"
#undef RH_PASS
}  // namespace passes

std::span<const Pass> standard_passes() {
  static constexpr Pass kPasses[] = {
#define RH_PASS(name, level) {#name, PassLevel::level, passes::name},
#include "passes/pass_list.inc"
#undef RH_PASS
  };
  return kPasses;
}

std::span<const Pass> cpu_passes() {
  static constexpr Pass kPasses[] = {
#define RH_PASS(name, level) {#name, PassLevel::level, passes::name},
#include "passes/cpu_pass_list.inc"
#undef RH_PASS
  };
  return kPasses;
}

const Pass* find_pass(std::span<const Pass> passes, std::string_view name) {
  const auto at = std::find_if(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; });
  return at == passes.end() ? nullptr : &*at;
}

}  // namespace rh
