#include "compute/quant/int8_kernels.h"

#include "compute/support.h"

namespace rh::compute {
namespace {

class Int8KernelsTest : public EveryIsa {};
RH_EVERY_ISA(Int8KernelsTest);

std::vector<uint8_t> bytes(int64_t count) {
  const std::vector<int32_t> drawn = random_values<int32_t>(count, 1, 0, 255);
  return {drawn.begin(), drawn.end()};
}

TEST_P(Int8KernelsTest, LargestOfRowsAtEveryPixel) {
  const std::vector<uint8_t> x = bytes(2000);
  for (const bool is_signed : {false, true}) {
    for (const int64_t length : {1, 15, 16, 17, 47, 64, 96, 130}) {
      for (const int64_t pixels : {1, 3}) {
        const int64_t step = length + 5;
        const uint8_t* rows[] = {x.data() + 700, x.data() + 1, x.data() + 1300};
        for (const int64_t count : {1, 2, 3}) {
          std::vector<uint8_t> y(static_cast<size_t>(pixels * length));
          int8_largest(rows, count, is_signed, length, pixels, step, y.data());
          for (int64_t i = 0; i < pixels * length; ++i) {
            int most = -200;
            for (int64_t k = 0; k < count; ++k) {
              const uint8_t at = rows[k][i / length * step + i % length];
              most = std::max<int>(most, is_signed ? static_cast<int8_t>(at) : at);
            }
            ASSERT_EQ(y[static_cast<size_t>(i)], static_cast<uint8_t>(most)) << length << ", " << i;
          }
        }
      }
    }
  }
}

TEST_P(Int8KernelsTest, SumsOfColumnsOfLongPanels) {
  for (const int64_t groups : {0, 1, 128, 300}) {
    const std::vector<uint8_t> extremes(static_cast<size_t>(groups * 32 * kInt8Group), 0x80), panel = bytes(groups * 32 * kInt8Group + 1);
    std::vector<int32_t> sums(32, 7);
    int8_sum_columns(extremes.data(), groups, 32, sums.data());
    for (const int32_t sum : sums) ASSERT_EQ(sum, -128 * kInt8Group * groups);
    int8_sum_columns(panel.data(), groups, 32, sums.data());
    for (int64_t j = 0; j < 32; ++j) {
      int32_t sum = 0;
      for (int64_t i = 0; i < groups * kInt8Group; ++i) {
        sum += static_cast<int8_t>(panel[static_cast<size_t>((i / kInt8Group * 32 + j) * kInt8Group + i % kInt8Group)]);
      }
      ASSERT_EQ(sums[static_cast<size_t>(j)], sum);
    }
  }
}

}  // namespace
}  // namespace rh::compute
