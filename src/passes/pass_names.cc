#include "passes/pass_names.h"

#include <algorithm>
#include <iterator>

#include "passes/pass_lists.h"

namespace rh {

namespace {

/// A name that is none of a pass of today, and the passes that it stands for, separated by commas.
struct OtherName {
  std::string_view name, passes;
};

constexpr OtherName kOtherNames[] = {
#define RH_OLD_PASS(name, passes) {name, passes},
#include "passes/old_pass_names.inc"
#undef RH_OLD_PASS
#define RH_OPTIMIZER(name, level, passes) {name, passes},
#include "passes/optimizer_list.inc"
#undef RH_OPTIMIZER
};

}  // namespace

std::vector<std::string_view> passes_named(std::string_view name) {
  if (find_pass(name)) return {name};
  const auto known = std::ranges::find(kOtherNames, name, &OtherName::name);
  return known == std::end(kOtherNames) ? std::vector<std::string_view>() : names_in(known->passes);
}

}  // namespace rh
