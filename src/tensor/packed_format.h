#pragma once

#include <array>
#include <cstdint>

namespace rh {

/// How rows of weights are packed in blocks of bytes, with the numbers that GGUF files and ONNX models give the formats.
enum class PackedFormat : int64_t {
  float32 = 0,
  float16 = 1,
  q4_0 = 2,  ///< codes of 4 bits and a scale
  q5_0 = 6,
  q8_0 = 8,
  q5_k = 13,  ///< 256 elements in sub-blocks that have scales of their own
  q6_k = 14,
  iq2_xxs = 16,  ///< groups of 8 magnitudes out of a codebook, with signs
  iq2_xs = 17,
  iq3_xxs = 18,  ///< groups of 4 magnitudes
  iq4_nl = 20,   ///< codes of 4 bits name one of 16 values
  iq2_s = 22,
  iq4_xs = 23,
  bfloat16 = 30,
  q2_0 = 42,
};

struct PackedLayout {
  PackedFormat format;
  const char* name;
  int64_t block = 1;  ///< elements of a block
  int64_t bytes = 1;  ///< of a block
};

constexpr std::array<PackedLayout, 15> kPackedLayouts{{
    {PackedFormat::float32, "float32", 1, 4},
    {PackedFormat::float16, "float16", 1, 2},
    {PackedFormat::q4_0, "q4_0", 32, 18},
    {PackedFormat::q5_0, "q5_0", 32, 22},
    {PackedFormat::q8_0, "q8_0", 32, 34},
    {PackedFormat::q5_k, "q5_k", 256, 176},
    {PackedFormat::q6_k, "q6_k", 256, 210},
    {PackedFormat::iq2_xxs, "iq2_xxs", 256, 66},
    {PackedFormat::iq2_xs, "iq2_xs", 256, 74},
    {PackedFormat::iq3_xxs, "iq3_xxs", 256, 98},
    {PackedFormat::iq4_nl, "iq4_nl", 32, 18},
    {PackedFormat::iq2_s, "iq2_s", 256, 82},
    {PackedFormat::iq4_xs, "iq4_xs", 256, 136},
    {PackedFormat::bfloat16, "bfloat16", 1, 2},
    {PackedFormat::q2_0, "q2_0", 64, 18},
}};

/// The layout of the format of that number; null where there is none.
constexpr const PackedLayout* find_packed_layout(int64_t number) {
  for (const PackedLayout& layout : kPackedLayouts) {
    if (static_cast<int64_t>(layout.format) == number) return &layout;
  }
  return nullptr;
}

}  // namespace rh
