#include "ops/text/string_concat.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const StringConcat&, InferenceContext& context) { context.set_broadcast_output(0, DType::string, 0, 2); }

}  // namespace rh::ops

RH_DEFINE_OP(StringConcat)
