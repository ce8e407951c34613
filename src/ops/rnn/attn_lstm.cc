#include "ops/rnn/attn_lstm.h"

#include "ops/registry.h"

namespace rh::ops {

AttnLSTM AttnLSTM::read(const NodeView& node) {
  const AttnLSTM op{.layer = Rnn::read(node)};
  if (op.layer.hidden_size < 1) node.fail("hidden_size is {}, expected at least 1", op.layer.hidden_size);
  constexpr const char* kNames[] = {"QW", "MW", "V", "M"};
  for (int i = 0; i < 4; ++i) {
    if (!node.has_input(8 + i)) node.fail("{} is left out, expected QW, MW, V and M", kNames[i]);
  }
  return op;
}

void infer(const AttnLSTM& op, InferenceContext& context) { infer(op.layer, context); }

}  // namespace rh::ops

RH_DEFINE_OP(AttnLSTM)
