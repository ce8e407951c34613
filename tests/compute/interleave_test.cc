#include "compute/move/interleave.h"

#include <cstring>

#include "compute/support.h"

namespace rh::compute {
namespace {

class InterleaveTest : public EveryIsa {};

TEST_P(InterleaveTest, rows_as_one_and_back) {
  for (const size_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t count : {1, 2, 3, 4}) {
      for (const int64_t length : {0, 1, 4, 7, 8, 9, 14, 16, 33, 100}) {
        const int64_t stride = length + 3;
        std::vector<uint8_t> x(static_cast<size_t>(count * stride) * bytes), y(static_cast<size_t>(count * length) * bytes + 1, 77),
            back(x);
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 37 + i / 251);
        interleave(x.data(), stride, count, length, bytes, y.data());
        EXPECT_EQ(y.back(), 77);
        for (int64_t k = 0; k < count; ++k) {
          for (int64_t i = 0; i < length; ++i) {
            const size_t from = static_cast<size_t>(k * stride + i) * bytes, to = static_cast<size_t>(i * count + k) * bytes;
            ASSERT_EQ(std::memcmp(x.data() + from, y.data() + to, bytes), 0) << bytes << " bytes, " << k << " of " << count << " at " << i;
          }
        }
        back = std::vector<uint8_t>(x.size(), 5);
        deinterleave(y.data(), count, length, bytes, back.data(), stride);
        for (int64_t k = 0; k < count; ++k) {
          const size_t row = static_cast<size_t>(k * stride) * bytes, whole = static_cast<size_t>(length) * bytes;
          ASSERT_TRUE(whole == 0 || std::memcmp(x.data() + row, back.data() + row, whole) == 0);
          ASSERT_EQ(back[row + whole], 5);
        }
      }
    }
  }
}

TEST_P(InterleaveTest, one_row_twice) {
  for (const size_t length : {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 14, 16, 17, 37, 56}) {
    const std::vector<float> x = random_values(length, 2);
    std::vector<float> y(2 * length + 1, 9);
    interleave(x.data(), 0, 2, static_cast<int64_t>(length), sizeof(float), y.data());
    for (size_t i = 0; i < 2 * length; ++i) ASSERT_EQ(y[i], x[i / 2]) << length << " at " << i;
    EXPECT_EQ(y.back(), 9);
  }
}

TEST_P(InterleaveTest, planes_twice_as_large) {
  for (const int64_t width : {1, 2, 3, 5, 7, 8, 9, 16, 21, 40, 56}) {
    constexpr int64_t kHeight = 3;
    std::vector<uint32_t> x(static_cast<size_t>(kHeight * width)), y(4 * x.size() + 1, 9);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint32_t>(i) * 2654435761u;
    double_plane(x.data(), kHeight, width, y.data());
    for (int64_t i = 0; i < 2 * kHeight; ++i)
      for (int64_t k = 0; k < 2 * width; ++k)
        ASSERT_EQ(y[static_cast<size_t>(i * 2 * width + k)], x[static_cast<size_t>(i / 2 * width + k / 2)]) << width;
    EXPECT_EQ(y.back(), 9u);
  }
}

RH_EVERY_ISA(InterleaveTest);

}  // namespace
}  // namespace rh::compute
