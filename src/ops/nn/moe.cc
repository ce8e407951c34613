#include "ops/nn/moe.h"

#include "ops/quant/block_size.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

MoE::Activation activation_of(const NodeView& node) {
  const std::string name = node.string_or("activation_type", "relu");
  if (name == "relu") return MoE::Activation::relu;
  if (name == "gelu") return MoE::Activation::gelu;
  if (name == "silu") return MoE::Activation::silu;
  if (name == "swiglu") return MoE::Activation::swiglu;
  if (name == "identity") return MoE::Activation::identity;
  node.fail("activation_type is '{}', expected relu, gelu, silu, swiglu or identity", name);
}

void read_codes(const NodeView& node, MoE& op) {
  const std::string type = node.string_or("quant_type", "int");
  if (type != "int") node.fail("quant_type is '{}', expected 'int': other codes do not run on the CPU", type);
  const int64_t bits = node.int_or("expert_weight_bits", 4);
  constexpr const char* kNames[] = {"fc1_expert_weight_bits", "fc2_expert_weight_bits", "fc3_expert_weight_bits"};
  for (int i = 0; i < 3; ++i) {
    op.bits[i] = node.int_or(kNames[i], bits);
    if (op.bits[i] != 2 && op.bits[i] != 4 && op.bits[i] != 8) node.fail("{} is {}, expected 2, 4 or 8", kNames[i], op.bits[i]);
  }
  op.block_size = node.int_or("block_size", 0);
  if (op.block_size != 0) checked_block_size(node, op.block_size);
}

}  // namespace

MoE MoE::read(const NodeView& node) {
  MoE op{.activation = activation_of(node),
         .k = node.int_or("k", 1),
         .normalize = node.flag("normalize_routing_weights"),
         .alpha = node.float_or("activation_alpha", 1),
         .beta = node.float_or("activation_beta", 0),
         .limit = node.float_or("swiglu_limit", std::numeric_limits<float>::infinity()),
         .limits_activated = node.flag("swiglu_limit_after_activation"),
         .quantized = node.op_type() == "QMoE"};
  if (op.limits_activated && op.activation != Activation::swiglu)
    node.fail("swiglu_limit_after_activation is 1, expected activation_type swiglu");
  if (op.k < 1) node.fail("k is {}, expected at least 1", op.k);
  if (!(op.limit >= 0)) node.fail("swiglu_limit is {}, expected at least 0", op.limit);
  const int64_t gates = node.int_or("swiglu_fusion", 0);
  if (gates < 0 || gates > 2) node.fail("swiglu_fusion is {}, expected 0, 1 or 2", gates);
  op.gates = static_cast<Gates>(gates);
  if (op.quantized) read_codes(node, op);
  const bool has_fc3 = node.has_input(op.weights(2));
  if (op.is_fused() && has_fc3) node.fail("fc3_experts_weights are given, expected none where swiglu_fusion is {}", gates);
  if (op.activation == Activation::swiglu && !op.is_fused() && !has_fc3) {
    node.fail("fc3_experts_weights are left out, expected the factors of the gates of fc1 where swiglu_fusion is 0");
  }
  return op;
}

void infer(const MoE& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &router = context.input_tensor(1);
  if (x.has_rank() && x.rank() != 2 && x.rank() != 3) {
    context.node().fail("input has shape {}, expected [tokens, hidden size] or [batch, length, hidden size]", to_string(*x.dims));
  }
  if (router.has_rank()) {
    if (router.rank() != 2) context.node().fail("router_probs have shape {}, expected [tokens, experts]", to_string(*router.dims));
    const Dim& experts = router.dims->back();
    if (experts.is_constant() && op.k > experts.value()) {
      context.node().fail("k is {}, expected at most the {} experts", op.k, experts.value());
    }
  }
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(MoE)
