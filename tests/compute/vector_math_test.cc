#include "compute/elementwise/vector_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "compute/elementwise/activation.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

const float kInf = std::numeric_limits<float>::infinity();

/// Distance in units of the last place of the float nearest to `expected`.
double ulps(float value, double expected) {
  if (std::isnan(expected)) return std::isnan(value) ? 0 : kInf;
  const float nearest = static_cast<float>(expected);
  if (std::isinf(nearest)) return value == nearest ? 0 : kInf;
  int exponent;
  std::frexp(std::max(std::fabs(expected), 1.1754943508222875e-38), &exponent);
  return std::fabs(value - expected) / std::ldexp(1.0, exponent - 24);
}

std::vector<float> interesting(float low, float high) {
  std::vector<float> values{0.0f, -0.0f, 1.0f, -1.0f, 0.5f, low, high, 1e-30f, -1e-30f, 0.625f, 0.92f, 4.05f};
  for (float x : random_values(20000, 7, low, high)) values.push_back(x);
  for (float x : random_values(5000, 8, -1.5, 1.5)) values.push_back(x);
  std::erase_if(values, [&](float x) { return x < low || x > high; });
  return values;
}

class VectorMathTest : public EveryIsa {};

TEST_P(VectorMathTest, transcendental_functions_within_their_ulp) {
  const struct {
    const char* name;
    Unary op;
    double (*exact)(double);
    float low, high;
    double most = 2;
  } rows[] = {
      {"exp", Unary::exp, [](double x) { return std::exp(x); }, -87, 89},
      {"log", Unary::log, [](double x) { return std::log(x); }, 1e-37f, 1e6f},
      {"sinh", Unary::sinh, [](double x) { return std::sinh(x); }, -91, 91},
      {"cosh", Unary::cosh, [](double x) { return std::cosh(x); }, -91, 91},
      {"tanh", Unary::tanh, [](double x) { return std::tanh(x); }, -12, 12, 2.5},
      {"erf", Unary::erf, [](double x) { return std::erf(x); }, -6, 6},
      {"sigmoid", Unary::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -86, 90, 2.5},
      {"silu", Unary::silu, [](double x) { return x / (1 + std::exp(-x)); }, -87, 90, 2.5},
      {"atan", Unary::atan, [](double x) { return std::atan(x); }, -1e30f, 1e30f},
      {"asin", Unary::asin, [](double x) { return std::asin(x); }, -1, 1},
      {"acos", Unary::acos, [](double x) { return std::acos(x); }, -1, 1},
      {"softplus", Unary::softplus, [](double x) { return std::log1p(std::exp(x)); }, -80, 80, 3},
  };
  for (const auto& row : rows) {
    const std::vector<float> x = interesting(row.low, row.high);
    std::vector<float> y(x.size());
    unary(row.op, x.data(), y.data(), static_cast<int64_t>(x.size()));
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double distance = ulps(y[i], row.exact(x[i]));
      worst = std::max(worst, distance);
      ASSERT_LE(distance, row.most) << row.name << "(" << x[i] << ") = " << y[i];
    }
    RecordProperty(row.name, std::to_string(worst));
  }
}

/// Numbers of every magnitude, and those whose quotients by `number` are closest to the middle of two floats.
std::vector<float> dividends(float number) {
  std::vector<float> x{0.0f, -0.0f, kInf, -kInf, std::numeric_limits<float>::max(), 0x1p-126f, -0x1p-140f};
  uint32_t random = 1;
  const auto next = [&random] { return random = random * 1664525 + 1013904223; };
  for (int i = 0; i < 20000; ++i) x.push_back(std::bit_cast<float>(next()));
  for (int i = 0; i < 100000; ++i) {
    const double middle = (1 << 23 | next() >> 9) + 0.5, product = middle * number;  // exact
    x.push_back(static_cast<float>(product));
    x.push_back(std::nextafter(x.back(), product > x.back() ? kInf : -kInf));
  }
  return x;
}

TEST_P(VectorMathTest, quotients_by_a_number_have_the_bits_of_division) {
  const float infinite[] = {0.0f, -0.0f, kInf, -kInf};
  std::vector<float> numbers{6,    -6, 3,       255,       0.75f,    1048575,     1048573, 0x1.00002p-7f, -0x1.ffffep3f,
                             0.1f, 8,  -0.125f, 0x1p-126f, 0x1p100f, 0x1p39f / 3, 0x1p16f, 0x1.8p15f,     0x1.8p16f};
  numbers.insert(numbers.end(), std::begin(infinite), std::end(infinite));
  numbers.push_back(std::bit_cast<float>(std::bit_cast<uint32_t>(0x1.2p-39f / 7) & ~15U));
  for (const float number : numbers) {
    std::vector<float> x = dividends(std::isfinite(number) && number != 0 ? number : 1), y(x.size()), z(x.size());
    const std::vector<float> b(x.size(), number);
    const auto count = static_cast<int64_t>(x.size());
    binary(Binary::div, x.data(), b.data(), z.data(), count);
    binary_scalar(Binary::div, x.data(), number, y.data(), count);
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(z[i]) && std::isnan(y[i])) continue;
      ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(z[i])) << x[i] << " / " << number << " is " << z[i];
    }
  }
}

TEST_P(VectorMathTest, angles_of_any_size_within_1_ulp) {
  const struct {
    const char* name;
    Unary op;
    double (*exact)(double);
  } rows[] = {
      {"sin", Unary::sin, [](double x) { return std::sin(x); }},
      {"cos", Unary::cos, [](double x) { return std::cos(x); }},
      {"tan", Unary::tan, [](double x) { return std::tan(x); }},
  };
  std::vector<float> x{0.0f, -0.0f, 4194304.0f, -4194305.0f, 1e10f, -3e38f, 16367173.0f};
  for (const double range : {1.0, 10.0, 1e3, 1e5, 4.2e6, 1e9, 3e38}) {
    for (float v : random_values(3000, 11, -range, range)) x.push_back(v);
  }
  for (int i = -3000; i < 3000; ++i) {  // next to the zeros and the poles
    const float quarter = static_cast<float>(i * 1.5707963267948966);
    for (float v : {quarter, std::nextafter(quarter, kInf), std::nextafter(quarter, -kInf)}) x.push_back(v);
  }
  std::vector<float> y(x.size());
  for (const auto& row : rows) {
    unary(row.op, x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulps(y[i], row.exact(x[i])), 1) << row.name << "(" << x[i] << ") = " << y[i];
      if (x[i] == 0 && row.op != Unary::cos) {
        ASSERT_EQ(std::signbit(y[i]), std::signbit(x[i])) << row.name;
      }
    }
  }
}

TEST_P(VectorMathTest, inverse_hyperbolic_functions_within_1_ulp) {
  const struct {
    const char* name;
    Unary op;
    double (*exact)(double);
  } rows[] = {
      {"asinh", Unary::asinh, [](double x) { return std::asinh(x); }},
      {"acosh", Unary::acosh, [](double x) { return std::acosh(x); }},
      {"atanh", Unary::atanh, [](double x) { return std::atanh(x); }},
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x{0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, kInf, -kInf, nan, 3.4028235e38f, -3.4028235e38f, 1e-38f, -1e-30f, 0.5f};
  for (const float power : {1e-6f, 1e-4f, 9e-4f, 0.00097656244f, 0.1f, 0.9f, 1.0f, 1.1f, 1.5f, 10.0f, 1e5f, 1e9f, 1e20f, 3e38f}) {
    for (const float v : random_values(3000, 12, -static_cast<double>(power), static_cast<double>(power))) x.push_back(v);
  }
  for (float v = 1, w = 1; x.size() < 50000; v = std::nextafter(v, kInf), w = std::nextafter(w, 0.0f)) x.insert(x.end(), {v, w, -w});
  std::vector<float> y(x.size());
  for (const auto& row : rows) {
    unary(row.op, x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulps(y[i], row.exact(x[i])), 1) << row.name << "(" << x[i] << ") = " << y[i];
      if (x[i] == 0 && row.op != Unary::acosh) {
        ASSERT_EQ(std::signbit(y[i]), std::signbit(x[i])) << row.name;
      }
    }
  }
}

/// However values fall into vectors, as where threads share them.
TEST_P(VectorMathTest, bits_of_an_element_do_not_depend_on_its_neighbours) {
  const std::vector<float> values = interesting(-80, 80);
  for (const Unary op : {Unary::exp, Unary::sinh, Unary::cosh, Unary::tanh, Unary::erf, Unary::sigmoid, Unary::silu, Unary::softplus,
                         Unary::sin, Unary::cos}) {
    for (const float neighbour : {100.0f, -200.0f, kInf, 1e9f}) {
      std::vector<float> alone(2 * values.size(), 0.0f), beside(2 * values.size(), neighbour);
      for (size_t i = 0; i < values.size(); ++i) alone[2 * i] = beside[2 * i] = values[i];
      unary(op, alone.data(), alone.data(), static_cast<int64_t>(alone.size()));
      unary(op, beside.data(), beside.data(), static_cast<int64_t>(beside.size()));
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(alone[2 * i], beside[2 * i]) << "function " << static_cast<int>(op) << " of " << values[i] << " beside " << neighbour;
    }
  }
}

TEST_P(VectorMathTest, special_values) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const struct {
    Unary op;
    float x, y;
  } rows[] = {
      {Unary::exp, kInf, kInf},
      {Unary::exp, -kInf, 0},
      {Unary::exp, nan, nan},
      {Unary::exp, 100, kInf},
      {Unary::exp, -200, 0},
      {Unary::exp, 0, 1},
      {Unary::log, 0, -kInf},
      {Unary::log, -0.0f, -kInf},
      {Unary::log, -1, nan},
      {Unary::log, kInf, kInf},
      {Unary::log, nan, nan},
      {Unary::log, 1, 0},
      {Unary::log, -kInf, nan},
      {Unary::sinh, kInf, kInf},
      {Unary::sinh, -kInf, -kInf},
      {Unary::sinh, nan, nan},
      {Unary::sinh, -0.0f, -0.0f},
      {Unary::cosh, -kInf, kInf},
      {Unary::cosh, nan, nan},
      {Unary::tanh, kInf, 1},
      {Unary::tanh, -kInf, -1},
      {Unary::tanh, nan, nan},
      {Unary::tanh, -0.0f, -0.0f},
      {Unary::erf, kInf, 1},
      {Unary::erf, -kInf, -1},
      {Unary::erf, nan, nan},
      {Unary::erf, -0.0f, -0.0f},
      {Unary::sigmoid, kInf, 1},
      {Unary::sigmoid, -kInf, 0},
      {Unary::sigmoid, nan, nan},
      {Unary::silu, kInf, kInf},
      {Unary::silu, -kInf, nan},
      {Unary::silu, nan, nan},
      {Unary::silu, 3.4e38f, 3.4e38f},
      {Unary::silu, -89, -0.0f},
      {Unary::silu, -111, -0.0f},
      {Unary::silu, -3.4e38f, -0.0f},
      {Unary::sin, kInf, nan},
      {Unary::cos, -kInf, nan},
      {Unary::tan, nan, nan},
      {Unary::relu, nan, nan},
      {Unary::relu, -3, 0},
      {Unary::relu, kInf, kInf},
      {Unary::hard_swish, nan, nan},
      {Unary::hard_swish, 4, 4},
      {Unary::hard_swish, -4, -0.0f},
      {Unary::softplus, kInf, kInf},
      {Unary::softplus, -kInf, 0},
      {Unary::softplus, nan, nan},
      {Unary::sqrt, -1, nan},
      {Unary::round, 2.5f, 2},
      {Unary::round, -1.5f, -2},
      {Unary::floor, -1.5f, -2},
      {Unary::ceil, -1.5f, -1},
      {Unary::reciprocal, 0, kInf},
      {Unary::abs, -kInf, kInf},
      {Unary::gelu_erf, nan, nan},
      {Unary::softsign, -3, -0.75f},
      {Unary::neg, 2, -2},
      {Unary::square, -3, 9},
      {Unary::gelu_tanh, nan, nan},
      {Unary::gelu_erf, 0, 0},
      {Unary::gelu_tanh, 0, 0},
      {Unary::gelu_erf, kInf, kInf},
      {Unary::gelu_erf, 8, 8},
      {Unary::gelu_tanh, 12, 12},
      {Unary::gelu_tanh, kInf, kInf},
      {Unary::gelu_erf, -1e38f, -0.0f},
      {Unary::gelu_tanh, -1e38f, -0.0f},
  };
  for (const auto& row : rows) {
    for (const int64_t count : {1, 3, 16, 17}) {
      std::vector<float> x(static_cast<size_t>(count), row.x), y(x.size(), 55);
      unary(row.op, x.data(), y.data(), count);
      for (const float value : y) {
        if (std::isnan(row.y))
          ASSERT_TRUE(std::isnan(value)) << "op " << static_cast<int>(row.op) << " of " << row.x << " gave " << value;
        else
          ASSERT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(row.y))
              << "op " << static_cast<int>(row.op) << " of " << row.x << " gave " << value;
      }
    }
  }
}

TEST_P(VectorMathTest, gelu_close_to_its_formula) {
  const std::vector<float> x = interesting(-8, 8);
  std::vector<float> y(x.size()), z(x.size());
  unary(Unary::gelu_erf, x.data(), y.data(), static_cast<int64_t>(x.size()));
  unary(Unary::gelu_tanh, x.data(), z.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    ASSERT_NEAR(y[i], 0.5 * v * (1 + std::erf(v * std::sqrt(0.5))), 3e-7 * std::max(1.0, std::fabs(v))) << v;
    ASSERT_NEAR(z[i], 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v))),
                3e-7 * std::max(1.0, std::fabs(v)))
        << v;
    const double right = 0.5 * v * std::erfc(-v * std::sqrt(0.5)),
                 by_tanh = v / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
    if (v > -2) {
      ASSERT_NEAR(y[i], right, 1e-6 * std::fabs(right) + 1e-44) << v;  // small results as well
      ASSERT_NEAR(z[i], by_tanh, 1e-6 * std::fabs(by_tanh) + 1e-44) << v;
    }
    if (v < -7.3) {
      ASSERT_LE(std::max(std::fabs(y[i]), std::fabs(z[i])), 1.1e-12) << v;
    }
  }
}

TEST_P(VectorMathTest, tails_leave_what_follows_alone) {
  for (int64_t count = 0; count <= 40; ++count) {
    const std::vector<float> x = random_values(41, 3, 0.1, 2), b = random_values(41, 4, 0.1, 2);
    std::vector<float> y(41, 77), z(41, 77);
    unary(Unary::sqrt, x.data(), y.data(), count);
    binary(Binary::div, x.data(), b.data(), z.data(), count);
    for (size_t i = 0; i < 41; ++i) {
      ASSERT_EQ(y[i], static_cast<int64_t>(i) < count ? std::sqrt(x[i]) : 77.0f);
      ASSERT_EQ(z[i], static_cast<int64_t>(i) < count ? x[i] / b[i] : 77.0f);
    }
  }
}

TEST_P(VectorMathTest, binary_operations) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a{1, -2, 3, nan, 5, kInf, 7, 0, 1}, b{4, 0.5f, 3, 1, nan, 2, -kInf, 0, 2};
  const struct {
    Binary op;
    float (*exact)(float, float);
  } rows[] = {
      {Binary::add, [](float x, float y) { return x + y; }},
      {Binary::sub, [](float x, float y) { return x - y; }},
      {Binary::mul, [](float x, float y) { return x * y; }},
      {Binary::div, [](float x, float y) { return x / y; }},
      {Binary::min, [](float x, float y) { return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y); }},
      {Binary::max, [](float x, float y) { return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y); }},
      {Binary::prelu, [](float x, float y) { return x < 0 ? x * y : x; }},
  };
  const auto same = [](float x, float y) { return (std::isnan(x) && std::isnan(y)) || x == y; };
  for (const auto& row : rows) {
    std::vector<float> both(a.size()), right(a.size()), left(a.size());
    const int64_t count = static_cast<int64_t>(a.size());
    binary(row.op, a.data(), b.data(), both.data(), count);
    binary_scalar(row.op, a.data(), 2.5f, right.data(), count);
    scalar_binary(row.op, 2.5f, b.data(), left.data(), count);
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(same(both[i], row.exact(a[i], b[i]))) << "op " << static_cast<int>(row.op) << " at " << i << ": " << both[i];
      EXPECT_TRUE(same(right[i], row.exact(a[i], 2.5f))) << "op " << static_cast<int>(row.op) << " at " << i << ": " << right[i];
      EXPECT_TRUE(same(left[i], row.exact(2.5f, b[i]))) << "op " << static_cast<int>(row.op) << " at " << i << ": " << left[i];
    }
  }
}

TEST_P(VectorMathTest, heads_turn_by_the_angles_of_their_token) {
  for (const bool interleaved : {false, true}) {
    for (const int64_t half : {1, 3, 4, 16, 21, 64}) {
      const int64_t depth = 2 * half + 3, stride = depth + 2, count = 3;
      const RotatedHeads heads{count, stride, depth, half, interleaved};
      const std::vector<float> x = random_values(count * stride, 1), cosines = random_values(half, 2), sines = random_values(half, 3);
      std::vector<float> y(x.size(), 7.0f), expected(y);
      for (int64_t head = 0; head < count; ++head) {
        const size_t at = static_cast<size_t>(head * stride);
        std::copy_n(x.begin() + head * stride, depth, expected.begin() + head * stride);
        for (size_t i = 0; i < cosines.size(); ++i) {
          const size_t first = at + (interleaved ? 2 * i : i), second = interleaved ? first + 1 : first + cosines.size();
          expected[first] = cosines[i] * x[first] - sines[i] * x[second];
          expected[second] = sines[i] * x[first] + cosines[i] * x[second];
        }
      }
      rotate_heads(heads, x.data(), cosines.data(), sines.data(), y.data());
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-6) << i << " of heads of " << depth << ", " << interleaved;
    }
  }
}

TEST_P(VectorMathTest, rows_and_columns_are_filled_scaled_and_shifted) {
  for (const size_t rows : {1, 3, 40}) {
    for (const size_t length : {1, 7, 11, 16, 45}) {
      const std::vector<float> x = random_values(rows * length, 7), factors = random_values(length + rows, 8);
      const std::vector<float> shifts = random_values(length + rows, 9);
      std::vector<float> by_row(x.size()), by_column = x;
      const int64_t count = static_cast<int64_t>(rows), size = static_cast<int64_t>(length);
      fill_rows(factors.data(), by_row.data(), count, size);
      for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(by_row[i], factors[i / length]) << i << " of rows of " << length;
      scale_shift_rows(x.data(), factors.data(), shifts.data(), by_row.data(), count, size);
      scale_shift_columns(by_column.data(), factors.data(), shifts.data(), by_column.data(), count, size);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(by_row[i], x[i] * factors[i / length] + shifts[i / length], 1e-6) << i << " of rows of " << length;
        EXPECT_NEAR(by_column[i], x[i] * factors[i % length] + shifts[i % length], 1e-6) << i << " of rows of " << length;
      }
    }
  }
}

TEST_P(VectorMathTest, rows_meet_numbers_of_their_own) {
  for (const int64_t length : {1, 7, 16, 45}) {
    constexpr int64_t kRows = 3, kNumberRow = 2;
    for (const int64_t x_row : {int64_t{0}, length + 1}) {
      const std::vector<float> x = random_values(kRows * (length + 1), 7), numbers = random_values(kRows * kNumberRow, 8);
      std::vector<float> y(static_cast<size_t>(kRows * length) + 1, 9.0f);
      for (const bool number_first : {false, true}) {
        binary_rows(Binary::sub, number_first, numbers.data(), kNumberRow, x.data(), x_row, y.data(), kRows, length);
        for (int64_t i = 0; i < kRows * length; ++i) {
          const float v = x[static_cast<size_t>(i / length * x_row + i % length)],
                      number = numbers[static_cast<size_t>(i / length * kNumberRow)];
          EXPECT_EQ(y[static_cast<size_t>(i)], number_first ? number - v : v - number) << i << " of rows of " << length;
        }
        EXPECT_EQ(y.back(), 9.0f);
      }
    }
  }
}

TEST_P(VectorMathTest, activations_follow_their_formulas) {
  const struct {
    Activation activation;
    double (*exact)(double, double, double);
  } rows[] = {
      {{ActivationKind::none}, [](double x, double, double) { return x; }},
      {{ActivationKind::leaky_relu, 0.1f}, [](double x, double a, double) { return x < 0 ? a * x : x; }},
      {{ActivationKind::clip, -0.5f, 2}, [](double x, double a, double b) { return std::min(std::max(x, a), b); }},
      {{ActivationKind::hard_sigmoid, 0.2f, 0.5f}, [](double x, double a, double b) { return std::min(std::max(a * x + b, 0.0), 1.0); }},
      {{ActivationKind::affine, 2, -1}, [](double x, double a, double b) { return a * x + b; }},
      {{ActivationKind::scaled_tanh, 1.5f, 0.5f}, [](double x, double a, double b) { return a * std::tanh(b * x); }},
      {{ActivationKind::elu, 0.7f}, [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }},
      {{ActivationKind::silu, 1}, [](double x, double a, double) { return x / (1 + std::exp(-a * x)); }},
      {{ActivationKind::silu, 1.7f}, [](double x, double a, double) { return x / (1 + std::exp(-a * x)); }},
      {{ActivationKind::thresholded_relu, 0.5f}, [](double x, double a, double) { return x > a ? x : 0; }},
      {{ActivationKind::shrink, 0.5f, 0.25f}, [](double x, double a, double b) { return x < -a  ? x + b
                                                                                        : x > a ? x - b
                                                                                                : 0; }},
      {{ActivationKind::softsign}, [](double x, double, double) { return x / (1 + std::fabs(x)); }},
      {{ActivationKind::softplus}, [](double x, double, double) { return std::log1p(std::exp(x)); }},
      {{ActivationKind::mish}, [](double x, double, double) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {{ActivationKind::relu}, [](double x, double, double) { return std::max(x, 0.0); }},
      {{ActivationKind::hard_swish}, [](double x, double, double) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }},
      {{ActivationKind::hard_swish_affine, 0.75f, -0.25f},
       [](double x, double a, double b) { return a * x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0) + b; }},
      {{ActivationKind::sigmoid}, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
      {{ActivationKind::tanh}, [](double x, double, double) { return std::tanh(x); }},
      {{ActivationKind::gelu_erf}, [](double x, double, double) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {{ActivationKind::gelu_tanh},
       [](double x, double, double) {
         return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
       }},
  };
  const std::vector<float> x = interesting(-6, 6);
  for (const auto& row : rows) {
    std::vector<float> y(x.size());
    activate(row.activation, x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = row.exact(x[i], row.activation.alpha, row.activation.beta);
      ASSERT_NEAR(y[i], exact, 2e-6) << static_cast<int>(row.activation.kind) << " of " << x[i];
      ASSERT_NEAR(activated(row.activation, static_cast<double>(x[i])), exact, 1e-12) << static_cast<int>(row.activation.kind);
    }
  }
}

RH_EVERY_ISA(VectorMathTest);

}  // namespace
}  // namespace rh::compute
