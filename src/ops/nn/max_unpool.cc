#include "ops/nn/max_unpool.h"

#include "ops/registry.h"

namespace rh::ops {

MaxUnpool MaxUnpool::read(const NodeView& node) {
  MaxUnpool op{.window = Window::read(node)};
  if (op.window.kernel.empty()) node.fail("attribute 'kernel_shape' is missing");
  op.window.complete(node, static_cast<int>(op.window.kernel.size()));
  return op;
}

int64_t MaxUnpool::unpooled_size(size_t axis, int64_t pooled) const {
  const size_t n = window.kernel.size();
  return (pooled - 1) * window.strides[axis] - window.pads[axis] - window.pads[n + axis] + window.kernel[axis];
}

void infer(const MaxUnpool& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  context.set_output(0, x.dtype);
  if (!x.has_rank()) return;
  const size_t n = op.window.kernel.size();
  if (static_cast<size_t>(x.rank()) != n + 2)
    context.node().fail("X has shape {}, expected {} spatial dimensions as kernel_shape", to_string(*x.dims), n);
  if (context.has_input(2)) {
    if (auto shape = context.input_contents(2); shape && shape->size() == n + 2) context.set_output(0, x.dtype, std::move(*shape));
    return;
  }
  SymbolicShape dims(x.dims->begin(), x.dims->begin() + 2);
  for (size_t i = 0; i < n; ++i) {
    const int64_t shift = op.unpooled_size(i, 1);
    dims.push_back(((*x.dims)[i + 2] - Dim(1)) * Dim(op.window.strides[i]) + Dim(shift));
  }
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(MaxUnpool)
