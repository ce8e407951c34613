#include "ops/optional/optional_has_element.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const OptionalHasElement&, InferenceContext& context) { context.set_output(0, DType::boolean, SymbolicShape{}); }

}  // namespace rh::ops

RH_DEFINE_OP(OptionalHasElement)
