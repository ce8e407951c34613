#include "ops/reduction/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "compute/reduce/byte_extremes.h"
#include "compute/reduce/row_math.h"
#include "compute/reduce/wide_reductions.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/reduction.h"

namespace rh::cpu {

namespace {

using F = ops::Reduce::Function;

// Floats are summed in double, integers modulo 2^64: their low bits are those of a sum in the type itself.
template <typename T>
using Sum = std::conditional_t<!std::is_integral_v<T>, double, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <typename A>
A wrapping_add(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename A>
A wrapping_mul(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <typename T>
struct Finish {
  F function;

  T finish(Sum<T> sum, int64_t count) const {
    if constexpr (std::is_integral_v<T>) {
      switch (function) {
        case F::mean: return count == 0 ? T(0) : static_cast<T>(sum / static_cast<Sum<T>>(count));
        case F::l2: return narrowed<T>(std::sqrt(static_cast<double>(sum)));
        case F::log_sum: return sum > 0 ? narrowed<T>(std::log(static_cast<double>(sum))) : std::numeric_limits<T>::min();
        default: return static_cast<T>(sum);
      }
    } else {
      switch (function) {
        case F::mean: return narrowed<T>(sum / static_cast<double>(count));
        case F::l2: return narrowed<T>(std::sqrt(sum));
        case F::log_sum: return narrowed<T>(std::log(sum));
        default: return narrowed<T>(sum);
      }
    }
  }
};

template <typename T>
struct AddTo : Finish<T> {
  using Accumulator = Sum<T>;
  static constexpr auto kFold = compute::Fold::sum;
  static Accumulator identity() { return 0; }
  static void step(Accumulator& sum, T x) { sum = wrapping_add(sum, static_cast<Accumulator>(x)); }
  static void merge(Accumulator& sum, Accumulator x) { sum = wrapping_add(sum, x); }
};

template <typename T>
struct AddMagnitude : AddTo<T> {
  using Accumulator = Sum<T>;
  static constexpr auto kFold = compute::Fold::magnitudes;
  static void step(Accumulator& sum, T x) {
    const Accumulator value = static_cast<Accumulator>(x);
    sum = wrapping_add(sum, value < 0 ? wrapping_mul(value, static_cast<Accumulator>(-1)) : value);
  }
};

template <typename T>
struct AddSquare : AddTo<T> {
  using Accumulator = Sum<T>;
  static constexpr auto kFold = compute::Fold::squares;
  static void step(Accumulator& sum, T x) {
    const Accumulator value = static_cast<Accumulator>(x);
    sum = wrapping_add(sum, wrapping_mul(value, value));
  }
};

// The root of the squares of 64 bits, which fits those where the squares do not.
template <typename T>
struct RootOfSquares {
  using Accumulator = double;
  static Accumulator identity() { return 0; }
  static void step(Accumulator& sum, T x) { sum += static_cast<double>(x) * static_cast<double>(x); }
  static void merge(Accumulator& sum, Accumulator x) { sum += x; }
  T finish(Accumulator sum, int64_t) const { return narrowed<T>(std::sqrt(sum)); }
};

template <typename T>
struct MultiplyBy : Finish<T> {
  using Accumulator = Sum<T>;
  static constexpr auto kFold = compute::Fold::product;
  static Accumulator identity() { return 1; }
  static void step(Accumulator& product, T x) { product = wrapping_mul(product, static_cast<Accumulator>(x)); }
  static void merge(Accumulator& product, Accumulator x) { product = wrapping_mul(product, x); }
};

// A NaN among the elements is the result. Nothing at all gives the far end of the type.
template <typename T, bool kMax>
struct Extreme {
  using Accumulator = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  using Limits = std::numeric_limits<Accumulator>;
  static constexpr auto kFold = kMax ? compute::Fold::max : compute::Fold::min;

  static Accumulator identity() {
    if constexpr (std::is_same_v<T, bool>) return !kMax;
    if constexpr (Limits::has_infinity) return kMax ? -Limits::infinity() : Limits::infinity();
    return kMax ? Limits::lowest() : Limits::max();
  }
  static void step(Accumulator& best, T x) { merge(best, static_cast<Accumulator>(x)); }
  static void merge(Accumulator& best, Accumulator x) {
    if ((kMax ? x > best : x < best) || x != x) best = x;
  }
  T finish(Accumulator best, int64_t) const { return T(best); }
};

// log(sum of exp) as the largest element so far and the sum of exp(x - largest).
template <typename T>
struct LogSumExp {
  struct Accumulator {
    double largest, sum;
  };
  static Accumulator identity() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static void step(Accumulator& a, T x) { merge(a, {static_cast<double>(x), 1}); }
  static void merge(Accumulator& a, Accumulator b) {
    if (b.sum == 0 || b.largest == -std::numeric_limits<double>::infinity()) return;
    if (a.sum == 0) return void(a = b);
    if (b.largest > a.largest) std::swap(a, b);
    a.sum += a.largest == b.largest ? b.sum : b.sum * std::exp(b.largest - a.largest);
  }
  static Accumulator of_row(const T* x, int64_t count) {
    if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
      if (count == 0) return identity();
      const T largest = compute::extreme_of_row(true, x, count);
      return {static_cast<double>(largest), compute::exp_sum_row(x, largest, count)};
    }
    constexpr int64_t kPiece = 512;
    double values[kPiece];
    Accumulator all = identity();
    for (int64_t i = 0; i < count; i += kPiece, x += kPiece) {
      const int64_t piece = std::min(kPiece, count - i);
      for (int64_t k = 0; k < piece; ++k) values[k] = static_cast<double>(x[k]);
      const double largest = compute::extreme_of_row(true, values, piece);
      if (std::isfinite(largest)) {
        merge(all, {largest, compute::exp_sum_row(values, largest, piece)});
      } else {
        for (int64_t k = 0; k < piece; ++k) step(all, x[k]);
      }
    }
    return all;
  }
  T finish(Accumulator a, int64_t) const {
    const double value = a.largest + std::log(a.sum);
    if constexpr (std::is_integral_v<T>) {
      return a.sum == 0 ? std::numeric_limits<T>::min() : narrowed<T>(value);
    } else {
      return narrowed<T>(a.sum == 0 ? -std::numeric_limits<double>::infinity() : value);
    }
  }
};

// The extremes down columns that lie in groups of rows as far apart as each other. `best` has what to begin with.
template <typename T>
void extremes_down(const ReductionLoop& loop, int64_t offset, bool largest, const T* x, int64_t columns, T* best) {
  const int64_t rows = loop.last_reduced(), stride = loop.last_reduced_stride();
  if (loop.outer_reduced() == rows) return compute::extremes_of_bytes_down(largest, x + offset, stride, rows, columns, best);
  int64_t until_next = 0;
  loop.for_each_reduced(offset, [&](int64_t at) {
    if (until_next-- > 0) return;
    compute::extremes_of_bytes_down(largest, x + at, stride, rows, columns, best);
    until_next = rows - 1;
  });
}

// The extreme of rows that lie apart: short ones as columns first, for a row by itself costs more than its bytes.
template <typename T>
T extreme_of_rows_apart(const ReductionLoop& loop, int64_t offset, bool largest, const T* x, T none) {
  constexpr int64_t kShort = 256;
  const int64_t inner = loop.inner();
  T best[kShort];
  if (inner <= kShort) {
    std::fill_n(best, inner, none);
    extremes_down(loop, offset, largest, x, inner, best);
    return compute::extreme_of_bytes(largest, best, inner);
  }
  *best = none;
  loop.for_each_reduced(offset, [&](int64_t at) {
    const T row = compute::extreme_of_bytes(largest, x + at, inner);
    *best = largest ? std::max(*best, row) : std::min(*best, row);
  });
  return *best;
}

// The largest or smallest bytes; bytes of no elements are `none`, the far end of the type.
template <typename T>
void reduce_bytes(const Parallel& parallel, const ReductionLoop& loop, bool largest, T none, const T* x, T* y) {
  constexpr int64_t kColumns = 1024;
  const int64_t inner = loop.inner(), outer = loop.outer_kept(), count = loop.reduced_count();
  if (count == 0) {
    std::fill_n(y, outer * (loop.inner_is_reduced() ? 1 : inner), none);
    return;
  }
  if (loop.inner_is_reduced()) {
    const double elements = static_cast<double>(count);
    parallel.for_range(outer, {elements, 0.1 * elements}, [&](Range part) {
      if (loop.is_plain_rows()) return compute::extremes_of_byte_rows(largest, x + part.begin * inner, y + part.begin, part.size(), inner);
      for (int64_t i = part.begin; i < part.end; ++i) y[i] = extreme_of_rows_apart(loop, loop.offset_of(i), largest, x, none);
    });
    return;
  }
  const int64_t blocks = (inner + kColumns - 1) / kColumns;
  const double elements = static_cast<double>(count) * static_cast<double>(std::min(inner, kColumns));
  parallel.for_range(outer * blocks, {elements, 0.1 * elements}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t first = i % blocks * kColumns, columns = std::min(kColumns, inner - first);
      T* const best = y + i / blocks * inner + first;
      std::fill_n(best, columns, none);
      extremes_down(loop, loop.offset_of(i / blocks) + first, largest, x, columns, best);
    }
  });
}

template <typename T>
void reduce_any(const Parallel& parallel, const ReductionLoop& loop, F function, const T* x, T* y) {
  if constexpr (sizeof(T) == 1) {
    if (function == F::max || function == F::min) {
      using Byte = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
      const Byte none = function == F::max ? Extreme<T, true>::identity() : Extreme<T, false>::identity();
      return reduce_bytes(parallel, loop, function == F::max, none, reinterpret_cast<const Byte*>(x), reinterpret_cast<Byte*>(y));
    }
  }
  switch (function) {
    case F::max: return reduce(parallel, loop, x, y, Extreme<T, true>());
    case F::min: return reduce(parallel, loop, x, y, Extreme<T, false>());
    default: break;
  }
  if constexpr (sizeof(T) > 1) {
    switch (function) {
      case F::prod: return reduce(parallel, loop, x, y, MultiplyBy<T>{{function}});
      case F::l1: return reduce(parallel, loop, x, y, AddMagnitude<T>{{{function}}});
      case F::l2:
        if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return reduce(parallel, loop, x, y, RootOfSquares<T>());
        [[fallthrough]];
      case F::sum_square: return reduce(parallel, loop, x, y, AddSquare<T>{{{function}}});
      case F::log_sum_exp: return reduce(parallel, loop, x, y, LogSumExp<T>(), 40);
      default: return reduce(parallel, loop, x, y, AddTo<T>{{function}});
    }
  } else {
    fail(ErrorCode::not_implemented, "element type {} is not one of this reduction's", to_string(dtype_of<T>));
  }
}

std::optional<compute::Reduction> vector_reduction(F function) {
  switch (function) {
    case F::sum: return compute::Reduction::sum;
    case F::mean: return compute::Reduction::mean;
    case F::max: return compute::Reduction::max;
    case F::min: return compute::Reduction::min;
    case F::sum_square: return compute::Reduction::sum_square;
    case F::l1: return compute::Reduction::l1;
    default: return std::nullopt;
  }
}

std::optional<compute::WideReduction> wide_reduction(F function) {
  switch (function) {
    case F::prod: return compute::WideReduction::product;
    case F::l2: return compute::WideReduction::l2;
    case F::log_sum: return compute::WideReduction::log_sum;
    case F::log_sum_exp: return compute::WideReduction::log_sum_exp;
    default: return std::nullopt;
  }
}

constexpr int64_t kPiece = 32768;

// Long rows go in pieces of a fixed length, so that the result does not depend on the number of threads.
void reduce_long_row(RunContext& context, compute::Reduction op, const float* x, float* y, int64_t length) {
  using compute::Reduction;
  const bool extreme = op == Reduction::max || op == Reduction::min;
  const Reduction first = op == Reduction::mean ? Reduction::sum : op, second = extreme ? op : Reduction::sum;
  const int64_t pieces = (length + kPiece - 1) / kPiece;
  float* partial = context.scratch_array<float>(pieces);
  context.parallel().for_range(pieces, {4.0 * kPiece, 1.0 * kPiece}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      compute::reduce_rows(first, x + i * kPiece, partial + i, 1, std::min(kPiece, length - i * kPiece));
    }
  });
  compute::reduce_rows(second, partial, y, 1, pieces);
  if (op == Reduction::mean) *y /= static_cast<float>(length);
}

// How a reduction of pieces and one of their results make that of the whole.
template <typename Op>
struct InPieces {
  Op first, second;
  bool divide = false;
};

std::optional<InPieces<compute::Reduction>> in_pieces(compute::Reduction op) {
  using compute::Reduction;
  if (op == Reduction::max || op == Reduction::min) return InPieces<Reduction>{op, op};
  return InPieces<Reduction>{op == Reduction::mean ? Reduction::sum : op, Reduction::sum, op == Reduction::mean};
}

// A root of squares keeps the range that squares would leave.
std::optional<InPieces<compute::WideReduction>> in_pieces(compute::WideReduction op) {
  if (op != compute::WideReduction::l2) return std::nullopt;
  return InPieces<compute::WideReduction>{op, op};
}

// Rows of a piece of a [count, inner] block, 0 where it is to go as a whole. Each thread then reads the rows that it is likely to
// have written, where columns would have every thread read every row.
int64_t rows_of_pieces(int64_t count, int64_t inner) {
  const int64_t rows = kPiece / inner;
  return rows >= 16 && count >= 2 * rows ? rows : 0;
}

template <typename Op>
void reduce_long_columns(RunContext& context, const ReductionLoop& loop, InPieces<Op> how, const float* x, float* y, int64_t rows) {
  const int64_t outer = loop.outer_kept(), count = loop.reduced_count(), inner = loop.inner();
  const int64_t pieces = (count + rows - 1) / rows;
  float* partial = context.scratch_array<float>(outer * pieces * inner);
  context.parallel().for_range(outer * pieces, {4.0 * kPiece, 2.0 * kPiece}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t block = i / pieces, row = i % pieces * rows;
      compute::reduce_columns(how.first, x + (block * count + row) * inner, partial + i * inner, std::min(rows, count - row), inner);
    }
  });
  for (int64_t i = 0; i < outer; ++i) compute::reduce_columns(how.second, partial + i * pieces * inner, y + i * inner, pieces, inner);
  if (how.divide) std::transform(y, y + outer * inner, y, [&](float sum) { return sum / static_cast<float>(count); });
}

// Rows or columns by the numeric library; false where the layout is none that it has. Fewer blocks than `few` of many columns are left to
// the plain loops, which share the columns.
template <typename Op>
bool reduce_plain(RunContext& context, const ReductionLoop& loop, Op op, int64_t few, double operations, const float* x, float* y) {
  const int64_t outer = loop.outer_kept(), count = loop.reduced_count(), inner = loop.inner();
  const double elements = static_cast<double>(count);
  if (loop.is_plain_rows()) {
    context.parallel().for_range(outer, {4 * elements, operations * elements},
                                 [&](Range part) { compute::reduce_rows(op, x + part.begin * count, y + part.begin, part.size(), count); });
    return true;
  }
  if (!loop.is_plain_columns()) return false;
  const auto pieces = in_pieces(op);
  const int64_t rows = rows_of_pieces(count, inner);
  if (pieces && rows > 0) return reduce_long_columns(context, loop, *pieces, x, y, rows), true;
  if (outer < few && inner * count > 65536) return false;
  const double block = elements * static_cast<double>(inner);
  context.parallel().for_range(outer, {4 * block, operations * block}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) compute::reduce_columns(op, x + i * count * inner, y + i * inner, count, inner);
  });
  return true;
}

// Groups of rows, or of columns, that lie apart, as the axes of a batch normalisation: each by the numeric library, then what they gave.
bool reduce_apart(RunContext& context, const ReductionLoop& loop, InPieces<compute::Reduction> how, const float* x, float* y) {
  constexpr int64_t kLeast = 8;  // elements of a row
  const bool rows = loop.inner_is_reduced();
  const int64_t inner = loop.inner(), count = loop.reduced_count(), together = loop.reduced_together(), width = rows ? 1 : inner;
  if (inner < kLeast || together < kLeast / 2) return false;
  const int64_t groups = count / together, outer = loop.outer_kept();
  float* partial = context.scratch_array<float>(outer * groups * width);
  const double elements = static_cast<double>(count * width);
  context.parallel().for_range(outer, {4 * elements, elements}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      float* const own = partial + i * groups * width;
      int64_t visited = 0;
      loop.for_each_reduced(loop.offset_of(i), [&](int64_t offset) {
        const int64_t at = visited++;
        if (rows) return compute::reduce_rows(how.first, x + offset, own + at, 1, inner);
        if (at % together == 0) compute::reduce_columns(how.first, x + offset, own + at / together * inner, together, inner);
      });
      if (rows) compute::reduce_rows(how.second, own, y + i, 1, groups);
      if (!rows) compute::reduce_columns(how.second, own, y + i * inner, groups, inner);
    }
  });
  if (how.divide) std::transform(y, y + outer * width, y, [&](float sum) { return sum / static_cast<float>(count); });
  return true;
}

// False where the plain loops are to do it.
bool reduce_float(RunContext& context, const ReductionLoop& loop, F function, int64_t few, const float* x, float* y) {
  if (loop.reduced_count() == 0) return false;
  const bool one_long_row = loop.is_plain_rows() && loop.outer_kept() == 1 && loop.reduced_count() > 65536;
  if (const auto op = vector_reduction(function)) {
    if (one_long_row) return reduce_long_row(context, *op, x, y, loop.reduced_count()), true;
    if (reduce_plain(context, loop, *op, few, 1, x, y)) return true;
    const bool plain = loop.is_plain_rows() || loop.is_plain_columns();
    const auto how = in_pieces(*op);
    return !plain && how && reduce_apart(context, loop, *how, x, y);
  }
  const auto op = wide_reduction(function);
  return op && reduce_plain(context, loop, *op, few, function == F::log_sum_exp ? 8 : 2, x, y);
}

}  // namespace

class ReduceKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t, int8_t, uint8_t, bool>>;  // narrow floats in float

  explicit ReduceKernel(const KernelInfo& info) : op_(info.attributes<ops::Reduce>()), is_strict_(info.precision() == Precision::strict) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    InlineVector<int64_t, 8> axes;
    if (op_.axes) axes.assign(op_.axes->begin(), op_.axes->end());
    if (op_.axes_are_input && context.has_input(1)) axes = context.input_ints(1);
    const ops::AxisMask reduced = op_.reduced(axes, x.rank());
    Shape shape;
    for (int i = 0; i < x.rank(); ++i) {
      if (!reduced[i] || op_.keep_dims) shape.push_back(reduced[i] ? 1 : x.shape()[i]);
    }
    const MutableView y = context.output(0, x.dtype(), shape);
    if (y.elements() == 0) return {};
    if (x.elements() == 0 && op_.function == F::mean) {  // the standard leaves it open
      std::memset(y.raw(), 0, bytes_of(y.dtype(), y.elements()));
      return {};
    }
    const ReductionLoop loop(x.shape(), reduced);
    return in_float(context, x, y, [&](const TensorView& from, const MutableView& to) { return reduce_into(context, loop, from, to); });
  }

 private:
  using OwnTypes = rh::Types<float, double, int32_t, int64_t, uint32_t, uint64_t, int8_t, uint8_t, bool>;

  Status reduce_into(RunContext& context, const ReductionLoop& loop, const TensorView& x, const MutableView& y) const {
    constexpr int64_t kFewBlocks = 4;  // strict: the order of a sum is the same whatever the number of threads
    const int64_t few = is_strict_ ? kFewBlocks : context.parallel().threads();
    if (x.dtype() == DType::float32 && reduce_float(context, loop, op_.function, few, x.data<float>(), y.data<float>())) return {};
    return dispatch<OwnTypes>(x.dtype(), "Reduce",
                              [&]<typename T>() { reduce_any(context.parallel(), loop, op_.function, x.data<T>(), y.data<T>()); });
  }

  ops::Reduce op_;
  bool is_strict_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ReduceKernel)
