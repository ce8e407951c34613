#include "compute/move/spread.h"

#include <gtest/gtest.h>

#include <vector>

namespace rh::compute {
namespace {

TEST(Spread, rows_and_repeated_elements_of_every_width) {
  constexpr int64_t kRoom = 80;
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t length : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 100}) {
      for (const int64_t rows : {0, 1, 2, 9}) {
        for (const int64_t stride : {int64_t{0}, int64_t{1}, length, length + 3}) {
          for (const int64_t step : {0, 1}) {
            std::vector<uint8_t> from(static_cast<size_t>((rows * stride + length) * bytes));
            for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 251);
            std::vector<uint8_t> to(static_cast<size_t>(rows * length * bytes + kRoom), 0xee);
            spread_rows(from.data(), bytes, stride, step, rows, length, to.data());
            for (int64_t i = 0; i < rows * length * bytes; ++i) {
              const int64_t element = i / bytes, row = element / length;
              const int64_t source = (row * stride + step * (element % length)) * bytes + i % bytes;
              ASSERT_EQ(to[static_cast<size_t>(i)], from[static_cast<size_t>(source)])
                  << "byte " << i << ", " << rows << " rows of " << length << " elements of " << bytes << ", stride " << stride << ", step "
                  << step;
            }
            for (int64_t i = rows * length * bytes; i < rows * length * bytes + kRoom; ++i) ASSERT_EQ(to[static_cast<size_t>(i)], 0xee);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rh::compute
