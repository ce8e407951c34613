#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft NGramRepeatBlock: scores [batch, words] with -inf for each word that would repeat an n-gram of the tokens [batch, length].
struct NGramRepeatBlock {
  int64_t size = 1;

  static NGramRepeatBlock read(const NodeView& node);
};

void infer(const NGramRepeatBlock& op, InferenceContext& context);

}  // namespace rh::ops
