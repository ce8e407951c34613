#include "ops/nn/causal_conv_with_state.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

CausalConvWithState CausalConvWithState::read(const NodeView& node) {
  const std::string activation = node.string_or("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    node.fail("activation is '{}', expected 'none', 'silu' or 'swish'", activation);
  }
  CausalConvWithState op{.silu = activation != "none", .channels_last = node.flag("channels_last")};
  op.dilation = node.int_or("dilation", 1);
  op.window = node.int_or("state_window", 0);
  const int64_t ndim = node.int_or("ndim", 1);
  if (ndim != 1) node.fail("ndim is {}, expected 1", ndim);
  if (op.dilation < 1) node.fail("dilation is {}, expected 1 or more", op.dilation);
  if (op.window < 0 || op.window > 8) node.fail("state_window is {}, expected 0 to 8", op.window);
  constexpr std::pair<const char*, int64_t> kOfGpus[] = {
      {"state_update_capacity", 0}, {"state_channels_last", -1}, {"state_length", 0}, {"input_channel_offset", 0}, {"input_channels", 0}};
  for (const auto& [name, usual] : kOfGpus) {
    if (node.int_or(name, usual) != usual)
      node.fail("{} is {}, expected {}: it is not supported on CPU", name, node.int_or(name, usual), usual);
  }
  return op;
}

void infer(const CausalConvWithState& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &weight = context.input_tensor(1);
  if (weight.has_rank() && weight.rank() != 3) context.node().fail("weight has shape {}, expected 3 dimensions", to_string(*weight.dims));
  if (x.has_rank() && (op.channels_last ? x.rank() < 3 : x.rank() != 3)) {
    context.node().fail("input has shape {}, expected 3 dimensions{}", to_string(*x.dims), op.channels_last ? " or more" : "");
  }
  context.set_output(0, x);
  if (!x.has_rank()) return context.set_output(1, x.dtype);
  if (weight.has_rank() && !op.channels_last) agree(context, (*x.dims)[1], (*weight.dims)[0], "channels");
  SymbolicShape state = *x.dims;
  state[op.channels_last ? 1 : 2] = weight.has_rank() ? ((*weight.dims)[2] - Dim(1)) * Dim(op.dilation) : Dim();
  if (op.window > 0) state.insert(state.begin(), Dim(op.window));
  context.set_output(1, x.dtype, std::move(state));
}

}  // namespace rh::ops

RH_DEFINE_OP(CausalConvWithState)
