#include "ops/math/gemm.h"

#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

Gemm Gemm::read(const NodeView& node) {
  return {.alpha = node.float_or("alpha", 1),
          .beta = node.float_or("beta", 1),
          .transpose_a = node.flag("transA"),
          .transpose_b = node.flag("transB"),
          .activation = FusedActivation::read(node)};
}

void infer(const Gemm& op, InferenceContext& context) {
  const TensorType &a = context.input_tensor(0), &b = context.input_tensor(1);
  if (!a.has_rank() || !b.has_rank()) return context.set_output(0, a.dtype);
  if (a.rank() != 2 || b.rank() != 2)
    context.node().fail("inputs have shapes {} and {}, expected two matrices", to_string(*a.dims), to_string(*b.dims));
  const auto dim = [](const TensorType& t, int i) { return (*t.dims)[static_cast<size_t>(i)]; };
  const Dim inner_a = dim(a, op.transpose_a ? 0 : 1), inner_b = dim(b, op.transpose_b ? 1 : 0);
  if (inner_a.is_constant() && inner_b.is_constant() && inner_a.value() != inner_b.value()) {
    context.node().fail("shapes {} and {} (transA {}, transB {}) cannot be multiplied", to_string(*a.dims), to_string(*b.dims),
                        op.transpose_a, op.transpose_b);
  }
  SymbolicShape dims{dim(a, op.transpose_a ? 1 : 0), dim(b, op.transpose_b ? 0 : 1)};
  if (context.has_input(2) && context.input_tensor(2).has_rank()) {
    const SymbolicShape& c = *context.input_tensor(2).dims;
    bool fits = c.size() <= 2;
    for (size_t i = 0; fits && i < c.size(); ++i) {
      const Dim& target = dims[2 - c.size() + i];
      fits = !c[i].is_constant() || c[i].is_constant(1) || !target.is_constant() || c[i].value() == target.value();
    }
    if (!fits) fail_when_run(context.node(), "C has shape {}, expected one that broadcasts to {}", to_string(c), to_string(dims));
  }
  context.set_output(0, a.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(Gemm)
