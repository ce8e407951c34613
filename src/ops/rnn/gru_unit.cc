#include "ops/rnn/gru_unit.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const GRUUnit&, InferenceContext& context) { context.set_output(0, context.input_tensor(0)); }

}  // namespace rh::ops

RH_DEFINE_OP(GRUUnit)
