#include "compute/quant/int8_kernels.h"

#include <cstring>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/quant/int8_kernels.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kPackWidth = 16;
using Pack = hn::CappedTag<uint8_t, kPackWidth>;

/// kPackWidth columns from column `at` on.
HWY_INLINE void interleave(const uint8_t* const rows[kInt8Group], int64_t at, uint8_t flip, uint8_t* out) {
  const Pack d;
  const auto flips = hn::Set(d, flip);
  for (int64_t j = at; j < at + kPackWidth; j += static_cast<int64_t>(hn::Lanes(d))) {
    const auto row = [&](int t) HWY_ATTR { return hn::Xor(hn::LoadU(d, rows[t] + j), flips); };
    hn::StoreInterleaved4(row(0), row(1), row(2), row(3), d, out + j * kInt8Group);
  }
}

HWY_INLINE void pack_group(const uint8_t* const rows[kInt8Group], int64_t count, int64_t width, uint8_t flip, uint8_t* out) {
  const int64_t whole = rows[kInt8Group - 1] ? count / kPackWidth * kPackWidth : 0;
  for (int64_t j = 0; j < whole; j += kPackWidth) interleave(rows, j, flip, out);
  for (int64_t j = whole; j < width; j += kPackWidth) {
    uint8_t padded[kInt8Group][kPackWidth];
    const uint8_t* pointers[kInt8Group];
    for (int64_t t = 0; t < kInt8Group; ++t) {
      const int64_t live = rows[t] ? (count - j < kPackWidth ? (count > j ? count - j : 0) : kPackWidth) : 0;
      std::memset(padded[t], flip, kPackWidth);  // becomes 0
      if (live > 0) std::memcpy(padded[t], rows[t] + j, static_cast<size_t>(live));
      pointers[t] = padded[t];
    }
    interleave(pointers, 0, flip, out + j * kInt8Group);
  }
}

void pack_right_loop(const uint8_t* rows, int64_t stride, int64_t k, int64_t count, int64_t width, uint8_t flip, uint8_t* out) {
  const int64_t panel_bytes = (k + kInt8Group - 1) / kInt8Group * kInt8Group * width;
  for (int64_t at = 0; at < k; at += kInt8Group, out += width * kInt8Group) {
    for (int64_t column = 0; column < count; column += width) {
      const uint8_t* group[kInt8Group];
      for (int64_t t = 0; t < kInt8Group; ++t) group[t] = at + t < k ? rows + (at + t) * stride + column : nullptr;
      pack_group(group, HWY_MIN(width, count - column), width, flip, out + column / width * panel_bytes);
    }
  }
}

void sum_columns_loop(const uint8_t* panel, int64_t groups, int64_t width, int32_t* sums) {
  constexpr int64_t kAtOnce = 128;  // of whose groups two bytes each add up to 16 bits
  const hn::CappedTag<uint32_t, kPackWidth> d;
  const auto even = hn::Set(d, 0x00FF00FFu), flips = hn::Set(d, 0x80808080u);
  for (int64_t j = 0; j < width; j += static_cast<int64_t>(hn::Lanes(d))) {
    auto sum = hn::Zero(d);
    for (int64_t begin = 0; begin < groups; begin += kAtOnce) {
      const int64_t end = HWY_MIN(groups, begin + kAtOnce);
      auto halves = hn::Zero(d);
      for (int64_t g = begin; g < end; ++g) {
        const auto four = hn::Xor(flips, hn::LoadU(d, reinterpret_cast<const uint32_t*>(panel + (g * width + j) * kInt8Group)));
        halves = hn::Add(halves, hn::Add(hn::And(four, even), hn::And(hn::ShiftRight<8>(four), even)));
      }
      const auto both = hn::Add(hn::ShiftRight<16>(halves), hn::And(halves, hn::Set(d, 0xFFFFu)));
      sum = hn::Add(sum, hn::Sub(both, hn::Set(d, static_cast<uint32_t>(512 * (end - begin)))));
    }
    hn::StoreU(sum, d, reinterpret_cast<uint32_t*>(sums + j));
  }
}

/// Whether no two neighbours of a group add up to more than 126 or less than -127, so that 255 times them stays within 16 bits.
HWY_INLINE bool pairs_fit(const int8_t* group, int64_t bytes) {
  const hn::CappedTag<int8_t, kPackWidth> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto least = hn::Zero(d), most = hn::Zero(d);
  int8_t sums[2 * kPackWidth];
  for (int64_t i = 0; i < bytes; i += 2 * lanes) {
    decltype(least) even, odd;
    hn::LoadInterleaved2(d, group + i, even, odd);
    const auto sum = hn::SaturatedAdd(even, odd);
    least = hn::Min(least, sum);
    most = hn::Max(most, sum);
  }
  hn::StoreU(least, d, sums);
  hn::StoreU(most, d, sums + lanes);
  for (int64_t i = 0; i < lanes; ++i) {
    if (sums[i] == -128 || sums[lanes + i] == 127) return false;
  }
  return true;
}

int64_t split_groups_loop(uint8_t* panel, int64_t groups, int64_t width, int32_t* at, uint8_t* rests) {
  const hn::CappedTag<int8_t, kPackWidth> d;
  const int64_t bytes = width * kInt8Group;
  int64_t count = 0;
  for (int64_t g = 0; g < groups; ++g) {
    auto* const group = reinterpret_cast<int8_t*>(panel + g * bytes);
    if (pairs_fit(group, bytes)) continue;
    if (at) at[count] = static_cast<int32_t>(g);
    for (int64_t i = 0; i < bytes; i += static_cast<int64_t>(hn::Lanes(d))) {
      const auto v = hn::LoadU(d, group + i), rest = hn::ShiftRight<1>(v);  // two of either are 128 at most
      hn::StoreU(hn::Sub(v, rest), d, group + i);
      if (at) hn::StoreU(rest, d, reinterpret_cast<int8_t*>(rests) + count * bytes + i);
    }
    ++count;
  }
  return count;
}

/// Bytes as int16 values.
void widen_loop(const uint8_t* x, int64_t count, uint8_t flip, bool is_signed, int16_t* y) {
  const hn::CappedTag<int16_t, 16> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const hn::Rebind<int8_t, decltype(d)> signed_bytes;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::Xor(hn::LoadU(bytes, x + i), hn::Set(bytes, flip));
    hn::StoreU(is_signed ? hn::PromoteTo(d, hn::BitCast(signed_bytes, v)) : hn::PromoteTo(d, v), d, y + i);
  }
  for (; i < count; ++i) {
    const uint8_t value = x[i] ^ flip;
    y[i] = is_signed ? static_cast<int16_t>(static_cast<int8_t>(value)) : static_cast<int16_t>(value);
  }
}

void flip_loop(const uint8_t* x, int64_t count, uint8_t flip, uint8_t* y) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Xor(hn::LoadU(d, x + i), hn::Set(d, flip)), d, y + i);
  for (; i < count; ++i) y[i] = x[i] ^ flip;
}

/// Sum of the flipped bytes as unsigned numbers.
HWY_INLINE uint64_t sum_of(const uint8_t* x, int64_t count, uint8_t flip) {
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> wide;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  uint64_t sum = 0;
  if (lanes <= count) {
    auto sums = hn::Zero(wide);
    for (; i + lanes <= count; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d, x + i), hn::Set(d, flip))));
    sum = hn::GetLane(hn::SumOfLanes(wide, sums));
  }
  const hn::CappedTag<uint8_t, 16> small;
  const hn::Repartition<uint64_t, decltype(small)> small_wide;
  for (; i + static_cast<int64_t>(hn::Lanes(small)) <= count && hn::Lanes(small) >= 8; i += static_cast<int64_t>(hn::Lanes(small))) {
    const auto sums = hn::SumsOf8(hn::Xor(hn::LoadU(small, x + i), hn::Set(small, flip)));
    sum += hn::GetLane(hn::SumOfLanes(small_wide, sums));
  }
  for (; i < count; ++i) sum += static_cast<uint8_t>(x[i] ^ flip);
  return sum;
}

/// From element i on, by whole vectors, of rows `shift` bytes on; the first element that is left.
template <typename T, typename D>
HWY_INLINE int64_t largest_by(D d, const uint8_t* const* rows, int64_t count, int64_t shift, int64_t i, int64_t length, uint8_t* y) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto row = [=](int64_t k) { return reinterpret_cast<const T*>(rows[k]) + shift; };
  for (; i + lanes <= length; i += lanes) {
    auto most = hn::LoadU(d, row(0) + i);
    for (int64_t k = 1; k < count; ++k) most = hn::Max(most, hn::LoadU(d, row(k) + i));
    hn::StoreU(most, d, reinterpret_cast<T*>(y) + i);
  }
  return i;
}

template <typename T>
HWY_INLINE void largest_of(const uint8_t* const* rows, int64_t count, int64_t length, int64_t pixels, int64_t step, uint8_t* y) {
  for (int64_t p = 0; p < pixels; ++p, y += length) {
    int64_t i = largest_by<T>(hn::ScalableTag<T>(), rows, count, p * step, 0, length, y);
    i = largest_by<T>(hn::CappedTag<T, 16>(), rows, count, p * step, i, length, y);
    for (; i < length; ++i) {
      const auto at = [&](int64_t k) { return reinterpret_cast<const T*>(rows[k])[p * step + i]; };
      T most = at(0);
      for (int64_t k = 1; k < count; ++k) most = HWY_MAX(most, at(k));
      y[i] = static_cast<uint8_t>(most);
    }
  }
}
void largest_loop(const uint8_t* const* rows, int64_t count, bool is_signed, int64_t length, int64_t pixels, int64_t step, uint8_t* y) {
  is_signed ? largest_of<int8_t>(rows, count, length, pixels, step, y) : largest_of<uint8_t>(rows, count, length, pixels, step, y);
}

uint64_t sum_loop(const uint8_t* x, int64_t count, uint8_t flip) { return sum_of(x, count, flip); }

void sum_pixels_loop(const uint8_t* x, int64_t pitch, uint8_t flip, int64_t pixels, int64_t channels, int32_t* sums) {
  for (int64_t i = 0; i < pixels; ++i) sums[i] = static_cast<int32_t>(sum_of(x + i * pitch, channels, flip));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/cpu_features.h"

namespace rh::compute {

HWY_EXPORT(pack_right_loop);
HWY_EXPORT(sum_columns_loop);
HWY_EXPORT(split_groups_loop);
HWY_EXPORT(widen_loop);
HWY_EXPORT(flip_loop);
HWY_EXPORT(largest_loop);
HWY_EXPORT(sum_loop);
HWY_EXPORT(sum_pixels_loop);

const Int8Kernels& int8_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  const CpuFeatures& cpu = cpu_features();
  return cpu.avx512_vnni ? kAvx512VnniInt8 : cpu.avx512 ? kAvx512Int8 : cpu.avx2 ? kAvx2Int8 : kGenericInt8;
#else
  return kGenericInt8;
#endif
}

const Int8Kernels* int8_split_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  return &int8_kernels() == &kAvx2Int8 ? &kAvx2BytesInt8 : nullptr;
#else
  return nullptr;
#endif
}

int64_t int8_split_groups(uint8_t* panel, int64_t groups, int64_t width, int32_t* at, uint8_t* rests) {
  return HWY_DYNAMIC_DISPATCH(split_groups_loop)(panel, groups, width, at, rests);
}

void int8_pack_right(const uint8_t* rows, int64_t stride, int64_t k, int64_t count, int64_t width, uint8_t flip, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(pack_right_loop)(rows, stride, k, count, width, flip, out);
}

void int8_sum_columns(const uint8_t* panel, int64_t groups, int64_t width, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(sum_columns_loop)(panel, groups, width, sums);
}

int32_t int8_pack_left(const uint8_t* row, int64_t count, int64_t padded, uint8_t flip, bool is_signed, int64_t bytes, void* out) {
  if (bytes == 1) {
    HWY_DYNAMIC_DISPATCH(flip_loop)(row, count, flip, static_cast<uint8_t*>(out));
  } else {
    HWY_DYNAMIC_DISPATCH(widen_loop)(row, count, flip, is_signed, static_cast<int16_t*>(out));
  }
  if (padded > count) std::memset(static_cast<uint8_t*>(out) + count * bytes, 0, static_cast<size_t>((padded - count) * bytes));
  // As a number a signed byte is its flipped form less 128.
  const uint64_t sum = HWY_DYNAMIC_DISPATCH(sum_loop)(row, count, is_signed ? flip ^ kInt8Flip : flip);
  return static_cast<int32_t>(static_cast<uint32_t>(sum - (is_signed ? 128 * static_cast<uint64_t>(count) : 0)));
}

void int8_largest(const uint8_t* const* rows, int64_t count, bool is_signed, int64_t length, int64_t pixels, int64_t step, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(largest_loop)(rows, count, is_signed, length, pixels, step, y);
}

void int8_sum_pixels(const uint8_t* x, int64_t pitch, uint8_t flip, int64_t pixels, int64_t channels, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(sum_pixels_loop)(x, pitch, flip, pixels, channels, sums);
}

void int8_lay_out(const uint8_t* x, int64_t count, uint8_t flip, int64_t bytes, void* out) {
  if (bytes == 1) {
    HWY_DYNAMIC_DISPATCH(flip_loop)(x, count, flip, static_cast<uint8_t*>(out));
  } else {
    HWY_DYNAMIC_DISPATCH(widen_loop)(x, count, flip, false, static_cast<int16_t*>(out));
  }
}

}  // namespace rh::compute
#endif
