#include "compute/elementwise/int64_math.h"

#include <cmath>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kCounts[] = {0, 1, 3, 7, 8, 9, 16, 31, 100};

class Int64Math : public EveryIsa {};
RH_EVERY_ISA(Int64Math);

// Random numbers of all lengths, and what lies around the bounds of doubles and of the type.
std::vector<int64_t> edges() {
  std::vector<int64_t> numbers{0, 1, -1, 2, -2, 3, -3, 7, -7, kLeast, kLeast + 1, kMost, kMost - 1};
  for (int bits = 2; bits < 63; ++bits)
    for (const int64_t near : {-1, 0, 1}) numbers.insert(numbers.end(), {(int64_t{1} << bits) + near, -(int64_t{1} << bits) + near});
  std::mt19937_64 engine(5);
  for (int i = 0; i < 200; ++i) numbers.push_back(static_cast<int64_t>(engine()) >> (i % 63));
  return numbers;
}

int64_t expected(Division kind, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return kind != Division::quotient ? 0 : a == kLeast ? kLeast : -a;
  if (kind == Division::quotient) return a / b;
  const int64_t rest = a % b;
  return kind == Division::floor_rest && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

TEST_P(Int64Math, DividesEveryPairOfEdges) {
  const std::vector<int64_t> numbers = edges();
  const auto count = static_cast<int64_t>(numbers.size());
  std::vector<int64_t> y(numbers.size()), shifted(numbers.size());
  for (const Division kind : {Division::quotient, Division::rest, Division::floor_rest}) {
    for (size_t shift = 0; shift < numbers.size(); ++shift) {
      divide(kind, numbers.data(), 1, &numbers[shift], 0, y.data(), count);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y[i], expected(kind, numbers[i], numbers[shift])) << numbers[i] << " by " << numbers[shift];
      divide(kind, &numbers[shift], 0, numbers.data(), 1, y.data(), count);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y[i], expected(kind, numbers[shift], numbers[i])) << numbers[shift] << " by " << numbers[i];
    }
  }
}

TEST_P(Int64Math, DividesSmallNumbersInPlace) {
  for (const int64_t count : kCounts) {
    const std::vector<int64_t> a = random_values<int64_t>(count, 1, -1e6, 1e6);
    std::vector<int64_t> b = random_values<int64_t>(count, 2, 1, 100);
    for (size_t i = 0; i < b.size(); i += 2) b[i] = -b[i];
    for (const Division kind : {Division::quotient, Division::rest, Division::floor_rest}) {
      std::vector<int64_t> y = a;
      y.push_back(77);
      divide(kind, y.data(), 1, b.data(), 1, y.data(), count);
      for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(y[i], expected(kind, a[i], b[i])) << a[i] << " by " << b[i];
      ASSERT_EQ(y.back(), 77);
    }
  }
}

TEST_P(Int64Math, AddsSubtractsAndMultipliesWrappingAround) {
  for (const int64_t count : kCounts) {
    std::vector<int64_t> a = random_values<int64_t>(count, 1, -1e6, 1e6), b = random_values<int64_t>(count, 2, -1e6, 1e6);
    for (size_t i = 0; i < a.size(); i += 3) {
      a[i] = std::numeric_limits<int64_t>::max() - static_cast<int64_t>(i);
      b[i] = i % 2 ? a[i] : std::numeric_limits<int64_t>::min();
    }
    const auto sum = [](int64_t x, int64_t z) { return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(z)); };
    const auto difference = [](int64_t x, int64_t z) { return static_cast<int64_t>(static_cast<uint64_t>(x) - static_cast<uint64_t>(z)); };
    for (const int64_t step_a : {0, 1}) {
      for (const int64_t step_b : {0, 1}) {
        std::vector<int64_t> y = a, z = b, products = a;
        y.push_back(77);
        add(step_a ? y.data() : a.data(), step_a, b.data(), step_b, y.data(), count);
        subtract(a.data(), step_a, step_b ? z.data() : b.data(), step_b, z.data(), count);
        multiply(step_a ? products.data() : a.data(), step_a, b.data(), step_b, products.data(), count);
        for (size_t i = 0; i < a.size(); ++i) {
          const int64_t left = a[step_a ? i : 0], right = b[step_b ? i : 0];
          ASSERT_EQ(y[i], sum(left, right)) << left << " and " << right;
          ASSERT_EQ(z[i], difference(left, right)) << left << " and " << right;
          ASSERT_EQ(products[i], static_cast<int64_t>(static_cast<uint64_t>(left) * static_cast<uint64_t>(right)))
              << left << " and " << right;
        }
        ASSERT_EQ(y.back(), 77);
      }
    }
  }
}

// The quotient lies just below a whole number, as near as 51 bits allow.
TEST_P(Int64Math, DividesWhatIsAlmostWhole) {
  std::mt19937_64 engine(7);
  std::vector<int64_t> a, b;
  for (int i = 0; i < 4000; ++i) {
    const int64_t divisor = static_cast<int64_t>(engine() >> (13 + i % 50)) + 1;
    const int64_t factor = std::max<int64_t>(1, ((int64_t{1} << 51) - 1) / divisor - i % 3);
    a.push_back(divisor * factor - 1);
    b.push_back(divisor);
  }
  std::vector<int64_t> y(a.size());
  for (const Division kind : {Division::quotient, Division::rest, Division::floor_rest}) {
    divide(kind, a.data(), 1, b.data(), 1, y.data(), static_cast<int64_t>(a.size()));
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], expected(kind, a[i], b[i])) << a[i] << " by " << b[i];
  }
}

TEST_P(Int64Math, Truncates) {
  for (const int64_t count : kCounts) {
    for (const double range : {3.0, 1e15, 1e19}) {
      std::vector<float> x = random_values(count, 3, -range, range);
      if (range > 1e18 && count > 8) {
        x[0] = std::numeric_limits<float>::quiet_NaN(), x[1] = std::numeric_limits<float>::infinity(), x[2] = -x[1];
        x[3] = 0x1p63f, x[4] = -0x1p63f, x[5] = 0x1.fffffep62f, x[6] = 0x1p51f, x[7] = -0.0f, x[8] = -0x1.fffffep50f;
      }
      std::vector<int64_t> y(x.size() + 1, 77);
      truncate(x.data(), y.data(), count);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i], x[i] >= -0x1p63f && x[i] < 0x1p63f ? static_cast<int64_t>(x[i]) : kLeast) << x[i];
      ASSERT_EQ(y.back(), 77);
    }
  }
}

TEST_P(Int64Math, BecomesFloatRoundedOnce) {
  const std::vector<int64_t> numbers = edges();
  for (size_t first = 0; first < numbers.size(); ++first) {
    const size_t count = numbers.size() - first;
    std::vector<float> y(count + 1, 77);
    to_float(numbers.data() + first, y.data(), static_cast<int64_t>(count));
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], static_cast<float>(numbers[first + i])) << numbers[first + i];
    ASSERT_EQ(y.back(), 77);
  }
}

}  // namespace
}  // namespace rh::compute
