#include "ops/quant/qlinear_conv.h"

#include "ops/registry.h"

namespace rh::ops {

QLinearConv QLinearConv::read(const NodeView& node) {
  QLinearConv op{.window = Window::read(node),
                 .group = node.int_or("group", 1),
                 .integer = node.op_type() == "ConvInteger",
                 .channels_last = node.flag("channels_last")};
  if (op.group < 1) node.fail("group is {}, expected at least 1", op.group);
  const ValueType& type = node.input_type(op.weights());
  const TensorType* weights = type.is_tensor() ? &type.tensor() : nullptr;
  if (!weights || !weights->has_rank()) return op;
  if (weights->rank() < 3) node.fail("weights have rank {}, expected at least 3: [M, C/group, kernel...]", weights->rank());
  const size_t spatial = static_cast<size_t>(weights->rank() - 2);
  const SymbolicShape& dims = *weights->dims;
  for (size_t i = 0; i < spatial; ++i) {
    if (!dims[i + 2].is_constant()) continue;
    if (op.window.kernel.size() == i) op.window.kernel.push_back(dims[i + 2].value());
    if (op.window.kernel.size() > i && op.window.kernel[i] != dims[i + 2].value()) {
      node.fail("kernel_shape[{}] is {} but the weights have shape {}", i, op.window.kernel[i], to_string(dims));
    }
  }
  if (op.window.kernel.size() == spatial) op.window.complete(node, static_cast<int>(spatial));
  return op;
}

void infer(const QLinearConv& op, InferenceContext& context) {
  const DType dtype = op.integer ? DType::int32 : context.input_dtype(7);
  const TensorType &x = context.input_tensor(0), &w = context.input_tensor(op.weights());
  if (!x.has_rank() || !w.has_rank()) return context.set_output(0, dtype);
  if (x.rank() != w.rank() || x.rank() < 3) {
    context.node().fail("input {} and weights {} have ranks that do not fit, expected the same rank, at least 3", to_string(*x.dims),
                        to_string(*w.dims));
  }
  const size_t rank = x.dims->size(), channel_axis = op.channels_last ? rank - 1 : 1, first = op.channels_last ? 1 : 2;
  const Dim &channels = (*x.dims)[channel_axis], &filters = (*w.dims)[0], &per_group = (*w.dims)[1];
  if (channels.is_constant() && per_group.is_constant() && channels.value() != per_group.value() * op.group) {
    context.node().fail("input has {} channels, expected {} (weights {}, group {})", channels.value(), per_group.value() * op.group,
                        to_string(*w.dims), op.group);
  }
  if (filters.is_constant() && filters.value() % op.group != 0) {
    context.node().fail("{} filters cannot be divided among {} groups", filters.value(), op.group);
  }
  SymbolicShape dims(rank);
  dims[0] = (*x.dims)[0];
  dims[channel_axis] = filters;
  const bool complete = op.window.is_complete(rank - 2);
  for (size_t i = 0; i + 2 < rank; ++i) dims[first + i] = complete ? op.window.output_dim(i, (*x.dims)[first + i]) : Dim();
  context.set_output(0, dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(QLinearConv)
