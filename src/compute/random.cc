#include "compute/random.h"

#include <numbers>

#include "compute/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/random.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/contrib/math/math-inl.h>

#include "compute/simd_math-inl.h"

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
    w = {hn::Xor(hn::Xor(hn::ShiftRight<32>(b), w.c1), hn::Set(d, uint64_t{key0})), b,
         hn::Xor(hn::Xor(hn::ShiftRight<32>(a), w.c3), hn::Set(d, uint64_t{key1})), a};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return w;
}

/// The upper `bits` bits of two words as an integer.
HWY_INLINE LongVec joined(LongVec high, LongVec low, int bits) {
  const LongVec both = hn::Or(hn::ShiftLeft<32>(high), hn::And(low, hn::Set(Longs(), uint64_t{0xffffffff})));
  return hn::ShiftRightSame(both, 64 - bits);
}

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

void RandomStream::normal(uint64_t first, int64_t count, double* out) const {
  HWY_DYNAMIC_DISPATCH(normal_loop)(seed_, stream_, first, count, out);
}

}  // namespace rh::compute
#endif
