#include "ops/nn/expand_depthwise.h"

#include "ops/nn/block_channels.h"
#include "ops/nn/filters.h"
#include "ops/registry.h"

namespace rh::ops {

ExpandDepthwise ExpandDepthwise::read(const NodeView& node) {
  return {.window = read_filter_window(node, 2),
          .expand = FusedActivation::read_of_channels(node, "expand"),
          .activation = FusedActivation::read_of_channels(node),
          .blocked = node.flag("blocked")};
}

void infer(const ExpandDepthwise& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &filters = context.input_tensor(2);
  if (!x.has_rank() || !filters.has_rank()) return context.set_output(0, x.dtype);
  const int rank = op.blocked ? 5 : 4;
  if (x.rank() != rank || filters.rank() != 4) {
    context.node().fail("input {} and weights {} have ranks that do not fit, expected {} and 4", to_string(*x.dims),
                        to_string(*filters.dims), rank);
  }
  const Dim& hidden = (*filters.dims)[0];
  const Dim blocks = hidden.is_constant() ? Dim((hidden.value() + kChannelBlock - 1) / kChannelBlock) : Dim();
  SymbolicShape dims{(*x.dims)[0], op.blocked ? blocks : hidden, Dim(), Dim()};
  for (size_t i = 0; i < 2 && op.window.is_complete(2); ++i) dims[i + 2] = op.window.output_dim(i, (*x.dims)[i + 2]);
  if (op.blocked) dims.push_back(Dim(kChannelBlock));
  if (op.blocked && context.node().has_output(1)) context.set_output(1, x.dtype, SymbolicShape{dims[0], channels_of_blocks(dims[1])});
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(ExpandDepthwise)
