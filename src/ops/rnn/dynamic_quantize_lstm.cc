#include "ops/rnn/dynamic_quantize_lstm.h"

#include "ops/registry.h"

namespace rh::ops {

DynamicQuantizeLSTM DynamicQuantizeLSTM::read(const NodeView& node) {
  const DynamicQuantizeLSTM op{.layer = Rnn::read(node)};
  if (op.layer.hidden_size < 1) node.fail("hidden_size is {}, expected at least 1", op.layer.hidden_size);
  return op;
}

void infer(const DynamicQuantizeLSTM& op, InferenceContext& context) { infer(op.layer, context); }

}  // namespace rh::ops

RH_DEFINE_OP(DynamicQuantizeLSTM)
