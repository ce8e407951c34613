#include "compute/elementwise/power.h"

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

}  // namespace
}  // namespace rh::compute
