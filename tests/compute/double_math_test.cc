#include "compute/elementwise/double_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "compute/reduce/number_reductions.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

const double kInf = std::numeric_limits<double>::infinity(), kNan = std::nan("");

class DoubleMath : public EveryIsa {};
RH_EVERY_ISA(DoubleMath);

/// Distance in units of the last place of the double nearest to `expected`.
double ulps(double value, long double expected) {
  if (std::isnan(expected)) return std::isnan(value) ? 0 : kInf;
  const auto nearest = static_cast<double>(expected);
  if (std::isinf(nearest) || nearest == 0) return value == nearest && std::signbit(value) == std::signbit(nearest) ? 0 : kInf;
  int exponent;
  std::frexp(std::max(std::fabs(nearest), std::numeric_limits<double>::min()), &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(value) - expected) / std::ldexp(1.0L, exponent - 53));
}

struct Function {
  const char* name;
  DoubleUnary op;
  long double (*exact)(long double);
  double low, high, most;
};

const Function kFunctions[] = {
    {"exp", DoubleUnary::exp, [](long double x) { return std::exp(x); }, -745, 709.7, 1},
    {"log", DoubleUnary::log, [](long double x) { return std::log(x); }, 1e-310, 1e10, 1},
    {"tanh", DoubleUnary::tanh, [](long double x) { return std::tanh(x); }, -25, 25, 2},
    {"sigmoid", DoubleUnary::sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, -700, 50, 2},
    {"sin", DoubleUnary::sin, [](long double x) { return std::sin(x); }, -1e6, 1e6, 1},
    {"cos", DoubleUnary::cos, [](long double x) { return std::cos(x); }, -1e6, 1e6, 1},
    {"sqrt", DoubleUnary::sqrt, [](long double x) { return std::sqrt(x); }, 0, 1e300, 0.51},
    {"reciprocal", DoubleUnary::reciprocal, [](long double x) { return 1 / x; }, -1e100, 1e100, 0.51},
};

TEST_P(DoubleMath, functions_within_their_ulp) {
  for (const Function& f : kFunctions) {
    std::vector<double> x{1.0, -1.0, 0.5, 1e-30, -1e-30, 1e-300, 0.34657, 0.34658, 1.0000001, 0.7071067811865476, 20, 22, 100.5};
    for (const double range : {1e-8, 1e-3, 1.0, 3.0, 30.0, 1e4})
      for (const double v : random_values<double>(4000, 12, std::max(f.low, -range), std::min(f.high, range))) x.push_back(v);
    for (const double v : random_values<double>(8001, 13, f.low, f.high)) x.push_back(v);
    std::erase_if(x, [&](double v) { return v < f.low || v > f.high; });
    std::vector<double> y(x.size());
    double_unary(f.op, x.data(), y.data(), static_cast<int64_t>(x.size()));
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, ulps(y[i], f.exact(x[i])));
      ASSERT_LE(ulps(y[i], f.exact(x[i])), f.most) << f.name << "(" << x[i] << ") = " << y[i];
    }
    RecordProperty(f.name, std::to_string(worst));
  }
}

TEST_P(DoubleMath, angles_next_to_multiples_of_a_quarter_turn_and_of_any_size) {
  std::vector<double> x{1e300, -1e22, 0x1p20, 0x1.00001p20};
  for (int i = -2000; i < 2000; ++i) {
    const double quarter = i * 1.5707963267948966;
    for (const double v : {quarter, std::nextafter(quarter, kInf), std::nextafter(quarter, -kInf)})
      if (v != 0) x.push_back(v);
  }
  std::vector<double> sine(x.size()), cosine(x.size());
  double_unary(DoubleUnary::sin, x.data(), sine.data(), static_cast<int64_t>(x.size()));
  double_unary(DoubleUnary::cos, x.data(), cosine.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    // The C library's doubles are within an ULP themselves, its long doubles lose what is left of large multiples.
    ASSERT_LE(ulps(sine[i], std::sin(x[i])), 2) << x[i];
    ASSERT_LE(ulps(cosine[i], std::cos(x[i])), 2) << x[i];
  }
}

TEST_P(DoubleMath, special_values_as_in_the_c_library) {
  const std::vector<double> x{0.0,
                              -0.0,
                              kInf,
                              -kInf,
                              kNan,
                              5e-324,
                              -5e-324,
                              1e-310,
                              709.8,
                              710.4,
                              711,
                              -745.2,
                              -746,
                              1e308,
                              -1e308,
                              -1,
                              1,
                              2.5,
                              -2.5,
                              0.5,
                              -0.5,
                              1.5,
                              4503599627370497.5,
                              1e200,
                              0.49999999999999994};
  const struct {
    DoubleUnary op;
    double (*exact)(double);
  } rows[] = {
      {DoubleUnary::sqrt, [](double v) { return std::sqrt(v); }},
      {DoubleUnary::reciprocal, [](double v) { return 1 / v; }},
      {DoubleUnary::floor, [](double v) { return std::floor(v); }},
      {DoubleUnary::ceil, [](double v) { return std::ceil(v); }},
      {DoubleUnary::round, [](double v) { return std::nearbyint(v); }},
      {DoubleUnary::exp, [](double v) { return std::exp(v); }},
      {DoubleUnary::log, [](double v) { return std::log(v); }},
      {DoubleUnary::tanh, [](double v) { return std::tanh(v); }},
      {DoubleUnary::sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }},
      {DoubleUnary::sin, [](double v) { return std::sin(v); }},
      {DoubleUnary::cos, [](double v) { return std::cos(v); }},
  };
  for (const auto& row : rows) {
    for (size_t begin = 0; begin < x.size(); ++begin) {  // alone, and among others
      std::vector<double> y(x.size(), 7);
      const size_t count = x.size() - begin;
      double_unary(row.op, x.data() + begin, y.data(), static_cast<int64_t>(count));
      for (size_t i = 0; i < count; ++i) {
        const double exact = row.exact(x[begin + i]);
        ASSERT_LE(ulps(y[i], exact), 2) << static_cast<int>(row.op) << " of " << x[begin + i] << " is " << y[i];
      }
      for (size_t i = count; i < y.size(); ++i) ASSERT_EQ(y[i], 7);
    }
  }
}

TEST_P(DoubleMath, remainders_are_exact) {
  std::vector<double> special{
      0.0, -0.0, kInf, -kInf, kNan, 1, -1, 3, 0.1, 5e-324, -5e-324, 1e-310, 1e300, -1e300, 0x1p53, 0x1.fffffffffffffp52, 2.5};
  for (const double v : random_values<double>(60, 14, -100, 100)) special.push_back(v);
  for (int i = 1; i < 40; ++i) special.push_back(i * 0.1);  // quotients that are rounded up to whole numbers
  const auto count = static_cast<int64_t>(special.size());
  std::vector<double> y(special.size());
  for (const double b : special) {
    double_fmod(special.data(), 1, &b, 0, y.data(), count);
    for (size_t i = 0; i < special.size(); ++i) {
      const double exact = std::fmod(special[i], b);
      ASSERT_TRUE(std::isnan(exact) ? std::isnan(y[i]) : y[i] == exact && std::signbit(y[i]) == std::signbit(exact))
          << special[i] << " by " << b << " leaves " << y[i] << ", expected " << exact;
    }
    double_fmod(&b, 0, special.data(), 1, y.data(), count);
    for (size_t i = 0; i < special.size(); ++i) {
      const double exact = std::fmod(b, special[i]);
      ASSERT_TRUE(std::isnan(exact) ? std::isnan(y[i]) : y[i] == exact) << b << " by " << special[i];
    }
  }
}

TEST_P(DoubleMath, softmax_of_rows_of_any_length) {
  for (const bool log : {false, true}) {
    for (const int64_t length : {1, 2, 3, 8, 9, 64, 100, 1024, 1025, 5000}) {
      const int64_t rows = length < 10 ? 700 : 3;
      std::vector<double> x = random_values<double>(rows * length, 15, -30, 30), y(x.size());
      if (length > 2) x[1] = -kInf;
      softmax_rows(x.data(), y.data(), rows, length, log);
      for (int64_t row = 0; row < rows; ++row) {
        const double* from = x.data() + row * length;
        const double largest = *std::max_element(from, from + length);
        long double sum = 0;
        for (int64_t i = 0; i < length; ++i) sum += std::exp(static_cast<long double>(from[i]) - largest);
        for (int64_t i = 0; i < length; ++i) {
          const long double part = static_cast<long double>(from[i]) - largest;
          const auto exact = static_cast<double>(log ? part - std::log(sum) : std::exp(part) / sum);
          const double value = y[static_cast<size_t>(row * length + i)];
          if (value == exact) continue;
          ASSERT_NEAR(value, exact, 1e-14 * std::max(log ? 1.0 : 0.0, std::fabs(exact))) << length << ", " << row << ", " << i;
        }
      }
      softmax_rows(x.data(), x.data(), rows, length, log);  // in place
      ASSERT_EQ(x, y);
    }
  }
  const std::vector<double> none(5, -kInf);
  std::vector<double> y(5);
  softmax_rows(none.data(), y.data(), 1, 5, false);
  EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](double v) { return std::isnan(v); }));
}

TEST_P(DoubleMath, rows_divided_by_their_sizes) {
  for (const RowSize size : {RowSize::sum, RowSize::length, RowSize::largest}) {
    for (const int64_t length : {1, 2, 3, 4, 5, 8, 9, 31, 64, 100}) {
      constexpr int64_t kRows = 300;
      std::vector<double> x = random_values<double>(kRows * length, 16, -5, 5);
      std::fill_n(x.begin(), length, 0.0);
      std::vector<float> y(x.size() + 1, 77.0f);
      divide_rows(size, x.data(), y.data(), kRows, length);
      for (int64_t row = 0; row < kRows; ++row) {
        const double* from = x.data() + row * length;
        double all = size == RowSize::largest ? from[0] : 0;
        for (int64_t i = 0; i < length; ++i)
          all = size == RowSize::largest ? std::max(all, from[i]) : all + (size == RowSize::sum ? std::fabs(from[i]) : from[i] * from[i]);
        if (size == RowSize::length) all = std::sqrt(all);
        for (int64_t i = 0; i < length; ++i) {
          const double exact = all == 0 ? from[i] : from[i] / all;
          ASSERT_NEAR(y[static_cast<size_t>(row * length + i)], exact, 6.1e-8 * std::fabs(exact)) << length << ", " << row;
        }
      }
      ASSERT_EQ(y.back(), 77.0f);
    }
  }
}

TEST_P(DoubleMath, scales_and_shifts_rows_and_columns) {
  for (const int64_t length : {1, 3, 8, 9, 64, 67}) {
    constexpr int64_t kRows = 5;
    const std::vector<double> x = random_values<double>(kRows * length, 17), scale = random_values<double>(length, 18);
    const std::vector<double> shift = random_values<double>(length, 19);
    std::vector<double> y(x.size() + 1, 9), z(x.size() + 1, 9);
    scale_shift_columns(x.data(), scale.data(), shift.data(), y.data(), kRows, length);
    scale_shift(x.data(), 0.3, -2, z.data(), kRows * length);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t c = i % static_cast<size_t>(length);
      ASSERT_NEAR(y[i], x[i] * scale[c] + shift[c], 3e-16);
      ASSERT_NEAR(z[i], x[i] * 0.3 - 2, 1e-15);
    }
    ASSERT_EQ(y.back(), 9);
    ASSERT_EQ(z.back(), 9);
  }
}

TEST_P(DoubleMath, sums_of_exponentials_of_rows_of_any_length) {
  for (const int64_t count : {1, 7, 8, 9, 16, 33, 300}) {
    const std::vector<double> x = random_values<double>(count, 20, -40, 5);
    long double sum = 0;
    for (const double v : x) sum += std::exp(static_cast<long double>(v) - 5);
    ASSERT_NEAR(exp_sum_row(x.data(), 5, count), static_cast<double>(sum), 1e-15 * static_cast<double>(count)) << count;
  }
}

template <typename T>
void sums_of_exponentials_of_integers(T largest, T least) {
  std::mt19937_64 random(3);
  for (const int64_t count : {1, 2, 3, 7, 8, 9, 16, 33, 300}) {
    std::vector<T> x(static_cast<size_t>(count), largest);
    std::uniform_int_distribution<T> near(largest - 80, largest), far(least, largest);
    for (size_t i = 1; i < x.size(); ++i) x[i] = i % 4 == 0 ? far(random) : near(random);
    if (count > 2) x[2] = least;
    long double sum = 0;
    for (const T v : x) sum += std::exp(static_cast<long double>(v) - static_cast<long double>(largest));
    ASSERT_NEAR(exp_sum_row(x.data(), largest, count), static_cast<double>(sum), 1e-15 * static_cast<double>(count)) << count;
  }
}

TEST_P(DoubleMath, sums_of_exponentials_of_integers_of_any_size) {
  for (const int32_t largest : {7, -100, std::numeric_limits<int32_t>::max()})
    sums_of_exponentials_of_integers<int32_t>(largest, std::numeric_limits<int32_t>::lowest());
  for (const int64_t largest : {int64_t{7}, int64_t{-100}, std::numeric_limits<int64_t>::max()})
    sums_of_exponentials_of_integers<int64_t>(largest, std::numeric_limits<int64_t>::lowest());
}

}  // namespace
}  // namespace rh::compute
