#pragma once

#include <optional>
#include <vector>

#include "graph/edit.h"
#include "passes/pattern/axis_order.h"

namespace rh::passes {

/// What nodes may become to work in another order: none, only themselves with other attributes; all, other operators as well.
enum class Conversions : uint8_t { none, all };

/// How a node works on values whose dimensions stand in their other order.
struct ReorderedForm {
  std::vector<size_t> inputs;  ///< that come in the other order, as the outputs do
  int64_t cost = 0;            ///< how many elements could be moved in the time that it takes more
  bool reads_either = false;   ///< the inputs may stay as they are instead, at no cost
};

/// Nothing where the node cannot work so. `order` is that of its outputs and of the inputs that would come in the other one.
std::optional<ReorderedForm> reordered_form(const Graph& graph, const Node& node, const AxisOrder& order, Conversions conversions);
/// Adds what gives the node's outputs in the other order. `inputs` are those that it takes, the inputs of its form in the other order, or
/// as they are where they stay so.
std::vector<ValueId> add_reordered(const Graph& graph, Edit& edit, const Node& node, const AxisOrder& order, std::vector<ValueId> inputs,
                                   bool inputs_stay);

}  // namespace rh::passes
