#include "ops/tensor/tile.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Tile& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  const auto repeats = context.input_contents(1);
  SymbolicShape y = *x.dims;
  if (op.one_axis) {
    const auto axis = context.input_ints(2);
    if (!axis || axis->size() != 1 || !repeats || repeats->size() != 1) return context.set_output(0, x.dtype, unknown_dims(x.rank()));
    Dim& d = y[context.check_axis("axis", axis->front(), x.rank())];
    d = d * repeats->front();
    return context.set_output(0, x.dtype, std::move(y));
  }
  if (!repeats) return context.set_output(0, x.dtype, unknown_dims(x.rank()));
  if (repeats->size() != y.size()) context.node().fail("repeats has {} elements, but the input has rank {}", repeats->size(), y.size());
  for (size_t k = 0; k < y.size(); ++k) {
    const Dim& count = (*repeats)[k];
    if (count.is_constant() && count.value() < 0) context.node().fail("repeats has {}, expected none below 0", count.value());
    y[k] = y[k] * count;
  }
  const auto contents = context.input_contents(0);
  if (contents && !contents->empty() && y.size() == 1 && (*repeats)[0].is_constant() && y[0].is_constant() && y[0].value() <= 64) {
    SymbolicShape all;
    for (int64_t i = 0; i < (*repeats)[0].value(); ++i) all.insert(all.end(), contents->begin(), contents->end());
    context.set_output_contents(0, std::move(all));
  }
  context.set_output(0, x.dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(Tile)
