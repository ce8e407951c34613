#include "ops/ml/binarizer.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const Binarizer&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  context.set_output(0, x.dtype, x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(Binarizer)
