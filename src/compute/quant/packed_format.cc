#include "compute/quant/packed_format.h"

#include <bit>
#include <cstring>

#include "tensor/float_types.h"

namespace rh::compute {

namespace {

#include "compute/quant/packed_codebooks.inc"

constexpr int8_t kNonLinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr float kMagnitudesOf2[4] = {8, 25, 43, 0};
constexpr float kMagnitudesOf3[8] = {4, 12, 20, 28, 36, 44, 52, 62};

template <typename T>
T read(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float half(const uint8_t* from) { return static_cast<float>(read<Float16>(from)); }

void unpack_q2_0(const uint8_t* from, float* to) {
  const float scale = half(from);
  for (int i = 0; i < 64; ++i) to[i] = scale * static_cast<float>((from[2 + i / 4] >> (i % 4 * 2) & 3) - 1);
}

void unpack_q4_0(const uint8_t* from, float* to) {
  const float scale = half(from);
  for (int i = 0; i < 16; ++i) {
    to[i] = scale * static_cast<float>((from[2 + i] & 15) - 8);
    to[16 + i] = scale * static_cast<float>((from[2 + i] >> 4) - 8);
  }
}

void unpack_q5_0(const uint8_t* from, float* to) {
  const float scale = half(from);
  const auto high = read<uint32_t>(from + 2);
  for (int i = 0; i < 16; ++i) {
    to[i] = scale * static_cast<float>(static_cast<int>((from[6 + i] & 15) | (high >> i & 1) << 4) - 16);
    to[16 + i] = scale * static_cast<float>(static_cast<int>((from[6 + i] >> 4) | (high >> (16 + i) & 1) << 4) - 16);
  }
}

void unpack_q8_0(const uint8_t* from, float* to) {
  const float scale = half(from);
  for (int i = 0; i < 32; ++i) to[i] = scale * static_cast<float>(static_cast<int8_t>(from[2 + i]));
}

/// Eight pairs of a scale and a minimum of 6 bits in 12 bytes: the last four have their upper bits in those of the first four.
struct ScaleAndMinimum {
  ScaleAndMinimum(const uint8_t* packed, int i) {
    if (i < 4) {
      scale = packed[i] & 63;
      minimum = packed[i + 4] & 63;
    } else {
      scale = (packed[i + 4] & 15) | (packed[i - 4] >> 6) << 4;
      minimum = (packed[i + 4] >> 4) | (packed[i] >> 6) << 4;
    }
  }
  int scale, minimum;
};

void unpack_q5_k(const uint8_t* from, float* to) {
  const float scale = half(from), least = half(from + 2);
  const uint8_t *scales = from + 4, *high = from + 16, *low = from + 48;
  for (int sub = 0; sub < 8; ++sub, to += 32) {
    const ScaleAndMinimum of(scales, sub);
    const float step = scale * static_cast<float>(of.scale), offset = least * static_cast<float>(of.minimum);
    for (int i = 0; i < 32; ++i) {
      const int code = (low[sub / 2 * 32 + i] >> (sub % 2 * 4) & 15) | (high[i] >> sub & 1) << 4;
      to[i] = step * static_cast<float>(code) - offset;
    }
  }
}

void unpack_q6_k(const uint8_t* from, float* to) {
  const uint8_t *low = from, *high = from + 128;
  const float scale = half(from + 208);
  for (int i = 0; i < 256; ++i) {
    const int part = i / 128, row = i % 128 / 32, at = i % 32;  // two parts of four rows
    const int code = (low[part * 64 + row % 2 * 32 + at] >> (row / 2 * 4) & 15) | (high[part * 32 + at] >> (row * 2) & 3) << 4;
    to[i] = scale * static_cast<float>(static_cast<int8_t>(from[192 + i / 16])) * static_cast<float>(code - 32);
  }
}

/// Eight signs of which 7 bits are kept: their number is even.
uint32_t even_signs(uint32_t seven) { return seven | (static_cast<uint32_t>(std::popcount(seven)) & 1) << 7; }

void unpack_word_of_2(uint32_t word, float scale, uint32_t signs, float* to) {
  for (int i = 0; i < 8; ++i) to[i] = (signs >> i & 1 ? -scale : scale) * kMagnitudesOf2[word >> (2 * i) & 3];
}

void unpack_iq2_xxs(const uint8_t* from, float* to) {
  const float scale = half(from);
  for (const uint8_t* group = from + 2; group < from + 66; group += 8) {  // four words' numbers, their signs and a scale of 4 bits
    const auto rest = read<uint32_t>(group + 4);
    const float step = scale * (0.5f + static_cast<float>(rest >> 28)) * 0.25f;
    for (int k = 0; k < 4; ++k, to += 8) unpack_word_of_2(kIq2XxsWords[group[k]], step, even_signs(rest >> (7 * k) & 127), to);
  }
}

void unpack_iq2_xs(const uint8_t* from, float* to) {
  const float scale = half(from);
  for (int i = 0; i < 32; ++i, to += 8) {
    const auto both = read<uint16_t>(from + 2 + 2 * i);
    const int of = from[66 + i / 4] >> (i % 4 / 2 * 4) & 15;
    unpack_word_of_2(kIq2XsWords[both & 511], scale * (0.5f + static_cast<float>(of)) * 0.25f, even_signs(both >> 9), to);
  }
}

void unpack_iq2_s(const uint8_t* from, float* to) {
  const float scale = half(from);
  const uint8_t *numbers = from + 2, *signs = from + 34, *high = from + 66, *scales = from + 74;
  for (int i = 0; i < 32; ++i, to += 8) {
    const uint32_t number = numbers[i] | (static_cast<uint32_t>(high[i / 4]) >> (i % 4 * 2) & 3) << 8;
    const int of = scales[i / 4] >> (i % 4 / 2 * 4) & 15;
    unpack_word_of_2(kIq2SWords[number], scale * (0.5f + static_cast<float>(of)) * 0.25f, signs[i], to);
  }
}

void unpack_iq3_xxs(const uint8_t* from, float* to) {
  const float scale = half(from);
  const uint8_t *numbers = from + 2, *rest = from + 66;
  for (int group = 0; group < 8; ++group) {
    const auto both = read<uint32_t>(rest + 4 * group);
    const float step = scale * (0.5f + static_cast<float>(both >> 28)) * 0.5f;
    for (int k = 0; k < 32; ++k) {
      const uint32_t word = kIq3XxsWords[numbers[group * 8 + k / 4]], signs = even_signs(both >> (k / 8 * 7) & 127);
      *to++ = (signs >> (k % 8) & 1 ? -step : step) * kMagnitudesOf3[word >> (k % 4 * 3) & 7];
    }
  }
}

void unpack_iq4_nl(const uint8_t* from, float* to) {
  const float scale = half(from);
  for (int i = 0; i < 16; ++i) {
    to[i] = scale * static_cast<float>(kNonLinear[from[2 + i] & 15]);
    to[16 + i] = scale * static_cast<float>(kNonLinear[from[2 + i] >> 4]);
  }
}

void unpack_iq4_xs(const uint8_t* from, float* to) {
  const float scale = half(from);
  const auto high = read<uint16_t>(from + 2);
  const uint8_t *low = from + 4, *codes = from + 8;
  for (int sub = 0; sub < 8; ++sub, codes += 16, to += 32) {
    const int of = (low[sub / 2] >> (sub % 2 * 4) & 15) | (high >> (2 * sub) & 3) << 4;
    const float step = scale * static_cast<float>(of - 32);
    for (int i = 0; i < 16; ++i) {
      to[i] = step * static_cast<float>(kNonLinear[codes[i] & 15]);
      to[16 + i] = step * static_cast<float>(kNonLinear[codes[i] >> 4]);
    }
  }
}

void unpack_float16(const uint8_t* from, float* to) { *to = half(from); }
void unpack_bfloat16(const uint8_t* from, float* to) { *to = static_cast<float>(read<BFloat16>(from)); }
void unpack_float32(const uint8_t* from, float* to) { *to = read<float>(from); }

using Unpack = void (*)(const uint8_t*, float*);

Unpack unpack_of(PackedFormat format) {
  switch (format) {
    case PackedFormat::float16: return unpack_float16;
    case PackedFormat::bfloat16: return unpack_bfloat16;
    case PackedFormat::q2_0: return unpack_q2_0;
    case PackedFormat::q4_0: return unpack_q4_0;
    case PackedFormat::q5_0: return unpack_q5_0;
    case PackedFormat::q8_0: return unpack_q8_0;
    case PackedFormat::q5_k: return unpack_q5_k;
    case PackedFormat::q6_k: return unpack_q6_k;
    case PackedFormat::iq2_xxs: return unpack_iq2_xxs;
    case PackedFormat::iq2_xs: return unpack_iq2_xs;
    case PackedFormat::iq2_s: return unpack_iq2_s;
    case PackedFormat::iq3_xxs: return unpack_iq3_xxs;
    case PackedFormat::iq4_nl: return unpack_iq4_nl;
    case PackedFormat::iq4_xs: return unpack_iq4_xs;
    case PackedFormat::float32: break;
  }
  return unpack_float32;
}

}  // namespace

void unpack_blocks(PackedFormat format, const uint8_t* from, int64_t blocks, float* to) {
  const PackedLayout& layout = *find_packed_layout(static_cast<int64_t>(format));
  const Unpack unpack = unpack_of(format);
  for (int64_t i = 0; i < blocks; ++i) unpack(from + i * layout.bytes, to + i * layout.block);
}

}  // namespace rh::compute
