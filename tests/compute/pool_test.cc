#include "compute/image/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

struct Case {
  const char* what;
  int64_t input[3], kernel[3], stride[3], dilation[3], pad_begin[3], pad_end[3];
};

const Case kCases[] = {
    {"3x3, stride 2", {1, 15, 18}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, stride 2, wide", {1, 20, 112}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, padded, wide", {1, 11, 45}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"3x3, rows apart", {1, 14, 40}, {1, 3, 3}, {1, 2, 1}, {1, 2, 1}, {0, 1, 1}, {0, 1, 1}},
    {"2x2, stride 2", {1, 12, 66}, {1, 2, 2}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"4x3, stride 2, padded", {1, 12, 39}, {1, 4, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 2, 1}},
    {"2x2", {1, 9, 70}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"5x5, stride 1, padded", {1, 6, 40}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"5x5, stride 1, wide", {1, 19, 90}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
    {"5x7, dilated along", {1, 4, 75}, {1, 5, 7}, {1, 1, 1}, {1, 1, 2}, {0, 4, 5}, {0, 0, 3}},
    {"3x9, padded", {1, 8, 44}, {1, 3, 9}, {1, 1, 1}, {1, 1, 1}, {0, 0, 4}, {0, 2, 4}},
    {"whole plane", {1, 7, 7}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"one row", {1, 1, 50}, {1, 1, 4}, {1, 1, 3}, {1, 1, 1}, {0, 0, 1}, {0, 0, 2}},
    {"rows apart by four", {1, 5, 132}, {1, 1, 4}, {1, 1, 4}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"rows apart by two, one left over", {2, 5, 67}, {1, 1, 2}, {1, 1, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"rows apart by three, overlapping", {1, 3, 113}, {1, 1, 5}, {1, 1, 3}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"rows apart by five, dilated", {1, 3, 97}, {1, 1, 3}, {1, 1, 5}, {1, 1, 2}, {0, 0, 0}, {0, 0, 0}},
    {"rows apart by seven, few", {1, 4, 49}, {1, 1, 7}, {1, 1, 7}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"long windows", {1, 2, 205}, {1, 1, 50}, {1, 1, 50}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"3x3, stride 3", {1, 13, 61}, {1, 3, 3}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"3x3, stride 4, padded", {1, 14, 75}, {1, 3, 3}, {1, 4, 4}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
    {"5x6, stride 3, padded", {1, 14, 110}, {1, 5, 6}, {1, 2, 3}, {1, 1, 1}, {0, 1, 2}, {0, 1, 3}},
    {"7x7, stride 7", {1, 14, 140}, {1, 7, 7}, {1, 7, 7}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"2x40, stride 6, padded", {1, 4, 120}, {1, 2, 40}, {1, 2, 6}, {1, 1, 1}, {0, 0, 5}, {0, 0, 5}},
    {"planes and columns apart by three", {6, 5, 30}, {2, 2, 3}, {2, 2, 3}, {1, 1, 1}, {0, 0, 1}, {0, 1, 0}},
    {"dilated", {1, 12, 13}, {1, 3, 3}, {1, 1, 2}, {1, 2, 3}, {0, 1, 2}, {0, 1, 2}},
    {"three dimensions", {5, 6, 7}, {2, 3, 3}, {2, 1, 2}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {"2x2x2, stride 2", {8, 12, 34}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {"3x3x3, padded on all sides", {5, 7, 20}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"planes apart", {9, 6, 18}, {3, 2, 2}, {2, 2, 2}, {2, 1, 1}, {2, 0, 0}, {2, 0, 0}},
    {"depth alone", {6, 5, 33}, {4, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 0, 0}, {2, 0, 0}},
    {"kernel wider than the input", {1, 3, 3}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}, {0, 2, 2}},
};
constexpr int64_t kPlanes = 3;

/// The input positions under each window of a plane (-1 for one in the padding), one list an output.
std::vector<std::vector<int64_t>> windows(const Window& w) {
  std::vector<std::vector<int64_t>> all;
  for (int64_t output = 0; output < w.output_size(); ++output) {
    const int64_t at[3] = {output / (w.output[1] * w.output[2]), output / w.output[2] % w.output[1], output % w.output[2]};
    std::vector<int64_t>& list = all.emplace_back();
    for (int64_t tap = 0; tap < w.kernel_size(); ++tap) {
      const int64_t k[3] = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1], tap % w.kernel[2]};
      int64_t position = 0;
      for (int d = 0; d < 3; ++d) {
        const int64_t i = at[d] * w.stride[d] - w.pad_begin[d] + k[d] * w.dilation[d];
        if (i < 0 || i >= w.input[d]) position = -1;
        if (position >= 0) position = position * w.input[d] + i;
      }
      list.push_back(position);
    }
  }
  return all;
}

class PoolTest : public EveryIsa {};

TEST_P(PoolTest, maximum_and_its_place) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    std::vector<float> x = random_values(kPlanes * w.input_size(), 1);
    std::vector<float> y(static_cast<size_t>(kPlanes * w.output_size())), again(y.size());
    std::vector<int64_t> indices(y.size());
    max_pool<float>(w, kPlanes, x.data(), y.data(), nullptr, false, three_threads());
    max_pool<float>(w, kPlanes, x.data(), again.data(), indices.data(), false, three_threads());
    const auto lists = windows(w);
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t plane = static_cast<int64_t>(i) / w.output_size();
      float expected = -std::numeric_limits<float>::infinity();
      for (const int64_t position : lists[i % lists.size()])
        if (position >= 0) expected = std::max(expected, x[static_cast<size_t>(plane * w.input_size() + position)]);
      ASSERT_EQ(y[i], expected) << c.what << " at " << i;
      ASSERT_EQ(again[i], expected) << c.what << " at " << i;
      ASSERT_EQ(x[static_cast<size_t>(indices[i])], expected) << c.what << " index at " << i;
    }
  }
}

template <typename T>
void check_byte_maximum() {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    std::vector<T> x;
    for (const float value : random_values(kPlanes * w.input_size(), 2)) x.push_back(static_cast<T>(static_cast<int>(value * 100)));
    std::vector<T> y(static_cast<size_t>(kPlanes * w.output_size()), T(1));
    max_pool<T>(w, kPlanes, x.data(), y.data(), nullptr, false, three_threads());
    const auto lists = windows(w);
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t plane = static_cast<int64_t>(i) / w.output_size();
      T expected = std::numeric_limits<T>::lowest();
      for (const int64_t position : lists[i % lists.size()])
        if (position >= 0) expected = std::max(expected, x[static_cast<size_t>(plane * w.input_size() + position)]);
      ASSERT_EQ(y[i], expected) << c.what << " at " << i;
    }
  }
}

TEST(Pool, maximum_of_bytes) {
  check_byte_maximum<int8_t>();
  check_byte_maximum<uint8_t>();
}

TEST_P(PoolTest, maximum_keeps_nan) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const auto lists = windows(w);
    std::vector<float> x = random_values(w.input_size(), 1), y(static_cast<size_t>(w.output_size()));
    const int64_t marked = w.input_size() / 2;
    x[static_cast<size_t>(marked)] = NAN;
    max_pool<float>(w, 1, x.data(), y.data(), nullptr, false, {});
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(std::isnan(y[i]), std::count(lists[i].begin(), lists[i].end(), marked) > 0) << c.what << " at " << i;
    }
  }
}

TEST_P(PoolTest, average_and_lp) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const std::vector<float> x = random_values(kPlanes * w.input_size(), 1);
    std::vector<float> inside(static_cast<size_t>(kPlanes * w.output_size())), all(inside.size()), two(inside.size());
    average_pool<float>(w, c.pad_end, kPlanes, false, x.data(), inside.data(), three_threads());
    average_pool<float>(w, c.pad_end, kPlanes, true, x.data(), all.data(), three_threads());
    lp_pool<float>(w, kPlanes, 2, x.data(), two.data(), three_threads());
    const auto lists = windows(w);
    for (size_t i = 0; i < inside.size(); ++i) {
      const int64_t plane = static_cast<int64_t>(i) / w.output_size();
      double sum = 0, squares = 0, count = 0;
      for (const int64_t position : lists[i % lists.size()]) {
        if (position < 0) continue;
        const double v = x[static_cast<size_t>(plane * w.input_size() + position)];
        sum += v;
        squares += v * v;
        ++count;
      }
      ASSERT_NEAR(inside[i], sum / count, 1e-6) << c.what;
      ASSERT_NEAR(all[i], sum / static_cast<double>(w.kernel_size()), 1e-6) << c.what;
      ASSERT_NEAR(two[i], std::sqrt(squares), 1e-6) << c.what;
    }
  }
}

RH_EVERY_ISA(PoolTest);

TEST(Pool, ceil_mode_positions_beyond_the_padding_are_not_counted) {
  Window w;
  w.input[2] = 4;
  w.kernel[2] = 3;
  w.stride[2] = 2;
  w.output[2] = 2;  // the second window reaches one past the input
  const float x[] = {1, 2, 3, 5};
  float y[2];
  average_pool<float>(w, {0, 0, 0}, 1, true, x, y, {});
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(y[1], 4);
}

TEST(Pool, first_of_equal_maxima_and_column_major_indices) {
  Window w;
  w.input[1] = 2;
  w.input[2] = 3;
  w.kernel[1] = 2;
  w.kernel[2] = 3;
  const int8_t x[] = {0, 7, 1, 7, 2, 3};
  int8_t y = 0;
  int64_t index = -1;
  max_pool<int8_t>(w, 1, x, &y, &index, false, {});
  EXPECT_EQ(y, 7);
  EXPECT_EQ(index, 1);
  max_pool<int8_t>(w, 1, x, &y, &index, true, {});
  EXPECT_EQ(index, 2);
}

}  // namespace
}  // namespace rh::compute
