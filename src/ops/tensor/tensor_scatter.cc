#include "ops/tensor/tensor_scatter.h"

#include "ops/registry.h"

namespace rh::ops {

TensorScatter TensorScatter::read(const NodeView& node) {
  const std::string mode = node.string_or("mode", "linear");
  if (mode != "linear" && mode != "circular") node.fail("mode is '{}', expected 'linear' or 'circular'", mode);
  return {.axis = node.int_or("axis", -2), .circular = mode == "circular"};
}

void infer(const TensorScatter& op, InferenceContext& context) {
  const TensorType &cache = context.input_tensor(0), &update = context.input_tensor(1);
  if (cache.has_rank()) {
    if (context.check_axis("axis", op.axis, cache.rank()) == 0)
      context.node().fail("axis is {}, which is the batch, expected another", op.axis);
    if (update.has_rank() && update.rank() != cache.rank()) {
      context.node().fail("update has shape {}, expected rank {} as past_cache", to_string(*update.dims), cache.rank());
    }
  }
  context.set_output(0, cache);
}

}  // namespace rh::ops

RH_DEFINE_OP(TensorScatter)
