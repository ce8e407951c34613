#include "ops/reduction/arg_reduce.h"

#include <algorithm>

#include "compute/reduce/byte_extremes.h"
#include "compute/reduce/number_reductions.h"
#include "compute/sort/row_search.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

namespace {

constexpr int kColumns = compute::kArgColumns;
constexpr int64_t kFew = 16;  // elements
constexpr int64_t kFewColumns = 4;

// Whether x takes the place of the best element so far; a NaN beats all numbers. Without branches, for the sake of vectors.
template <bool kMax, typename T>
bool beats(T x, T best, bool last) {
  const bool nan = x != x, best_is_number = best == best;
  return (kMax ? x > best : x < best) | (last & (x == best)) | (nan & (last | best_is_number));
}

template <bool kMax, typename T>
void arg_reduce(const T* x, int64_t length, int64_t stride, bool last, int64_t* index) {
  T best = x[0];
  int64_t at = 0;
  for (int64_t i = 1; i < length; ++i) {
    if (!beats<kMax>(x[i * stride], best, last)) continue;
    best = x[i * stride];
    at = i;
  }
  *index = at;
}

// The same of a few neighbouring elements, as of classes: without branches, whose outcome nothing foretells, unless there is a NaN.
template <bool kMax, bool kLast, typename T>
[[gnu::always_inline]] inline int64_t arg_reduce_few(const T* x, int64_t length) {
  T best = x[0];
  int64_t at = 0;
  bool nan = best != best;
  for (int64_t i = 1; i < length; ++i) {
    const T value = x[i];
    nan |= value != value;
    const bool better = kMax ? (kLast ? value >= best : value > best) : (kLast ? value <= best : value < best);
    at = better ? i : at;
    best = kMax ? (value > best ? value : best) : (value < best ? value : best);
  }
  if (nan) arg_reduce<kMax>(x, length, 1, kLast, &at);
  return at;
}

// Rows of so many elements that follow each other: their loops are unrolled, and those of neighbouring rows overlap.
template <bool kMax, bool kLast, int kLength, typename T>
void arg_reduce_rows_of(const T* x, int64_t rows, int64_t* indices) {
  for (int64_t row = 0; row < rows; ++row) indices[row] = arg_reduce_few<kMax, kLast>(x + row * kLength, kLength);
}

// False where rows are longer.
template <bool kMax, bool kLast, typename T>
bool arg_reduce_short_rows(const T* x, int64_t rows, int64_t length, int64_t* indices) {
  switch (length) {
    case 2: return arg_reduce_rows_of<kMax, kLast, 2>(x, rows, indices), true;
    case 3: return arg_reduce_rows_of<kMax, kLast, 3>(x, rows, indices), true;
    case 4: return arg_reduce_rows_of<kMax, kLast, 4>(x, rows, indices), true;
    default: return false;
  }
}

// The same for `columns` neighbouring columns of a [length, stride] block, row by row. Indices are of the elements' width meanwhile.
template <bool kMax, typename T, typename Count>
void arg_reduce_columns(const T* x, int64_t length, int64_t stride, bool last, Count columns, int64_t* indices) {
  if constexpr (std::is_same_v<T, float> && !std::is_same_v<Count, int>)
    return compute::arg_columns(x, length, stride, kMax, last, indices);
  using Index = std::conditional_t<sizeof(T) <= 4, int32_t, int64_t>;
  T best[kColumns];
  Index at[kColumns] = {};
  for (int c = 0; c < columns; ++c) best[c] = x[c];
  for (int64_t i = 1; i < length; ++i) {
    const T* row = x + i * stride;
    for (int c = 0; c < columns; ++c) {
      const bool better = beats<kMax>(row[c], best[c], last);
      best[c] = better ? row[c] : best[c];
      at[c] = better ? static_cast<Index>(i) : at[c];
    }
  }
  for (int c = 0; c < columns; ++c) indices[c] = at[c];
}

// A long contiguous row: as columns first, then the best of the columns and of what is left over.
template <bool kMax, typename T>
int64_t arg_reduce_row(const T* x, int64_t length, bool last) {
  int64_t candidates[2 * kColumns];
  const int64_t rows = length / kColumns;
  arg_reduce_columns<kMax>(x, rows, kColumns, last, std::integral_constant<int, kColumns>(), candidates);
  int count = kColumns;
  for (int c = 0; c < kColumns; ++c) candidates[c] = candidates[c] * kColumns + c;
  for (int64_t i = rows * kColumns; i < length; ++i) candidates[count++] = i;
  int64_t best = candidates[0];
  for (int c = 1; c < count; ++c) {
    const int64_t i = candidates[c];
    const bool tie = !beats<kMax>(x[i], x[best], false) && beats<kMax>(x[i], x[best], true);
    if (tie ? (i > best) == last : beats<kMax>(x[i], x[best], false)) best = i;
  }
  return best;
}

// The place of a row's extreme, which is found first; false where there is a NaN.
template <bool kMax, typename T>
bool arg_reduce_by_value(const T* x, int64_t length, bool last, int64_t* index) {
  const T best = compute::extreme_of_row(kMax, x, length);
  if (best != best) return false;
  *index = compute::find_equal(x, length, best, last);
  return true;
}

template <bool kMax, typename T>
void arg_reduce_block(const T* x, int64_t length, int64_t stride, bool last, int64_t columns, int64_t* indices) {
  if constexpr (sizeof(T) == 1) {
    if (columns == 1 && stride == 1 && length > kFew) {
      *indices = compute::find_byte(x, length, static_cast<uint8_t>(compute::extreme_of_bytes(kMax, x, length)), last);
      return;
    }
  }
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
    if (columns == 1 && stride == 1 && length > kFew && arg_reduce_by_value<kMax>(x, length, last, indices)) return;
  }
  if constexpr (std::is_same_v<T, double>) {
    if (columns >= kFewColumns && compute::find_extremes_down(x, stride, length, kMax, last, indices, columns)) return;
  }
  if (columns == kColumns && length <= std::numeric_limits<int32_t>::max()) {
    arg_reduce_columns<kMax>(x, length, stride, last, std::integral_constant<int, kColumns>(), indices);
  } else if (columns > 1 && length <= std::numeric_limits<int32_t>::max()) {
    arg_reduce_columns<kMax>(x, length, stride, last, static_cast<int>(columns), indices);
  } else if (stride == 1 && length >= 4 * kColumns && length <= std::numeric_limits<int32_t>::max()) {
    *indices = arg_reduce_row<kMax>(x, length, last);
  } else if (stride == 1 && columns == 1 && length <= kFew) {
    *indices = last ? arg_reduce_few<kMax, true>(x, length) : arg_reduce_few<kMax, false>(x, length);
  } else {
    for (int64_t c = 0; c < columns; ++c) arg_reduce<kMax>(x + c, length, stride, last, indices + c);
  }
}

}  // namespace

class ArgReduceKernel final : public Kernel {
 public:
  using Types = NumericTypes;  // those without a loop of their own are widened

  explicit ArgReduceKernel(const KernelInfo& info) : op_(info.attributes<ops::ArgReduce>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int axis = x.rank() == 0 ? 0 : normalize_axis(op_.axis, x.rank());
    const int64_t length = x.rank() == 0 ? 1 : x.shape()[axis];
    Shape shape = x.shape();
    if (x.rank() > 0 && op_.keep_dims) shape[axis] = 1;
    if (x.rank() > 0 && !op_.keep_dims) shape.erase(static_cast<size_t>(axis));
    int64_t* indices = context.output(0, DType::int64, shape).data<int64_t>();
    if (shape.elements() == 0) return {};
    if (length == 0)
      return error_status(ErrorCode::invalid_argument, "ArgMax, ArgMin: dimension {} of shape {} is empty", axis, x.shape().to_string());
    const bool bytes = x.dtype() == DType::int8 || x.dtype() == DType::uint8;
    const TensorView wide = bytes ? x : converted(context, x, ordered_type(x.dtype()));
    const int64_t inner = x.rank() == 0 ? 1 : x.shape().product(axis + 1, x.rank());
    return dispatch<Concat<OrderedTypes, rh::Types<int8_t, uint8_t>>>(wide.dtype(), "ArgMax, ArgMin", [&]<typename T>() {
      const auto block = op_.max ? arg_reduce_block<true, T> : arg_reduce_block<false, T>;
      const double elements = static_cast<double>(length);
      context.parallel().for_range(shape.elements(), {sizeof(T) * elements, 2 * elements}, [&](Range part) {
        if (inner == 1) {
          const T* rows = wide.data<T>() + part.begin * length;
          const auto short_rows = op_.max
                                      ? (op_.select_last ? arg_reduce_short_rows<true, true, T> : arg_reduce_short_rows<true, false, T>)
                                      : (op_.select_last ? arg_reduce_short_rows<false, true, T> : arg_reduce_short_rows<false, false, T>);
          if (short_rows(rows, part.size(), length, indices + part.begin)) return;
          for (int64_t i = part.begin; i < part.end; ++i) block(wide.data<T>() + i * length, length, 1, op_.select_last, 1, indices + i);
          return;
        }
        for (int64_t i = part.begin; i < part.end;) {
          const int64_t count = std::min({int64_t{kColumns}, inner - i % inner, part.end - i});
          const T* first = wide.data<T>() + i / inner * length * inner + i % inner;
          block(first, length, inner, op_.select_last, count, indices + i);
          i += count;
        }
      });
    });
  }

 private:
  ops::ArgReduce op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ArgReduceKernel)
