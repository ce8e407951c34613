#include "providers/cpu/short_rows.h"

#include "providers/cpu/broadcast.h"

namespace rh::cpu {

bool run_short_rows(RunContext& context, compute::Binary op, const ops::LegacyBroadcast& legacy) {
  constexpr int64_t kShortRow = 256;  // elements
  const TensorView a = context.input(0), b = context.input(1);
  if (a.dtype() != DType::float32 || b.dtype() != DType::float32 || legacy.trailing_ones(a.rank(), b.rank()) != 0) return false;
  if (a.elements() == 1 || b.elements() == 1 || a.shape() == b.shape()) return false;
  const Shape shape = broadcast(a.shape(), b.shape());
  const Shape* const shapes[] = {&a.shape(), &b.shape()};
  const Broadcast rows(shape, shapes);
  const int64_t length = rows.row_length();
  if (rows.step(0) == rows.step(1) || length >= kShortRow || rows.elements() <= length) return false;
  const bool number_first = rows.step(0) == 0;
  const int number = number_first ? 0 : 1, other = 1 - number;
  const TensorView &numbers = number_first ? a : b, &x = number_first ? b : a;
  const MutableView y = context.output(0, DType::float32, shape);
  const Cost cost{2.0 * sizeof(float), 1};
  context.parallel().for_range(y.elements(), cost, [&](Range part) {
    rows.run_rows(part, [&](int64_t at, const int64_t* offsets, int64_t count, int64_t size) {
      compute::binary_rows(op, number_first, numbers.data<float>() + offsets[number], rows.row_stride(number),
                           x.data<float>() + offsets[other], rows.row_stride(other), y.data<float>() + at, count, size);
    });
  });
  return true;
}

}  // namespace rh::cpu
