#include "ops/nn/maxpool_with_mask.h"

#include "ops/registry.h"

namespace rh::ops {

MaxpoolWithMask MaxpoolWithMask::read(const NodeView& node) {
  MaxpoolWithMask op{Window::read(node)};
  op.window.pools = true;
  if (op.window.kernel.empty()) node.fail("attribute 'kernel_shape' is missing, expected a list of integers");
  op.window.complete(node, static_cast<int>(op.window.kernel.size()));
  return op;
}

void infer(const MaxpoolWithMask& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  const size_t spatial = op.window.kernel.size();
  if (x.dims->size() != spatial + 2) {
    context.node().fail("input has shape {}, expected [N, C, spatial...] with {} spatial dimensions as kernel_shape has",
                        to_string(*x.dims), spatial);
  }
  SymbolicShape shape = *x.dims;
  for (size_t i = 0; i < spatial; ++i) shape[i + 2] = op.window.output_dim(i, shape[i + 2]);
  context.set_output(0, x.dtype, std::move(shape));
}

}  // namespace rh::ops

RH_DEFINE_OP(MaxpoolWithMask)
