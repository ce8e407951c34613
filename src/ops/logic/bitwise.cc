#include "ops/logic/bitwise.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = Bitwise::Function;
constexpr OpName<F> kNames[] = {
    {"BitwiseAnd", F::bit_and}, {"BitwiseOr", F::bit_or}, {"BitwiseXor", F::bit_xor}, {"BitShift", F::shift_left}};

}  // namespace

Bitwise Bitwise::read(const NodeView& node) {
  F function = enumerator_of(node, kNames);
  if (function == F::shift_left) {
    const std::string direction = node.required_string("direction");
    if (direction != "LEFT" && direction != "RIGHT") node.fail("direction is '{}', expected LEFT or RIGHT", direction);
    if (direction == "RIGHT") function = F::shift_right;
  }
  return {function};
}

void infer(const Bitwise& op, InferenceContext& context) { infer_binary(context, {}); }

}  // namespace rh::ops

RH_DEFINE_OP(Bitwise)
