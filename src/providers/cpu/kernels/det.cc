#include "ops/math/det.h"

#include <cmath>
#include <utility>

#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

/// Elimination with partial pivoting, in double.
class DetKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit DetKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int rank = x.rank();
    if (rank < 2 || x.shape()[rank - 1] != x.shape()[rank - 2]) {
      return error_status(ErrorCode::invalid_argument, "Det: input has shape {}, expected square matrices", x.shape().to_string());
    }
    const int64_t size = x.shape()[rank - 1];
    const MutableView y = context.output(0, Shape(x.shape().begin(), x.shape().end() - 2));
    double* matrix = context.scratch_array<double>(size * size);
    return dispatch<Types>(x.dtype(), "Det", [&]<typename T>() {
      for (int64_t i = 0; i < y.elements(); ++i) {
        const T* from = x.data<T>() + i * size * size;
        for (int64_t k = 0; k < size * size; ++k) matrix[k] = static_cast<double>(from[k]);
        y.data<T>()[i] = narrowed<T>(determinant(matrix, size));
      }
    });
  }

 private:
  static double determinant(double* m, int64_t size) {
    double product = 1;
    for (int64_t column = 0; column < size; ++column) {
      int64_t pivot = column;
      for (int64_t row = column + 1; row < size; ++row) {
        if (std::fabs(m[row * size + column]) > std::fabs(m[pivot * size + column])) pivot = row;
      }
      if (m[pivot * size + column] == 0) return 0;
      if (pivot != column) {
        for (int64_t k = 0; k < size; ++k) std::swap(m[pivot * size + k], m[column * size + k]);
        product = -product;
      }
      product *= m[column * size + column];
      for (int64_t row = column + 1; row < size; ++row) {
        const double factor = m[row * size + column] / m[column * size + column];
        for (int64_t k = column; k < size; ++k) m[row * size + k] -= factor * m[column * size + k];
      }
    }
    return product;
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DetKernel)
