#include "ops/activation/prelu.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const PRelu&, InferenceContext& context) { infer_same(context); }

}  // namespace rh::ops

RH_DEFINE_OP(PRelu)
