// Pattern: LayerNormalization of channels between a Transpose that brings them last and one that brings them back.
// Replacement: ChannelNormalization, over dimension 1.
// Not: as long as another pass changes something; other types than float32; where something else takes what the first Transpose gives.

#include "ops/nn/normalization.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_op(node, "LayerNormalization")) match(node);
    }
    return rewrite_.take();
  }

 private:
  void match(const Node& node) {
    const Node *before = graph_.producer(node.inputs[0]), *after = only_user(graph_, node);
    const TensorType& x = tensor_type(graph_, node.inputs[0]);
    if (x.dtype != DType::float32 || !x.has_rank() || x.rank() < 3 || !has_one_use(graph_.value(node.inputs[0]))) return;
    const int64_t axis = ops::LayerNormalization::read(NodeView(graph_, node)).axis;
    if ((axis != -1 && axis != x.rank() - 1) || !has_parameters(node, x.dims->back()) || !after) return;
    if (!moves(before, 1, x.rank() - 1) || !moves(after, x.rank() - 1, 1) || rewrite_.is_removed(before->id) || !context_.admit()) return;
    Node made;
    made.name = node.name;
    made.op_type = "ChannelNormalization";
    made.domain = "roundhouse";
    made.opset = 1;
    for (const Attribute& attribute : node.attributes)
      if (attribute.name == "epsilon") made.attributes.push_back(attribute);
    for (ValueId input : node.inputs) made.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    made.inputs[0] = rewrite_.current(before->inputs[0]);
    rewrite_.replace_nodes(std::move(made), *after, {before->id, node.id, after->id});
  }

  /// A number for each channel.
  bool has_parameters(const Node& node, const Dim& channels) const {
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (i > 1 && node.inputs[i] == kNoValue) continue;
      const TensorType& type = tensor_type(graph_, node.inputs[i]);
      if (type.dtype != DType::float32 || !type.has_rank() || type.rank() != 1 || !(type.dims->front() == channels)) return false;
    }
    return channels.is_constant() && node.inputs.size() > 1;
  }

  /// Whether the node is a Transpose that moves one dimension to another place, and no other.
  bool moves(const Node* node, int64_t from, int64_t to) const {
    if (!node || !is_op(*node, "Transpose")) return false;
    auto perm = permutation(NodeView(graph_, *node));
    if (!perm || (*perm)[static_cast<size_t>(to)] != from) return false;
    perm->erase(perm->begin() + to);
    perm->insert(perm->begin() + from, from);
    for (size_t i = 0; i < perm->size(); ++i)
      if ((*perm)[i] != static_cast<int64_t>(i)) return false;
    return true;
  }
};

}  // namespace

Edit fuse_transposed_normalization(const Graph& graph, PassContext& context) {
  return context.is_settled() ? Matcher(graph, context).run() : Edit(graph);
}

}  // namespace rh::passes
