#include "compute/quant/packed_format.h"

#include <gtest/gtest.h>

#include <vector>

namespace rh::compute {
namespace {

/// A block of zeros, but for the bytes given, widened.
std::vector<float> unpacked(PackedFormat format, std::vector<std::pair<int, int>> bytes) {
  const PackedLayout& layout = *find_packed_layout(static_cast<int64_t>(format));
  std::vector<uint8_t> block(static_cast<size_t>(layout.bytes));
  for (const auto& [at, value] : bytes) block[static_cast<size_t>(at)] = static_cast<uint8_t>(value);
  std::vector<float> to(static_cast<size_t>(layout.block));
  unpack_blocks(format, block.data(), 1, to.data());
  return to;
}

struct Expected {
  PackedFormat format;
  std::vector<std::pair<int, int>> bytes;  // 0x3C, 0x40: the upper bytes of the halves 1 and 2
  std::vector<std::pair<size_t, float>> elements;
};

// By the layouts of the formats.
const std::vector<Expected> kExpected = {
    {PackedFormat::float32, {{2, 0xC0}, {3, 0x3F}}, {{0, 1.5f}}},
    {PackedFormat::float16, {{1, 0x3C}}, {{0, 1}}},
    {PackedFormat::bfloat16, {{0, 0x80}, {1, 0x3F}}, {{0, 1}}},
    {PackedFormat::q2_0, {{1, 0x3C}, {2, 0xE4}}, {{0, -1}, {1, 0}, {2, 1}, {3, 2}, {4, -1}}},
    {PackedFormat::q4_0, {{1, 0x40}, {2, 0x1F}}, {{0, 14}, {16, -14}, {1, -16}}},
    {PackedFormat::q5_0, {{1, 0x3C}, {2, 1}, {6, 0x1F}}, {{0, 15}, {16, -15}, {1, -16}}},
    {PackedFormat::q8_0, {{1, 0x40}, {2, 0xFF}, {33, 5}}, {{0, -2}, {31, 10}}},
    // Scale and minimum of sub-block 4 are in bytes 8 and 0, 4 of the scales.
    {PackedFormat::q5_k,
     {{1, 0x3C}, {3, 0x3C}, {4, 3}, {8, 2}, {12, 0x21}, {4 + 4, 2}, {48, 7}, {16, 1}},
     {{0, 3 * 23 - 2}, {32, 0}, {128, -2}}},
    {PackedFormat::q6_k, {{209, 0x3C}, {192, 2}, {0, 5}, {128, 1}}, {{0, 2 * (21 - 32)}, {1, -64}, {16, 0}}},
    {PackedFormat::iq4_nl, {{1, 0x3C}, {2, 0x8F}}, {{0, 113}, {16, 1}, {1, -127}}},
    // The scale of sub-block 1 is 2 + 16.
    {PackedFormat::iq4_xs, {{1, 0x3C}, {2, 4}, {4, 0x20}, {24, 0x0F}}, {{0, 32 * 127.0f}, {32, (18 - 32) * 113.0f}, {48, 14 * 127.0f}}},
    {PackedFormat::iq2_xxs, {{1, 0x3C}, {2, 1}, {6, 1}, {9, 0x10}}, {{0, -3 * 5.375f}, {1, 3}, {7, -3}, {32, 1}}},
    {PackedFormat::iq2_xs, {{1, 0x3C}, {3, 2}, {66, 0x20}}, {{0, -1}, {1, 1}, {7, -1}, {16, 5}}},
    {PackedFormat::iq2_s, {{1, 0x3C}, {34, 0xA5}, {74, 0x31}}, {{0, -3}, {1, 3}, {2, -3}, {16, 7}}},
    {PackedFormat::iq3_xxs, {{1, 0x3C}, {66, 1}, {69, 0x10}}, {{0, -3}, {1, 3}, {7, -3}, {32, 1}}},
};

TEST(PackedFormat, elements) {
  for (const Expected& row : kExpected) {
    const PackedLayout& layout = *find_packed_layout(static_cast<int64_t>(row.format));
    const std::vector<float> to = unpacked(row.format, row.bytes);
    for (const auto& [at, value] : row.elements) EXPECT_EQ(to[at], value) << layout.name << " element " << at;
  }
}

TEST(PackedFormat, unknown_numbers) {
  for (const int64_t number : {-1, 3, 12, 43, 1 << 20}) EXPECT_EQ(find_packed_layout(number), nullptr) << number;
}

}  // namespace
}  // namespace rh::compute
