#include "compute/move/copy.h"

#include <string>
#include <vector>

#include "compute/support.h"

namespace rh::compute {
namespace {

class CopyTest : public EveryIsa {};

TEST_P(CopyTest, copies_each_byte_and_no_other) {
  constexpr size_t kRoom = 64;
  for (const size_t bytes : {size_t{0}, size_t{1}, kLeastLongCopy - 1, kLeastLongCopy, kLeastLongCopy + 1, size_t{4095}, size_t{70001}}) {
    for (const size_t offset : {size_t{0}, size_t{4}, size_t{61}}) {
      std::vector<uint8_t> from(bytes + offset), to(bytes + 2 * kRoom, 0xee);
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 251);
      copy_bytes(from.data() + offset, to.data() + kRoom, bytes);
      for (size_t i = 0; i < to.size(); ++i) {
        const bool inside = i >= kRoom && i < kRoom + bytes;
        ASSERT_EQ(to[i], inside ? from[i - kRoom + offset] : 0xee) << "byte " << i << " of " << bytes << " from " << offset;
      }
    }
  }
  copy_bytes(nullptr, nullptr, 0);
}

/// Rows that are `gap` bytes apart where they go.
void check_rows(int64_t gap, bool past_caches) {
  constexpr int64_t kRoom = 80;
  for (const int64_t bytes : {0, 1, 7, 15, 16, 17, 31, 32, 36, 63, 64, 65, 256, 3001}) {
    for (const int64_t rows : {0, 1, 2, 5, 70}) {
      const int64_t from_step = bytes + 3, to_step = bytes + gap;
      std::vector<uint8_t> from(static_cast<size_t>(rows * from_step)), to(static_cast<size_t>(rows * to_step + kRoom), 0xee);
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 5 + i / 97);
      copy_rows(from.data(), from_step, to.data(), to_step, rows, static_cast<size_t>(bytes), past_caches);
      end_past_caches();
      for (int64_t at = 0; at < rows * to_step + kRoom; ++at) {
        const int64_t row = to_step > 0 ? at / to_step : rows, i = at - row * to_step;
        const uint8_t expected = row < rows && i < bytes ? from[static_cast<size_t>(row * from_step + i)] : 0xee;
        ASSERT_EQ(to[static_cast<size_t>(at)], expected) << "byte " << i << " of " << bytes << ", row " << row << " of " << rows;
      }
    }
  }
}

TEST_P(CopyTest, rows_of_bytes) {
  for (const int64_t gap : {0, 9}) {
    check_rows(gap, false);
    check_rows(gap, true);
  }
}

TEST_P(CopyTest, items_of_any_type) {
  const std::vector<std::string> words{"a", "", std::string(100, 'x')};
  std::vector<std::string> copied(3);
  copy_items(words.data(), 3, copied.data());
  EXPECT_EQ(copied, words);
  const std::vector<float> x = random_values(1000, 3);
  std::vector<float> y(1000);
  copy_items(x.data(), 1000, y.data());
  EXPECT_EQ(y, x);
}

RH_EVERY_ISA(CopyTest);

}  // namespace
}  // namespace rh::compute
