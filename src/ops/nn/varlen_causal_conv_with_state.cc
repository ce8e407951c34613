#include "ops/nn/varlen_causal_conv_with_state.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

VarlenCausalConvWithState VarlenCausalConvWithState::read(const NodeView& node) {
  const std::string activation = node.string_or("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    node.fail("activation is '{}', expected 'none', 'silu' or 'swish'", activation);
  }
  const VarlenCausalConvWithState op{
      .silu = activation != "none", .dilation = node.int_or("dilation", 1), .capacity = node.int_or("state_update_capacity", 0)};
  if (op.dilation < 1) node.fail("dilation is {}, expected 1 or more", op.dilation);
  if (op.capacity < 0 || op.capacity > 8) node.fail("state_update_capacity is {}, expected 0 to 8", op.capacity);
  if (node.has_input(6) || node.has_input(7) || node.int_or("group_size", 1) != 1 || node.int_or("delta_offset", 0) != 0) {
    node.fail(
        "the inputs kernel_delta and previous_mask, and the attributes group_size and delta_offset for them, are not supported on CPU");
  }
  if (node.has_input(5) != (op.capacity > 0)) {
    node.fail("state_update_capacity {} {} the input capture_count", op.capacity, op.capacity > 0 ? "needs" : "has no use for");
  }
  return op;
}

void infer(const VarlenCausalConvWithState& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &weight = context.input_tensor(1), &state = context.input_tensor(4);
  const auto check_rank = [&](const TensorType& type, const char* name, int rank) {
    if (type.has_rank() && type.rank() != rank) {
      context.node().fail("{} has shape {}, expected {} dimensions", name, to_string(*type.dims), rank);
    }
  };
  check_rank(x, "input", 2);
  check_rank(weight, "weight", 3);
  check_rank(state, "initial_state", 3);
  context.set_output(0, x);
  context.set_output(1, state.has_rank() ? ValueType::tensor(x.dtype, *state.dims) : ValueType::tensor(x.dtype));
  if (context.has_output(2)) context.set_output(2, x.dtype);
  if (!x.has_rank() || !state.has_rank()) return;
  Dim channels = agree(context, (*x.dims)[1], (*state.dims)[1], "channels");
  if (weight.has_rank()) {
    channels = agree(context, channels, (*weight.dims)[0], "channels");
    agree(context, (*state.dims)[2], ((*weight.dims)[2] - Dim(1)) * Dim(op.dilation), "positions of the state");
  }
  if (context.has_output(2)) context.set_output(2, x.dtype, SymbolicShape{(*state.dims)[0], Dim(op.capacity), channels});
}

}  // namespace rh::ops

RH_DEFINE_OP(VarlenCausalConvWithState)
