#pragma once

#include "ops/ml/post_transform.h"

namespace rh::cpu {

/// Transforms the `count` scores of one row in place: each for logistic and probit, together for softmax and softmax_zero (scores of 0
/// stay).
void apply_post_transform(ops::PostTransform transform, double* scores, int64_t count);

/// Transforms the scores of regressors: as above, but a single one only by probit, which is what models are made for, as ONNX Runtime does.
void apply_target_transform(ops::PostTransform transform, double* scores, int64_t count);

}  // namespace rh::cpu
