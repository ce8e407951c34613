#include "ops/logic/logical.h"

#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = Logical::Function;
constexpr OpName<F> kNames[] = {{"And", F::logical_and}, {"Or", F::logical_or}, {"Xor", F::logical_xor}};

}  // namespace

Logical Logical::read(const NodeView& node) { return {enumerator_of(node, kNames), LegacyBroadcast::read(node)}; }

void infer(const Logical& op, InferenceContext& context) { infer_binary(context, op.legacy, DType::boolean); }

}  // namespace rh::ops

RH_DEFINE_OP(Logical)
