#include "ops/reduction/cumulative.h"

#include <algorithm>

#include "base/interruptible.h"
#include "compute/elementwise/number_math.h"
#include "compute/move/copy.h"
#include "compute/reduce/prefix_sums.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

// Floats are accumulated in double; integers wrap around.
template <typename T>
using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <typename T>
T element(Total<T> total) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(total);
  } else {
    return narrowed<T>(total);
  }
}

struct Add {
  static constexpr int kStart = 0;
  template <typename A>
  static A step(A a, A b) {
    return a + b;
  }
};

struct Multiply {
  static constexpr int kStart = 1;
  template <typename A>
  static A step(A a, A b) {
    return a * b;
  }
};

// `kRows` neighbouring rows of `length` elements at once, so that their chains of sums overlap: `row` apart, elements `stride` apart.
template <typename Op, int kRows, typename T>
void accumulate(const ops::Cumulative& op, const T* x, T* y, int64_t length, int64_t stride, int64_t row) {
  Total<T> totals[kRows];
  for (Total<T>& total : totals) total = static_cast<Total<T>>(Op::kStart);
  const bool exclusive = op.exclusive;
  const int64_t step = op.reverse ? -stride : stride;
  int64_t at = op.reverse ? (length - 1) * stride : 0;
  in_order(
      length,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i, at += step) {
          for (int r = 0; r < kRows; ++r) {
            const Total<T> before = totals[r];
            totals[r] = Op::step(before, static_cast<Total<T>>(x[at + r * row]));
            y[at + r * row] = element<T>(exclusive ? before : totals[r]);
          }
        }
      },
      kRows);
}

// Sums of floats along one line of neighbours.
void sum_line(const ops::Cumulative& op, const float* x, float* y, int64_t length) {
  double total = 0;
  in_order(length, [&](int64_t begin, int64_t end) {
    const int64_t at = op.reverse ? length - end : begin;
    total = compute::prefix_sums(x + at, y + at, end - begin, total, op.exclusive, op.reverse);
  });
}

constexpr int64_t kMostColumns = 1024;  // whose last sums stay in the first-level cache

// Sums down neighbouring columns, a row at a time.
template <typename T>
void sum_columns(const ops::Cumulative& op, const T* x, T* y, int64_t length, int64_t stride, int64_t columns) {
  constexpr DType kType = std::is_same_v<T, double> ? DType::float64 : sizeof(T) == 4 ? DType::int32 : DType::int64;
  const int64_t step = op.reverse ? -stride : stride;
  int64_t at = op.reverse ? (length - 1) * stride : 0;
  if (x != y) compute::copy_items(x + at, columns, y + at);
  in_order(
      length - 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i, at += step)
          compute::arithmetic(compute::Arithmetic::add, kType, y + at, 1, x + at + step, 1, y + at + step, columns);
      },
      columns);
}

// The same of floats, summed in double.
void sum_columns(const ops::Cumulative& op, const float* x, float* y, int64_t length, int64_t stride, int64_t columns) {
  alignas(64) double totals[kMostColumns] = {};
  const int64_t step = op.reverse ? -stride : stride, first = op.reverse ? (length - 1) * stride : 0;
  in_order(
      length,
      [&](int64_t begin, int64_t end) {
        const int64_t at = first + begin * step;
        compute::prefix_sums_down(x + at, y + at, step, end - begin, columns, totals, op.exclusive);
      },
      columns);
}

// The same where a row gets the sums before it: two rows of sums take turns, since x and y may be the same.
template <typename T>
void sum_columns_before(const ops::Cumulative& op, const T* x, T* y, int64_t length, int64_t stride, int64_t columns) {
  constexpr DType kType = std::is_same_v<T, double> ? DType::float64 : sizeof(T) == 4 ? DType::int32 : DType::int64;
  T sums[2][kMostColumns] = {};
  T *before = sums[0], *after = sums[1];
  const int64_t step = op.reverse ? -stride : stride;
  int64_t at = op.reverse ? (length - 1) * stride : 0;
  in_order(
      length,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i, at += step) {
          compute::arithmetic(compute::Arithmetic::add, kType, before, 1, x + at, 1, after, columns);
          compute::copy_items(before, columns, y + at);
          std::swap(before, after);
        }
      },
      columns);
}

// Up to kRows neighbouring lines at once; how many there were.
template <typename Op, int kRows, typename T>
int64_t accumulate_some(const ops::Cumulative& op, const T* x, T* y, int64_t length, int64_t stride, int64_t row, int64_t left) {
  if constexpr (kRows > 1) {
    if (left < kRows) return accumulate_some<Op, kRows / 2>(op, x, y, length, stride, row, left);
  }
  accumulate<Op, kRows>(op, x, y, length, stride, row);
  return kRows;
}

// Rows of a few elements that follow each other, one after the other.
template <typename Op, typename T>
void accumulate_short_rows(const ops::Cumulative& op, const T* x, T* y, int64_t length, int64_t rows) {
  const bool exclusive = op.exclusive;
  const int64_t step = op.reverse ? -1 : 1, first = op.reverse ? length - 1 : 0;
  in_order(
      rows,
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          auto total = static_cast<Total<T>>(Op::kStart);
          for (int64_t i = 0, at = row * length + first; i < length; ++i, at += step) {
            const Total<T> before = total;
            total = Op::step(before, static_cast<Total<T>>(x[at]));
            y[at] = element<T>(exclusive ? before : total);
          }
        }
      },
      length);
}

// Lines [begin, end) of x: line i runs along the middle axis of [outer, length, inner].
template <typename Op, typename T>
void accumulate_lines(const ops::Cumulative& op, const T* x, T* y, int64_t length, int64_t inner, Range lines) {
  constexpr int kColumns = 16;
  // Rows side by side cost more where they do not lie in a cache; sums of integers wait for each other for a cycle only.
  constexpr int kRows = std::is_same_v<Op, Multiply> || sizeof(T) < 8 ? 8 : std::is_integral_v<T> ? 1 : 2;
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Op, Add>) {
    constexpr int64_t kLong = 16;  // enough for vectors
    if (inner == 1 && length >= kLong) {
      for (int64_t i = lines.begin; i < lines.end; ++i) sum_line(op, x + i * length, y + i * length, length);
      return;
    }
  }
  constexpr int64_t kShort = 8;  // elements
  if (kRows <= 2 && inner == 1 && length <= kShort) {
    return accumulate_short_rows<Op>(op, x + lines.begin * length, y + lines.begin * length, length, lines.size());
  }
  const auto offset = [&](int64_t line) { return line / inner * length * inner + line % inner; };
  int64_t i = lines.begin;
  while (i < lines.end) {
    const int64_t at = offset(i), left = lines.end - i;
    const int64_t columns = inner == 1 ? 0 : std::min({left, inner - i % inner, kMostColumns});
    if constexpr (std::is_same_v<Op, Add> && (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_integral_v<T>)) {
      constexpr int64_t kLeast = std::is_same_v<T, float> ? 2 : kColumns;
      if (columns >= kLeast) {
        if constexpr (std::is_same_v<T, float>) {
          sum_columns(op, x + at, y + at, length, inner, columns);
        } else if (op.exclusive) {
          sum_columns_before(op, x + at, y + at, length, inner, columns);
        } else {
          sum_columns(op, x + at, y + at, length, inner, columns);
        }
        i += columns;
        continue;
      }
    }
    if (inner > 1) {
      i += accumulate_some<Op, kColumns>(op, x + at, y + at, length, inner, 1, columns);
    } else if (inner == 1 && left >= kRows) {
      accumulate<Op, kRows>(op, x + at, y + at, length, 1, length);
      i += kRows;
    } else {
      accumulate<Op, 1>(op, x + at, y + at, length, inner, 0);
      ++i;
    }
  }
}

}  // namespace

class CumulativeKernel final : public Kernel {
  static constexpr int64_t kColumnsTogether = 64;

 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t>>;

  explicit CumulativeKernel(const KernelInfo& info) : op_(info.attributes<ops::Cumulative>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, x.dtype(), x.shape());
    if (x.rank() == 0)
      return error_status(ErrorCode::invalid_argument, "CumSum, CumProd: the input is a scalar, expected an axis to go along");
    const int axis = normalize_axis(scalar_int(context, 1, "axis"), x.rank());
    if (x.elements() == 0) return {};
    const int64_t length = x.shape()[axis], inner = x.shape().product(axis + 1, x.rank());
    return in_float(context, x, y, [&](const TensorView& from, const MutableView& to) {
      return dispatch<OwnTypes>(from.dtype(), "CumSum, CumProd", [&]<typename T>() {
        const auto accumulate = op_.product ? accumulate_lines<Multiply, T> : accumulate_lines<Add, T>;
        // Neighbouring columns go together: rows of few of them are not worth their beginnings.
        const int64_t lines = x.elements() / length, unit = inner >= kColumnsTogether ? kColumnsTogether : 1;
        const double elements = static_cast<double>(length * unit);
        context.parallel().for_range((lines + unit - 1) / unit, {2.0 * sizeof(T) * elements, 4.0 * elements}, [&](Range part) {
          accumulate(op_, from.data<T>(), to.data<T>(), length, inner, {part.begin * unit, std::min(part.end * unit, lines)});
        });
      });
    });
  }

  std::span<const Alias> aliases() const override {
    static constexpr Alias kInPlace[] = {{0, 0, Alias::Kind::in_place}};
    return kInPlace;
  }

 private:
  using OwnTypes = rh::Types<float, double, int32_t, int64_t, uint32_t, uint64_t>;

  ops::Cumulative op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CumulativeKernel)
