#include "compute/reduce/byte_extremes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace rh::compute {
namespace {

template <typename T>
std::vector<T> random_bytes(int64_t count, int low, int high) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::uniform_int_distribution<int> numbers(low, high);
  std::vector<T> bytes(static_cast<size_t>(count));
  for (T& byte : bytes) byte = static_cast<T>(numbers(random));
  return bytes;
}

template <typename T>
void expect_extremes(int low, int high) {
  for (const int64_t count : {1, 7, 63, 64, 65, 200}) {
    const std::vector<T> x = random_bytes<T>(count, low, high);
    const T largest = *std::ranges::max_element(x), smallest = *std::ranges::min_element(x);
    const uint8_t up = byte_flip<T>(true), down = byte_flip<T>(false);
    EXPECT_EQ(static_cast<T>(largest_byte(x.data(), count, up) ^ up), largest) << count;
    EXPECT_EQ(static_cast<T>(largest_byte(x.data(), count, down) ^ down), smallest) << count;
    EXPECT_EQ(find_byte(x.data(), count, static_cast<uint8_t>(largest), false), std::ranges::find(x, largest) - x.begin());
    EXPECT_EQ(find_byte(x.data(), count, static_cast<uint8_t>(largest), true), x.rend() - std::find(x.rbegin(), x.rend(), largest) - 1);
  }
}

TEST(ByteExtremes, OfRows) {
  expect_extremes<uint8_t>(0, 255);
  expect_extremes<uint8_t>(3, 9);
  expect_extremes<int8_t>(-128, 127);
  expect_extremes<int8_t>(-5, 5);
}

TEST(ByteExtremes, DownColumns) {
  constexpr int64_t kRows = 5, kStride = 150;
  const std::vector<int8_t> x = random_bytes<int8_t>(kRows * kStride, -128, 127);
  for (const int64_t columns : {1, 64, 65, 150}) {
    const uint8_t flip = byte_flip<int8_t>(false);
    std::vector<uint8_t> best(static_cast<size_t>(columns), 0);
    largest_bytes_down(x.data(), kStride, kRows, columns, flip, best.data());
    for (int64_t c = 0; c < columns; ++c) {
      int8_t smallest = 127;
      for (int64_t row = 0; row < kRows; ++row) smallest = std::min(smallest, x[static_cast<size_t>(row * kStride + c)]);
      EXPECT_EQ(static_cast<int8_t>(best[static_cast<size_t>(c)] ^ flip), smallest) << c;
    }
  }
}

}  // namespace
}  // namespace rh::compute
