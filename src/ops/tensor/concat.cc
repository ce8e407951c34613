#include "ops/tensor/concat.h"

#include <algorithm>

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

bool has_no_elements(const SymbolicShape& dims) {
  return std::ranges::any_of(dims, [](const Dim& d) { return d.is_constant(0); });
}

// Whether a value beside one of another rank may be [0], which is nothing.
bool may_be_nothing(const SymbolicShape& dims) { return dims.size() == 1 && (!dims[0].is_constant() || dims[0].is_constant(0)); }

// Whether sizes that are numbers are equal off the axis.
bool may_go_with(const SymbolicShape& a, const SymbolicShape& b, size_t axis) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (k != axis && a[k].is_constant() && b[k].is_constant() && a[k].value() != b[k].value()) return false;
  }
  return true;
}

// The size off the axis. Of two symbols the larger one counts: they are equal, but where a part has no elements, and then 0 as well.
Dim common(const InferenceContext& context, const Dim& a, const Dim& b) {
  const auto is_open = [](const Dim& d) { return !d.is_constant() && !d.is_unknown(); };
  return is_open(a) && is_open(b) ? Dim::apply(Dim::Function::max, a, b) : agree(context, a, b, "dimensions off the axis");
}

}  // namespace

std::optional<SymbolicShape> joined_dims(const InferenceContext& context, int64_t along, int first, int step) {
  std::optional<SymbolicShape> y;
  bool all_ranks = true;
  for (int i = first; i < context.input_count(); i += step) {
    const TensorType& x = context.input_tensor(i);
    if (!x.has_rank()) {
      all_ranks = false;
      continue;
    }
    if (!y) {
      y = x.dims;
      continue;
    }
    const size_t axis = static_cast<size_t>(context.check_axis("axis", along, std::max(x.rank(), static_cast<int>(y->size()))));
    if (!may_go_with(*x.dims, *y, axis)) {  // what is empty adds nothing
      const bool same_rank = x.dims->size() == y->size();
      if (same_rank ? has_no_elements(*x.dims) : may_be_nothing(*x.dims)) continue;
      if (same_rank ? has_no_elements(*y) : may_be_nothing(*y)) {
        y = x.dims;
        continue;
      }
    }
    if (x.dims->size() != y->size()) context.node().fail("input {} has rank {}, but an earlier input has rank {}", i, x.rank(), y->size());
    for (size_t k = 0; k < y->size(); ++k) {
      Dim& d = (*y)[k];
      d = k == axis ? d + (*x.dims)[k] : common(context, d, (*x.dims)[k]);
    }
  }
  if (!y) return y;
  const int axis = context.check_axis("axis", along, static_cast<int>(y->size()));
  if (!all_ranks) (*y)[static_cast<size_t>(axis)] = Dim();
  return y;
}

void infer(const Concat& op, InferenceContext& context) {
  DType dtype = DType::undefined;
  for (int i = 0; i < context.input_count(); ++i) {
    if (const DType of_input = context.input_dtype(i); of_input != DType::undefined) dtype = of_input;
  }
  std::optional<SymbolicShape> y = joined_dims(context, op.axis, 0, 1);
  const bool small = y && y->size() == 1;
  context.set_output(0, dtype, std::move(y));
  if (small) infer_joined_contents(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Concat)
