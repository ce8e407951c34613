#include "ops/tensor/gather.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

void infer_gathered_contents(InferenceContext& context) {
  const auto contents = context.input_contents(0);
  const auto indices = context.input_ints(1);
  if (!contents || !indices) return;
  SymbolicShape y;
  const int64_t size = static_cast<int64_t>(contents->size());
  for (int64_t index : *indices) {
    if (index < -size || index >= size) {
      context.node().fail("indices has {}, expected a value in [{}, {}]", index, -size, size - 1);
    }
    y.push_back((*contents)[index < 0 ? index + size : index]);
  }
  context.set_output_contents(0, std::move(y));
}

}  // namespace

void infer(const Gather& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &indices = context.input_tensor(1);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() == 0) context.node().fail("the input is a scalar, expected rank 1 or more");
  const int axis = context.check_axis("axis", op.axis, x.rank());
  if (!indices.has_rank()) return context.set_output(0, x.dtype);
  SymbolicShape y(x.dims->begin(), x.dims->begin() + axis);
  y.insert(y.end(), indices.dims->begin(), indices.dims->end());
  y.insert(y.end(), x.dims->begin() + axis + 1, x.dims->end());
  const bool small = y.size() <= 1 && x.rank() == 1;
  context.set_output(0, x.dtype, std::move(y));
  if (small) infer_gathered_contents(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Gather)
