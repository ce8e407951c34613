#include <algorithm>
#include <cmath>

#include "ops/nn/conv.h"
#include "ops/nn/pool.h"
#include "ops/tensor/pad.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int64_t kMostPad = int64_t{1} << 30;

/// A Pad by constants, of spatial axes alone.
struct SpatialPad {
  const Node* node = nullptr;
  double value = 0;
  std::vector<int64_t> pads;  // all begins, then all ends, of the spatial axes
};

std::optional<double> padding_value(const NodeView& pad, const ops::Pad& op) {
  if (op.pads.input < 0) return static_cast<double>(op.value);
  return pad.has_input(2) ? constant_number(pad.graph(), pad.node().inputs[2]) : 0.0;
}

/// The pads of every axis, begins and then ends; nothing where they are not all known or any crops.
std::optional<std::vector<int64_t>> pads_of_axes(const NodeView& pad, const ops::Pad& op, int rank) {
  if (!op.pads.values || (pad.has_input(3) && !op.axes.values)) return std::nullopt;
  const size_t axes = static_cast<size_t>(rank), count = op.axes.values ? op.axes.values->size() : axes;
  if (op.pads.values->size() != 2 * count) return std::nullopt;
  std::vector<int64_t> pads(2 * axes, 0);
  for (size_t i = 0; i < count; ++i) {
    const int64_t given = op.axes.values ? (*op.axes.values)[i] : static_cast<int64_t>(i), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) return std::nullopt;
    for (size_t end = 0; end < 2; ++end) {
      const int64_t size = (*op.pads.values)[i + end * count];
      if (size < 0 || size > kMostPad) return std::nullopt;
      pads[static_cast<size_t>(axis) + end * axes] = size;
    }
  }
  return pads;
}

std::optional<SpatialPad> spatial_pad(const Graph& graph, ValueId value) {
  const Node* node = graph.producer(value);
  if (!node || !is_op(*node, "Pad") || !has_one_use(graph.value(value))) return std::nullopt;
  const TensorType& x = tensor_type(graph, node->inputs[0]);
  const NodeView view(graph, *node);
  const ops::Pad op = ops::Pad::read(view);
  const auto number = padding_value(view, op);
  if (!x.has_rank() || x.rank() < 3 || op.mode != ops::Pad::Mode::constant || !number) return std::nullopt;
  const auto pads = pads_of_axes(view, op, x.rank());
  const size_t rank = static_cast<size_t>(x.rank());
  if (!pads || (*pads)[0] + (*pads)[1] + (*pads)[rank] + (*pads)[rank + 1] != 0) return std::nullopt;
  SpatialPad result{.node = node, .value = *number};
  for (size_t end = 0; end < 2; ++end) {
    for (size_t axis = 2; axis < rank; ++axis) result.pads.push_back((*pads)[axis + end * rank]);
  }
  return result;
}

class Absorber {
 public:
  Absorber(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      const bool is_conv = is_op(node, "Conv"), is_average = is_op(node, "AveragePool"), is_max = is_op(node, "MaxPool");
      if ((!is_conv && !is_average && !is_max) || !is_only_output(graph_, node)) continue;
      const auto pad = spatial_pad(graph_, node.inputs[0]);
      if (!pad || rewrite_.is_removed(pad->node->id)) continue;
      if (is_conv) {
        absorb_into_conv(node, *pad);
      } else {
        absorb_into_pool(node, *pad);
      }
    }
    return rewrite_.take();
  }

 private:
  void absorb_into_conv(const Node& node, const SpatialPad& pad) {
    if (pad.value != 0) return;
    if (auto pads = sum(ops::Conv::read(NodeView(graph_, node)).window, pad)) replace(node, pad, std::move(*pads), {});
  }

  void absorb_into_pool(const Node& node, const SpatialPad& pad) {
    const NodeView view(graph_, node);
    const ops::Pool op = ops::Pool::read(view);
    auto pads = sum(op.window, pad);
    if (!pads || op.window.ceil_mode || !fits_in_window(op.window, *pads)) return;
    if (op.kind == ops::Pool::Kind::max) {
      if (std::isinf(pad.value) && pad.value < 0) replace(node, pad, std::move(*pads), {});
      return;
    }
    // What is padded counts, so the pooling's own pads must count as well, or not be there.
    const bool has_none = std::all_of(op.window.pads.begin(), op.window.pads.end(), [](int64_t size) { return size == 0; });
    if (pad.value == 0 && (op.count_include_pad || has_none))
      replace(node, pad, std::move(*pads), Attribute{"count_include_pad", int64_t{1}});
  }

  /// The pads of both; nothing where the window's own follow from the size of its input.
  static std::optional<std::vector<int64_t>> sum(const ops::Window& window, const SpatialPad& pad) {
    const bool are_given = window.auto_pad == ops::AutoPad::notset || window.auto_pad == ops::AutoPad::valid;
    if (!are_given || (!window.pads.empty() && window.pads.size() != pad.pads.size())) return std::nullopt;
    std::vector<int64_t> pads = pad.pads;
    if (window.auto_pad == ops::AutoPad::notset) {
      for (size_t i = 0; i < window.pads.size(); ++i) pads[i] += window.pads[i];
    }
    return std::ranges::all_of(pads, [](int64_t size) { return size >= 0 && size <= kMostPad; }) ? std::optional(pads) : std::nullopt;
  }

  /// Poolings refuse pads as large as their kernel.
  static bool fits_in_window(const ops::Window& window, const std::vector<int64_t>& pads) {
    if (2 * window.kernel.size() != pads.size()) return false;
    for (size_t i = 0; i < pads.size(); ++i) {
      if (pads[i] >= window.kernel[i % window.kernel.size()]) return false;
    }
    return true;
  }

  void replace(const Node& node, const SpatialPad& pad, std::vector<int64_t> pads, std::optional<Attribute> counted) {
    if (!context_.admit()) return;
    Node padded;
    padded.name = node.name;
    padded.op_type = node.op_type;
    padded.opset = node.opset;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name != "pads" && attribute.name != "auto_pad" && (!counted || attribute.name != counted->name))
        padded.attributes.push_back(attribute);
    }
    padded.attributes.push_back({"pads", std::move(pads)});
    if (counted) padded.attributes.push_back(std::move(*counted));
    for (ValueId input : node.inputs) padded.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    padded.inputs[0] = rewrite_.current(pad.node->inputs[0]);
    rewrite_.replace_nodes(std::move(padded), node, {pad.node->id, node.id});
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

/// A Pad that nothing but a convolution or a pooling takes, which could pad by itself, becomes part of that operator's own pads.
Edit window_pads(const Graph& graph, PassContext& context) { return Absorber(graph, context).run(); }

}  // namespace rh::passes
