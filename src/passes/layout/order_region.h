#pragma once

#include <unordered_map>
#include <unordered_set>

#include "passes/layout/reordered_node.h"

namespace rh::passes {

/// Values that may have their dimensions in either of two orders, and the nodes between them.
class OrderRegion {
 public:
  /// Takes in all that the Transpose connects, but for values that are `taken` by other regions, to which it adds its own. Empty where the
  /// Transpose connects nothing.
  OrderRegion(const Graph& graph, const Node& transpose, Conversions conversions, std::unordered_set<ValueId>& taken);

  const std::unordered_map<ValueId, AxisOrder>& orders() const { return orders_; }
  bool contains(ValueId id) const { return orders_.contains(id); }
  const AxisOrder& order(ValueId id) const { return orders_.at(id); }
  /// Whether the node is a Transpose or a view of the region: it moves nothing where its input comes in the order that its output has.
  bool is_passed(NodeId id) const { return passed_.contains(id); }
  /// How the node works in the other order; null where it is none of the region's, or only passed.
  const ReorderedForm* form(NodeId id) const;
  /// Whether the node takes the value in the order that it has alone, at some input.
  bool takes_as_it_is(NodeId user, ValueId id) const;

 private:
  using Assignments = std::vector<std::pair<ValueId, AxisOrder>>;

  void spread(ValueId id);
  void take_in(const Node& node, ValueId known);
  std::optional<Assignments> across_transpose(const Node& node, ValueId known) const;
  std::optional<Assignments> across_view(const Node& node, ValueId known) const;
  std::optional<Assignments> across(const Node& node, const AxisOrder& order, const ReorderedForm& form) const;
  bool assign(const Assignments& assignments);

  const Graph& graph_;
  const Conversions conversions_;
  std::unordered_set<ValueId>& taken_;
  std::unordered_map<ValueId, AxisOrder> orders_;
  std::unordered_map<NodeId, ReorderedForm> forms_;
  std::unordered_set<NodeId> passed_;
  std::vector<ValueId> open_;
};

}  // namespace rh::passes
