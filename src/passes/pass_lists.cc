#include "passes/pass_lists.h"

#include <algorithm>
#include <array>

namespace rh {

namespace passes {
// Some passes stand in several lists.
#define RH_PASS(room, name, level, provider, condition) Edit name(const Graph& graph, PassContext& context);
#include "passes/pass_list.inc"
#undef RH_PASS
}  // namespace passes

namespace {

enum class Owner { standard, cpu, vendor };

struct Row {
  Owner owner;
  Pass pass;
};

constexpr bool always = true;  // as conditions say it

constexpr Row kRows[] = {
#define RH_PASS(room, name, level, provider, condition) \
  {Owner::provider, {#name, PassLevel::level, passes::name, []([[maybe_unused]] const RewriteSettings& settings) { return condition; }}},
#include "passes/pass_list.inc"
#undef RH_PASS
};

/// The rows of one owner, in their order.
template <Owner owner>
constexpr auto kPassesOf = [] {
  std::array<Pass, std::ranges::count(kRows, owner, &Row::owner)> passes;
  size_t count = 0;
  for (const Row& row : kRows) {
    if (row.owner == owner) passes[count++] = row.pass;
  }
  return passes;
}();

}  // namespace

std::span<const Pass> standard_passes() { return kPassesOf<Owner::standard>; }
std::span<const Pass> cpu_passes() { return kPassesOf<Owner::cpu>; }
std::span<const Pass> vendor_passes() { return kPassesOf<Owner::vendor>; }

const Pass* find_pass(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, [](const Row& r) { return r.pass.name; });
  return row == std::end(kRows) ? nullptr : &row->pass;
}

}  // namespace rh
