#include "providers/gpu/plan/merge_launches.h"

#include <algorithm>
#include <iterator>

namespace rh::gpu {

namespace {

constexpr size_t kFarthest = 24;    ///< launches that are looked at behind one
constexpr unsigned kMostParts = 8;  ///< of a launch

/// What a launch reads and writes, by roots; outputs of the region that views are copied to stand apart from values.
struct Uses {
  std::vector<int64_t> reads, writes;
  bool gives_output = false;
};

Uses uses_of(const Lowering& lowering, const Launch& launch) {
  Uses uses;
  for (const Operand& operand : launch.operands) {
    if (operand.value == kNoValue) continue;
    const bool is_output = operand.output >= 0 || lowering.output_of(lowering.root(operand.value).value) >= 0;
    uses.gives_output |= operand.is_written && is_output;
    const int64_t what = operand.output >= 0 ? -1 - operand.output : lowering.root(operand.value).value;
    (operand.is_written ? uses.writes : uses.reads).push_back(what);
  }
  return uses;
}

bool meet(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::ranges::any_of(a, [&](int64_t what) { return std::ranges::find(b, what) != b.end(); });
}

bool need_order(const Uses& a, const Uses& b) { return meet(a.writes, b.reads) || meet(a.reads, b.writes) || meet(a.writes, b.writes); }

bool are_alike(const Launch& a, const Launch& b) {
  return a.kernel == b.kernel && a.size.threads == b.size.threads && a.size.shared_bytes == b.size.shared_bytes &&
         a.arguments.size() == b.arguments.size() && a.size.grid.y == 1 && b.size.grid.y == 1 && a.size.grid.z == 1 && b.size.grid.z == 1;
}

}  // namespace

void merge_launches(const Lowering& lowering, std::vector<Launch>& launches) {
  std::vector<Uses> uses;
  for (const Launch& launch : launches) uses.push_back(uses_of(lowering, launch));
  const auto move_up = [](auto& list, size_t from, size_t to) {
    const auto begin = list.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
                begin + static_cast<std::ptrdiff_t>(from) + 1);
  };
  for (size_t first = 0; first < launches.size(); ++first) {
    size_t last = first;
    for (size_t at = first + 1; at < std::min(launches.size(), first + kFarthest) && last - first + 1 < kMostParts; ++at) {
      // A caller may have given an input's memory for an output.
      if (uses[at].gives_output || !are_alike(launches[first], launches[at])) continue;
      const auto is_free_of = [&](size_t other) { return !need_order(uses[other], uses[at]); };
      bool may_join = true;
      for (size_t between = first; may_join && between < at; ++between) may_join = is_free_of(between);
      if (!may_join) continue;
      ++last;
      launches[at].joins = true;
      move_up(launches, at, last);
      move_up(uses, at, last);
    }
    first = last;
  }
}

}  // namespace rh::gpu
