// Pattern: Reshape to groups, InstanceNormalization, Reshape back, with one constant a channel that scales and shifts.
// Replacement: GroupNormalization.
// Not: numbers of groups or channels that are not constant; where something else takes a value in between.

#include "ops/nn/normalization.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/channel_affine.h"

namespace rh::passes {

namespace {

constexpr int kPerChannelOpset = 21;  // of ai.onnx, from which on GroupNormalization has a scale and a bias for each channel

/// x to [N, groups, ...], normalised, and back to the shape of x.
struct Found {
  const Node *to_groups = nullptr, *normalization = nullptr, *back = nullptr;
  int64_t groups = 0, channels = 0;
};

/// The constant dimension 1 of [N, ?, ...]; nothing where it is not known.
std::optional<int64_t> channels_of(const TensorType& type) {
  if (!type.has_rank() || type.rank() < 3 || !(*type.dims)[1].is_constant()) return std::nullopt;
  return (*type.dims)[1].value();
}

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_op(node, "InstanceNormalization")) continue;
      if (const auto found = match(node)) replace(*found);
    }
    return rewrite_.take();
  }

 private:
  std::optional<Found> match(const Node& node) const {
    Found f{.to_groups = graph_.producer(node.inputs[0]), .normalization = &node, .back = only_user(graph_, node)};
    if (!f.to_groups || !f.back || !is_op(*f.to_groups, "Reshape") || !is_op(*f.back, "Reshape")) return std::nullopt;
    if (!has_one_use(graph_.value(node.inputs[0])) || f.back->inputs[0] != node.outputs[0]) return std::nullopt;
    const TensorType &x = tensor_type(graph_, f.to_groups->inputs[0]), &grouped = tensor_type(graph_, node.inputs[0]);
    const auto channels = channels_of(x), groups = channels_of(grouped);
    // Equal batches and as many elements: each group holds all positions of as many channels.
    if (!channels || !groups || *groups < 1 || *channels % *groups != 0 || (*x.dims)[0] != (*grouped.dims)[0]) return std::nullopt;
    f.groups = *groups;
    f.channels = *channels;
    const bool is_back = have_same_type(graph_, f.to_groups->inputs[0], f.back->outputs[0]);
    return is_back && is_only_output(graph_, *f.back) ? std::optional(f) : std::nullopt;
  }

  /// The scale and bias of the groups, for each channel, and what follows.
  std::optional<ChannelAffineChain> parameters(const Found& f) const {
    const NodeView view(graph_, *f.normalization);
    const Tensor *scale = view.constant_input(1), *bias = view.constant_input(2);
    const TensorType& x = tensor_type(graph_, f.to_groups->inputs[0]);
    if (!scale || !bias || scale->elements() != f.groups || bias->elements() != f.groups) return std::nullopt;
    ChannelAffineChain chain = channel_affines_after(graph_, *f.back, {x.dtype, x.rank(), f.channels});
    for (int64_t c = 0; c < f.channels; ++c) {
      const int64_t group = c / (f.channels / f.groups);
      const size_t channel = static_cast<size_t>(c);
      chain.affine.shift[channel] += chain.affine.scale[channel] * element_as_double(bias->view(), group);
      chain.affine.scale[channel] *= element_as_double(scale->view(), group);
    }
    return chain;
  }

  void replace(const Found& f) {
    const auto chain = parameters(f);
    if (!chain) return;
    const DType dtype = tensor_type(graph_, f.to_groups->inputs[0]).dtype;
    auto scale = channel_parameters(dtype, chain->affine.scale), bias = channel_parameters(dtype, chain->affine.shift);
    if (!scale || !bias || !context_.admit()) return;
    const std::string& name = graph_.value(chain->last->outputs[0]).name;
    Edit& edit = rewrite_.edit();
    Node fused;
    fused.name = f.normalization->name;
    fused.op_type = "GroupNormalization";
    fused.opset = std::max(f.normalization->opset, kPerChannelOpset);
    fused.attributes = {{"num_groups", f.groups}, {"epsilon", ops::GroupNormalization::read(NodeView(graph_, *f.normalization)).epsilon}};
    fused.inputs = {rewrite_.current(f.to_groups->inputs[0]), edit.add_constant(name + "_scale", std::move(*scale)),
                    edit.add_constant(name + "_bias", std::move(*bias))};
    std::vector<NodeId> nodes{f.to_groups->id, f.normalization->id, f.back->id};
    nodes.insert(nodes.end(), chain->nodes.begin(), chain->nodes.end());
    rewrite_.replace_nodes(std::move(fused), *chain->last, nodes);
  }
};

}  // namespace

Edit recognise_group_normalizations(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
