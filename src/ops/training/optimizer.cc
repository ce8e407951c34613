#include "ops/training/optimizer.h"

#include "ops/registry.h"

namespace rh::ops {

namespace {

Optimizer::Kind read_kind(const NodeView& node) {
  if (node.op_type() == "Adagrad") return Optimizer::Kind::adagrad;
  if (node.op_type() == "Adam") return Optimizer::Kind::adam;
  const std::string mode = node.required_string("mode");
  if (mode == "standard") return Optimizer::Kind::momentum;
  if (mode == "nesterov") return Optimizer::Kind::nesterov;
  node.fail("attribute 'mode' is '{}', expected standard or nesterov", mode);
}

}  // namespace

Optimizer Optimizer::read(const NodeView& node) {
  Optimizer op{.kind = read_kind(node)};
  op.alpha = node.float_or("alpha", 0.9f);
  op.beta = node.float_or("beta", 0.999f);
  op.epsilon = node.float_or("epsilon", 1e-6f);
  op.decay = node.float_or("decay_factor", 0);
  op.norm = node.float_or("norm_coefficient", 0);
  op.norm_after = node.float_or("norm_coefficient_post", 0);
  op.states = op.kind == Kind::adam ? 2 : 1;
  const int given = node.input_count() - 2, per_tensor = 2 + op.states;
  if (given <= 0 || given % per_tensor != 0) {
    node.fail("has {} inputs, expected 2 and {} for each tensor that is updated", node.input_count(), per_tensor);
  }
  op.tensors = given / per_tensor;
  if (node.output_count() != op.tensors * (1 + op.states)) {
    node.fail("has {} outputs, expected {}: the tensors and their states", node.output_count(), op.tensors * (1 + op.states));
  }
  return op;
}

void infer(const Optimizer& op, InferenceContext& context) {
  for (int k = 0; k < op.tensors * (1 + op.states); ++k) {
    const int input = 2 + (k < op.tensors ? k : k + op.tensors);
    const TensorType& x = context.input_tensor(input);
    context.set_output(k, x.dtype, x.dims);
  }
}

}  // namespace rh::ops

RH_DEFINE_OP(Optimizer)
