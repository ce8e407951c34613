#include "ops/tensor/center_crop_pad.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const CenterCropPad& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  SymbolicShape y = *x.dims;
  const size_t count = op.axes ? op.axes->size() : y.size();
  auto sizes = context.input_contents(1);
  if (!sizes) sizes = SymbolicShape(count);
  if (sizes->size() != count) context.node().fail("shape has {} elements, expected {}", sizes->size(), count);
  for (size_t i = 0; i < count; ++i) {
    const int axis = op.axes ? context.check_axis("axes", (*op.axes)[i], x.rank()) : static_cast<int>(i);
    y[axis] = (*sizes)[i];
  }
  context.set_output(0, x.dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(CenterCropPad)
