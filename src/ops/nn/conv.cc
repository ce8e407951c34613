#include "ops/nn/conv.h"

#include "ops/nn/filters.h"
#include "ops/registry.h"

namespace rh::ops {

Conv Conv::read(const NodeView& node) {
  Conv op{.window = read_filter_window(node, 1),
          .group = read_group(node),
          .activation = FusedActivation::read_of_channels(node),
          .sum_last = node.flag("sum_last"),
          .pool = {}};
  if (node.op_type() == "PooledConv") {
    op.pool = Window::read(node, "pool_");
    if (op.pool->kernel.size() != 2) node.fail("pool_kernel_shape has {} values, expected 2", op.pool->kernel.size());
    op.pool->complete(node, 2);
    op.pool->pools = true;
  }
  return op;
}

void infer(const Conv& op, InferenceContext& context) {
  std::optional<SymbolicShape> dims = filtered_shape(op.window, op.group, context, 1);
  if (op.pool && dims) {
    if (dims->size() != 4) context.node().fail("input has rank {}, expected 4", dims->size());
    for (size_t i = 0; i < 2; ++i) (*dims)[i + 2] = op.pool->output_dim(i, (*dims)[i + 2]);
  }
  context.set_output(0, context.input_dtype(0), std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(Conv)
