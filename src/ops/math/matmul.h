#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MatMul: ai.onnx 1, 9, 13. numpy.matmul: batch dimensions broadcast, 1-D operands are vectors.
struct MatMul {
  static MatMul read(const NodeView&) { return {}; }
};

void infer(const MatMul& op, InferenceContext& context);

/// The symbolic shape of numpy.matmul; throws Error{invalid_graph} where the operands do not fit.
SymbolicShape matmul_shape(const InferenceContext& context, const SymbolicShape& a, const SymbolicShape& b);

}  // namespace rh::ops
