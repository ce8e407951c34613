#include "ops/sequence/sequence_at.h"

#include "ops/registry.h"
#include "ops/sequence/sequence_types.h"

namespace rh::ops {

void infer(const SequenceAt&, InferenceContext& context) { context.set_output(0, sequence_element(context, 0)); }

}  // namespace rh::ops

RH_DEFINE_OP(SequenceAt)
