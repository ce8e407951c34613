#include "passes/layout/order_planner.h"

#include <algorithm>
#include <map>
#include <set>

#include "passes/driver/rewrite.h"
#include "passes/layout/minimum_cut.h"
#include "passes/layout/order_region.h"
#include "passes/layout/reordered_values.h"

namespace rh::passes {

namespace {

constexpr int64_t kTransposeCost = 2000;  // elements that could be moved in the time that any Transpose takes
constexpr int64_t kLeastGain = 1000;      // elements
constexpr int64_t kBiasCost = 200;        // elements, of a Transpose between a product and its bias
constexpr int64_t kUnknownSize = 16;      // taken for symbols and sizes that are not known
constexpr double kMostCost = 1e12;

/// What a value, its Transposes and its views have in common.
struct Contents {
  size_t place = 0;                    ///< of the node that gives them
  bool is_wanted[2] = {false, false};  ///< in the first order and the second one, by what works in no other
  std::set<size_t> users;              ///< places of the other nodes that take them
  std::set<size_t> own_users;          ///< places of nodes that, in the order that they have, take them so, else in either
  int64_t cost = 0;                    ///< elements that a Transpose moves
};

/// A node that works in either order, or what gives a value in one alone.
struct Place {
  NodeId node = kNoNode;  ///< kNoNode: the latter
  bool second = false;    ///< the order in the graph
  int64_t cost = 0;       ///< of the other one
};

/// The orders of a region that cost least.
class Planner {
 public:
  Planner(const Graph& graph, const std::vector<NodeId>& nodes, const OrderRegion& region) : graph_(graph), region_(region) {
    for (NodeId id : nodes) {
      if (const ReorderedForm* form = region.form(id)) {
        const ValueId output = *std::ranges::find_if(graph.node(id).outputs, [](ValueId value) { return value != kNoValue; });
        place_of_.emplace(id, places_.size());
        places_.push_back({id, region.order(output).second, form->cost + 1});
      }
    }
    for (const auto& [id, order] : region.orders()) count(id, order);
    for (const auto& [id, place] : place_of_) note_bias(graph.node(id), place);
  }

  /// The nodes that are to work in the order that they do not have; nothing where nothing is gained.
  std::optional<std::unordered_set<NodeId>> turned_nodes() const {
    std::vector<bool> now;
    for (const Place& place : places_) now.push_back(place.second);
    const std::vector<bool> best = cut();
    if (cost(best) + kLeastGain > cost(now)) return std::nullopt;
    std::unordered_set<NodeId> turned;
    for (size_t i = 0; i < places_.size(); ++i)
      if (best[i] != now[i]) turned.insert(places_[i].node);
    return turned;
  }

 private:
  ValueId first_of(ValueId id) const {
    while (graph_.value(id).producer != kNoNode && region_.is_passed(graph_.value(id).producer)) id = graph_.producer(id)->inputs[0];
    return id;
  }

  Contents& contents_of(ValueId id) {
    id = first_of(id);
    const auto [at, is_new] = contents_.try_emplace(id);
    if (!is_new) return at->second;
    const auto place = place_of_.find(graph_.value(id).producer);
    if (place == place_of_.end()) {
      at->second.place = places_.size();
      places_.push_back({kNoNode, region_.order(id).second, 0});
    } else {
      at->second.place = place->second;
    }
    at->second.cost = transpose_cost(id);
    return at->second;
  }

  /// With kUnknownSize for each symbol: views of a value count as many elements as it has.
  static int64_t likely_size(const Dim& dim) {
    const auto size = dim.evaluate([](std::string_view) { return std::optional<int64_t>(kUnknownSize); });
    return std::max<int64_t>(size.value_or(kUnknownSize), 1);
  }

  int64_t transpose_cost(ValueId id) const {
    const SymbolicShape& dims = *tensor_type(graph_, id).dims;
    int64_t last = -1;
    bool moves = false;
    double elements = 1;
    for (int64_t axis : region_.order(id).other()) {
      const Dim& dim = dims[static_cast<size_t>(axis)];
      elements *= static_cast<double>(likely_size(dim));
      if (dim.is_constant(1)) continue;
      moves = moves || axis < last;
      last = axis;
    }
    return moves ? kTransposeCost + static_cast<int64_t>(std::min(elements, kMostCost)) : 1;
  }

  /// What takes the value.
  void count(ValueId id, const AxisOrder& order) {
    Contents& contents = contents_of(id);
    const GraphValue& value = graph_.value(id);
    contents.is_wanted[order.second] |= value.is_output;
    for (NodeId user : value.consumers) {
      if (const ReorderedForm* form = region_.form(user))
        (form->reads_either ? contents.own_users : contents.users).insert(place_of_.at(user));
      contents.is_wanted[order.second] |= region_.takes_as_it_is(user, id);
    }
  }

  /// A product and a bias that is added to it become one later.
  void note_bias(const Node& node, size_t place) {
    if (!is_op(node, "Add")) return;
    for (size_t i = 0; i < 2; ++i) {
      const Node* product = graph_.producer(node.inputs[i]);
      if (!product || !(is_op(*product, "MatMul") || is_op(*product, "Conv")) || only_user(graph_, *product) != &node) continue;
      const auto at = place_of_.find(product->id);
      if (at != place_of_.end() && graph_.value(node.inputs[1 - i]).constant_tensor()) biases_.emplace_back(at->second, place);
    }
  }

  int64_t cost(const std::vector<bool>& orders) const {
    int64_t all = 0;
    for (const auto& [product, sum] : biases_) all += orders[product] != orders[sum] ? kBiasCost : 0;
    for (const auto& [id, contents] : contents_) {
      const bool order = orders[contents.place];
      const auto differs = [&](size_t user) { return orders[user] != order; };
      const auto differs_as_it_is = [&](size_t user) { return orders[user] == places_[user].second && orders[user] != order; };
      const bool is_moved = contents.is_wanted[!order] || std::ranges::any_of(contents.users, differs) ||
                            std::ranges::any_of(contents.own_users, differs_as_it_is);
      if (is_moved) all += contents.cost;
    }
    for (size_t i = 0; i < places_.size(); ++i)
      if (orders[i] != places_[i].second) all += places_[i].cost;
    return all;
  }

  /// Nodes on the sink's side take the second order.
  std::vector<bool> cut() const {
    MinimumCut graph;
    std::vector<int> ids;
    for (const Place& place : places_) {
      ids.push_back(graph.add_node());
      const int64_t cost = place.node == kNoNode ? MinimumCut::kUnbounded : place.cost;
      place.second ? graph.add_edge(ids.back(), MinimumCut::kSink, cost) : graph.add_edge(MinimumCut::kSource, ids.back(), cost);
    }
    for (const auto& [id, contents] : contents_) {
      // Either copy in the other order is made once, whoever takes it.
      const int from = ids[contents.place], second = graph.add_node(), first = graph.add_node();
      graph.add_edge(from, second, contents.cost);
      graph.add_edge(first, from, contents.cost);
      if (contents.is_wanted[true]) graph.add_edge(second, MinimumCut::kSink, MinimumCut::kUnbounded);
      if (contents.is_wanted[false]) graph.add_edge(MinimumCut::kSource, first, MinimumCut::kUnbounded);
      for (size_t user : contents.users) {
        graph.add_edge(second, ids[user], MinimumCut::kUnbounded);
        graph.add_edge(ids[user], first, MinimumCut::kUnbounded);
      }
      for (size_t user : contents.own_users) {
        places_[user].second ? graph.add_edge(second, ids[user], MinimumCut::kUnbounded)
                             : graph.add_edge(ids[user], first, MinimumCut::kUnbounded);
      }
    }
    for (const auto& [product, sum] : biases_) {
      graph.add_edge(ids[product], ids[sum], kBiasCost);
      graph.add_edge(ids[sum], ids[product], kBiasCost);
    }
    const std::vector<bool> side = graph.solve();
    std::vector<bool> orders;
    for (int id : ids) orders.push_back(side[static_cast<size_t>(id)]);
    return orders;
  }

  const Graph& graph_;
  const OrderRegion& region_;
  std::vector<Place> places_;
  std::unordered_map<NodeId, size_t> place_of_;
  std::map<ValueId, Contents> contents_;
  std::vector<std::pair<size_t, size_t>> biases_;  ///< places of products and of what adds a bias to them
};

}  // namespace

Edit plan_orders(const Graph& graph, PassContext& context, Conversions conversions) {
  Rewrite rewrite(graph);
  std::unordered_set<ValueId> taken;
  const std::vector<NodeId> nodes = graph.topological_order();
  for (NodeId id : nodes) {
    if (!is_op(graph.node(id), "Transpose") || taken.contains(graph.node(id).inputs[0])) continue;
    const OrderRegion region(graph, graph.node(id), conversions, taken);
    const auto turned = Planner(graph, nodes, region).turned_nodes();
    if (turned && context.admit()) reorder_values(graph, nodes, region, *turned, rewrite);
  }
  return rewrite.take();
}

}  // namespace rh::passes
