#include "providers/gpu/plan/memory_plan.h"

#include <algorithm>

namespace rh::gpu {

namespace {

constexpr size_t kAlignment = 256;

struct Lived {
  ValueId value;
  size_t bytes, first, last, offset = 0;
};

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

// Larger ones are placed first, each at the lowest offset where no other lives at the same time.
MemoryPlan plan_memory(const Lowering& lowering) {
  std::map<ValueId, Lived> by_value;
  size_t i = 0;  // of launches, whose parts run side by side
  for (const Launch& launch : lowering.launches()) {
    if (!launch.joins) ++i;
    for (const Operand& operand : launch.operands) {
      if (operand.output >= 0 || operand.value == kNoValue) continue;
      const ValueId root = lowering.root(operand.value).value;
      if (!lowering.is_made(root) || lowering.is_host(root) || lowering.is_constant(root) || lowering.output_of(root) >= 0) continue;
      const size_t bytes = aligned(bytes_of(lowering.dtype(root), lowering.shape(root).elements()));
      const auto at = by_value.emplace(root, Lived{root, bytes, i, i}).first;
      at->second.last = i;
    }
  }
  std::vector<Lived> values;
  for (auto& [value, lived] : by_value) values.push_back(lived);
  std::ranges::stable_sort(values, [](const Lived& a, const Lived& b) { return a.bytes > b.bytes; });
  MemoryPlan plan;
  std::vector<const Lived*> placed;
  for (Lived& value : values) {
    std::vector<const Lived*> beside;
    for (const Lived* other : placed) {
      if (other->first <= value.last && value.first <= other->last) beside.push_back(other);
    }
    std::ranges::sort(beside, {}, &Lived::offset);
    for (const Lived* other : beside) {
      if (value.offset + value.bytes <= other->offset) break;
      value.offset = std::max(value.offset, other->offset + other->bytes);
    }
    placed.push_back(&value);
    plan.offsets[value.value] = value.offset;
    plan.sizes[value.value] = value.bytes;
    plan.bytes = std::max(plan.bytes, value.offset + value.bytes);
  }
  return plan;
}

std::string largest_values(const MemoryPlan& plan, const Graph& graph) {
  constexpr size_t kMost = 8;
  std::vector<std::pair<size_t, ValueId>> values;
  for (const auto& [value, bytes] : plan.sizes) values.emplace_back(bytes, value);
  std::ranges::sort(values, std::greater());
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kMost); ++i) {
    text += fmt::format("{}'{}' {} bytes", i > 0 ? ", " : "", graph.value(values[i].second).name, values[i].first);
  }
  return text;
}

}  // namespace rh::gpu
