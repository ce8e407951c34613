// Pattern: a Pad of spatial dimensions that nothing but Conv, AveragePool and MaxPool takes.
// Replacement: these operators with larger pads of their own.
// Not: where one of its users cannot pad so: other values than its own, pads as large as a pool's window, `ceil_mode`.

#include <algorithm>
#include <cmath>

#include "ops/activation/fused_activation.h"
#include "ops/nn/conv.h"
#include "ops/nn/pool.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/spatial_pad.h"

namespace rh::passes {

namespace {

/// The attributes of a window that pads by itself.
struct PaddedWindow {
  std::vector<int64_t> pads;
  bool counts_pads = false;
};

class Absorber : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_op(node, "Pad") || !is_only_output(graph_, node) || graph_.value(node.outputs[0]).is_output) continue;
      if (const auto pad = spatial_pad(graph_, node)) absorb(*pad);
    }
    return rewrite_.take();
  }

 private:
  /// Into all that take what is padded, or into none.
  void absorb(const SpatialPad& pad) {
    const ValueId padded = pad.node->outputs[0];
    if (context_.for_tools && !only_user(graph_, *pad.node)) return;
    std::vector<PaddedWindow> windows;
    for (NodeId id : graph_.value(padded).consumers) {
      const Node& node = graph_.node(id);
      auto window = std::ranges::count(node.inputs, padded) == 1 && node.inputs[0] == padded ? padded_window(node, pad) : std::nullopt;
      if (!window) return;
      windows.push_back(std::move(*window));
    }
    if (!context_.admit()) return;
    for (size_t i = 0; i < windows.size(); ++i)
      replace(graph_.node(graph_.value(padded).consumers[i]), pad, std::move(windows[i]), i + 1 < windows.size());
  }

  std::optional<PaddedWindow> padded_window(const Node& node, const SpatialPad& pad) const {
    const bool is_conv = is_op(node, "Conv"), is_pool = is_op(node, "AveragePool") || is_op(node, "MaxPool");
    if ((!is_conv && !is_pool) || !is_only_output(graph_, node)) return std::nullopt;
    return is_conv ? padded_conv(node, pad) : padded_pool(node, pad);
  }

  std::optional<PaddedWindow> padded_conv(const Node& node, const SpatialPad& pad) const {
    auto pads = pad.value == 0 ? joined_pads(ops::Conv::read(NodeView(graph_, node)).window, pad) : std::nullopt;
    return pads ? std::optional(PaddedWindow{std::move(*pads)}) : std::nullopt;
  }

  std::optional<PaddedWindow> padded_pool(const Node& node, const SpatialPad& pad) const {
    const ops::Pool op = ops::Pool::read(NodeView(graph_, node));
    auto pads = joined_pads(op.window, pad);
    if (!pads || op.window.ceil_mode || !fits_in_window(op.window, *pads)) return std::nullopt;
    if (op.kind == ops::Pool::Kind::max) {
      if (context_.for_tools) return std::nullopt;
      const bool is_least = std::isinf(pad.value) && pad.value < 0;
      return is_least || is_least_of_positive(op.window, pad, *pads) ? std::optional(PaddedWindow{std::move(*pads)}) : std::nullopt;
    }
    // What is padded counts, so the pooling's own pads must count as well, or not be there.
    const bool has_none = std::all_of(op.window.pads.begin(), op.window.pads.end(), [](int64_t size) { return size == 0; });
    if (pad.value != 0 || (!op.count_include_pad && !has_none)) return std::nullopt;
    return PaddedWindow{std::move(*pads), true};
  }

  /// Whether the pads are zeros around numbers of which none is less, and every window has one of these: the largest is then among them.
  bool is_least_of_positive(const ops::Window& window, const SpatialPad& pad, const std::vector<int64_t>& pads) const {
    const Node* made = graph_.producer(pad.node->inputs[0]);
    const auto activation = made ? ops::FusedActivation::of(NodeView(graph_, *made)) : std::nullopt;
    if (pad.value != 0 || !activation || !ops::all_are(window.dilations, 1)) return false;
    using Function = ops::FusedActivation::Function;
    const bool is_positive = activation->function == Function::relu ||
                             (activation->function == Function::clip && activation->alpha >= 0 && activation->beta >= 0);
    const TensorType& x = tensor_type(graph_, pad.node->inputs[0]);
    const size_t spatial = window.kernel.size();
    for (size_t i = 0; i < spatial; ++i) {
      // Without elements there is no window where the pads alone do not fill one.
      const Dim& dim = (*x.dims)[i + 2];
      if (!(dim.is_constant() && dim.value() > 0) && pads[i] + pads[i + spatial] >= window.kernel[i]) return false;
    }
    return is_positive;
  }

  /// Poolings refuse pads as large as their kernel.
  static bool fits_in_window(const ops::Window& window, const std::vector<int64_t>& pads) {
    if (2 * window.kernel.size() != pads.size()) return false;
    for (size_t i = 0; i < pads.size(); ++i) {
      if (pads[i] >= window.kernel[i % window.kernel.size()]) return false;
    }
    return true;
  }

  void replace(const Node& node, const SpatialPad& pad, PaddedWindow window, bool pad_stays) {
    Node padded;
    padded.name = node.name;
    padded.op_type = node.op_type;
    padded.opset = node.opset;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name != "pads" && attribute.name != "auto_pad" && (!window.counts_pads || attribute.name != "count_include_pad"))
        padded.attributes.push_back(attribute);
    }
    padded.attributes.push_back({"pads", std::move(window.pads)});
    if (window.counts_pads) padded.attributes.push_back({"count_include_pad", int64_t{1}});
    for (ValueId input : node.inputs) padded.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    padded.inputs[0] = rewrite_.current(pad.node->inputs[0]);
    const std::vector<NodeId> kept = pad_stays ? std::vector{pad.node->id} : std::vector<NodeId>{};
    rewrite_.replace_nodes(std::move(padded), node, {pad.node->id, node.id}, kept);
  }
};

}  // namespace

Edit fold_pads_into_windows(const Graph& graph, PassContext& context) { return Absorber(graph, context).run(); }

}  // namespace rh::passes
