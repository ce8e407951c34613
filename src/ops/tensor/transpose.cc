#include "ops/tensor/transpose.h"

#include "ops/dim_rules.h"
#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Transpose& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) {
    return context.set_output(0, x.dtype, op.perm ? std::optional(SymbolicShape(op.perm->size())) : std::nullopt);
  }
  const int rank = x.rank();
  SymbolicShape y(static_cast<size_t>(rank));
  if (op.perm) {
    const std::string text = to_string(std::span<const int64_t>(*op.perm));
    if (static_cast<int>(op.perm->size()) != rank) {
      constexpr auto kText = "perm {} has {} entries, but the input has rank {}";
      if (static_cast<int>(op.perm->size()) < rank) fail_when_run(context.node(), kText, text, op.perm->size(), rank);
      context.node().fail(kText, text, op.perm->size(), rank);
    }
    std::vector<bool> seen(static_cast<size_t>(rank));
    for (int k = 0; k < rank; ++k) {
      const int64_t from = (*op.perm)[k];
      if (from < 0 || from >= rank || seen[from]) context.node().fail("perm {} is no permutation of 0 to {}", text, rank - 1);
      seen[from] = true;
      y[k] = (*x.dims)[from];
    }
  } else {
    y.assign(x.dims->rbegin(), x.dims->rend());
  }
  context.set_output(0, x.dtype, std::move(y));
  if (rank <= 1) keep_contents(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Transpose)
