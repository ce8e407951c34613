#include "ops/text/regex_full_match.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const RegexFullMatch&, InferenceContext& context) { context.set_output(0, DType::boolean, context.input_tensor(0).dims); }

}  // namespace rh::ops

RH_DEFINE_OP(RegexFullMatch)
