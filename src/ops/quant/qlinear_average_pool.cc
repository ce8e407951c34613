#include "ops/quant/qlinear_average_pool.h"

#include "ops/registry.h"

namespace rh::ops {

QLinearAveragePool QLinearAveragePool::read(const NodeView& node) {
  QLinearAveragePool op{.global = node.op_type() == "QLinearGlobalAveragePool",
                        .count_include_pad = node.flag("count_include_pad"),
                        .channels_last = node.flag("channels_last")};
  if (op.global) return op;
  op.window = Window::read(node);
  op.window.pools = true;
  if (op.window.kernel.empty()) node.fail("attribute 'kernel_shape' is missing, expected a list of integers");
  op.window.complete(node, static_cast<int>(op.window.kernel.size()));
  return op;
}

void infer(const QLinearAveragePool& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() < 3) context.node().fail("input has rank {}, expected at least 3: [N, C, spatial...]", x.rank());
  if (!op.global && op.window.kernel.size() + 2 != x.dims->size()) {
    context.node().fail("kernel_shape has {} values, expected {} for input {}", op.window.kernel.size(), x.rank() - 2, to_string(*x.dims));
  }
  SymbolicShape dims = *x.dims;
  const size_t first = op.channels_last ? 1 : 2;
  for (size_t i = 0; i + 2 < dims.size(); ++i) dims[first + i] = op.global ? Dim(1) : op.window.output_dim(i, dims[first + i]);
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(QLinearAveragePool)
