#include "providers/kit/regions/region_provider.h"

#include <algorithm>

#include "providers/kit/regions/regions.h"

namespace rh::kit {

namespace {

size_t count_nodes(const Node& node) {
  size_t count = 1;
  Graph::for_each_subgraph(node, [&](const Graph& body) {
    for (NodeId id : body.nodes()) count += count_nodes(body.node(id));
  });
  return count;
}

}  // namespace

// A node that contradicts its operator's rules is one to leave to others, who will say so.
Support support_of(const RegionProvider& provider, const Graph& graph, NodeId id) {
  try {
    return provider.supports(NodeView(graph, graph.node(id)));
  } catch (const Error& error) {
    return Refusal{RhRefusalCode_ATTRIBUTE, error.message()};
  }
}

Support RegionProvider::supports_bodies(const NodeView& node) const {
  Support refusal;
  Graph::for_each_subgraph(node.node(), [&](const Graph& body) {
    for (NodeId id : body.topological_order()) {
      if (refusal) return;
      refusal = supports(NodeView(body, body.node(id)));
      if (refusal) refusal->reason = fmt::format("of its body, node '{}': {}", body.node(id).display_name(), refusal->reason);
    }
  });
  return refusal;
}

Decision decide(const Graph& graph, const RegionProvider& provider, std::span<const NodeId> taken,
                const std::map<NodeId, std::string>& failed) {
  Decision decision;
  std::vector<bool> supported(static_cast<size_t>(graph.node_slots()), false);
  for (NodeId id : graph.nodes()) {
    if (std::ranges::find(taken, id) != taken.end()) {
      decision.refusals.push_back({id, {RhRefusalCode_CLAIMED_EARLIER, "another provider has the node"}});
    } else if (const auto at = failed.find(id); at != failed.end()) {
      decision.refusals.push_back({id, {RhRefusalCode_UNIT, at->second}});
    } else if (Support refusal = support_of(provider, graph, id)) {
      decision.refusals.emplace_back(id, std::move(*refusal));
    } else if (provider.has_kernel(NodeView(graph, graph.node(id)))) {
      decision.kernels.push_back(id);
    } else {
      supported[static_cast<size_t>(id)] = true;
    }
  }
  const size_t least = provider.least_nodes();
  for (std::vector<NodeId>& region : convex_regions(graph, [&](NodeId id) { return supported[static_cast<size_t>(id)]; })) {
    size_t size = 0;
    for (NodeId id : region) size += count_nodes(graph.node(id));
    if (size >= least) {
      decision.regions.push_back(std::move(region));
      continue;
    }
    for (NodeId id : region) {
      decision.refusals.push_back(
          {id, {RhRefusalCode_COST, fmt::format("its region has {} node{}, fewer than {}", size, size == 1 ? "" : "s", least)}});
    }
  }
  return decision;
}

}  // namespace rh::kit
