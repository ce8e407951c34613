#include "compute/reduce/byte_extremes.h"

#include <algorithm>
#include <random>
#include <vector>

#include "compute/support.h"

namespace rh::compute {
namespace {

class ByteExtremesTest : public EveryIsa {};

template <typename T>
std::vector<T> random_bytes(int64_t count, int low, int high) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::uniform_int_distribution<int> numbers(low, high);
  std::vector<T> bytes(static_cast<size_t>(count));
  for (T& byte : bytes) byte = static_cast<T>(numbers(random));
  return bytes;
}

template <typename T>
T further(bool largest, T a, T b) {
  return largest ? std::max(a, b) : std::min(a, b);
}

template <typename T>
void expect_extremes_of_rows(int low, int high) {
  constexpr T kGuard = 77;
  for (const int64_t length : {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 85, 127, 128, 200, 300, 511, 513, 1100}) {
    for (const int64_t rows : {1, 2, 4, 5, 15, 16, 17, 40}) {
      const std::vector<T> x = random_bytes<T>(rows * length, low, high);  // as much as there is: sanitizers tell what reads beyond
      for (const bool largest : {true, false}) {
        std::vector<T> y(static_cast<size_t>(rows) + 1, kGuard);
        extremes_of_byte_rows(largest, x.data(), y.data(), rows, length);
        for (int64_t row = 0; row < rows; ++row) {
          T expected = x[static_cast<size_t>(row * length)];
          for (int64_t i = 1; i < length; ++i) expected = further(largest, expected, x[static_cast<size_t>(row * length + i)]);
          ASSERT_EQ(y[static_cast<size_t>(row)], expected) << "row " << row << " of " << rows << " of " << length << " bytes";
        }
        EXPECT_EQ(y.back(), kGuard);
      }
    }
  }
}

TEST_P(ByteExtremesTest, of_rows) {
  expect_extremes_of_rows<uint8_t>(0, 255);
  expect_extremes_of_rows<uint8_t>(100, 140);
  expect_extremes_of_rows<int8_t>(-128, 127);
  expect_extremes_of_rows<int8_t>(-128, -100);
  expect_extremes_of_rows<int8_t>(100, 127);
}

// Each place by itself: a lane that is left out, or taken from a neighbour, shows.
TEST_P(ByteExtremesTest, of_rows_with_one_that_stands_out) {
  constexpr int64_t kRows = 19;
  for (const int64_t length : {5, 16, 21, 40, 85, 290}) {
    for (int64_t at = 0; at < length; ++at) {
      std::vector<int8_t> x(static_cast<size_t>(kRows * length), -3), y(kRows);
      for (int64_t row = 0; row < kRows; ++row) x[static_cast<size_t>(row * length + at)] = static_cast<int8_t>(row);
      extremes_of_byte_rows(true, x.data(), y.data(), kRows, length);
      for (int64_t row = 0; row < kRows; ++row) ASSERT_EQ(y[static_cast<size_t>(row)], row) << "at " << at << " of " << length;
    }
  }
}

template <typename T>
void expect_extremes_down(int low, int high) {
  constexpr T kGuard = 77;
  for (const int64_t rows : {0, 1, 2, 5, 63, 64, 100}) {
    for (const int64_t columns : {1, 2, 3, 7, 8, 9, 15, 16, 17, 32, 33, 64, 65, 128, 150, 300}) {
      for (const int64_t stride : {columns, columns + 5}) {
        const std::vector<T> x = random_bytes<T>(std::max<int64_t>(rows - 1, 0) * stride + columns, low, high);
        for (const bool largest : {true, false}) {
          std::vector<T> best = random_bytes<T>(columns + 1, low, high);
          std::vector<T> expected = best;
          expected.back() = best.back() = kGuard;
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t c = 0; c < columns; ++c)
              expected[static_cast<size_t>(c)] =
                  further(largest, expected[static_cast<size_t>(c)], x[static_cast<size_t>(row * stride + c)]);
          extremes_of_bytes_down(largest, x.data(), stride, rows, columns, best.data());
          ASSERT_EQ(best, expected) << rows << " rows of " << columns << " bytes, " << stride << " apart";
        }
      }
    }
  }
}

TEST_P(ByteExtremesTest, down_columns) {
  expect_extremes_down<uint8_t>(0, 255);
  expect_extremes_down<int8_t>(-128, 127);
}

TEST_P(ByteExtremesTest, places_of_bytes) {
  for (const int64_t count : {1, 7, 63, 64, 65, 200}) {
    const std::vector<uint8_t> x = random_bytes<uint8_t>(count, 3, 9);
    const uint8_t largest = extreme_of_bytes(true, x.data(), count);
    EXPECT_EQ(find_byte(x.data(), count, largest, false), std::ranges::find(x, largest) - x.begin());
    EXPECT_EQ(find_byte(x.data(), count, largest, true), x.rend() - std::find(x.rbegin(), x.rend(), largest) - 1);
  }
}

RH_EVERY_ISA(ByteExtremesTest);

}  // namespace
}  // namespace rh::compute
