#include "ops/nn/skip_layer_normalization.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

SkipLayerNormalization SkipLayerNormalization::read(const NodeView& node) {
  const SkipLayerNormalization op{.epsilon = node.float_or("epsilon", 1e-12f), .rms = node.op_type() == "SkipSimplifiedLayerNormalization"};
  if (!(op.epsilon >= 0)) node.fail("epsilon is {}, expected at least 0", op.epsilon);
  return op;
}

void infer(const SkipLayerNormalization& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  std::optional<SymbolicShape> statistics;
  if (x.has_rank()) {
    if (x.rank() < 2) context.node().fail("input has shape {}, expected at least two dimensions", to_string(*x.dims));
    for (int i : {2, op.beta(), op.bias()}) {
      if (i < 0 || !context.has_input(i) || !context.input_tensor(i).has_rank()) continue;
      const SymbolicShape& dims = *context.input_tensor(i).dims;
      if (dims.size() != 1) context.node().fail("input {} has shape {}, expected one dimension", i, to_string(dims));
      agree(context, x.dims->back(), dims[0], "the last dimension of the input and its parameters");
    }
    SymbolicShape rows = *x.dims;
    rows.back() = Dim(1);
    statistics = std::move(rows);
  }
  context.set_output(0, x);
  context.set_output(1, DType::float32, statistics);
  context.set_output(2, DType::float32, statistics);
  context.set_output(3, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(SkipLayerNormalization)
