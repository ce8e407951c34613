#include "compute/elementwise/power.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

class PowerTest : public EveryIsa {};
RH_EVERY_ISA(PowerTest);

/// The neighbours of the exact result, or itself where that is a float.
bool is_near(float value, double exact) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(nearest)) return std::isnan(value);
  if (std::fabs(exact) < 0x1p-126) return std::fabs(value - nearest) <= 0x1p-126f;  // may be flushed to zero
  return value == nearest || value == std::nextafterf(nearest, value);
}

void check(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> y(a.size() + 1, 77);
  power(a.data(), 1, b.data(), 1, y.data(), static_cast<int64_t>(a.size()));
  for (size_t i = 0; i < a.size(); ++i) {
    const double exact = std::pow(static_cast<double>(a[i]), static_cast<double>(b[i]));
    ASSERT_TRUE(is_near(y[i], exact)) << a[i] << " ^ " << b[i] << " = " << y[i] << ", not " << exact;
    if (exact == 0 || std::isinf(static_cast<float>(exact))) {
      ASSERT_EQ(std::signbit(y[i]), std::signbit(exact)) << a[i] << " ^ " << b[i];
    }
  }
  ASSERT_EQ(y.back(), 77);
}

TEST_P(PowerTest, PositiveNumbers) {
  for (const int64_t count : {0, 1, 3, 7, 8, 9, 33, 5000}) {
    for (const double range : {1.5, 20.0, 90.0}) check(random_values(count, 1, 1e-3, 30), random_values(count, 2, -range, range));
    check(random_values(count, 3, 0.99, 1.01), random_values(count, 4, -9000, 9000));
    check(random_values(count, 5, 1e-38, 1e-36), random_values(count, 6, -1, 1));
    check(random_values(count, 7, 1e37, 3e38), random_values(count, 8, -1, 1));
  }
}

TEST_P(PowerTest, NegativeNumbersToWholePowers) {
  std::vector<float> b = random_values(3000, 2, -9, 9);
  for (size_t i = 0; i < b.size(); ++i) b[i] = i % 7 == 0 ? b[i] : std::floor(b[i]);
  check(random_values(3000, 1, -20, 20), b);
}

TEST_P(PowerTest, EveryPairOfSpecialNumbers) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> numbers{0.0f, -0.0f, 1,     -1,     2,      -2,   3,     -3,          0.5f, -0.5f,     inf,
                                   -inf, nan,   1e38f, -1e38f, 1e-38f, 4e7f, -4e7f, 16777217.0f, 2.5f, 1.0000001f};
  for (const float b : numbers) {
    check(numbers, std::vector<float>(numbers.size(), b));
    std::vector<float> row(numbers.size()), column(numbers.size());
    power(numbers.data(), 1, &b, 0, row.data(), static_cast<int64_t>(numbers.size()));
    power(&b, 0, numbers.data(), 1, column.data(), static_cast<int64_t>(numbers.size()));
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_TRUE(is_near(row[i], std::pow(static_cast<double>(numbers[i]), static_cast<double>(b)))) << numbers[i] << " ^ " << b;
      ASSERT_TRUE(is_near(column[i], std::pow(static_cast<double>(b), static_cast<double>(numbers[i])))) << b << " ^ " << numbers[i];
    }
    // Alone, in vectors that take the fast way.
    for (const float a : numbers) check(std::vector<float>(16, a), std::vector<float>(16, b));
  }
}

/// At most 0.55 units in the last place from the exact result, or as the library has it where that is no normal number.
void check(const std::vector<double>& a, const std::vector<double>& b, int64_t step_a = 1, int64_t step_b = 1) {
  const size_t count = std::max(a.size(), b.size());
  std::vector<double> y(count + 1, 77);
  power(a.data(), step_a, b.data(), step_b, y.data(), static_cast<int64_t>(count));
  for (size_t i = 0; i < count; ++i) {
    const double base = a[step_a ? i : 0], exponent = b[step_b ? i : 0], nearest = std::pow(base, exponent);
    if (!std::isnormal(nearest)) {
      ASSERT_TRUE(std::isnan(nearest) ? std::isnan(y[i]) : y[i] == nearest) << base << " ^ " << exponent << " = " << y[i];
      ASSERT_TRUE(std::isnan(nearest) || std::signbit(y[i]) == std::signbit(nearest)) << base << " ^ " << exponent;
      continue;
    }
    const long double exact = std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
    const double unit = std::ldexp(1.0, std::ilogb(nearest) - 52);
    ASSERT_LE(std::fabs(static_cast<double>((static_cast<long double>(y[i]) - exact) / static_cast<long double>(unit))), 0.55)
        << std::hexfloat << base << " ^ " << exponent << " = " << y[i] << ", not " << nearest;
  }
  ASSERT_EQ(y.back(), 77);
}

TEST_P(PowerTest, positive_doubles) {
  for (const int64_t count : {0, 1, 3, 7, 8, 9, 33, 20000}) {
    for (const double range : {0.01, 1.5, 20.0, 210.0})
      check(random_values<double>(count, 1, 1e-3, 30), random_values<double>(count, 2, -range, range));
    check(random_values<double>(count, 3, 0.99, 1.01), random_values<double>(count, 4, -70000, 70000));
    check(random_values<double>(count, 5, 0.69, 1.43), random_values<double>(count, 6, -2000, 2000));
    check(random_values<double>(count, 7, 1e-308, 1e-300), random_values<double>(count, 8, -1.02, 1.02));
    check(random_values<double>(count, 9, 1e300, 1.7e308), random_values<double>(count, 10, -1.02, 1.02));
  }
}

TEST_P(PowerTest, one_operand_for_all_doubles) {
  const std::vector<double> x = random_values<double>(33, 1, 0.1, 5);
  for (const double one : {0.5, 2.5, -3.0, 1.0 / 3}) {
    check(x, {one}, 1, 0);
    if (one > 0) check({one}, x, 0, 1);
  }
}

TEST_P(PowerTest, a_double_that_is_written_over) {
  const std::vector<double> x = random_values<double>(37, 1, -5, 5), b(x.size(), 3.0);
  for (const bool special : {false, true}) {
    std::vector<double> y = x, expected(x.size());
    if (special) y[9] = 0;
    for (size_t i = 0; i < x.size(); ++i) expected[i] = std::pow(y[i], 3.0);
    power(y.data(), 1, b.data(), 1, y.data(), static_cast<int64_t>(y.size()));
    for (size_t i = 0; i < x.size(); ++i) ASSERT_DOUBLE_EQ(y[i], expected[i]) << i;
  }
}

TEST_P(PowerTest, negative_doubles_to_whole_powers) {
  std::vector<double> b = random_values<double>(3000, 2, -9, 9);
  for (size_t i = 0; i < b.size(); ++i) b[i] = i % 7 == 0 ? b[i] : std::floor(b[i]);
  check(random_values<double>(3000, 1, -20, 20), b);
}

TEST_P(PowerTest, every_pair_of_special_doubles) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> numbers{0.0,   -0.0,        1,           -1,         2,           -2,     3,       -3,
                                    0.5,   -0.5,        inf,         -inf,       nan,         1e308,  -1e308,  1e-308,
                                    4e7,   -4e7,        0x1p53 + 2,  -0x1p53,    2.5,         5e-324, -5e-324, 1e17,
                                    1e-17, 1 + 0x1p-52, 1 - 0x1p-53, 0x1p52 + 1, -0x1p52 - 1, 1e-300, -1e300};
  for (const double b : numbers) {
    check(numbers, std::vector<double>(numbers.size(), b));
    check(std::vector<double>(numbers.size(), b), numbers);
    for (const double a : numbers) check(std::vector<double>(16, a), std::vector<double>(16, b));
  }
}

}  // namespace
}  // namespace rh::compute
