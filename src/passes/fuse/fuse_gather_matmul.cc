// Pattern: MatMul of a vector each and the matrices that Gather or GatherND takes of a constant table, as a mixture of experts has them.
// Replacement: GatheredMatMul, which reads the matrices where they lie, those of all vectors of an expert once.
// Not: other types than float32; matrices that something else takes; operands of more than a vector each.

#include "ops/tensor/gather.h"
#include "ops/tensor/gather_nd.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

class Joiner : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    return visit_nodes([&](const Node& node) {
      if (!is_op(node, "MatMul") || !is_only_output(graph_, node)) return;
      for (const size_t side : {0, 1}) {
        const Node* gather = graph_.producer(node.inputs[side]);
        if (!gather || !chooses_matrices(*gather) || !are_vectors(node.inputs[1 - side], side == 0) || !context_.admit()) continue;
        Node made =
            part_of(node, true, "GatheredMatMul",
                    {rewrite_.current(node.inputs[1 - side]), rewrite_.current(gather->inputs[0]), rewrite_.current(gather->inputs[1])},
                    {{"table_left", int64_t{side == 0}}});
        made.domain = "roundhouse";
        made.opset = 1;
        return rewrite_.replace_nodes(std::move(made), node, {gather->id, node.id});
      }
    });
  }

 private:
  /// Whether whole matrices of a constant table are taken, for one node alone.
  bool chooses_matrices(const Node& gather) const {
    const bool by_axis = is_op(gather, "Gather");
    if ((!by_axis && !is_op(gather, "GatherND")) || !only_user(graph_, gather)) return false;
    const Tensor* table = graph_.value(gather.inputs[0]).constant_tensor();
    const TensorType& indices = tensor_type(graph_, gather.inputs[1]);
    if (!table || table->dtype() != DType::float32 || table->shape().rank() != 3 || table->elements() == 0 || !indices.has_rank())
      return false;
    if (by_axis) {
      const int64_t axis = ops::Gather::read(NodeView(graph_, gather)).axis;
      return (axis == 0 || axis == -3) && indices.rank() == 1;
    }
    return ops::GatherND::read(NodeView(graph_, gather)).batch_dims == 0 && indices.rank() == 2 && indices.dims->back().is_constant(1);
  }

  /// Whether the value is [B, K, 1], or [B, 1, K].
  bool are_vectors(ValueId id, bool as_columns) const {
    const TensorType& type = tensor_type(graph_, id);
    return type.dtype == DType::float32 && type.has_rank() && type.rank() == 3 && (*type.dims)[as_columns ? 2 : 1].is_constant(1);
  }
};

}  // namespace

Edit fuse_gather_matmul(const Graph& graph, PassContext& context) { return Joiner(graph, context).run(); }

}  // namespace rh::passes
