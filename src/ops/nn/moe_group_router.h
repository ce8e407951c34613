#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MoEGroupRouter: com.microsoft 1. Of each row of logits, the experts with the largest sigmoid + bias in the best groups of experts, as
/// log(sigmoid) among sentinels (output 0); or all sigmoids with and without the bias (outputs 1 and 2), also of rows times a matrix.
struct MoEGroupRouter {
  int64_t top_k = 1;          ///< experts of a row
  int64_t groups = 1;         ///< n_group
  int64_t chosen = 1;         ///< topk_group: groups of a row
  int64_t group_experts = 2;  ///< group_topk: experts of a group whose sum ranks it
  float sentinel = -10000;

  static MoEGroupRouter read(const NodeView& node);
};

void infer(const MoEGroupRouter& op, InferenceContext& context);

}  // namespace rh::ops
