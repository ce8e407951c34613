#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "ops/node_view.h"

namespace rh::kit {

class RegionProvider;

/// Of a node of a standard operator: bits of the inputs that say what it does, and not what it does it with: shapes, axes, sizes, counts of
/// trips, conditions.
uint64_t steering_inputs(const NodeView& node);

/// A node whose operands and results are small, of an operator with which sizes are computed: regions go on over it, and the host computes
/// it.
bool is_host_arithmetic(const Graph& graph, const Node& node);

/// Which values the regions of a device take in host memory (RegionProvider::host_inputs). Arithmetic on shapes and on small values of the
/// host is the host's: what it begins from is looked for.
class HostValues {
 public:
  HostValues(const Graph& graph, const RegionProvider& provider) : graph_(graph), provider_(provider) {}

  /// From a node to one that has to know its result on the host, though the device computes it: a region ends between them.
  using Borders = std::set<std::pair<NodeId, NodeId>>;
  /// Of the nodes for which `is_inside` is set, by node.
  Borders borders(const std::vector<bool>& is_inside) const;
  /// The values from outside that a region of these nodes takes in host memory.
  std::vector<ValueId> inputs_of(std::span<const NodeId> region) const;

 private:
  void for_each_steering_value(const Graph& graph, const Node& node, FunctionRef<void(ValueId)> visit) const;
  void follow(ValueId value, NodeId consumer, const std::vector<bool>& is_inside, std::vector<bool>& seen,
              FunctionRef<void(ValueId)> on_outside, FunctionRef<void(NodeId, NodeId)> on_border) const;

  const Graph& graph_;
  const RegionProvider& provider_;
};

}  // namespace rh::kit
