#include "compute/elementwise/number_math.h"

#include <cmath>
#include <limits>

#include "compute/elementwise/conversions.h"
#include "compute/reduce/number_reductions.h"
#include "compute/support.h"
#include "tensor/convert.h"
#include "tensor/dispatch.h"

namespace rh::compute {
namespace {

constexpr int64_t kCounts[] = {0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 600};

class NumberMath : public EveryIsa {};
RH_EVERY_ISA(NumberMath);

/// Small numbers, with the ends of the type, and NaN, infinities, subnormal numbers and both zeros among doubles.
template <typename T>
std::vector<T> numbers(int64_t count, uint32_t seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> special{Limits::lowest(), Limits::max(), T(0), T(1), T(2), T(-3), T(-1)};
  if constexpr (!std::is_integral_v<T>) {
    for (const T more : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T(-0.0), Limits::denorm_min(), T(1e-200), T(0.5)})
      special.push_back(more);
  }
  std::mt19937 engine(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values)
    value = engine() % 3 ? static_cast<T>(static_cast<int>(engine() % 2001) - 1000) : special[engine() % special.size()];
  return values;
}

template <typename T>
bool is_same(T a, T b) {
  if (a != a || b != b) return a != a && b != b;
  if constexpr (!std::is_integral_v<T>) {
    if (std::signbit(a) != std::signbit(b)) return false;
  }
  return a == b;
}

template <typename T>
T expected(Arithmetic op, T a, T b) {
  if (op == Arithmetic::min) return a < b || a != a ? a : b;
  if (op == Arithmetic::max) return a > b || a != a ? a : b;
  if constexpr (std::is_integral_v<T>) {
    const auto u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
    if (op == Arithmetic::add) return static_cast<T>(u + v);
    if (op == Arithmetic::sub) return static_cast<T>(u - v);
    if (op == Arithmetic::mul) return static_cast<T>(u * v);
    return b == 0 ? T(0) : b == -1 ? static_cast<T>(uint64_t{0} - u) : static_cast<T>(a / b);
  } else {
    return op == Arithmetic::add ? a + b : op == Arithmetic::sub ? a - b : op == Arithmetic::mul ? a * b : a / b;
  }
}

template <typename T>
void computes_as_one_by_one() {
  for (const int64_t count : kCounts) {
    const std::vector<T> a = numbers<T>(count + 1, 1), b = numbers<T>(count + 1, 2);
    for (const auto op : {Arithmetic::add, Arithmetic::sub, Arithmetic::mul, Arithmetic::div, Arithmetic::min, Arithmetic::max}) {
      if (!has_arithmetic(op, dtype_of<T>)) continue;
      for (const auto& [step_a, step_b] : {std::pair(1, 1), std::pair(0, 1), std::pair(1, 0), std::pair(0, 0)}) {
        std::vector<T> y(static_cast<size_t>(count + 1), T(9));
        // From the second element on, so that vectors do not lie at multiples of their size.
        arithmetic(op, dtype_of<T>, a.data() + 1, step_a, b.data() + 1, step_b, y.data(), count);
        for (int64_t i = 0; i < count; ++i) {
          const T x = a[static_cast<size_t>(1 + i * step_a)], z = b[static_cast<size_t>(1 + i * step_b)];
          ASSERT_TRUE(is_same(y[static_cast<size_t>(i)], expected(op, x, z)))
              << to_string(dtype_of<T>) << ", " << static_cast<int>(op) << " of " << x << " and " << z << " is "
              << y[static_cast<size_t>(i)];
        }
        ASSERT_EQ(y.back(), T(9));
      }
      std::vector<T> in_place = a;
      arithmetic(op, dtype_of<T>, in_place.data(), 1, b.data(), 1, in_place.data(), count);
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) ASSERT_TRUE(is_same(in_place[i], expected(op, a[i], b[i])));
    }
  }
}

TEST_P(NumberMath, arithmetic_is_that_of_single_numbers) {
  computes_as_one_by_one<double>();
  computes_as_one_by_one<int32_t>();
  computes_as_one_by_one<int64_t>();
}

template <typename T>
T expected(PlainUnary op, T x) {
  const auto negated = [x] {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
    } else {
      return -x;
    }
  };
  switch (op) {
    case PlainUnary::abs:
      if constexpr (std::is_integral_v<T>) return x < 0 ? negated() : x;
      return static_cast<T>(std::fabs(static_cast<double>(x)));
    case PlainUnary::neg: return negated();
    case PlainUnary::sign: return x != x ? x : static_cast<T>((x > 0) - (x < 0));
    case PlainUnary::relu: return x < 0 ? T(0) : x;
    case PlainUnary::square: return expected(Arithmetic::mul, x, x);
    default: return expected(Arithmetic::mul, expected(Arithmetic::mul, x, x), x);
  }
}

template <typename T>
void maps_as_one_by_one() {
  for (const int64_t count : kCounts) {
    const std::vector<T> x = numbers<T>(count, 3);
    for (const auto op : {PlainUnary::abs, PlainUnary::neg, PlainUnary::sign, PlainUnary::relu, PlainUnary::square, PlainUnary::cube}) {
      std::vector<T> y(static_cast<size_t>(count + 1), T(9));
      plain_unary(op, dtype_of<T>, x.data(), y.data(), count);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_TRUE(is_same(y[i], expected(op, x[i])))
            << to_string(dtype_of<T>) << ", " << static_cast<int>(op) << " of " << x[i] << ": " << y[i];
      ASSERT_EQ(y.back(), T(9));
    }
    const T low = T(-2), high = T(100);
    std::vector<T> y(static_cast<size_t>(count + 1), T(9));
    clip(dtype_of<T>, x.data(), &low, &high, y.data(), count);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(is_same(y[i], x[i] < low ? low : x[i] > high ? high : x[i]));
    clip(dtype_of<T>, x.data(), &high, &low, y.data(), count);  // the upper bound has the last word
    for (size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(is_same(y[i], x[i] != x[i] ? x[i] : low));
    ASSERT_EQ(y.back(), T(9));
  }
}

TEST_P(NumberMath, functions_are_those_of_single_numbers) {
  maps_as_one_by_one<double>();
  maps_as_one_by_one<int32_t>();
  maps_as_one_by_one<int64_t>();
}

TEST_P(NumberMath, cubes_of_doubles_are_rounded_twice_at_most) {
  const std::vector<double> x = random_values<double>(20000, 4, -3, 3);
  std::vector<double> y(x.size());
  plain_unary(PlainUnary::cube, DType::float64, x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const long double exact = static_cast<long double>(x[i]) * x[i] * x[i];
    ASSERT_LE(std::fabs(static_cast<double>((y[i] - exact) / exact)), 0x1.01p-52) << x[i];
  }
}

/// What a reduction of numbers gives one after the other: of integers in 64 bits, of doubles in long double.
template <typename T, typename A>
A folded(Fold op, const T* x, int64_t count, int64_t stride) {
  A all = op == Fold::product ? A(1) : A(0);
  if (op == Fold::max) all = std::is_integral_v<A> ? std::numeric_limits<A>::lowest() : -std::numeric_limits<A>::infinity();
  if (op == Fold::min) all = std::is_integral_v<A> ? std::numeric_limits<A>::max() : std::numeric_limits<A>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    const A value = static_cast<A>(x[i * stride]);
    if (op == Fold::max || op == Fold::min) {
      if ((op == Fold::max ? value > all : value < all) || value != value) all = value;
    } else if constexpr (std::is_integral_v<A>) {
      const auto u = static_cast<uint64_t>(all), v = static_cast<uint64_t>(value);
      all = static_cast<A>(op == Fold::sum       ? u + v
                           : op == Fold::squares ? u + v * v
                           : op == Fold::product ? u * v
                                                 : u + (value < 0 ? 0 - v : v));
    } else {
      all = op == Fold::sum       ? all + value
            : op == Fold::squares ? all + value * value
            : op == Fold::product ? all * value
                                  : all + std::fabs(value);
    }
  }
  return all;
}

constexpr Fold kFolds[] = {Fold::sum, Fold::magnitudes, Fold::squares, Fold::product, Fold::max, Fold::min};

template <typename T>
void folds_integers() {
  constexpr int64_t kRows = 3;
  for (const int64_t count : kCounts) {
    const std::vector<T> x = numbers<T>(kRows * count, 5);
    for (const Fold op : kFolds) {
      int64_t rows[kRows];
      fold_rows(op, x.data(), kRows, count, rows);
      for (int64_t r = 0; r < kRows; ++r)
        ASSERT_EQ(rows[r], (folded<T, int64_t>(op, x.data() + r * count, count, 1))) << static_cast<int>(op) << " of " << count;
      std::vector<T> columns(static_cast<size_t>(count), op == Fold::product ? T(1) : T(0));
      if (op == Fold::max || op == Fold::min) std::copy_n(x.begin(), count, columns.begin());
      fold_down(op, x.data(), count, kRows, columns.data(), count);
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(columns[static_cast<size_t>(i)], static_cast<T>(folded<T, int64_t>(op, x.data() + i, kRows, count)));
    }
    if (count == 0) continue;
    for (const bool last : {false, true}) {
      const T value = extreme_of_row(last, x.data(), count);
      int64_t place = -1;
      for (int64_t i = 0; i < count; ++i)
        if (x[static_cast<size_t>(i)] == value && (last || place < 0)) place = i;
      ASSERT_EQ(find_equal(x.data(), count, value, last), place);
    }
  }
}

TEST_P(NumberMath, integers_are_reduced_modulo_their_width) {
  folds_integers<int32_t>();
  folds_integers<int64_t>();
}

TEST_P(NumberMath, doubles_are_reduced_along_rows_and_down_columns) {
  constexpr int64_t kRows = 5;
  for (const int64_t count : kCounts) {
    std::vector<double> x = random_values<double>(kRows * count, 6, -1.5, 1.5);
    for (const Fold op : kFolds) {
      double rows[kRows];
      fold_rows(op, x.data(), kRows, count, rows);
      for (int64_t r = 0; r < kRows; ++r) {
        const auto exact = static_cast<double>(folded<double, long double>(op, x.data() + r * count, count, 1));
        const double scale = op == Fold::product || std::isinf(exact) ? std::fabs(exact) : std::max(1.0, static_cast<double>(count));
        if (rows[r] == exact) continue;
        ASSERT_NEAR(rows[r], exact, scale * 1e-13) << static_cast<int>(op) << " of " << count;
      }
      std::vector<double> columns(static_cast<size_t>(count), op == Fold::product ? 1 : 0);
      if (op == Fold::max || op == Fold::min) std::copy_n(x.begin(), count, columns.begin());
      fold_down(op, x.data(), count, kRows, columns.data(), count);
      for (int64_t i = 0; i < count; ++i)
        ASSERT_NEAR(columns[static_cast<size_t>(i)], static_cast<double>(folded<double, long double>(op, x.data() + i, kRows, count)),
                    1e-13);
    }
  }
}

TEST_P(NumberMath, a_nan_anywhere_is_the_extreme_of_its_row_and_column) {
  for (const int64_t count : {1, 2, 8, 9, 40, 67}) {
    for (int64_t at = 0; at < count; ++at) {
      std::vector<double> x = random_values<double>(count, 7);
      x[static_cast<size_t>(at)] = std::nan("");
      EXPECT_TRUE(std::isnan(extreme_of_row(true, x.data(), count)) && std::isnan(extreme_of_row(false, x.data(), count))) << at;
      std::vector<double> columns(static_cast<size_t>(count), 0.5);
      fold_down(Fold::max, x.data(), count, 1, columns.data(), count);
      for (int64_t i = 0; i < count; ++i)
        EXPECT_TRUE(is_same(columns[static_cast<size_t>(i)], i == at ? std::nan("") : std::max(0.5, x[static_cast<size_t>(i)])));
      std::vector<int64_t> places(static_cast<size_t>(count));
      EXPECT_FALSE(find_extremes_down(x.data(), count, 1, true, false, places.data(), count));
    }
  }
}

TEST_P(NumberMath, finds_the_rows_of_the_extremes_of_columns) {
  constexpr int64_t kRows = 9;
  for (const int64_t columns : {1, 4, 7, 8, 20, 64}) {
    std::mt19937 engine(8);
    std::vector<double> x(static_cast<size_t>(kRows * columns));
    for (double& value : x) value = static_cast<int>(engine() % 5) - 2;  // many are equal
    for (const bool largest : {true, false}) {
      for (const bool last : {true, false}) {
        std::vector<int64_t> places(static_cast<size_t>(columns + 1), -7);
        ASSERT_TRUE(find_extremes_down(x.data(), columns, kRows, largest, last, places.data(), columns));
        for (int64_t c = 0; c < columns; ++c) {
          int64_t best = 0;
          for (int64_t r = 1; r < kRows; ++r) {
            const double a = x[static_cast<size_t>(r * columns + c)], b = x[static_cast<size_t>(best * columns + c)];
            if ((largest ? a > b : a < b) || (last && a == b)) best = r;
          }
          ASSERT_EQ(places[static_cast<size_t>(c)], best) << columns << ", " << largest << last;
        }
        ASSERT_EQ(places.back(), -7);
      }
    }
  }
}

template <typename From>
void converts_as_the_tensors() {
  for (const int64_t count : kCounts) {
    std::vector<From> x = numbers<From>(count + 1, 9);
    if constexpr (!std::is_integral_v<From>) {
      const double edges[] = {2147483647.5, -2147483648.5, 0x1p31, 0x1p63, -0x1p63, 255.9, -0.9, 300, 1e30};
      for (size_t i = 0; i < std::min(x.size(), std::size(edges)); ++i) x[i] = static_cast<From>(edges[i]);
    }
    const TensorView from(dtype_of<From>, Shape{count}, x.data() + 1);
    for (const DType to : {DType::float32, DType::float64, DType::int8, DType::uint8, DType::int32, DType::int64, DType::boolean}) {
      if (to == dtype_of<From>) continue;
      ASSERT_TRUE(converts_numbers(dtype_of<From>, to));
      std::vector<uint64_t> y(static_cast<size_t>(count + 1), 0x5555), z = y;
      convert_numbers(dtype_of<From>, to, x.data() + 1, y.data(), count);
      convert_elements(from, MutableView(to, Shape{count}, z.data()), 0, count, {});
      const size_t size = static_cast<size_t>(bits_of(to) / 8);
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const auto* own = reinterpret_cast<const char*>(y.data()) + i * size;
        const auto* other = reinterpret_cast<const char*>(z.data()) + i * size;
        if (x[i + 1] != x[i + 1] && is_floating(to)) continue;
        ASSERT_EQ(std::memcmp(own, other, size), 0) << to_string(dtype_of<From>) << " " << +x[i + 1] << " as " << to_string(to);
      }
      ASSERT_EQ(y.back(), 0x5555U);
    }
  }
}

TEST_P(NumberMath, conversions_give_what_those_of_tensors_do) {
  converts_as_the_tensors<float>();
  converts_as_the_tensors<double>();
  converts_as_the_tensors<int8_t>();
  converts_as_the_tensors<uint8_t>();
  converts_as_the_tensors<int32_t>();
  converts_as_the_tensors<int64_t>();
}

TEST_P(NumberMath, doubles_are_rounded_to_halves_once) {
  std::vector<double> x = random_values<double>(3001, 10, -70000, 70000);
  for (const double v : random_values<double>(3000, 11, -1e-4, 1e-4)) x.push_back(v);
  // Just beside the middle of two halves, where a float would lie on it.
  for (int i = 0; i < 100; ++i) {
    const double middle = 1 + (i + 0.5) * 0x1p-10;
    x.insert(x.end(), {middle, std::nextafter(middle, 2), std::nextafter(middle, 0), 0x1p-24 * (i + 0.5) * (1 + 0x1p-40)});
  }
  x.insert(x.end(), {65519.999999999, 65520, 1e300, -1e300, 0.0, -0.0, std::numeric_limits<double>::infinity(), std::nan("")});
  std::vector<float> y(x.size());
  std::vector<Float16> exact(x.size());
  narrow_to_odd(x.data(), y.data(), static_cast<int64_t>(x.size()));
  const Shape shape{static_cast<int64_t>(x.size())};
  convert_elements(TensorView(DType::float64, shape, x.data()), MutableView(DType::float16, shape, exact.data()), 0, shape[0], {});
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      EXPECT_TRUE(std::isnan(y[i]));
    } else {
      ASSERT_EQ(Float16(y[i]).bits, exact[i].bits) << x[i];
    }
  }
}

}  // namespace
}  // namespace rh::compute
