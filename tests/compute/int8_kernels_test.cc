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

TEST_P(Int8KernelsTest, SplitGroupsAddUpAndFitPairs) {
  constexpr int64_t kGroups = 40, kWidth = 16, kBytes = kWidth * kInt8Group;
  std::vector<uint8_t> panel(kGroups * kBytes);
  const std::vector<int32_t> drawn = random_values<int32_t>(kGroups * kBytes, 1, -60, 60);
  for (size_t i = 0; i < panel.size(); ++i) panel[i] = static_cast<uint8_t>(drawn[i]);
  const auto set_pair = [&](int64_t group, int64_t at, int first, int second) {
    panel[static_cast<size_t>(group * kBytes + at)] = static_cast<uint8_t>(first);
    panel[static_cast<size_t>(group * kBytes + at + 1)] = static_cast<uint8_t>(second);
  };
  set_pair(3, 0, 127, 127);
  set_pair(7, 62, -128, -128);
  set_pair(11, 34, 1, 127);
  set_pair(12, 34, -1, -128);
  set_pair(13, 34, 64, 63);
  set_pair(20, 6, 126, -128);  // of two signs
  set_pair(21, 6, 63, 63);     // the most that fits
  set_pair(22, 6, -64, -63);
  set_pair(39, 16, -64, -64);
  const std::vector<uint8_t> before = panel;
  std::vector<int32_t> at(kGroups, -1);
  std::vector<uint8_t> rests(panel.size());
  const int64_t count = int8_split_groups(panel.data(), kGroups, kWidth, at.data(), rests.data());
  at.resize(static_cast<size_t>(count));
  EXPECT_EQ(at, (std::vector<int32_t>{3, 7, 11, 12, 13, 39}));
  std::vector<uint8_t> whole = panel;
  const auto value = [](const std::vector<uint8_t>& bytes, int64_t i) { return static_cast<int8_t>(bytes[static_cast<size_t>(i)]); };
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t i = 0; i < kBytes; ++i) {
      whole[static_cast<size_t>(at[static_cast<size_t>(r)] * kBytes + i)] += static_cast<uint8_t>(value(rests, r * kBytes + i));
    }
  }
  EXPECT_EQ(whole, before);
  for (const std::vector<uint8_t>* bytes : {&panel, &rests}) {
    for (size_t i = 0; i < bytes->size(); i += 2) {
      const int sum = 255 * (value(*bytes, static_cast<int64_t>(i)) + value(*bytes, static_cast<int64_t>(i) + 1));
      ASSERT_TRUE(sum >= -32768 && sum <= 32767) << i;
    }
  }
  std::vector<uint8_t> again = before;
  EXPECT_EQ(int8_split_groups(again.data(), kGroups, kWidth, nullptr, nullptr), count);
  EXPECT_EQ(again, panel);
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
