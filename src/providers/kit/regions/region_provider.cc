#include "providers/kit/regions/region_provider.h"

#include <algorithm>

#include "providers/kit/regions/host_values.h"
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

void refuse_region(const std::vector<NodeId>& region, const std::string& reason, Decision& decision) {
  for (NodeId id : region) decision.refusals.push_back({id, {RhRefusalCode_COST, reason}});
}

void drop_small_regions(const Graph& graph, size_t least, Decision& decision) {
  std::erase_if(decision.regions, [&](const std::vector<NodeId>& region) {
    size_t size = 0;
    for (NodeId id : region) size += count_nodes(graph.node(id));
    if (size >= least) return false;
    refuse_region(region, fmt::format("its region has {} node{}, fewer than {}", size, size == 1 ? "" : "s", least), decision);
    return true;
  });
}

// What one that is dropped gave to others comes from the CPU then: they are asked again.
void drop_islands(const Graph& graph, const CostModel& costs, Decision& decision) {
  std::vector<Owner> owners(static_cast<size_t>(graph.node_slots()), Owner::others);
  const auto own = [&](const std::vector<NodeId>& nodes, Owner owner) {
    for (NodeId id : nodes) owners[static_cast<size_t>(id)] = owner;
  };
  own(decision.kernels, Owner::device);
  for (const std::vector<NodeId>& region : decision.regions) own(region, Owner::device);
  const auto is_dropped = [&](const std::vector<NodeId>& region) {
    const std::optional<std::string> reason = island_reason(graph, region, owners, costs);
    if (!reason) return false;
    refuse_region(region, *reason, decision);
    own(region, Owner::others);
    return true;
  };
  while (std::erase_if(decision.regions, is_dropped) > 0) {
  }
}

}  // namespace

// A node that contradicts its operator's rules is one to leave to others, who will say so.
Support support_of(const RegionProvider& provider, const Graph& graph, NodeId id) {
  try {
    return provider.supports(NodeView(graph, graph.node(id)));
  } catch (...) {
    return Refusal{RhRefusalCode_ATTRIBUTE, reason_of_current_exception()};
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
  const HostValues::Borders borders = HostValues(graph, provider).borders(supported);
  decision.regions = convex_regions(graph, [&](NodeId id) { return supported[static_cast<size_t>(id)]; }, borders);
  drop_small_regions(graph, provider.least_nodes(), decision);
  if (const std::optional<CostModel> costs = provider.costs()) drop_islands(graph, *costs, decision);
  return decision;
}

}  // namespace rh::kit
