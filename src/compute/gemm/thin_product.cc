#include "compute/gemm/thin_product.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/gemm/thin_product.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// At most a vector, zeros behind them.
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const float* from, int64_t count) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
  HWY_ALIGN float lanes[hn::MaxLanes(d)] = {};
  for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
}

template <class D>
HWY_INLINE void store_part(D d, hn::Vec<D> x, float* to, int64_t count) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(x, d, to);
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

/// min(max(x, low), high); NaN passes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clamp(V low, V high, V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Min(high, hn::Max(low, x));  // the second one where they do not compare
#else
  x = hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::IfThenElse(hn::Gt(x, high), high, x);
#endif
}

/// Each column once, whatever follows the sums.
void with_all(const ThinArgs& p) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool bias_first = p.alpha == 1 && p.column_bias;
  for (int64_t row = 0; row < p.rows; ++row) {
    const float* const a = p.a + row * p.a_row;
    float* const c = p.c + row * p.c_row;
    for (int64_t column = 0; column < p.columns; column += lanes) {
      const int64_t count = HWY_MIN(lanes, p.columns - column);
      V sum = bias_first ? load_part(d, p.column_bias + column, count) : hn::Zero(d);
      for (int64_t k = 0; k < p.k; ++k) sum = hn::MulAdd(hn::Set(d, a[k * p.a_k]), load_part(d, p.b + k * p.b_row + column, count), sum);
      if (p.alpha != 1) sum = hn::Mul(sum, hn::Set(d, p.alpha));
      if (p.beta != 0) sum = hn::MulAdd(load_part(d, c + column, count), hn::Set(d, p.beta), sum);
      if (p.column_bias && !bias_first) sum = hn::Add(sum, load_part(d, p.column_bias + column, count));
      if (p.row_bias) sum = hn::Add(sum, hn::Set(d, p.row_bias[row]));
      if (p.residual) {
        sum = hn::MulAdd(load_part(d, p.residual + row * p.residual_row + column, count), hn::Set(d, p.residual_scale), sum);
      }
      store_part(d, clamp<decltype(d)>(hn::Set(d, p.low), hn::Set(d, p.high), sum), c + column, count);
    }
  }
}

bool clamps(const ThinArgs& p) {
  return p.low != -std::numeric_limits<float>::infinity() || p.high != std::numeric_limits<float>::infinity();
}

/// All rows by one or two vectors of columns, with all that follows the sums but what is read of C and the residual. Where C has fewer
/// columns than a vector, stores reach into the next row, which is written after that.
template <class D, int kK, int kVectors>
void block(D d, const ThinArgs& p, const int64_t (&columns)[2]) {
  using V = hn::Vec<D>;
  V right[kK][kVectors], bias[kVectors];
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
#pragma GCC unroll 12
    for (int k = 0; k < kK; ++k) right[k][j] = hn::LoadU(d, p.b + k * p.b_row + columns[j]);
    bias[j] = p.column_bias ? load_part(d, p.column_bias + columns[j], p.columns) : hn::Zero(d);
  }
  const V low = hn::Set(d, p.low), high = hn::Set(d, p.high), alpha = hn::Set(d, p.alpha), zero = hn::Zero(d);
  const bool bounded = clamps(p), scaled = p.alpha != 1;
  const float* const row_bias = p.row_bias;
  const int64_t a_row = p.a_row, a_k = p.a_k, c_row = p.c_row, rows = p.rows;
  const float* a = p.a;
  float* c = p.c;
  for (int64_t row = 0; row < rows; ++row, a += a_row, c += c_row) {
    V sum[kVectors];
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) sum[j] = scaled ? zero : bias[j];
#pragma GCC unroll 12
    for (int k = 0; k < kK; ++k) {
      const V left = hn::Set(d, a[k * a_k]);
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) sum[j] = hn::MulAdd(left, right[k][j], sum[j]);
    }
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      if (scaled) sum[j] = hn::Add(hn::Mul(sum[j], alpha), bias[j]);
      if (row_bias) sum[j] = hn::Add(sum[j], hn::Set(d, row_bias[row]));
      if (bounded) sum[j] = clamp<D>(low, high, sum[j]);
      hn::StoreU(sum[j], d, c + columns[j]);
    }
  }
}

template <class D, int kK>
void blocks(D d, const ThinArgs& p) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), end = p.columns;
  if (end < lanes) {
    const int64_t last = p.c_row == end ? HWY_MIN(p.rows, (lanes + end - 1) / end - 1) : p.rows;  // rows whose stores would reach too far
    ThinArgs part = p;
    part.rows -= last;
    block<D, kK, 1>(d, part, {0, 0});
    part.a += part.rows * p.a_row;
    part.c += part.rows * p.c_row;
    if (part.row_bias) part.row_bias += part.rows;
    part.rows = last;
    return with_all(part);
  }
  for (int64_t column = 0; column < end; column += 2 * lanes) {
    const int64_t last = end - lanes;  // where the last whole vector begins: some columns may be made twice
    if (column < last) {
      block<D, kK, 2>(d, p, {column, HWY_MIN(column + lanes, last)});
    } else {
      block<D, kK, 1>(d, p, {last, 0});
    }
  }
}

template <class D>
void by_columns(D d, const ThinArgs& p) {
  switch (p.k) {
    case 1: return blocks<D, 1>(d, p);
    case 2: return blocks<D, 2>(d, p);
    case 3: return blocks<D, 3>(d, p);
    case 4: return blocks<D, 4>(d, p);
    case 5: return blocks<D, 5>(d, p);
    case 6: return blocks<D, 6>(d, p);
    case 7: return blocks<D, 7>(d, p);
    case 8: return blocks<D, 8>(d, p);
    case 9: return blocks<D, 9>(d, p);
    case 10: return blocks<D, 10>(d, p);
    case 11: return blocks<D, 11>(d, p);
    default: return blocks<D, 12>(d, p);
  }
}

void multiply_thin_loop(const ThinArgs& p) {
  if (p.beta != 0 || p.residual) return with_all(p);
  if (p.columns < 8) return by_columns(hn::CappedTag<float, 4>(), p);
  if (p.columns < 16) return by_columns(hn::CappedTag<float, 8>(), p);
  by_columns(hn::ScalableTag<float>(), p);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(multiply_thin_loop);

void multiply_thin(const ThinArgs& args) { HWY_DYNAMIC_DISPATCH(multiply_thin_loop)(args); }

}  // namespace rh::compute
#endif
