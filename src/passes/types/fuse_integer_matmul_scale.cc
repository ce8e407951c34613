// Pattern: MatMulInteger by a constant matrix, Cast to float32, Mul by the product of both scales, and perhaps Add of a constant row.
// Replacement: MatMulIntegerToFloat.
// Not: where something else takes a value in between; a scale of the left operand that is not one number.

#include <optional>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

bool is_number(const Graph& graph, ValueId id) {
  const TensorType& type = tensor_type(graph, id);
  return type.dtype == DType::float32 && type.is_static() && type.shape().rank() <= 1 && type.shape().elements() == 1;
}

bool is_float_vector(const Tensor* tensor, int64_t size) {
  return tensor && tensor->dtype() == DType::float32 && tensor->shape().rank() == 1 && tensor->elements() == size;
}

class Fuser : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      if (is_op(graph_.node(id), "MatMulInteger")) fuse(graph_.node(id));
    }
    return rewrite_.take();
  }

 private:
  void fuse(const Node& product) {
    const Tensor* b = NodeView(graph_, product).constant_input(1);
    const Node* cast = only_user(graph_, product);
    if (!b || b->shape().rank() != 2 || !cast || !is_op(*cast, "Cast") || tensor_type(graph_, cast->outputs[0]).dtype != DType::float32)
      return;
    const Node* scaled = only_user(graph_, *cast);
    if (!scaled || !is_op(*scaled, "Mul") || scaled->inputs[0] == scaled->inputs[1] || !is_only_output(graph_, *scaled)) return;
    const int64_t columns = b->shape()[1];
    const Node* scales = graph_.producer(other_input(*scaled, cast->outputs[0]));
    if (!scales || !is_op(*scales, "Mul")) return;
    const bool first_is_known = graph_.value(scales->inputs[0]).constant_tensor() != nullptr;
    const ValueId a_scale = scales->inputs[first_is_known ? 1 : 0], b_scale = scales->inputs[first_is_known ? 0 : 1];
    const Tensor* known = graph_.value(b_scale).constant_tensor();
    if (!known || !is_number(graph_, a_scale) || (!is_number(graph_, b_scale) && !is_float_vector(known, columns))) return;
    // A bias that is one a column.
    const Node* sum = only_user(graph_, *scaled);
    if (sum && !(is_op(*sum, "Add") && is_only_output(graph_, *sum) &&
                 is_float_vector(graph_.value(other_input(*sum, scaled->outputs[0])).constant_tensor(), columns))) {
      sum = nullptr;
    }
    const Node& last = sum ? *sum : *scaled;
    if (!context_.admit()) return;
    Node fused;
    fused.name = product.name;
    fused.op_type = "MatMulIntegerToFloat";
    fused.domain = "com.microsoft";
    fused.opset = 1;
    const auto input = [&](size_t i) { return product.inputs.size() > i ? product.inputs[i] : kNoValue; };
    fused.inputs = {rewrite_.current(input(0)), input(1), rewrite_.current(a_scale), b_scale, rewrite_.current(input(2)), input(3)};
    if (sum) fused.inputs.push_back(other_input(*sum, scaled->outputs[0]));
    std::vector<NodeId> stands_for{product.id, cast->id, scaled->id};
    if (sum) stands_for.push_back(sum->id);
    rewrite_.replace_nodes(std::move(fused), last, stands_for);
  }
};

}  // namespace

Edit fuse_integer_matmul_scale(const Graph& graph, PassContext& context) { return Fuser(graph, context).run(); }

}  // namespace rh::passes
