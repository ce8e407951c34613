// Pattern: Constant, with values of any kind.
// Replacement: an initializer; a sparse one becomes dense. Nothing for one that nobody takes.
// Not: where the dense form is far larger than the limit of folding and than the values that are given.

#include <algorithm>

#include "ops/tensor/constant.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

// A sparse constant may be far larger once it is dense.
bool grows_too_large(const ops::Constant& constant, size_t limit_bytes) {
  const auto& sparse = constant.sparse;
  return sparse && bytes_of(sparse->dtype, sparse->dense_shape.elements()) > std::max(limit_bytes, 16 * sparse->values.bytes());
}

}  // namespace

Edit convert_constants_to_initializers(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!is_op(node, "Constant")) continue;
    if (std::ranges::none_of(node.outputs, [&](ValueId output) { return is_used(graph, output); })) {
      if (context.admit()) rewrite.remove(id);
      continue;
    }
    if (!is_only_output(graph, node)) continue;
    const ops::Constant constant = ops::Constant::read(NodeView(graph, node));
    if (grows_too_large(constant, context.fold_limit_bytes) || !context.admit()) continue;
    rewrite.replace_node(node, rewrite.edit().add_constant(graph.value(node.outputs[0]).name, constant.dense()));
  }
  return rewrite.take();
}

}  // namespace rh::passes
