#include "ops/math/inverse.h"

#include <cmath>
#include <limits>
#include <utility>

#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

/// Elimination with partial pivoting, in double. Matrices without an inverse give NaN.
class InverseKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, Float16>;

  explicit InverseKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int rank = x.rank();
    if (rank < 2 || x.shape()[rank - 1] != x.shape()[rank - 2]) {
      return error_status(ErrorCode::invalid_argument, "Inverse: the input has shape {}, expected square matrices", x.shape().to_string());
    }
    const int64_t size = x.shape()[rank - 1], elements = size * size;
    const MutableView y = context.output(0, x.shape());
    double *matrix = context.scratch_array<double>(elements), *inverse = context.scratch_array<double>(elements);
    return dispatch<Types>(x.dtype(), "Inverse", [&]<typename T>() {
      for (int64_t at = 0; at < x.elements(); at += elements) {
        for (int64_t k = 0; k < elements; ++k) matrix[k] = static_cast<double>(x.data<T>()[at + k]);
        invert(matrix, inverse, size);
        for (int64_t k = 0; k < elements; ++k) y.data<T>()[at + k] = narrowed<T>(inverse[k]);
      }
    });
  }

 private:
  static void invert(double* m, double* inverse, int64_t size) {
    for (int64_t k = 0; k < size * size; ++k) inverse[k] = k % (size + 1) == 0 ? 1 : 0;
    for (int64_t column = 0; column < size; ++column) {
      int64_t pivot = column;
      for (int64_t row = column + 1; row < size; ++row) {
        if (std::fabs(m[row * size + column]) > std::fabs(m[pivot * size + column])) pivot = row;
      }
      if (m[pivot * size + column] == 0) return std::fill_n(inverse, size * size, std::numeric_limits<double>::quiet_NaN()), void();
      for (int64_t k = 0; pivot != column && k < size; ++k) {
        std::swap(m[pivot * size + k], m[column * size + k]);
        std::swap(inverse[pivot * size + k], inverse[column * size + k]);
      }
      const double scale = 1 / m[column * size + column];
      for (int64_t k = 0; k < size; ++k) m[column * size + k] *= scale, inverse[column * size + k] *= scale;
      for (int64_t row = 0; row < size; ++row) {
        const double factor = m[row * size + column];
        if (row == column || factor == 0) continue;
        for (int64_t k = 0; k < size; ++k) {
          m[row * size + k] -= factor * m[column * size + k];
          inverse[row * size + k] -= factor * inverse[column * size + k];
        }
      }
    }
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(InverseKernel)
