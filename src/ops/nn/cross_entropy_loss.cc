#include "ops/nn/cross_entropy_loss.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

CrossEntropyLoss CrossEntropyLoss::read(const NodeView& node) {
  CrossEntropyLoss op{.takes_scores = node.op_type() == "SoftmaxCrossEntropyLoss"};
  const std::string reduction = node.string_or("reduction", "mean");
  if (reduction == "none")
    op.reduction = Reduction::none;
  else if (reduction == "sum")
    op.reduction = Reduction::sum;
  else if (reduction != "mean")
    node.fail("reduction is '{}', expected 'none', 'sum' or 'mean'", reduction);
  if (node.has("ignore_index")) op.ignore_index = node.int_or("ignore_index", 0);
  return op;
}

void infer(const CrossEntropyLoss& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &labels = context.input_tensor(1);
  if (x.has_rank() && x.rank() < 2) context.node().fail("input 0 has shape {}, expected [N, C, ...]", to_string(*x.dims));
  if (x.has_rank() && labels.has_rank()) {
    if (labels.rank() != x.rank() - 1) {
      context.node().fail("input 0 has shape {} and the labels {}, expected [N, C, ...] and [N, ...]", to_string(*x.dims),
                          to_string(*labels.dims));
    }
    for (int i = 0; i < labels.rank(); ++i) agree(context, (*x.dims)[i == 0 ? 0 : i + 1], (*labels.dims)[i], "dimensions");
  }
  if (op.reduction != CrossEntropyLoss::Reduction::none) {
    context.set_output(0, x.dtype, SymbolicShape{});
  } else {
    context.set_output(0, x.dtype, labels.dims);
  }
  if (op.takes_scores && context.output_count() > 1) context.set_output(1, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(CrossEntropyLoss)
