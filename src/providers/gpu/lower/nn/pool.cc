#include "ops/nn/pool.h"

#include "providers/gpu/lower/nn/spatial.h"

namespace rh::gpu {

kit::Support supports_pool(const NodeView& node) {
  if (kit::Support refusal = require_spatial(node)) return refusal;
  if (node.has_output(1)) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of {} gives no indices", node.op_type());
  return require_types(node, 0, kFloats);
}

void lower_pool(const NodeView& node, Lowering& lowering) {
  ops::Pool op = ops::Pool::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), out = lowering.shape(y);
  if (out.elements() == 0) return;
  op.window.complete(node, in.rank() - 2);
  PoolArguments arguments{};
  arguments.planes = in[0] * in[1];
  fill_window(arguments, op.window, in, out);
  const bool is_average = op.kind == ops::Pool::Kind::average;
  lowering.launch({"pool", fmt::format("pool<{}, {}, {}>", element_name(lowering.dtype(y)), is_average, op.count_include_pad)},
                  over_elements(out.elements()), arguments, {{offsetof(PoolArguments, x), x}, {offsetof(PoolArguments, y), y, true}});
}

}  // namespace rh::gpu
