#include "ops/tensor/one_hot.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

Dim depth_of(const InferenceContext& context) {
  if (const Tensor* depth = context.input_constant(1)) {
    if (depth->elements() != 1) context.node().fail("depth has {} elements, expected 1", depth->elements());
    const double wanted = element_as_double(depth->view(), 0);
    return wanted >= 1 && wanted <= 1e15 ? Dim(static_cast<int64_t>(wanted)) : Dim();  // the kernel refuses others
  }
  const auto contents = context.input_contents(1);
  return contents && contents->size() == 1 ? contents->front() : Dim();
}

}  // namespace

void infer(const OneHot& op, InferenceContext& context) {
  const TensorType& indices = context.input_tensor(0);
  const DType dtype = context.input_dtype(2);
  if (!indices.has_rank()) return context.set_output(0, dtype);
  SymbolicShape y = *indices.dims;
  y.insert(y.begin() + context.check_axis("axis", op.axis, indices.rank() + 1), depth_of(context));
  context.set_output(0, dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(OneHot)
