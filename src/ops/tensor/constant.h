#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Constant: ai.onnx 1, 9, 11 (sparse), 12 (numbers, strings), 13 on.
struct Constant {
  Tensor value;                        ///< undefined where it is sparse
  std::optional<SparseTensor> sparse;  ///< stays so until the elements are wanted: it may be small and yet stand for very many

  static Constant read(const NodeView& node);
  DType dtype() const { return sparse ? sparse->dtype : value.dtype(); }
  const ::rh::Shape& shape() const { return sparse ? sparse->dense_shape : value.shape(); }
  /// The value, a sparse one made dense. Throws Error{invalid_graph} where it is not sound (tensor/sparse.h), Error{not_implemented} where
  /// the dense one is far larger.
  Tensor dense() const;
};

void infer(const Constant& op, InferenceContext& context);

}  // namespace rh::ops
