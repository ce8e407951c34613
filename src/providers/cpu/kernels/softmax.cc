#include "ops/nn/softmax.h"

#include <algorithm>
#include <cmath>

#include "compute/elementwise/double_math.h"
#include "compute/reduce/row_math.h"
#include "providers/cpu/float_rows.h"

namespace rh::cpu {

namespace {

// One row of `length` elements `stride` apart: the plain form.
void softmax_row(const double* x, double* y, int64_t length, int64_t stride, bool log) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < length; ++i) largest = std::max(largest, x[i * stride]);
  double sum = 0;
  if (log) {
    for (int64_t i = 0; i < length; ++i) sum += std::exp(x[i * stride] - largest);
    const double log_sum = std::log(sum);
    for (int64_t i = 0; i < length; ++i) y[i * stride] = x[i * stride] - largest - log_sum;
    return;
  }
  for (int64_t i = 0; i < length; ++i) {
    const double part = std::exp(x[i * stride] - largest);
    y[i * stride] = part;
    sum += part;
  }
  for (int64_t i = 0; i < length; ++i) y[i * stride] /= sum;
}

}  // namespace

class SoftmaxKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit SoftmaxKernel(const KernelInfo& info) : op_(info.attributes<ops::Softmax>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, x.shape());
    const int rank = x.rank();
    const int axis = rank == 0 ? 0 : op_.flatten && op_.axis == rank ? rank : normalize_axis(op_.axis, rank);
    const int64_t length = op_.flatten ? x.shape().product(axis, rank) : rank == 0 ? 1 : x.shape()[axis];
    const int64_t inner = op_.flatten || rank == 0 ? 1 : x.shape().product(axis + 1, rank);
    if (length == 0 || x.elements() == 0) return {};
    const int64_t rows = x.elements() / length;
    if (is_float_or_half(x.dtype())) return run_float(context, x, y, rows, length, inner);
    context.parallel().for_range(rows, {16.0 * static_cast<double>(length), 20.0 * static_cast<double>(length)}, [&](Range part) {
      if (inner == 1) {
        const int64_t at = part.begin * length;
        return compute::softmax_rows(x.data<double>() + at, y.data<double>() + at, part.size(), length, op_.log);
      }
      for (int64_t row = part.begin; row < part.end; ++row) {
        const int64_t offset = row / inner * length * inner + row % inner;
        softmax_row(x.data<double>() + offset, y.data<double>() + offset, length, inner, op_.log);
      }
    });
    return {};
  }

 private:
  Status run_float(RunContext& context, const TensorView& x, const MutableView& y, int64_t rows, int64_t length, int64_t inner) const {
    const int64_t blocks = rows / inner, size = length * inner;
    const Cost cost{2.0 * sizeof(float) * static_cast<double>(size), 8.0 * static_cast<double>(size)};
    for_float_rows(context.parallel(), x, y, blocks, size, cost, [&](const float* from, float* to, Range part) {
      if (inner == 1) {
        compute::softmax_rows(from, to, part.size(), length, op_.log);
      } else {
        compute::softmax_strided(from, to, part.size(), length, inner, op_.log);
      }
    });
    return {};
  }

  ops::Softmax op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SoftmaxKernel)
