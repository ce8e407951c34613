#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MatMulInteger: ai.onnx 10. Inputs A, B (8 bits), zero points of A (one or one a row) and of B (one or one a column); int32 out.
struct MatMulInteger {
  static MatMulInteger read(const NodeView&) { return {}; }
};

void infer(const MatMulInteger& op, InferenceContext& context);

/// The shape of numpy.matmul of two inputs; nothing where a rank is not known.
std::optional<SymbolicShape> product_shape(const InferenceContext& context, int a, int b);

}  // namespace rh::ops
