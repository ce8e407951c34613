#include "passes/layout/order_region.h"

#include <algorithm>

#include "passes/driver/rewrite.h"

namespace rh::passes {

OrderRegion::OrderRegion(const Graph& graph, const Node& transpose, Conversions conversions, std::unordered_set<ValueId>& taken)
    : graph_(graph), conversions_(conversions), taken_(taken) {
  const auto permutation = permutation_of(NodeView(graph, transpose));
  if (!permutation || !assign({{transpose.inputs[0], {*permutation, false}}})) return;
  while (!open_.empty()) {
    const ValueId id = open_.back();
    open_.pop_back();
    spread(id);
  }
}

const ReorderedForm* OrderRegion::form(NodeId id) const {
  const auto at = forms_.find(id);
  return at == forms_.end() ? nullptr : &at->second;
}

bool OrderRegion::takes_as_it_is(NodeId user, ValueId id) const {
  if (is_passed(user)) return false;
  const ReorderedForm* at = form(user);
  const std::vector<ValueId>& inputs = graph_.node(user).inputs;
  for (size_t i = 0; at && i < inputs.size(); ++i)
    if (inputs[i] == id && std::ranges::find(at->inputs, i) == at->inputs.end()) return true;
  return !at;
}

void OrderRegion::spread(ValueId id) {
  if (const Node* producer = graph_.producer(id)) take_in(*producer, id);
  for (NodeId user : graph_.value(id).consumers) take_in(graph_.node(user), id);
}

void OrderRegion::take_in(const Node& node, ValueId known) {
  if (forms_.contains(node.id) || passed_.contains(node.id)) return;
  const bool is_transpose = is_op(node, "Transpose");
  if (is_transpose || is_view(node)) {
    const auto assignments = is_transpose ? across_transpose(node, known) : across_view(node, known);
    if (assignments && assign(*assignments)) passed_.insert(node.id);
    return;
  }
  const AxisOrder order = orders_.at(known);
  auto form = reordered_form(graph_, node, order, conversions_);
  if (!form) return;
  const auto assignments = across(node, order, *form);
  const bool is_met = assignments && std::ranges::find(*assignments, known, &Assignments::value_type::first) != assignments->end();
  if (is_met && assign(*assignments)) forms_.emplace(node.id, std::move(*form));
}

std::optional<OrderRegion::Assignments> OrderRegion::across_transpose(const Node& node, ValueId known) const {
  const ValueId x = node.inputs[0], y = node.outputs[0];
  const AxisOrder order = known == x ? orders_.at(x) : orders_.at(y).turned();
  if (permutation_of(NodeView(graph_, node)) != order.other()) return std::nullopt;
  return Assignments{{x, order}, {y, order.turned()}};
}

std::optional<OrderRegion::Assignments> OrderRegion::across_view(const Node& node, ValueId known) const {
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (known != x && known != y) return std::nullopt;
  const TensorType &from = tensor_type(graph_, x), &to = tensor_type(graph_, y);
  if (!from.has_rank() || !to.has_rank()) return std::nullopt;
  const auto found = known == x ? order_of_view(orders_.at(x), *from.dims, *to.dims) : order_of_view(orders_.at(y), *to.dims, *from.dims);
  if (!found) return std::nullopt;
  const AxisOrder order_of_x = known == x ? orders_.at(x) : *found, order_of_y = known == x ? *found : orders_.at(y);
  if (!reshape_target(in_other_order(order_of_x, *from.dims), in_other_order(order_of_y, *to.dims))) return std::nullopt;
  return Assignments{{x, order_of_x}, {y, order_of_y}};
}

std::optional<OrderRegion::Assignments> OrderRegion::across(const Node& node, const AxisOrder& order, const ReorderedForm& form) const {
  Assignments assignments;
  for (size_t input : form.inputs) assignments.emplace_back(node.inputs[input], order);
  for (ValueId id : node.outputs)
    if (id != kNoValue) assignments.emplace_back(id, order);
  return assignments;
}

bool OrderRegion::assign(const Assignments& assignments) {
  for (const auto& [id, order] : assignments) {
    if (id == kNoValue) return false;
    const auto at = orders_.find(id);
    const bool fits = at != orders_.end() ? at->second == order : !graph_.value(id).is_constant() && !taken_.contains(id);
    if (!fits || !tensor_type(graph_, id).has_rank() || tensor_type(graph_, id).dims->size() != order.permutation.size()) return false;
  }
  for (const auto& [id, order] : assignments) {
    if (!orders_.emplace(id, order).second) continue;
    taken_.insert(id);
    open_.push_back(id);
  }
  return true;
}

}  // namespace rh::passes
