#include "compute/quant/nbits.h"

#include <algorithm>
#include <cstring>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/quant/nbits.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

constexpr int64_t kHalf = 16;  // even or odd elements of 32

/// One block of codes times kRows rows of A, times its scale, added to the sums. kBlock is the block's size where compilers know it, or 0.
template <int kRows, int kBlock>
HWY_INLINE void add_block(const uint8_t* data, const float* a, int64_t a_row, int64_t block, float scale, Vec (&sums)[kRows]) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words;
  const hn::Rebind<uint8_t, Floats> bytes;
  const int64_t lanes = std::min<int64_t>(static_cast<int64_t>(hn::Lanes(d)), kHalf);
  Vec part[kRows];
  for (int i = 0; i < kRows; ++i) part[i] = hn::Zero(d);
  for (int64_t k = 0; k < (kBlock > 0 ? kBlock : block); k += 2 * kHalf) {
    for (int64_t j = 0; j < kHalf; j += lanes) {
      const auto codes = hn::PromoteTo(words, hn::LoadU(bytes, data + k / 2 + j));
      const Vec even = hn::ConvertTo(d, hn::BitCast(Ints(), hn::And(codes, hn::Set(words, 15))));
      const Vec odd = hn::ConvertTo(d, hn::BitCast(Ints(), hn::ShiftRight<4>(codes)));
      for (int i = 0; i < kRows; ++i) {
        const float* from = a + i * a_row + k + j;
        part[i] = hn::MulAdd(odd, hn::LoadU(d, from + kHalf), hn::MulAdd(even, hn::LoadU(d, from), part[i]));
      }
    }
  }
  for (int i = 0; i < kRows; ++i) sums[i] = hn::MulAdd(part[i], set(scale), sums[i]);
}

/// The sum of zero point x scale x sum of A over the blocks.
HWY_INLINE float zero_point_share(const NBitsMatrix& matrix, int64_t row, const float* a_sums) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words;
  const hn::Rebind<uint8_t, Floats> bytes;
  const int64_t blocks = matrix.blocks(), first = row * blocks;
  const float* scales = matrix.scales + first;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vec sum = hn::Zero(d);
  for (int64_t b = 0; b < blocks; b += lanes) {
    const size_t count = static_cast<size_t>(std::min(lanes, blocks - b));
    const bool whole = count == static_cast<size_t>(lanes);
    const auto load = [=](const float* from) HWY_ATTR { return whole ? hn::LoadU(d, from) : load_some(from, count); };
    Vec zero = set(8.0f);
    if (matrix.zero_codes && whole) {
      zero = hn::ConvertTo(d, hn::BitCast(Ints(), hn::PromoteTo(words, hn::LoadU(bytes, matrix.zero_codes + first + b))));
    } else if (matrix.zero_codes) {
      float some[kHalf] = {};
      for (size_t i = 0; i < count; ++i) some[i] = matrix.zero_point(first + b + static_cast<int64_t>(i));
      zero = load(some);
    } else if (matrix.zero_points) {
      zero = load(matrix.zero_points + first + b);
    }
    sum = hn::MulAdd(hn::Mul(load(scales + b), zero), load(a_sums + b), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// Calls add(b, sums) for each block b and writes each row's sum over all lanes and blocks.
template <int kRows, typename Add>
HWY_INLINE void sum_blocks(int64_t blocks, const Add& add, float* out) {
  const Floats d;
  // Sums that do not wait for each other; written out, since compilers keep arrays of arrays in memory.
  Vec first[kRows], second[kRows], third[kRows], fourth[kRows];
  for (int i = 0; i < kRows; ++i) first[i] = second[i] = third[i] = fourth[i] = hn::Zero(d);
  int64_t b = 0;
  for (; b + 4 <= blocks; b += 4) {
    add(b, first);
    add(b + 1, second);
    add(b + 2, third);
    add(b + 3, fourth);
  }
  for (; b < blocks; ++b) add(b, first);
  for (int i = 0; i < kRows; ++i)
    out[i] = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(first[i], second[i]), hn::Add(third[i], fourth[i]))));
}

/// One row of 4-bit weights times kRows rows of A. `a` holds, of every 32 elements, the 16 even ones and then the 16 odd ones, padded with
/// zeros to whole blocks; a_sums the sums of its blocks.
template <int kRows, int kBlock>
HWY_INLINE void dot_rows(const NBitsMatrix& matrix, int64_t row, const float* a, int64_t a_row, const float* a_sums, float* out) {
  const int64_t block = kBlock > 0 ? kBlock : matrix.block, blocks = matrix.blocks();
  const uint8_t* data = matrix.data + row * matrix.row_bytes();
  const float* scales = matrix.scales + row * blocks;
  const auto add = [=](int64_t b, Vec(&sums)[kRows])
                       HWY_ATTR { add_block<kRows, kBlock>(data + b * block / 2, a + b * block, a_row, block, scales[b], sums); };
  sum_blocks<kRows>(blocks, add, out);
  for (int i = 0; i < kRows; ++i) out[i] -= zero_point_share(matrix, row, a_sums + i * blocks);
}

/// One block of 8-bit codes times kRows rows of A, times its scale, added to the sums. kBlock as above.
template <int kRows, int kBlock>
HWY_INLINE void add_block8(const uint8_t* data, const float* a, int64_t a_row, int64_t block, float zero_point, float scale,
                           Vec (&sums)[kRows]) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words;
  const hn::Rebind<uint8_t, Floats> bytes;
  const int64_t lanes = std::min<int64_t>(static_cast<int64_t>(hn::Lanes(d)), kHalf);
  const Vec zero = set(zero_point);
  Vec part[kRows];
  for (int i = 0; i < kRows; ++i) part[i] = hn::Zero(d);
  for (int64_t k = 0; k < (kBlock > 0 ? kBlock : block); k += lanes) {
    const Vec code = hn::Sub(hn::ConvertTo(d, hn::BitCast(Ints(), hn::PromoteTo(words, hn::LoadU(bytes, data + k)))), zero);
    for (int i = 0; i < kRows; ++i) part[i] = hn::MulAdd(code, hn::LoadU(d, a + i * a_row + k), part[i]);
  }
  for (int i = 0; i < kRows; ++i) sums[i] = hn::MulAdd(part[i], set(scale), sums[i]);
}

/// The same as dot_rows() for 8-bit weights and blocks of a multiple of 16; `a` holds its elements in order, padded with zeros to whole
/// blocks.
template <int kRows, int kBlock>
HWY_INLINE void dot_rows8(const NBitsMatrix& matrix, int64_t row, const float* a, int64_t a_row, float* out) {
  const int64_t block = kBlock > 0 ? kBlock : matrix.block, blocks = matrix.blocks();
  const uint8_t* data = matrix.data + row * matrix.row_bytes();
  const float* scales = matrix.scales + row * blocks;
  const bool has_zeros = matrix.zero_points || matrix.zero_codes;
  const auto add = [&](int64_t b, Vec(&sums)[kRows]) HWY_ATTR {
    const float zero = has_zeros ? matrix.zero_point(row * blocks + b) : 128.0f;
    add_block8<kRows, kBlock>(data + b * block, a + b * block, a_row, block, zero, scales[b], sums);
  };
  sum_blocks<kRows>(blocks, add, out);
}

void dot_loop8(const NBitsMatrix& matrix, int64_t row, int64_t rows, const float* a, int64_t a_row, float* out) {
  switch (rows) {
    case 1:
      if (matrix.block == 32) return dot_rows8<1, 32>(matrix, row, a, a_row, out);
      return dot_rows8<1, 0>(matrix, row, a, a_row, out);
    default: return dot_rows8<2, 0>(matrix, row, a, a_row, out);
  }
}

void dot_loop(const NBitsMatrix& matrix, int64_t row, int64_t rows, const float* a, int64_t a_row, const float* a_sums, float* out) {
  if (matrix.bits == 8) return dot_loop8(matrix, row, rows, a, a_row, out);
  switch (rows) {
    case 1:
      if (matrix.block == 32) return dot_rows<1, 32>(matrix, row, a, a_row, a_sums, out);
      return dot_rows<1, 0>(matrix, row, a, a_row, a_sums, out);
    default: return dot_rows<2, 0>(matrix, row, a, a_row, a_sums, out);
  }
}

/// `count` codes of 4 bits (a multiple of 32) of one block as floats.
void dequantize4_loop(const uint8_t* data, int64_t count, float zero, float scale, float* out) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words;
  const hn::Rebind<uint8_t, Floats> bytes;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vec zeros = set(zero), factor = set(scale);
  const auto value = [=](hn::Vec<decltype(words)> code)
                         HWY_ATTR { return hn::Mul(hn::Sub(hn::ConvertTo(d, hn::BitCast(Ints(), code)), zeros), factor); };
  for (int64_t i = 0; i < count / 2; i += lanes) {
    const auto codes = hn::PromoteTo(words, hn::LoadU(bytes, data + i));
    hn::StoreInterleaved2(value(hn::And(codes, hn::Set(words, 15))), value(hn::ShiftRight<4>(codes)), d, out + 2 * i);
  }
}

/// `count` codes of 8 bits of one block as floats.
void dequantize8_loop(const uint8_t* data, int64_t count, float zero, float scale, float* out) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> words;
  const hn::Rebind<uint8_t, Floats> bytes;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vec zeros = set(zero), factor = set(scale);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vec code = hn::ConvertTo(d, hn::BitCast(Ints(), hn::PromoteTo(words, hn::LoadU(bytes, data + i))));
    hn::StoreU(hn::Mul(hn::Sub(code, zeros), factor), d, out + i);
  }
  for (; i < count; ++i) out[i] = (static_cast<float>(data[i]) - zero) * scale;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compute/gemm/gemm.h"
#include "compute/quant/nbits_int16.h"
#include "compute/quant/nbits_int8.h"
#include "compute/quant/nbits_panels.h"
#include "compute/scratch.h"

namespace rh::compute {

HWY_EXPORT(dot_loop);
HWY_EXPORT(dequantize4_loop);
HWY_EXPORT(dequantize8_loop);

namespace {

constexpr int64_t kDirectRows = 2;   // of A, up to which the codes are read where they lie
constexpr int64_t kRowsAtOnce = 64;  // of the matrix that are made floats together

/// Whether the loops that read codes where they lie take this matrix.
bool is_direct(const NBitsMatrix& matrix) {
  return !matrix.block_of_k && ((matrix.bits == 4 && matrix.block % 32 == 0) || (matrix.bits == 8 && matrix.block % 16 == 0));
}

/// For 4 bits even and odd elements of every 32 apart; zeros up to whole blocks, and the sums of the blocks behind.
void split_left(const NBitsMatrix& matrix, int64_t m, const float* a, float* split, float* sums) {
  const int64_t padded = matrix.blocks() * matrix.block;
  for (int64_t i = 0; i < m; ++i) {
    float* out = split + i * padded;
    std::fill_n(out, padded, 0.0f);
    if (matrix.bits == 8) {
      std::copy_n(a + i * matrix.k, matrix.k, out);
    } else {
      for (int64_t k = 0; k < matrix.k; ++k) out[k / 32 * 32 + k % 2 * 16 + k % 32 / 2] = a[i * matrix.k + k];
    }
    for (int64_t b = 0; b < matrix.blocks(); ++b) {
      float sum = 0;
      for (int64_t k = b * matrix.block; k < std::min(matrix.k, (b + 1) * matrix.block); ++k) sum += a[i * matrix.k + k];
      sums[i * matrix.blocks() + b] = sum;
    }
  }
}

void multiply_directly(const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel) {
  const int64_t padded = matrix.blocks() * matrix.block;
  // Threads read what the caller split; its slot is not used below.
  auto* split =
      static_cast<float*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(m * (padded + matrix.blocks())) * sizeof(float)));
  float* sums = split + m * padded;
  split_left(matrix, m, a, split, sums);
  const double k = static_cast<double>(matrix.k);
  parallel.for_range(matrix.n, {.bytes = 0.75 * k, .operations = 0.3 * k * static_cast<double>(m)}, [&](Range range) {
    for (int64_t n = range.begin; n < range.end; ++n) {
      float out[kDirectRows];
      HWY_DYNAMIC_DISPATCH(dot_loop)(matrix, n, m, split, padded, sums, out);
      for (int64_t i = 0; i < m; ++i) c[i * matrix.n + n] = bias ? out[i] + bias[n] : out[i];
    }
  });
}

}  // namespace

void nbits_dequantize(const NBitsMatrix& matrix, int64_t first, int64_t count, float* out) {
  const int64_t blocks = matrix.blocks();
  const int mask = (1 << matrix.bits) - 1, per_byte = 8 / matrix.bits;
  for (int64_t row = first; row < first + count; ++row) {
    const uint8_t* data = matrix.data + row * matrix.row_bytes();
    const float* scales = matrix.scales + row * blocks;
    for (int64_t b = 0; b < blocks; ++b) {
      if (matrix.bits == 4 && matrix.block % 32 == 0 && !matrix.block_of_k && (b + 1) * matrix.block <= matrix.k) {
        const float zero = matrix.zero_point(row * blocks + b);
        HWY_DYNAMIC_DISPATCH(dequantize4_loop)(data + b * matrix.block / 2, matrix.block, zero, scales[b], out);
        out += matrix.block;
        continue;
      }
      if (matrix.bits == 8 && !matrix.block_of_k) {
        const float zero = matrix.zero_point(row * blocks + b);
        const int64_t count = std::min(matrix.k - b * matrix.block, matrix.block);
        HWY_DYNAMIC_DISPATCH(dequantize8_loop)(data + b * matrix.block, count, zero, scales[b], out);
        out += count;
        continue;
      }
      for (int64_t k = b * matrix.block; k < std::min(matrix.k, (b + 1) * matrix.block); ++k) {
        const int64_t scale = matrix.block_of_k ? matrix.block_of_k[k] : b;
        const float zero = matrix.zero_point(row * blocks + scale);
        const int code = data[k / per_byte] >> (k % per_byte * matrix.bits) & mask;
        *out++ = (static_cast<float>(code) - zero) * scales[scale];
      }
    }
  }
}

void multiply_rows(int64_t n, int64_t k, FloatRows rows, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel) {
  if (m <= 0 || n <= 0) return;
  const int64_t pieces = (n + kRowsAtOnce - 1) / kRowsAtOnce;
  const double work = static_cast<double>(k) * kRowsAtOnce;
  parallel.for_range(pieces, {.bytes = 5 * work, .operations = work * (4 + static_cast<double>(m))}, [&](Range range) {
    for (int64_t piece = range.begin; piece < range.end; ++piece) {
      const int64_t first = piece * kRowsAtOnce, count = std::min(kRowsAtOnce, n - first);
      auto* weights = static_cast<float*>(thread_scratch(ScratchSlot::dequantized, static_cast<size_t>(count * k) * sizeof(float)));
      rows(first, count, weights);
      GemmArgs<float> args{.m = m, .n = count, .k = k, .transpose_b = true, .ldc = n};
      if (bias) {
        args.epilogue.bias_kind = BiasKind::per_column;
        args.epilogue.bias = bias + first;
      }
      gemm(args, a, weights, c + first, Parallel());
    }
  });
}

NBitsLeft nbits_left(const NBitsMatrix& matrix, NBitsLeft asked, int64_t m) {
  if (asked == NBitsLeft::bytes && fits_nbits_int8(matrix, m)) return NBitsLeft::bytes;
  return asked != NBitsLeft::exact && fits_nbits_int16(matrix) ? NBitsLeft::rounded : NBitsLeft::exact;
}

void nbits_multiply(const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel,
                    NBitsLeft left) {
  if (m <= 0 || matrix.n <= 0) return;
  switch (nbits_left(matrix, left, m)) {
    case NBitsLeft::bytes: return nbits_multiply_int8(matrix, m, a, bias, c, parallel);
    case NBitsLeft::rounded: return nbits_multiply_int16(matrix, m, a, bias, c, parallel);
    case NBitsLeft::exact: break;
  }
  if (m <= kDirectRows && is_direct(matrix)) return multiply_directly(matrix, m, a, bias, c, parallel);
  if (fits_nbits_panels(matrix)) {
    GemmArgs<float> args{.m = m, .n = matrix.n, .k = matrix.k};
    if (bias) args.epilogue.bias_kind = BiasKind::per_column, args.epilogue.bias = bias;
    return gemm_from_panels(args, a, [&](const RightPart& part, float* panel) { write_nbits_panel(matrix, part, panel); }, c, parallel);
  }
  const auto rows = [&](int64_t first, int64_t count, float* out) { nbits_dequantize(matrix, first, count, out); };
  multiply_rows(matrix.n, matrix.k, rows, m, a, bias, c, parallel);
}

}  // namespace rh::compute
#endif
