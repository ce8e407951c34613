#include "ops/vision/affine_grid.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const AffineGrid&, InferenceContext& context) {
  const TensorType& theta = context.input_tensor(0);
  context.set_output(0, theta.dtype);
  const auto size = context.input_contents(1);
  if (!size) return;
  if (size->size() != 4 && size->size() != 5)
    context.node().fail("size has {} elements, expected 4 or 5: [N, C, spatial...]", size->size());
  SymbolicShape dims{(*size)[0]};
  dims.insert(dims.end(), size->begin() + 2, size->end());
  dims.push_back(Dim(static_cast<int64_t>(size->size()) - 2));
  context.set_output(0, theta.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(AffineGrid)
