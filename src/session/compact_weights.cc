#include "session/compact_weights.h"

#include <algorithm>

#include "base/cpu_features.h"

namespace rh {
namespace {

/// Whether a node makes a longer cache, which the caller gets, out of one that the caller gave.
bool grows_cache(const Graph& graph, const Node& node) {
  const auto is_cache = [&](ValueId id) { return id != kNoValue && std::ranges::find(graph.inputs(), id) != graph.inputs().end(); };
  const auto is_result = [&](ValueId id) { return std::ranges::find(graph.outputs(), id) != graph.outputs().end(); };
  if (node.op_type == "Concat") return std::ranges::any_of(node.inputs, is_cache) && std::ranges::any_of(node.outputs, is_result);
  if (node.op_type.find("Attention") == std::string::npos) return false;
  const auto is_past = [&](ValueId id) { return is_cache(id) && id != node.inputs.front(); };
  const auto is_present = [&](ValueId id) { return is_result(id) && id != node.outputs.front(); };
  return std::ranges::any_of(node.inputs, is_past) && std::ranges::any_of(node.outputs, is_present);
}

bool generates(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [&](NodeId id) { return grows_cache(graph, graph.node(id)); });
}

}  // namespace

bool wants_compact_weights(const Graph& graph, const SessionOptions& options) {
  const WeightForm asked = options.settings.weights;
  if (asked != WeightForm::automatic) return asked == WeightForm::compact;
  const CpuFeatures& cpu = cpu_features();
  if (cpu.amx_bf16) return false;  // products of many rows by tiles gain more
  if (options.settings.memory == MemoryPolicy::lean) return true;
  // Elsewhere decoding takes longer than what it saves (docs/measurements/products.md, "Weights in 28 bits").
  if (!cpu.own_adders) return false;
  return graph.constant_bytes() > static_cast<size_t>(cpu.l3_bytes) && generates(graph);
}

}  // namespace rh
