#include "ops/sequence/sequence_length.h"

#include "ops/registry.h"
#include "ops/sequence/sequence_types.h"

namespace rh::ops {

void infer(const SequenceLength&, InferenceContext& context) {
  sequence_element(context, 0);
  context.set_output(0, DType::int64, SymbolicShape{});
}

}  // namespace rh::ops

RH_DEFINE_OP(SequenceLength)
