#include "compute/quant/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/support.h"

namespace rh::compute {
namespace {

constexpr int64_t kCounts[] = {0, 1, 3, 7, 16, 17, 100};

template <typename T>
T clamped(double value, const QuantRange& range) {
  return static_cast<T>(std::fmin(std::fmax(value, range.low), range.high));
}

class QuantizeTest : public EveryIsa {};

template <typename T>
void check_element_type() {
  const QuantRange range = QuantRange::of<T>(std::is_signed_v<T> ? -3 : 100);
  for (const int64_t count : kCounts) {
    std::vector<float> x = random_values(count, 7, -2.5 * range.high, 2.5 * range.high);
    for (size_t i = 0; i < x.size(); i += 3) x[i] = std::floor(x[i]) + 0.5f;  // ties
    if (count > 6) {
      x[4] = std::numeric_limits<float>::quiet_NaN();
      x[5] = std::numeric_limits<float>::infinity();
      x[6] = -std::numeric_limits<float>::infinity();
    }
    const float scale = 0.75f;
    std::vector<T> y(x.size() + 1, T(77));
    quantize(x.data(), scale, range, y.data(), count);
    for (size_t i = 0; i < x.size(); ++i) {
      const float quotient = x[i] / scale;
      const T expected = std::isnan(quotient) ? static_cast<T>(range.low) : clamped<T>(std::nearbyint(quotient) + range.zero_point, range);
      ASSERT_EQ(y[i], expected) << x[i];
    }
    ASSERT_EQ(y.back(), T(77));

    std::vector<float> back(x.size() + 1, 5);
    dequantize(y.data(), scale, range.zero_point, back.data(), count);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(back[i], static_cast<float>(y[i] - range.zero_point) * scale);
    ASSERT_EQ(back.back(), 5);

    const std::vector<int32_t> sums = random_values<int32_t>(count + 1, 9, -1e6, 1e6);
    const std::vector<float> scales = random_values(count + 1, 10, 1e-4, 1e-1);
    for (const bool per_element : {false, true}) {
      requantize(sums.data(), scales.data(), per_element, range, y.data(), count);
      for (size_t i = 0; i < x.size(); ++i) {
        const float product = static_cast<float>(sums[i]) * scales[per_element ? i : 0];
        ASSERT_EQ(y[i], clamped<T>(std::nearbyint(product) + range.zero_point, range));
      }
      ASSERT_EQ(y.back(), T(77));
    }
  }
}

TEST_P(QuantizeTest, EqualsTheFormula) {
  check_element_type<uint8_t>();
  check_element_type<int8_t>();
  check_element_type<uint16_t>();
  check_element_type<int16_t>();
}

/// What is quantised by `scale` must be what division and rounding to even give.
template <typename T>
void check_quotients(const std::vector<float>& x, float scale, int32_t zero_point) {
  const QuantRange range = QuantRange::of<T>(zero_point);
  std::vector<T> y(x.size());
  quantize(x.data(), scale, range, y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const float quotient = x[i] / scale;
    const T expected = std::isnan(quotient) ? static_cast<T>(range.low) : clamped<T>(std::nearbyint(quotient) + range.zero_point, range);
    ASSERT_EQ(y[i], expected) << x[i] << " by " << scale;
  }
}

// Just at, below and above half way between two values, for many scales: as division rounds them.
TEST_P(QuantizeTest, EqualsDivisionNearTies) {
  std::vector<float> scales = random_values(60, 5, 1e-3, 3);
  scales.insert(scales.end(), {1.0f, 0.01f, 1e-40f, 1e-30f, 1e35f, 1e38f, 0x1p-126f, 0x1.fffffep-127f, 0x1.fffffep3f, -0.5f, 0.0f});
  for (const float scale : scales) {
    std::vector<float> x;
    for (int k = -110; k < 170; ++k) {
      const float tie = (static_cast<float>(k) + 0.5f) * scale;
      float below = tie, above = tie;
      for (int step = 0; step < 5; ++step) {
        x.insert(x.end(), {below, above, tie * (1.0002f + static_cast<float>(step))});
        below = std::nextafterf(below, -1e38f);
        above = std::nextafterf(above, 1e38f);
      }
    }
    check_quotients<uint8_t>(x, scale, 100);
    check_quotients<int8_t>(x, scale, -20);
    check_quotients<int16_t>(x, scale, 3);
  }
}

// One value near a tie among many that are not: blocks of products and blocks of quotients side by side.
TEST_P(QuantizeTest, EqualsDivisionOfManyValues) {
  const std::vector<float> scales = random_values(40, 11, 1e-3, 0.1);
  for (size_t i = 0; i < scales.size(); ++i) {
    std::vector<float> x = random_values(20000, static_cast<uint32_t>(i), -200 * scales[i], 200 * scales[i]);
    for (size_t k = 0; k < x.size(); k += 1000) x[k] = (static_cast<float>(k / 100) - 99.5f) * scales[i];
    check_quotients<uint8_t>(x, scales[i], 128);
    check_quotients<int8_t>(x, scales[i], 0);
  }
}

template <typename T>
void check_binary(bool multiplies, int32_t zero_point) {
  std::vector<T> a, b;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      a.push_back(static_cast<T>(i));
      b.push_back(static_cast<T>(j));
    }
  }
  const QuantRange range = QuantRange::of<T>(zero_point);
  // Powers of two give exact ties.
  for (const auto& [left, right, scale] :
       {std::array{0.5f, 0.25f, 1.0f}, std::array{0.037f, 0.021f, 0.043f}, std::array{0.0123f, 0.0456f, 0.0789f},
        std::array{1.7f, 0.003f, -2.1f}, std::array{1e-20f, 3.f, 1e-40f}}) {
    for (const int64_t step : {int64_t{0}, int64_t{1}}) {
      std::vector<T> y(a.size());
      quantized_binary<T>(multiplies, {a.data(), 1, left, 5}, {b.data(), step, right, zero_point}, scale, range, y.data(),
                          static_cast<int64_t>(a.size()));
      for (size_t i = 0; i < a.size(); ++i) {
        const float u = static_cast<float>(a[i] - 5) * left, v = static_cast<float>(b[step ? i : 0] - zero_point) * right;
        const float quotient = (multiplies ? u * v : u + v) / scale;
        ASSERT_EQ(y[i], clamped<T>(std::nearbyint(quotient) + zero_point, range)) << u << " " << v << " by " << scale;
      }
    }
  }
}
TEST_P(QuantizeTest, SumsAndProductsRoundAsDivisionDoes) {
  for (const bool multiplies : {false, true}) {
    check_binary<uint8_t>(multiplies, 120);
    check_binary<int8_t>(multiplies, -3);
  }
}

template <typename T>
void check_rows(int64_t rows, int64_t columns, int32_t zero_point) {
  const int64_t stride = columns + 3, y_stride = columns + 5;
  const QuantRange range = QuantRange::of<T>(zero_point);
  std::vector<int32_t> sums = random_values<int32_t>(rows * stride, 9, -1e6, 1e6);
  sums[0] = std::numeric_limits<int32_t>::max();
  sums[static_cast<size_t>(columns - 1)] = std::numeric_limits<int32_t>::min();
  std::vector<float> scales = random_values(columns, 10, 1e-5, 1e-3);
  scales[0] = 3;
  scales[static_cast<size_t>(columns / 2)] = 0.5f;  // ties
  std::vector<uint8_t> found(static_cast<size_t>(rows * y_stride), 77), expected = found;
  for (int64_t r = 0; r < rows; ++r) {
    requantize(sums.data() + r * stride, scales.data(), true, range, reinterpret_cast<T*>(expected.data()) + r * y_stride, columns);
  }
  requantize_rows(sums.data(), stride, scales.data(), range, found.data(), y_stride, rows, columns);
  ASSERT_EQ(found, expected) << rows << " rows of " << columns;
}
TEST_P(QuantizeTest, RequantizesRowsAsEachOne) {
  for (const int64_t columns : {1, 15, 16, 40, 64, 130, 200}) {
    for (const int64_t rows : {1, 12}) {
      check_rows<uint8_t>(rows, columns, 100);
      check_rows<int8_t>(rows, columns, -5);
    }
  }
}

TEST_P(QuantizeTest, LooksUpBytes) {
  uint8_t table[256];
  for (int i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i * 37 + 11);
  for (const int64_t count : {0, 1, 15, 64, 300, 777}) {
    std::vector<uint8_t> x(static_cast<size_t>(count)), y(x.size() + 1, 77);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 3);
    look_up(table, x.data(), y.data(), count);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], table[x[i]]) << i << " of " << count;
    ASSERT_EQ(y.back(), 77);
    look_up(table, x.data(), x.data(), count);
    ASSERT_TRUE(std::equal(x.begin(), x.end(), y.begin()));
  }
}

template <typename T>
void check_sum() {
  for (const int64_t count : {0, 1, 15, 128, 300, 70001}) {
    std::vector<T> x(static_cast<size_t>(count));
    int64_t sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += x[i] = static_cast<T>(i * 7 + 130);
    ASSERT_EQ(sum_codes(x.data(), count), sum) << count;
  }
}
TEST_P(QuantizeTest, SumsCodes) {
  check_sum<uint8_t>();
  check_sum<int8_t>();
}

TEST_P(QuantizeTest, ScalesSums) {
  for (const int64_t count : kCounts) {
    const std::vector<int32_t> sums = random_values<int32_t>(count, 9, -1e6, 1e6);
    const std::vector<float> scales = random_values(count, 10, 1e-4, 1e-1), shifts = random_values(count, 11, -5, 5);
    std::vector<float> y(static_cast<size_t>(count) + 1, 77);
    scale_sums(sums.data(), scales.data(), shifts.data(), y.data(), count);
    for (size_t i = 0; i < sums.size(); ++i) ASSERT_FLOAT_EQ(y[i], static_cast<float>(sums[i]) * scales[i] + shifts[i]);
    ASSERT_EQ(y.back(), 77);
  }
}

TEST_P(QuantizeTest, FindsLeastAndLargest) {
  for (const int64_t count : kCounts) {
    std::vector<float> x = random_values(count, 3, 1, 2);
    if (count > 6) x[3] = std::numeric_limits<float>::quiet_NaN();
    MinMax expected;
    for (int64_t i = 0; i < count; ++i) {
      if (i == 0) expected = {x[0], x[0]};
      expected.low = std::fmin(expected.low, x[static_cast<size_t>(i)]);
      expected.high = std::fmax(expected.high, x[static_cast<size_t>(i)]);
    }
    const MinMax found = min_max(x.data(), count);
    EXPECT_EQ(found.low, expected.low);
    EXPECT_EQ(found.high, expected.high);
  }
}

RH_EVERY_ISA(QuantizeTest);

}  // namespace
}  // namespace rh::compute
