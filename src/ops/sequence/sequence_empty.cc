#include "ops/sequence/sequence_empty.h"

#include "ops/registry.h"

namespace rh::ops {

SequenceEmpty SequenceEmpty::read(const NodeView& node) {
  const int64_t dtype = node.int_or("dtype", 1);
  if (!is_known(static_cast<int>(dtype))) node.fail("dtype is {}, expected the number of an element type", dtype);
  return {.dtype = static_cast<DType>(dtype)};
}

void infer(const SequenceEmpty& op, InferenceContext& context) {
  context.set_output(0, ValueType::sequence_of(ValueType::tensor(op.dtype)));
}

}  // namespace rh::ops

RH_DEFINE_OP(SequenceEmpty)
