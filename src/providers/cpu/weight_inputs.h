#pragma once

#include "providers/cpu/convert.h"

namespace rh::cpu {

/// Products of float rows with weights in a form of their own (quantised in blocks): what their kernels share.

/// Status{invalid_argument} naming `what` where the input has another number of elements.
Status expect_elements(const TensorView& view, const char* what, int64_t expected);
/// Status{invalid_argument} where A [..., columns] has another last dimension; `name` is what the node calls `columns`.
Status expect_columns(const TensorView& a, const char* name, int64_t columns);

/// Codes of 2, 4 or 8 bits as bytes: `rows` rows of `count`, each of which begins on a byte, the first in the low bits.
void unpack_codes(const uint8_t* from, int bits, int64_t rows, int64_t count, uint8_t* out);

/// Output 0, A's shape with `columns` as its last dimension, written by multiply(rows, a, y) in float; A's elements are widened and the
/// result is narrowed.
template <typename Multiply>
Status float_product(RunContext& context, int64_t columns, Multiply multiply) {
  const TensorView a = context.input(0);
  Shape shape = a.shape();
  const int64_t k = shape[shape.rank() - 1];
  shape[shape.rank() - 1] = columns;
  const ConvertedOutput y(context, 0, shape, DType::float32);
  if (y.view().elements() == 0) return {};
  multiply(a.elements() / k, converted(context, a, DType::float32).data<float>(), y.data<float>());
  y.store(context.parallel());
  return {};
}

}  // namespace rh::cpu
