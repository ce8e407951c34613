#include "compute/random.h"

#include <algorithm>
#include <cstring>
#include <numbers>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/random.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/contrib/math/math-inl.h>

#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

using Doubles = hn::ScalableTag<double>;
using Longs = hn::RebindToUnsigned<Doubles>;
using DoubleVec = hn::Vec<Doubles>;
using LongVec = hn::Vec<Longs>;

/// The blocks of a vector of indices, a word in the lower half of each lane; above it lies anything.
struct Words {
  LongVec c0, c1, c2, c3;
};

HWY_INLINE LongVec product(LongVec word, uint32_t factor) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(Longs(), (hn::GetLane(word) & uint64_t{0xffffffff}) * factor);
#else
  const hn::Repartition<uint32_t, Longs> d;
  return hn::MulEven(hn::BitCast(d, word), hn::Set(d, factor));
#endif
}

HWY_INLINE Words words_of(uint64_t seed, uint64_t stream, uint64_t index) {
  const Longs d;
  const LongVec indices = hn::Iota(d, index);
  Words w = {indices, hn::ShiftRight<32>(indices), hn::Set(d, stream), hn::Set(d, stream >> 32)};
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const LongVec a = product(w.c0, 0xd2511f53u), b = product(w.c2, 0xcd9e8d57u);
    w = {hn::Xor3(hn::ShiftRight<32>(b), w.c1, hn::Set(d, uint64_t{key0})), b,
         hn::Xor3(hn::ShiftRight<32>(a), w.c3, hn::Set(d, uint64_t{key1})), a};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return w;
}

/// Two words in one lane.
HWY_INLINE LongVec joined(LongVec high, LongVec low) {
  return hn::Or(hn::ShiftLeft<32>(high), hn::And(low, hn::Set(Longs(), uint64_t{0xffffffff})));
}
/// The upper `bits` bits of two words as an integer.
HWY_INLINE LongVec joined(LongVec high, LongVec low, int bits) { return hn::ShiftRightSame(joined(high, low), 64 - bits); }

HWY_INLINE DoubleVec scaled(LongVec integers, double factor) {
  const hn::RebindToSigned<Doubles> d;
  return hn::Mul(hn::ConvertTo(Doubles(), hn::BitCast(d, integers)), hn::Set(Doubles(), factor));
}

/// make(words) for each vector of indices.
template <typename Make>
HWY_INLINE void fill(uint64_t seed, uint64_t stream, uint64_t first, int64_t count, double* out, Make make) {
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(make(words_of(seed, stream, first + static_cast<uint64_t>(i))), d, out + i);
  if (i == count) return;
  HWY_ALIGN double rest[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(make(words_of(seed, stream, first + static_cast<uint64_t>(i))), d, rest);
  for (int64_t k = 0; i + k < count; ++k) out[i + k] = rest[k];
}

void uniform_loop(uint64_t seed, uint64_t stream, uint64_t first, int64_t count, int bits, double* out) {
  const double unit = 1.0 / static_cast<double>(uint64_t{1} << bits);
  fill(seed, stream, first, count, out, [=](const Words& w) HWY_ATTR { return scaled(joined(w.c0, w.c1, bits), unit); });
}

/// shift + scale times the upper 24 bits of two words a lane, the first one's in its lower half.
HWY_INLINE LongVec pair_of_floats(LongVec first, LongVec second, float scale, float shift) {
#if HWY_TARGET == HWY_SCALAR
  const auto one = [=](LongVec word) {
    const float y = static_cast<float>(hn::GetLane(word) << 32 >> 40) * scale + shift;
    uint32_t bits;
    std::memcpy(&bits, &y, sizeof(bits));
    return hn::Set(Longs(), uint64_t{bits});
  };
  return joined(one(second), one(first));
#else
  const hn::Repartition<uint32_t, Longs> words;
  const hn::Repartition<int32_t, Longs> ints;
  const auto upper = hn::ShiftRight<8>(hn::BitCast(words, joined(second, first)));
  return hn::BitCast(Longs(), hn::MulAdd(hn::ConvertTo(Floats(), hn::BitCast(ints, upper)), set(scale), set(shift)));
#endif
}

/// The numbers of a vector of blocks.
HWY_INLINE void floats_of_blocks(uint64_t seed, uint64_t stream, uint64_t block, float scale, float shift, float* out) {
  const Words w = words_of(seed, stream, block);
  const LongVec low = pair_of_floats(w.c0, w.c1, scale, shift), high = pair_of_floats(w.c2, w.c3, scale, shift);
  HWY_ALIGN uint64_t pairs[2 * HWY_MAX_BYTES / sizeof(uint64_t)];
  hn::StoreInterleaved2(low, high, Longs(), pairs);
  std::memcpy(out, pairs, 4 * hn::Lanes(Longs()) * sizeof(float));
}

void uniform_floats_loop(uint64_t seed, uint64_t stream, uint64_t first, int64_t count, float low, float width, float* out) {
  const float scale = width * 0x1p-24f;
  constexpr int64_t kMost = HWY_MAX_BYTES / 2;
  const int64_t blocks = static_cast<int64_t>(hn::Lanes(Longs())), step = 4 * blocks, skipped = static_cast<int64_t>(first % 4);
  uint64_t block = first / 4;
  float some[kMost];
  int64_t i = 0;
  if (skipped > 0) {
    floats_of_blocks(seed, stream, block, scale, low, some);
    i = std::min(count, step - skipped);
    std::copy_n(some + skipped, i, out);
    block += static_cast<uint64_t>(blocks);
  }
  for (; i + step <= count; i += step, block += static_cast<uint64_t>(blocks)) floats_of_blocks(seed, stream, block, scale, low, out + i);
  if (i == count) return;
  floats_of_blocks(seed, stream, block, scale, low, some);
  std::copy_n(some, count - i, out + i);
}

void normal_loop(uint64_t seed, uint64_t stream, uint64_t first, int64_t count, double* out) {  // Box and Muller
  const Doubles d;
  fill(seed, stream, first, count, out, [=](const Words& w) HWY_ATTR {
    const DoubleVec u = scaled(hn::Add(joined(w.c0, w.c1, 53), hn::Set(Longs(), uint64_t{1})), 0x1p-53);
    const DoubleVec angle = scaled(joined(w.c2, w.c3, 53), 2 * std::numbers::pi * 0x1p-53);
    return hn::Mul(hn::Sqrt(hn::Mul(hn::Set(d, -2.0), hn::Log(d, u))), hn::Cos(d, angle));
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(uniform_loop);
HWY_EXPORT(uniform_floats_loop);
HWY_EXPORT(normal_loop);

std::array<uint32_t, 4> RandomStream::block(uint64_t index) const {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(stream_),
                               static_cast<uint32_t>(stream_ >> 32)};
  uint32_t key0 = static_cast<uint32_t>(seed_), key1 = static_cast<uint32_t>(seed_ >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53} * c[0], b = uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ c[3] ^ key1,
         static_cast<uint32_t>(a)};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return c;
}

void RandomStream::uniform(uint64_t first, int64_t count, int bits, double* out) const {
  HWY_DYNAMIC_DISPATCH(uniform_loop)(seed_, stream_, first, count, bits, out);
}

void RandomStream::uniform(uint64_t first, int64_t count, float low, float width, float* out) const {
  HWY_DYNAMIC_DISPATCH(uniform_floats_loop)(seed_, stream_, first, count, low, width, out);
}

void RandomStream::normal(uint64_t first, int64_t count, double* out) const {
  HWY_DYNAMIC_DISPATCH(normal_loop)(seed_, stream_, first, count, out);
}

}  // namespace rh::compute
#endif
