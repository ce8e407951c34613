#include "ops/nn/expand_depthwise.h"

#include "ops/nn/filters.h"
#include "ops/registry.h"

namespace rh::ops {

ExpandDepthwise ExpandDepthwise::read(const NodeView& node) {
  return {
      .window = read_filter_window(node, 2), .expand = FusedActivation::read(node, "expand"), .activation = FusedActivation::read(node)};
}

void infer(const ExpandDepthwise& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &filters = context.input_tensor(2);
  if (!x.has_rank() || !filters.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() != 4 || filters.rank() != 4) {
    context.node().fail("input {} and weights {} have ranks that do not fit, expected 4", to_string(*x.dims), to_string(*filters.dims));
  }
  SymbolicShape dims{(*x.dims)[0], (*filters.dims)[0], Dim(), Dim()};
  for (size_t i = 0; i < 2 && op.window.is_complete(2); ++i) dims[i + 2] = op.window.output_dim(i, (*x.dims)[i + 2]);
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(ExpandDepthwise)
