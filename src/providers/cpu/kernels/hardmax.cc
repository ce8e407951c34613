#include "ops/activation/hardmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/reduce/row_math.h"
#include "compute/sort/row_search.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

class HardmaxKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit HardmaxKernel(const KernelInfo& info) : op_(info.attributes<ops::Hardmax>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, x.dtype(), x.shape());
    const int rank = x.rank();
    const int axis = rank == 0 ? 0 : op_.flatten && op_.axis == rank ? rank : normalize_axis(op_.axis, rank);
    const int64_t length = op_.flatten ? x.shape().product(axis, rank) : rank == 0 ? 1 : x.shape()[axis];
    const int64_t inner = op_.flatten || rank == 0 ? 1 : x.shape().product(axis + 1, rank);
    if (x.elements() == 0) return {};
    return in_float(context, x, y, [&](const TensorView& from, const MutableView& to) {
      return dispatch<rh::Types<float, double>>(from.dtype(), "Hardmax", [&]<typename T>() {
        context.parallel().for_range(x.elements() / length, {2.0 * sizeof(T) * length, 2.0 * length}, [&](Range part) {
          for (int64_t row = part.begin; row < part.end;) {
            const int64_t offset = row / inner * length * inner + row % inner;
            const int64_t most = length <= std::numeric_limits<int32_t>::max() ? kColumns : 1;
            const int64_t columns = std::min({most, inner - row % inner, part.end - row});
            if (columns == 1) mark_largest(from.data<T>() + offset, to.data<T>() + offset, length, inner);
            const auto mark = [&](auto count) { mark_columns(from.data<T>() + offset, to.data<T>() + offset, length, inner, count); };
            if (columns > 1 && columns < kColumns) mark(columns);
            if (columns == kColumns) mark(std::integral_constant<int64_t, kColumns>());
            row += columns;
          }
        });
      });
    });
  }

 private:
  static constexpr int64_t kColumns = 64, kShortRow = 8;

  /// Neighbouring columns, row by row.
  template <typename T, typename Count>
  static void mark_columns(const T* x, T* y, int64_t length, int64_t stride, Count columns) {
    using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    T best[kColumns];
    Place places[kColumns] = {};
    std::copy_n(x, columns, best);
    for (int64_t i = 1; i < length; ++i) {
      const T* row = x + i * stride;
      for (int64_t c = 0; c < columns; ++c) {
        const bool better = row[c] > best[c];
        best[c] = better ? row[c] : best[c];
        places[c] = better ? static_cast<Place>(i) : places[c];
      }
    }
    for (int64_t i = 0; i < length; ++i) {
      T row[kColumns];
      for (int64_t c = 0; c < columns; ++c) row[c] = places[c] == static_cast<Place>(i) ? T(1) : T(0);
      std::copy_n(row, static_cast<int64_t>(columns), y + i * stride);
    }
  }

  template <typename T>
  static void mark_largest(const T* x, T* y, int64_t length, int64_t stride) {
    if constexpr (std::is_same_v<T, float>) {
      if (stride == 1 && length > kShortRow && mark_largest_of_numbers(x, y, length)) return;
    }
    int64_t best = 0;
    for (int64_t i = 1; i < length; ++i) {
      if (x[i * stride] > x[best * stride]) best = i;
    }
    for (int64_t i = 0; i < length; ++i) y[i * stride] = T(i == best ? 1.0f : 0.0f);
  }

  /// False where a NaN is among them.
  static bool mark_largest_of_numbers(const float* x, float* y, int64_t length) {
    float largest = 0;
    compute::reduce_rows(compute::Reduction::max, x, &largest, 1, length);
    if (std::isnan(largest)) return false;
    const int64_t best = compute::find_not_below(x, length, largest);  // there is one, where denormal numbers count as zero as well
    std::fill_n(y, length, 0.0f);
    y[best] = 1;
    return true;
  }

  ops::Hardmax op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(HardmaxKernel)
