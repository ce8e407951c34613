#include "ops/nn/softmax.h"

#include <algorithm>
#include <cmath>

#include "compute/row_math.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

// One row of `length` elements `stride` apart. Sums in double: rows may be long and this is the plain form for every type.
template <typename T>
void softmax_row(const T* x, T* y, int64_t length, int64_t stride, bool log) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < length; ++i) largest = std::max(largest, static_cast<double>(x[i * stride]));
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += std::exp(static_cast<double>(x[i * stride]) - largest);
  const double log_sum = std::log(sum);
  for (int64_t i = 0; i < length; ++i) {
    const double shifted = static_cast<double>(x[i * stride]) - largest;
    const double value = log ? shifted - log_sum : std::exp(shifted) / sum;
    if constexpr (std::is_same_v<T, double>) {
      y[i * stride] = value;
    } else {
      y[i * stride] = T(static_cast<float>(value));
    }
  }
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
    if (x.dtype() == DType::float32) return run_float(context, x, y, rows, length, inner);
    return dispatch<Types>(x.dtype(), "Softmax", [&]<typename T>() {
      context.parallel().for_range(rows, {2.0 * sizeof(T) * length, 20.0 * length}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          const int64_t offset = row / inner * length * inner + row % inner;
          softmax_row(x.data<T>() + offset, y.data<T>() + offset, length, inner, op_.log);
        }
      });
    });
  }

 private:
  Status run_float(RunContext& context, const TensorView& x, const MutableView& y, int64_t rows, int64_t length, int64_t inner) const {
    const int64_t blocks = rows / inner, size = length * inner;
    context.parallel().for_range(blocks, {2.0 * sizeof(float) * static_cast<double>(size), 8.0 * static_cast<double>(size)},
                                 [&](Range part) {
                                   const float* from = x.data<float>() + part.begin * size;
                                   float* to = y.data<float>() + part.begin * size;
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
