#include "providers/kit/regions/trials.h"

#include <algorithm>
#include <utility>

#include "graph/constant_addresses.h"
#include "providers/kit/regions/value_order.h"

namespace rh::kit {

namespace {

constexpr int kMaxCulprits = 8;  ///< a graph in which more nodes fail is left to others, but for what compiled

/// What tells a region from others of a session, whichever of its graphs shows it.
std::string key_of(const Graph& graph) {
  std::vector<std::string> lines;
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    std::string line = node.op_text();
    for (const auto* values : {&node.inputs, &node.outputs}) {
      line += '\n';
      for (ValueId value : *values) line += (value == kNoValue ? std::string() : graph.value(value).name) + '\t';
    }
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  std::string key;
  for (const std::string& line : lines) key += line + '\n';
  return key;
}

/// For providers that read no constants at other addresses.
Region aligned(Region region) {
  align_constants(
      const_cast<Graph&>(*region.graph), [](const Tensor& tensor) { return tensor.clone(); }, [](const Graph&, ValueId) { return false; });
  return region;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (ValueId value : values) names.push_back(graph.value(value).name);
  return names;
}

}  // namespace

Region extract_region(const Graph& graph, const std::vector<NodeId>& nodes, bool with_constants) {
  const std::set<NodeId> inside(nodes.begin(), nodes.end());
  std::vector<ValueId> inputs, given, outputs;
  const auto take = [&](ValueId id) {
    if (id == kNoValue || inside.contains(graph.value(id).producer)) return;
    std::vector<ValueId>& list = graph.value(id).is_constant() ? given : inputs;
    if (std::ranges::find(list, id) == list.end()) list.push_back(id);
  };
  for (NodeId id : nodes) {
    const Node& node = graph.node(id);
    std::ranges::for_each(node.inputs, take);
    std::ranges::for_each(node.implicit_inputs, take);
    for (ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      const GraphValue& value = graph.value(output);
      const auto outside = [&](NodeId consumer) { return !inside.contains(consumer); };
      if (value.is_output || std::ranges::any_of(value.consumers, outside)) outputs.push_back(output);
    }
  }
  Region region{graph.clone(), inputs, outputs};
  Graph& own = const_cast<Graph&>(*region.graph);
  own.set_outputs(outputs);
  own.set_inputs({});
  for (NodeId id : own.nodes()) {
    if (!inside.contains(id)) own.remove_node(id);
  }
  own.set_inputs(inputs);
  own.drop_unused_values();
  if (with_constants) region.inputs.insert(region.inputs.end(), given.begin(), given.end());
  return region;
}

Region Trials::extract(const Graph& graph, const std::vector<NodeId>& nodes) const {
  Region region = extract_region(graph, nodes, !provider_.keeps_constants());
  return provider_.reads_any_address() ? region : aligned(std::move(region));
}

// Of the nodes in their order, the last of the shortest beginning that does not compile.
NodeId Trials::find_culprit(const Graph& graph, const std::vector<NodeId>& nodes, std::string& message) {
  size_t good = 0, bad = nodes.size();
  while (bad - good > 1) {
    const size_t middle = good + (bad - good) / 2;
    try {
      const std::vector<NodeId> beginning(nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(middle));
      const Region region = extract(graph, beginning);
      if (!region.outputs.empty()) provider_.try_part(region);
      good = middle;
    } catch (...) {
      message = reason_of_current_exception();
      bad = middle;
    }
  }
  return nodes[bad - 1];
}

bool Trials::try_regions(const Graph& graph, const Decision& decision, std::map<NodeId, std::string>& failed, Kept& round) {
  const Kept before = std::exchange(round, {});
  bool all_good = true;
  for (const std::vector<NodeId>& nodes : decision.regions) {
    const Region region = sorted_by_name(extract(graph, nodes));
    if (region.outputs.empty()) continue;  // nothing takes what it gives
    const std::string key = key_of(*region.graph);
    if (const auto known = before.find(key); known != before.end()) {
      round[key] = known->second;
      continue;
    }
    std::string message;
    try {
      round[key] =
          std::make_shared<Trial>(names_of(*region.graph, region.inputs), names_of(*region.graph, region.outputs), compile_(region));
      continue;
    } catch (...) {
      message = reason_of_current_exception();
    }
    all_good = false;
    if (failed.size() >= kMaxCulprits) {
      for (NodeId id : nodes) failed.emplace(id, message);
    } else {
      const NodeId culprit = find_culprit(graph, nodes, message);
      failed.emplace(culprit, message);
    }
  }
  return all_good;
}

Decision Trials::decide(const Graph& graph, std::span<const NodeId> taken) {
  std::map<NodeId, std::string> failed;
  Kept round;
  for (;;) {
    Decision decision = kit::decide(graph, provider_, taken, failed);
    if (provider_.tries_regions() && !try_regions(graph, decision, failed, round)) continue;
    for (const auto& [id, message] : failed) {
      for (ValueId output : graph.node(id).outputs) {
        if (output != kNoValue) refused_.insert(graph.value(output).name);
      }
    }
    // Two bodies may have nodes of the same names: then neither has the trial's.
    for (auto& [key, trial] : round) {
      if (const auto [at, is_new] = kept_.emplace(key, trial); !is_new) at->second = nullptr;
    }
    return decision;
  }
}

std::unique_ptr<Executable> Trials::take(const Region& region) {
  auto found = kept_.extract(key_of(*region.graph));
  if (!found || !found.mapped()) return nullptr;
  Trial& trial = *found.mapped();
  const bool is_same = trial.inputs == names_of(*region.graph, region.inputs) && trial.outputs == names_of(*region.graph, region.outputs);
  return is_same ? std::move(trial.executable) : nullptr;
}

}  // namespace rh::kit
