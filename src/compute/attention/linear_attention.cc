#include "compute/attention/linear_attention.h"

#include <algorithm>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/attention/linear_attention.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/vector_ops-inl.h"

#ifndef RH_LINEAR_ATTENTION_TOKENS
#define RH_LINEAR_ATTENTION_TOKENS
namespace rh::compute {
inline constexpr int64_t kMostTokens = 4, kMostColumns = 64;
}  // namespace rh::compute
#endif

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// What kTokens tokens at once need of their keys and queries. With the state S before them, the product P of their decays up to token t,
/// and the keys w of each, decayed by the tokens after it: state' x = (P x)' S + sum of (x' w) change, of the changes up to that token.
struct TokenBlock {
  float* decay;    ///< [depth], P after the last one
  float* keys;     ///< [kTokens, depth], w after the last one
  float* weights;  ///< rows of depth: P key of each token if it has a rate, then P query of each
  float* factors;  ///< x' w of the rows of weights, [rows, kMostTokens]
  float* sums;     ///< (P x)' S of the rows of weights, [rows, kMostColumns]
  int64_t rows;

  TokenBlock(const LinearTokens& tokens, int64_t count) {
    const int64_t most = kMostTokens * (1 + tokens.queries);
    rows = count * (tokens.queries + (tokens.rate ? 1 : 0));
    decay = tokens.scratch;
    keys = decay + tokens.depth;
    weights = keys + kMostTokens * tokens.depth;
    factors = weights + most * tokens.depth;
    sums = factors + most * kMostTokens;
  }
};

/// Rows [kTokens, depth] of keys or queries, and the first of their rows in a block, which lie `step` apart.
struct BlockRows {
  const float* x;
  int64_t stride, row, step;
};

/// `live` elements of depth, from i on, of what prepare_rows gives; all of a vector unless kSome.
template <int kTokens, bool kSome>
HWY_INLINE void prepare_elements(const LinearTokens& tokens, const BlockRows& rows, const TokenBlock& block, int64_t i, size_t live,
                                 Vec (&sums)[kTokens][kTokens]) {
  const auto load = [live](const float* from) HWY_ATTR { return kSome ? load_some(from, live) : hn::LoadU(Floats(), from); };
  const auto store = [live](Vec v, float* to) HWY_ATTR { kSome ? store_some(v, to, live) : hn::StoreU(v, Floats(), to); };
  Vec decay = set(1.0f), keys[kTokens];
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    const Vec next = load(tokens.decays + t * tokens.depth + i), values = load(rows.x + t * rows.stride + i);
    decay = t == 0 ? next : hn::Mul(decay, next);
#pragma GCC unroll 4
    for (int s = 0; s < t; ++s) keys[s] = hn::Mul(keys[s], next);
    keys[t] = load(tokens.key + t * tokens.key_stride + i);
    store(hn::Mul(values, decay), block.weights + (rows.row + t * rows.step) * tokens.depth + i);
#pragma GCC unroll 4
    for (int s = 0; s <= t; ++s) sums[t][s] = hn::MulAdd(values, keys[s], sums[t][s]);
  }
  store(decay, block.decay + i);
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) store(keys[t], block.keys + t * tokens.depth + i);
}

/// The weights and factors of `rows`, with the block's decay and its keys.
template <int kTokens>
HWY_INLINE void prepare_rows(const LinearTokens& tokens, const BlockRows& rows, const TokenBlock& block) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  Vec sums[kTokens][kTokens];
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
#pragma GCC unroll 4
    for (int s = 0; s <= t; ++s) sums[t][s] = set(0.0f);
  }
  int64_t i = 0;
  for (; i + lanes <= tokens.depth; i += lanes) prepare_elements<kTokens, false>(tokens, rows, block, i, 0, sums);
  if (i < tokens.depth) prepare_elements<kTokens, true>(tokens, rows, block, i, static_cast<size_t>(tokens.depth - i), sums);
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    float* factors = block.factors + (rows.row + t * rows.step) * kMostTokens;
#pragma GCC unroll 4
    for (int s = 0; s <= t; ++s) factors[s] = hn::GetLane(hn::SumOfLanes(Floats(), sums[t][s]));
  }
}

template <int kTokens>
HWY_INLINE void prepare(const LinearTokens& tokens, const TokenBlock& block) {
  const int64_t first = tokens.rate ? kTokens : 0;
  if (tokens.rate) prepare_rows<kTokens>(tokens, {tokens.key, tokens.key_stride, 0, 1}, block);
  for (int64_t q = 0; q < tokens.queries; ++q) {
    prepare_rows<kTokens>(tokens, {tokens.query + q * tokens.depth, tokens.query_stride, first + q, tokens.queries}, block);
  }
}

/// kVectors whole vectors of columns, or one of `live` lanes.
template <int kVectors>
struct Columns {
  size_t live;

  HWY_INLINE void load(const float* from, Vec (&to)[kVectors]) const {
    if constexpr (kVectors == 1) {
      to[0] = load_some(from, live);
    } else {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) to[v] = hn::LoadU(Floats(), from + v * static_cast<int64_t>(hn::Lanes(Floats())));
    }
  }

  HWY_INLINE void store(const Vec (&from)[kVectors], float* to) const {
    if constexpr (kVectors == 1) {
      store_some(from[0], to, live);
    } else {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) hn::StoreU(from[v], Floats(), to + v * static_cast<int64_t>(hn::Lanes(Floats())));
    }
  }

  /// sum += factor x.
  static HWY_INLINE void add(const Vec (&x)[kVectors], float factor, Vec (&sum)[kVectors]) {
    const Vec factors = set(factor);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(x[v], factors, sum[v]);
  }

  static HWY_INLINE void multiply(Vec (&x)[kVectors], float factor) {
    const Vec factors = set(factor);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) x[v] = hn::Mul(x[v], factors);
  }

  /// block.sums of kRows rows of weights from `row` on.
  template <int kRows>
  HWY_INLINE void sum_rows(const TokenBlock& block, int64_t row, const LinearTokens& tokens, const float* state) const {
    const float* weights = block.weights + row * tokens.depth;
    Vec sums[kRows][kVectors], values[kVectors];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] = set(0.0f);
    }
    for (int64_t i = 0; i < tokens.depth; ++i) {
      load(state + i * tokens.width, values);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) add(values, weights[r * tokens.depth + i], sums[r]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) store(sums[r], block.sums + (row + r) * kMostColumns);
  }

  template <int kTokens>
  HWY_INLINE void update(const TokenBlock& block, const LinearTokens& tokens, const Vec (&changes)[kTokens][kVectors], float* state) const {
    Vec values[kVectors];
    for (int64_t i = 0; i < tokens.depth; ++i) {
      load(state + i * tokens.width, values);
      multiply(values, block.decay[i]);
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t) add(changes[t], block.keys[t * tokens.depth + i], values);
      store(values, state + i * tokens.width);
    }
  }

  template <int kTokens>
  HWY_INLINE void run(const LinearTokens& tokens, const TokenBlock& block, int64_t column, float* state) const {
    state += column;
    int64_t row = 0;
    for (; row + 4 <= block.rows; row += 4) sum_rows<4>(block, row, tokens, state);
    for (; row + 2 <= block.rows; row += 2) sum_rows<2>(block, row, tokens, state);
    for (; row < block.rows; ++row) sum_rows<1>(block, row, tokens, state);
    Vec changes[kTokens][kVectors], sum[kVectors];
    row = 0;
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) {
      load(tokens.value + t * tokens.value_stride + column, changes[t]);
      if (!tokens.rate) continue;
      const float* factors = block.factors + row * kMostTokens;
      load(block.sums + row++ * kMostColumns, sum);
#pragma GCC unroll 4
      for (int s = 0; s < t; ++s) add(changes[s], factors[s], sum);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) changes[t][v] = hn::Sub(changes[t][v], sum[v]);
      multiply(changes[t], tokens.rate[t * tokens.rate_stride]);
    }
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) {
      for (int64_t q = 0; q < tokens.queries; ++q, ++row) {
        const float* factors = block.factors + row * kMostTokens;
        load(block.sums + row * kMostColumns, sum);
#pragma GCC unroll 4
        for (int s = 0; s <= t; ++s) add(changes[s], factors[s], sum);
        multiply(sum, tokens.scale);
        store(sum, tokens.y + t * tokens.y_stride + q * tokens.width + column);
      }
    }
    update(block, tokens, changes, state);
  }
};

/// Vectors whose sums of four rows, or changes of four tokens, stay in registers with what is added to them.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kColumnVectors = 4;
#else
constexpr int kColumnVectors = 2;
#endif

template <int kTokens>
HWY_INLINE void run_block(const LinearTokens& tokens, float* state) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  static_assert(kColumnVectors * hn::MaxLanes(Floats()) <= kMostColumns);
  const TokenBlock block(tokens, kTokens);
  prepare<kTokens>(tokens, block);
  int64_t column = 0;
  for (; column + kColumnVectors * lanes <= tokens.width; column += kColumnVectors * lanes) {
    Columns<kColumnVectors>{0}.template run<kTokens>(tokens, block, column, state);
  }
  for (; column < tokens.width; column += lanes) {
    Columns<1>{static_cast<size_t>(HWY_MIN(lanes, tokens.width - column))}.template run<kTokens>(tokens, block, column, state);
  }
}

void linear_attention_loop(LinearTokens tokens, float* state) {
  while (tokens.count > 0) {
    const int64_t taken = tokens.count >= kMostTokens ? kMostTokens : 1;
    taken == 1 ? run_block<1>(tokens, state) : run_block<kMostTokens>(tokens, state);
    tokens.count -= taken;
    tokens.decays += taken * tokens.depth;
    tokens.key += taken * tokens.key_stride;
    tokens.value += taken * tokens.value_stride;
    if (tokens.rate) tokens.rate += taken * tokens.rate_stride;
    tokens.query += taken * tokens.query_stride;
    tokens.y += taken * tokens.y_stride;
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(linear_attention_loop);

int64_t linear_attention_scratch(int64_t depth, int64_t queries) {
  return (1 + kMostTokens) * depth + kMostTokens * (1 + queries) * (depth + kMostTokens + kMostColumns);
}

void linear_attention(const LinearTokens& tokens, float* state) { HWY_DYNAMIC_DISPATCH(linear_attention_loop)(tokens, state); }

}  // namespace rh::compute
#endif
