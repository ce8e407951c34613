#include "ops/math/det.h"

#include <cmath>
#include <utility>

#include "compute/elimination.h"
#include "compute/scratch.h"
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
    if (y.elements() == 0) return {};
    return dispatch<Types>(x.dtype(), "Det", [&]<typename T>() {
      const double work = static_cast<double>(size * size) * static_cast<double>(size + 8) / 3;
      context.parallel().for_range(y.elements(), {static_cast<double>(size * size) * sizeof(T), work}, [&](Range part) {
        double* matrix =
            static_cast<double*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(size * size) * sizeof(double)));
        for (int64_t i = part.begin; i < part.end; ++i) {
          const T* from = x.data<T>() + i * size * size;
          for (int64_t k = 0; k < size * size; ++k) matrix[k] = static_cast<double>(from[k]);
          y.data<T>()[i] = narrowed<T>(determinant(matrix, size));
        }
      });
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
      const double* pivots = m + column * size;
      compute::eliminate_rows(pivots, pivots[column], m + (column + 1) * size, size - column - 1, size, column, column + 1, size);
    }
    return product;
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DetKernel)
