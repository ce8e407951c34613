#include "ops/text/murmur_hash3.h"

#include "ops/registry.h"

namespace rh::ops {

MurmurHash3 MurmurHash3::read(const NodeView& node) { return {static_cast<uint32_t>(node.int_or("seed", 0)), node.flag("positive", true)}; }

void infer(const MurmurHash3& op, InferenceContext& context) {
  context.set_output(0, op.positive ? DType::uint32 : DType::int32, context.input_tensor(0).dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(MurmurHash3)
