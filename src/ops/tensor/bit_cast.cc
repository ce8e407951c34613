#include "ops/tensor/bit_cast.h"

#include "ops/registry.h"

namespace rh::ops {

BitCast BitCast::read(const NodeView& node) {
  const int64_t to = node.required_int("to");
  if (to <= 0 || to >= kDTypeCount || to == static_cast<int64_t>(DType::string)) {
    node.fail("to is {}, expected the number of an element type other than string", to);
  }
  return {static_cast<DType>(to)};
}

void infer(const BitCast& op, InferenceContext& context) {
  const DType from = context.input_dtype(0);
  if (from != DType::undefined && bits_of(from) != bits_of(op.to)) {
    context.node().fail("to is {}, expected a type of {} bits as {} has", to_string(op.to), bits_of(from), to_string(from));
  }
  context.set_output(0, op.to, context.input_tensor(0).dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(BitCast)
