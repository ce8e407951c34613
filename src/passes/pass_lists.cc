#include "passes/pass_lists.h"

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

}  // namespace rh
