#pragma once

#include <algorithm>
#include <numeric>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Members 0 to count - 1 by the group that they are in, within a group in their order; in scratch memory of the run.
struct MemberLists {
  const int64_t* begin;   ///< [groups + 1]: where each group's members begin
  const int64_t* member;  ///< [count]

  int64_t size(int64_t group) const { return begin[group + 1] - begin[group]; }
};

/// `groups` groups; `group_of(i)` gives that of member i.
template <typename GroupOf>
MemberLists group_members(RunContext& context, int64_t count, int64_t groups, GroupOf group_of) {
  auto *begin = context.scratch_array<int64_t>(groups + 1), *next = context.scratch_array<int64_t>(groups),
       *member = context.scratch_array<int64_t>(count);
  std::fill_n(begin, groups + 1, int64_t{0});
  for (int64_t i = 0; i < count; ++i) ++begin[group_of(i) + 1];
  std::partial_sum(begin, begin + groups + 1, begin);
  std::copy_n(begin, groups, next);
  for (int64_t i = 0; i < count; ++i) member[next[group_of(i)]++] = i;
  return {begin, member};
}

}  // namespace rh::cpu
