#include <algorithm>
#include <cmath>
#include <span>

#include "compute/elementwise/vector_math.h"
#include "compute/reduce/number_reductions.h"
#include "compute/reduce/row_math.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

/// LpNormalization and MeanVarianceNormalization: statistics over some axes, applied to every element.
class AxisNormalizationKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit AxisNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::AxisNormalization>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, x.shape());
    // Strides that map an element to its group of elements: 0 along the normalised axes.
    Shape kept = x.shape();
    const Axes axes = op_.axes_of(x.rank());
    for (int64_t axis : axes) kept[static_cast<int>(axis)] = 1;
    Shape strides = strides_of(kept);
    for (int64_t axis : axes) strides[static_cast<int>(axis)] = 0;
    const size_t groups = static_cast<size_t>(kept.elements());
    if (x.elements() == 0) return {};
    return in_float(context, x, y, [&](const TensorView& from, const MutableView& to) {
      return dispatch<rh::Types<float, double>>(from.dtype(), "normalization", [&]<typename T>() {
        if constexpr (std::is_same_v<T, float>) {
          if (are_rows(x, axes)) return normalize_rows(context, from, to);
          if (op_.mean_variance && normalize_planes(context, axes, from, to)) return;
        }
        if (axes.size() == 1) return normalize_lines<T>(context.parallel(), static_cast<int>(axes[0]), from, to);
        normalize_groups(context, x.shape(), strides, groups, from.data<T>(), to.data<T>());
      });
    });
  }

 private:
  static constexpr int64_t kShortRow = 8, kColumns = 64;
  using Axes = InlineVector<int64_t, 8>;

  static bool are_rows(const TensorView& x, const Axes& axes) {
    return axes.size() == 1 && x.shape().back() > kShortRow && axes[0] == x.rank() - 1;
  }

  /// Along one axis: blocks of neighbouring columns, row by row.
  template <typename T>
  void normalize_lines(const Parallel& parallel, int axis, const TensorView& x, const MutableView& y) const {
    const int64_t length = x.shape()[axis], inner = x.shape().product(axis + 1, x.rank()), unit = std::min(inner, kColumns);
    const int64_t blocks = (inner + unit - 1) / unit;
    const double elements = static_cast<double>(length * unit);
    if (inner == 1 && length <= kShortRow && !op_.mean_variance) {
      return parallel.for_range(x.elements() / length, {2.0 * sizeof(T) * elements, 4 * elements}, [&](Range part) {
        const int64_t at = part.begin * length;
        op_.p == 1 ? divide_short_rows<true>(x.data<T>() + at, y.data<T>() + at, length, part.size())
                   : divide_short_rows<false>(x.data<T>() + at, y.data<T>() + at, length, part.size());
      });
    }
    if (inner == 1) {
      return parallel.for_range(x.elements() / length, {2.0 * sizeof(T) * elements, 4 * elements}, [&](Range part) {
        for (int64_t i = part.begin * length; i < part.end * length; i += length)
          normalize_columns(x.data<T>() + i, y.data<T>() + i, length, 1, 1);
      });
    }
    parallel.for_range(x.elements() / (length * inner) * blocks, {2.0 * sizeof(T) * elements, 4 * elements}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t first = i % blocks * unit, at = i / blocks * length * inner + first;
        normalize_columns(x.data<T>() + at, y.data<T>() + at, length, inner, std::min(unit, inner - first));
      }
    });
  }

  /// Rows of a few elements by the sum of their magnitudes, or the root of that of their squares.
  template <bool kMagnitudes, typename T>
  static void divide_short_rows(const T* x, T* y, int64_t length, int64_t rows) {
    for (; rows > 0; --rows, x += length, y += length) {
      double norm = 0;
      for (int64_t i = 0; i < length; ++i) {
        const auto value = static_cast<double>(x[i]);
        norm += kMagnitudes ? std::fabs(value) : value * value;
      }
      if constexpr (!kMagnitudes) norm = std::sqrt(norm);
      const double factor = norm == 0 ? 0 : 1, divisor = norm == 0 ? 1 : norm;
      for (int64_t i = 0; i < length; ++i) y[i] = static_cast<T>(static_cast<double>(x[i]) * factor / divisor);
    }
  }

  template <typename T>
  void normalize_columns(const T* x, T* y, int64_t length, int64_t stride, int64_t columns) const {
    double first[kColumns], second[kColumns];
    std::fill_n(first, columns, 0.0);
    std::fill_n(second, columns, 0.0);
    const auto for_rows = [&](auto&& visit) {
      if (columns < kColumns) {
        for (int64_t i = 0; i < length; ++i)
          for (int64_t c = 0; c < columns; ++c) visit(i * stride + c, c);
        return;
      }
      for (int64_t i = 0; i < length; ++i)  // so many that compilers have vectors for them
        for (int64_t c = 0; c < kColumns; ++c) visit(i * stride + c, c);
    };
    const auto write_rows = [&](auto&& value) {
      if (columns < kColumns) return for_rows([&](int64_t i, int64_t c) { y[i] = static_cast<T>(value(i, c)); });
      for (int64_t i = 0; i < length; ++i) {
        T row[kColumns];
        for (int64_t c = 0; c < kColumns; ++c) row[c] = static_cast<T>(value(i * stride + c, c));
        std::copy_n(row, kColumns, y + i * stride);
      }
    };
    if (!op_.mean_variance) {
      bool summed = false;
      if constexpr (std::is_same_v<T, double>) {
        summed = columns == 1 && stride == 1 && length > kShortRow;
        if (summed) compute::fold_rows(op_.p == 1 ? compute::Fold::magnitudes : compute::Fold::squares, x, 1, length, first);
      }
      if (!summed && op_.p == 1) for_rows([&](int64_t i, int64_t c) { first[c] += std::fabs(static_cast<double>(x[i])); });
      if (!summed && op_.p != 1) for_rows([&](int64_t i, int64_t c) { first[c] += static_cast<double>(x[i]) * static_cast<double>(x[i]); });
      for (int64_t c = 0; c < columns; ++c) {
        const double norm = op_.p == 1 ? first[c] : std::sqrt(first[c]);
        second[c] = norm == 0 ? 0 : 1;
        first[c] = norm == 0 ? 1 : norm;
      }
      return write_rows([&](int64_t i, int64_t c) { return static_cast<double>(x[i]) * second[c] / first[c]; });
    }
    for_rows([&](int64_t i, int64_t c) { first[c] += static_cast<double>(x[i]); });
    for (int64_t c = 0; c < columns; ++c) first[c] /= static_cast<double>(length);
    for_rows([&](int64_t i, int64_t c) {
      const double d = static_cast<double>(x[i]) - first[c];
      second[c] += d * d;
    });
    for (int64_t c = 0; c < columns; ++c) second[c] = factor_of(second[c] / static_cast<double>(length));
    write_rows([&](int64_t i, int64_t c) { return (static_cast<double>(x[i]) - first[c]) * second[c]; });
  }

  /// Over any axes: `strides` lead from an element to its group.
  template <typename T>
  void normalize_groups(RunContext& context, const Shape& shape, const Shape& strides, size_t groups, const T* from, T* to) const {
    const double count = static_cast<double>(shape.elements()) / static_cast<double>(groups);
    const std::span<double> first(context.scratch_array<double>(static_cast<int64_t>(groups)), groups);
    std::ranges::fill(first, 0.0);
    for_each(shape, strides, [&](int64_t i, size_t g) {
      const double value = static_cast<double>(from[i]);
      first[g] += op_.mean_variance ? value : op_.p == 1 ? std::fabs(value) : value * value;
    });
    if (!op_.mean_variance) {
      for (double& norm : first) norm = op_.p == 1 ? norm : std::sqrt(norm);
      return for_each(shape, strides,
                      [&](int64_t i, size_t g) { to[i] = static_cast<T>(first[g] == 0 ? 0 : static_cast<double>(from[i]) / first[g]); });
    }
    for (double& mean : first) mean /= count;
    const std::span<double> second(context.scratch_array<double>(static_cast<int64_t>(groups)), groups);
    std::ranges::fill(second, 0.0);
    for_each(shape, strides, [&](int64_t i, size_t g) {
      const double d = static_cast<double>(from[i]) - first[g];
      second[g] += d * d;
    });
    for (double& variance : second) variance = 1 / factor_of(variance / count);
    for_each(shape, strides, [&](int64_t i, size_t g) { to[i] = static_cast<T>((static_cast<double>(from[i]) - first[g]) / second[g]); });
  }

  double factor_of(double variance) const { return op_.keeps_variance ? 1 : 1 / (std::sqrt(variance) + 1e-9); }

  void normalize_rows(RunContext& context, const TensorView& x, const MutableView& y) const {
    const int64_t length = x.shape()[x.rank() - 1];
    const Cost cost{8.0 * static_cast<double>(length), 2.0 * static_cast<double>(length)};
    context.parallel().for_range(x.elements() / length, cost, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        const float* from = x.data<float>() + row * length;
        float* to = y.data<float>() + row * length;
        if (op_.mean_variance) {
          const compute::RowStatistics statistics = compute::row_statistics(from, length);
          compute::centre_scale(from, static_cast<float>(statistics.mean), static_cast<float>(factor_of(statistics.variance)), 0, to,
                                length);
          continue;
        }
        float norm = 0;
        compute::reduce_rows(op_.p == 1 ? compute::Reduction::l1 : compute::Reduction::sum_square, from, &norm, 1, length);
        if (op_.p != 1) norm = std::sqrt(norm);
        norm == 0 ? static_cast<void>(std::fill_n(to, length, 0.0f)) : compute::binary_scalar(compute::Binary::div, from, norm, to, length);
      }
    });
  }

  /// [outer, kept, inner], where the first and the last are normalised over; false where the axes are others.
  bool normalize_planes(RunContext& context, const Axes& axes, const TensorView& x, const MutableView& y) const {
    const int rank = x.rank();
    InlineVector<bool, 8> reduced(static_cast<size_t>(rank), false);
    for (int64_t axis : axes) reduced[static_cast<size_t>(axis)] = true;
    int begin = 0, end = rank;
    while (begin < rank && reduced[static_cast<size_t>(begin)]) ++begin;
    while (end > begin && reduced[static_cast<size_t>(end - 1)]) --end;
    if (end == rank) return false;
    for (int k = begin; k < end; ++k)
      if (reduced[static_cast<size_t>(k)]) return false;
    const int64_t outer = x.shape().product(0, begin), kept = x.shape().product(begin, end), inner = x.shape().product(end, rank);
    const double work = static_cast<double>(outer * inner);
    context.parallel().for_range(kept, {8 * work, 2 * work}, [&](Range part) {
      const std::span<compute::RowStatistics> planes = thread_list<compute::RowStatistics>(ThreadList::first, outer);
      for (int64_t k = part.begin; k < part.end; ++k) {
        double mean = 0, variance = 0;
        for (int64_t o = 0; o < outer; ++o) {
          planes[static_cast<size_t>(o)] = compute::row_statistics(x.data<float>() + (o * kept + k) * inner, inner);
          mean += planes[static_cast<size_t>(o)].mean / static_cast<double>(outer);
        }
        for (const compute::RowStatistics& plane : planes)
          variance += (plane.variance + (plane.mean - mean) * (plane.mean - mean)) / static_cast<double>(outer);
        const float factor = static_cast<float>(factor_of(variance));
        for (int64_t o = 0; o < outer; ++o) {
          const int64_t at = (o * kept + k) * inner;
          compute::centre_scale(x.data<float>() + at, static_cast<float>(mean), factor, 0, y.data<float>() + at, inner);
        }
      }
    });
    return true;
  }

  template <typename Visit>
  static void for_each(const Shape& shape, const Shape& strides, Visit&& visit) {
    Shape index(shape.size(), 0);
    const int64_t count = shape.elements();
    int64_t group = 0;
    for (int64_t i = 0; i < count; ++i) {
      visit(i, static_cast<size_t>(group));
      for (int k = shape.rank() - 1; k >= 0; --k) {
        group += strides[k];
        if (++index[k] < shape[k]) break;
        group -= strides[k] * shape[k];
        index[k] = 0;
      }
    }
  }

  ops::AxisNormalization op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(AxisNormalizationKernel)
