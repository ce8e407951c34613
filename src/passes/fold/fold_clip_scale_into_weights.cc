// Pattern: what scales and shifts by one number each behind Relu or Clip of Conv, ConvTranspose or Gemm with constant weights.
// Replacement: the operator with scaled weights and bias, then a Clip with scaled bounds (or Relu): s max(x, 0) + t = max(s x + t, t) for s
//   > 0, else min.
// Not: a scale of 0; where something else takes a value in between or the weights; numbers that do not fit the type.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/activation/fused_activation.h"
#include "ops/math/clip.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/channel_affine.h"
#include "passes/pattern/linear_operator.h"

namespace rh::passes {

namespace {

constexpr int kBoundsAreInputs = 11;  // of ai.onnx, from which on Clip takes its bounds as inputs

/// Relu or Clip of a linear operator's output, and what scales and shifts all of it by the same numbers.
struct Clipped {
  const Node* clip = nullptr;
  double low = 0, high = 0;
  double scale = 1, shift = 0;
  std::vector<NodeId> nodes;  ///< that scale and shift
  const Node* last = nullptr;
};

class Scaler : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const auto op = linear_operator(graph_, graph_.node(id));
      if (!op || !op->takes_bias() || !owns_weights(graph_, *op)) continue;
      const auto clipped = clipped_after(*op);
      if (clipped) fold(*op, *clipped);
    }
    return rewrite_.take();
  }

 private:
  std::optional<Clipped> clipped_after(const LinearOperator& op) const {
    const Node* clip = only_user(graph_, *op.node);
    const TensorType& type = tensor_type(graph_, op.node->outputs[0]);
    if (!clip || clip->inputs[0] != op.node->outputs[0] || !type.has_rank() || type.dtype != op.weights->dtype()) return std::nullopt;
    Clipped result{.clip = clip, .nodes = {}, .last = clip};
    if (!read_bounds(result)) return std::nullopt;
    const ChannelValue one_number{type.dtype, type.rank(), 1, 0};
    for (const Node* user; (user = only_user(graph_, *result.last)) && is_channel_affine(*user); result.last = user) {
      const int position = user->inputs[0] == result.last->outputs[0] ? 0 : 1;
      const auto next = channel_affine(NodeView(graph_, *user), position, one_number);
      if (!next) break;
      result.scale *= next->scale[0];
      result.shift = result.shift * next->scale[0] + next->shift[0];
      result.nodes.push_back(user->id);
    }
    const bool is_usable = std::isfinite(result.scale) && result.scale != 0 && std::isfinite(result.shift);
    return !result.nodes.empty() && is_usable ? std::optional(result) : std::nullopt;
  }

  bool read_bounds(Clipped& clipped) const {
    const auto function = ops::FusedActivation::of(NodeView(graph_, *clipped.clip));
    if (!function) return false;
    using Function = ops::FusedActivation::Function;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    clipped.low = function->function == Function::relu ? 0 : static_cast<double>(function->alpha);
    clipped.high = function->function == Function::relu ? kInfinity : static_cast<double>(function->beta);
    return (function->function == Function::relu || function->function == Function::clip) && clipped.low < clipped.high;
  }

  void fold(const LinearOperator& op, const Clipped& clipped) {
    const DType dtype = op.weights->dtype();
    const size_t channels = static_cast<size_t>(op.outputs);
    ChannelAffine affine{std::vector<double>(channels, 1.0), bias_values(op)};
    append(affine, {std::vector<double>(channels, clipped.scale), std::vector<double>(channels, clipped.shift)});
    const bool shifts = std::ranges::any_of(affine.shift, [](double v) { return v != 0.0; });
    auto weights = scaled_weights(op, affine.scale, {}), bias = channel_parameters(dtype, affine.shift);
    std::array<double, 2> bounds{scaled_bound(clipped, clipped.low, dtype), scaled_bound(clipped, clipped.high, dtype)};
    if (clipped.scale < 0) std::swap(bounds[0], bounds[1]);
    const bool fit = std::ranges::all_of(bounds, [&](double bound) { return can_hold(*clipped.clip, bound, dtype); });
    if (!weights || !bias || !fit || !context_.admit()) return;
    std::vector<NodeId> nodes = clipped.nodes;
    nodes.insert(nodes.begin(), op.node->id);
    const ValueId x = add_scaled(graph_, rewrite_.edit(), op,
                                 {.input = rewrite_.current(op.node->inputs[0]),
                                  .weights = std::move(weights),
                                  .bias = op.bias || shifts ? std::move(bias) : std::nullopt,
                                  .bias_name = graph_.value(op.node->outputs[0]).name + "_bias",
                                  .sum_name = {},
                                  .nodes = nodes});
    rewrite_.replace_node(*op.node, x);
    nodes.front() = clipped.clip->id;
    rewrite_.replace_nodes(clip_of(x, *clipped.clip, bounds, dtype), *clipped.last, nodes);
  }

  /// Attributes are floats, which doubles may need more digits than.
  static bool can_hold(const Node& clip, double bound, DType dtype) {
    if (std::isinf(bound)) return true;
    if (clip.opset < kBoundsAreInputs && dtype == DType::float64) return static_cast<double>(static_cast<float>(bound)) == bound;
    return channel_parameters(dtype, {bound}).has_value();
  }

  /// What becomes of a bound. That of a Clip without one is the largest finite number, which may become infinite, as infinity bounded by it
  /// would have.
  static double scaled_bound(const Clipped& clipped, double bound, DType dtype) {
    if (std::isinf(bound)) return std::copysign(bound, clipped.scale * bound);
    const double scaled = clipped.scale * bound + clipped.shift;
    if (std::fabs(bound) < ops::largest_finite(dtype)) return scaled;
    const double held = element_as_double(ops::clip_bound(dtype, scaled).view(), 0);
    return std::isinf(held) ? held : scaled;
  }

  Node clip_of(ValueId x, const Node& like, const std::array<double, 2>& bounds, DType dtype) {
    constexpr const char* kNames[] = {"min", "max"};
    const double most = ops::largest_finite(dtype);
    Node clip;
    clip.name = like.name;
    clip.op_type = "Clip";
    clip.opset = like.opset;
    if (bounds[0] == 0 && std::isinf(bounds[1])) {
      clip.op_type = "Relu";
      clip.inputs = {x};
      return clip;
    }
    clip.inputs = {x, kNoValue, kNoValue};
    for (size_t i = 0; i < 2; ++i) {
      if (bounds[i] == (i == 0 ? -most : most)) continue;
      if (clip.opset < kBoundsAreInputs) {
        clip.attributes.push_back({kNames[i], static_cast<float>(bounds[i])});
      } else {
        clip.inputs[i + 1] = rewrite_.edit().add_constant(kNames[i], ops::clip_bound(dtype, bounds[i]));
      }
    }
    while (clip.inputs.back() == kNoValue) clip.inputs.pop_back();
    return clip;
  }
};

}  // namespace

Edit fold_clip_scale_into_weights(const Graph& graph, PassContext& context) { return Scaler(graph, context).run(); }

}  // namespace rh::passes
