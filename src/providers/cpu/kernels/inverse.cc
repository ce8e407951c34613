#include "ops/math/inverse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "compute/elimination.h"
#include "compute/scratch.h"
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
    const int64_t size = x.shape()[rank - 1];
    const MutableView y = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    const int64_t elements = size * size;
    return dispatch<Types>(x.dtype(), "Inverse", [&]<typename T>() {
      const double work = static_cast<double>(elements) * static_cast<double>(size + 8);
      context.parallel().for_range(x.elements() / elements, {2.0 * static_cast<double>(elements) * sizeof(T), work}, [&](Range part) {
        double* matrix =
            static_cast<double*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(elements) * sizeof(double)));
        std::vector<int64_t> pivots(static_cast<size_t>(size));
        for (int64_t at = part.begin * elements; at < part.end * elements; at += elements) {
          for (int64_t k = 0; k < elements; ++k) matrix[k] = static_cast<double>(x.data<T>()[at + k]);
          invert(matrix, size, pivots);
          for (int64_t k = 0; k < elements; ++k) y.data<T>()[at + k] = narrowed<T>(matrix[k]);
        }
      });
    });
  }

 private:
  /// In place: a column that is done makes room for that of the inverse. Rows that were exchanged are columns of the inverse.
  static void invert(double* m, int64_t size, std::vector<int64_t>& pivots) {
    for (int64_t column = 0; column < size; ++column) {
      int64_t pivot = column;
      for (int64_t row = column + 1; row < size; ++row) {
        if (std::fabs(m[row * size + column]) > std::fabs(m[pivot * size + column])) pivot = row;
      }
      pivots[static_cast<size_t>(column)] = pivot;
      if (m[pivot * size + column] == 0) return std::fill_n(m, size * size, std::numeric_limits<double>::quiet_NaN()), void();
      double* line = m + column * size;
      if (pivot != column) std::swap_ranges(line, line + size, m + pivot * size);
      const double scale = 1 / line[column];
      line[column] = 1;
      for (int64_t k = 0; k < size; ++k) line[k] *= scale;
      compute::eliminate_rows(line, 1, m, column, size, column, 0, size);
      compute::eliminate_rows(line, 1, line + size, size - column - 1, size, column, 0, size);
    }
    for (int64_t column = size; column-- > 0;) {
      const int64_t pivot = pivots[static_cast<size_t>(column)];
      for (int64_t row = 0; pivot != column && row < size; ++row) std::swap(m[row * size + column], m[row * size + pivot]);
    }
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(InverseKernel)
