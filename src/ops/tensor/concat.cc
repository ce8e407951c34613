#include "ops/tensor/concat.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

void infer_joined_contents(InferenceContext& context) {
  SymbolicShape all;
  for (int i = 0; i < context.input_count(); ++i) {
    const auto part = context.input_contents(i);
    if (!part) return;
    all.insert(all.end(), part->begin(), part->end());
  }
  context.set_output_contents(0, std::move(all));
}

}  // namespace

void infer(const Concat& op, InferenceContext& context) {
  std::optional<SymbolicShape> y;
  DType dtype = DType::undefined;
  int axis = -1;
  bool all_ranks = true;
  for (int i = 0; i < context.input_count(); ++i) {
    const TensorType& x = context.input_tensor(i);
    if (x.dtype != DType::undefined) dtype = x.dtype;
    if (!x.has_rank()) {
      all_ranks = false;
      continue;
    }
    if (!y) {
      axis = context.check_axis("axis", op.axis, x.rank());
      y = x.dims;
      continue;
    }
    if (x.dims->size() != y->size()) context.node().fail("input {} has rank {}, but an earlier input has rank {}", i, x.rank(), y->size());
    for (int k = 0; k < x.rank(); ++k) {
      Dim& d = (*y)[k];
      d = k == axis ? d + (*x.dims)[k] : agree(context, d, (*x.dims)[k], "dimensions off the axis");
    }
  }
  if (y && !all_ranks) (*y)[axis] = Dim();
  const bool small = y && y->size() == 1;
  context.set_output(0, dtype, std::move(y));
  if (small) infer_joined_contents(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Concat)
