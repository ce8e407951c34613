// Pattern: Relu or Clip of floats before a QuantizeLinear to 8 bits, by one scale, that saturates no later than at their bounds.
// Replacement: the QuantizeLinear alone.
// Not: where something else takes the bounded value; scales or bounds that are not constant.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/math/clip.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBoundsAreInputs = 11;  // of ai.onnx, from which on Clip takes its bounds as inputs
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Bounds {
  double low = -kInfinity, high = kInfinity;
};

/// What Relu or Clip bounds its input by; nothing where that is not known.
std::optional<Bounds> bounds_of(const Graph& graph, const Node& node) {
  if (is_op(node, "Relu")) return Bounds{.low = 0};
  if (!is_op(node, "Clip")) return std::nullopt;
  const NodeView view(graph, node);
  Bounds bounds;
  if (node.opset < kBoundsAreInputs) {
    bounds.low = static_cast<double>(view.float_or("min", std::numeric_limits<float>::lowest()));
    bounds.high = static_cast<double>(view.float_or("max", std::numeric_limits<float>::max()));
    return bounds;
  }
  for (int i = 1; i <= 2; ++i) {
    if (!view.has_input(i)) continue;
    const auto number = constant_number(graph, node.inputs[static_cast<size_t>(i)]);
    if (!number) return std::nullopt;
    (i == 1 ? bounds.low : bounds.high) = *number;
  }
  return bounds.low <= bounds.high ? std::optional(bounds) : std::nullopt;
}

/// The least and the largest number of an 8-bit type.
struct Range {
  double least = 0, largest = 255;
};

/// Whether QuantizeLinear, by one scale and zero point, gives its least number for `bounds.low` and its largest one for `bounds.high`: it
/// does not see then whether its input was bounded.
bool saturates_within(const Graph& graph, const Node& node, const Bounds& bounds) {
  const NodeView view(graph, node);
  const DType dtype = tensor_type(graph, node.outputs[0]).dtype;
  const auto scale = constant_number(graph, node.inputs[1]);
  if ((dtype != DType::int8 && dtype != DType::uint8) || !scale || !(*scale > 0)) return false;
  double zero = 0;
  if (view.has_input(2)) {
    const auto number = constant_number(graph, node.inputs[2]);
    if (!number) return false;
    zero = *number;
  }
  const Range range = dtype == DType::int8 ? Range{-128, 127} : Range{};
  // With more than the rounding of the quotient between a bound and a tie.
  const auto quantized = [&](double bound, double margin) { return std::nearbyint(bound / *scale + margin) + zero; };
  constexpr double kMargin = 1e-3;
  return quantized(bounds.low, kMargin) <= range.least && quantized(bounds.high, -kMargin) >= range.largest;
}

}  // namespace

Edit eliminate_saturated_clips(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const auto bounds = node.inputs.empty() || node.inputs[0] == kNoValue ? std::nullopt : bounds_of(graph, node);
    if (!bounds || tensor_type(graph, node.inputs[0]).dtype != DType::float32) continue;
    const Node* user = only_user(graph, node);
    if (!user || !is_op(*user, "QuantizeLinear") || user->inputs[0] != node.outputs[0] || user->inputs.size() < 2) continue;
    if (std::ranges::count(user->inputs, node.outputs[0]) != 1 || !is_only_output(graph, *user)) continue;
    if (!saturates_within(graph, *user, *bounds)) continue;
    const ValueId value = rewrite.current(node.inputs[0]);
    if (rewrite.can_replace(node.outputs[0], value) && context.admit()) rewrite.replace_node(node, value);
  }
  return rewrite.take();
}

}  // namespace rh::passes
