#include "ops/nn/flex_attention.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

FlexAttention FlexAttention::read(const NodeView& node) {
  FlexAttention op{.changes_scores = node.subgraph("score_mod") != nullptr, .changes_weights = node.subgraph("prob_mod") != nullptr};
  if (node.has("scale")) op.scale = node.float_or("scale", 1);
  if (node.has("softmax_precision")) {
    const int64_t type = node.int_or("softmax_precision", 0);
    if (type != 1 && type != 10 && type != 11 && type != 16) node.fail("softmax_precision is {}, expected 1, 10, 11 or 16", type);
    op.softmax_precision = static_cast<DType>(type);
  }
  for (const char* name : {"score_mod", "prob_mod"}) {
    const Graph* graph = node.subgraph(name);
    if (graph && (graph->inputs().size() != 1 || graph->outputs().size() != 1)) {
      node.fail("{} has {} inputs and {} outputs, expected one each", name, graph->inputs().size(), graph->outputs().size());
    }
  }
  return op;
}

DType FlexAttention::precision_for(DType dtype) const {
  if (softmax_precision != DType::undefined) return softmax_precision;
  return dtype == DType::float64 ? DType::float64 : DType::float32;
}

void infer(const FlexAttention& op, InferenceContext& context) {
  const TensorType &q = context.input_tensor(0), &k = context.input_tensor(1), &v = context.input_tensor(2);
  for (const TensorType* type : {&q, &k, &v}) {
    if (type->has_rank() && type->rank() != 4) context.node().fail("an input has shape {}, expected 4 dimensions", to_string(*type->dims));
  }
  SymbolicShape scores = unknown_dims(4);
  for (int i = 0; i < 3 && q.has_rank(); ++i) scores[static_cast<size_t>(i)] = (*q.dims)[static_cast<size_t>(i)];
  if (k.has_rank()) scores[3] = (*k.dims)[2];
  const ValueType type = ValueType::tensor(op.precision_for(q.dtype), scores);
  if (op.changes_scores) context.infer_subgraph("score_mod", std::span(&type, 1));
  if (op.changes_weights) context.infer_subgraph("prob_mod", std::span(&type, 1));
  if (!q.has_rank()) return context.set_output(0, q.dtype);
  SymbolicShape dims = *q.dims;
  dims[3] = v.has_rank() ? (*v.dims)[3] : Dim();
  context.set_output(0, q.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(FlexAttention)
