#include "ops/sequence/sequence_erase.h"

#include "ops/registry.h"
#include "ops/sequence/sequence_types.h"

namespace rh::ops {

void infer(const SequenceErase&, InferenceContext& context) {
  sequence_element(context, 0);
  context.set_output(0, context.input_type(0));
}

}  // namespace rh::ops

RH_DEFINE_OP(SequenceErase)
