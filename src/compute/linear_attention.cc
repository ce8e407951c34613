#include "compute/linear_attention.h"

#include "compute/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/linear_attention.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "compute/vector_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

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

  /// sum += rows [count, row] ' x, with the sums of even and odd rows apart.
  HWY_INLINE void add_products(const float* rows, int64_t row, const float* x, int64_t count, Vec (&sum)[kVectors]) const {
    Vec odd[kVectors], values[kVectors];
    for (int v = 0; v < kVectors; ++v) odd[v] = set(0.0f);
    int64_t i = 0;
    for (; i + 2 <= count; i += 2) {
      load(rows + i * row, values);
      const Vec first = set(x[i]), second = set(x[i + 1]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(values[v], first, sum[v]);
      load(rows + (i + 1) * row, values);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) odd[v] = hn::MulAdd(values[v], second, odd[v]);
    }
    if (i < count) {
      load(rows + i * row, values);
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(values[v], set(x[i]), sum[v]);
    }
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::Add(sum[v], odd[v]);
  }

  HWY_INLINE void run(const LinearToken& t, int64_t column, float* state, float* y) const {
    state += column;
    Vec change[kVectors], sum[kVectors], values[kVectors];
    load(t.value + column, change);
    if (t.rate) {
      for (int v = 0; v < kVectors; ++v) sum[v] = set(0.0f);
      add_products(state, t.width, t.decayed_key, t.depth, sum);
      for (int v = 0; v < kVectors; ++v) change[v] = hn::Mul(hn::Sub(change[v], sum[v]), set(*t.rate));
    }
    const float* const query = t.query[0];
    for (int v = 0; v < kVectors; ++v) sum[v] = set(0.0f);
    for (int64_t i = 0; i < t.depth; ++i) {
      load(state + i * t.width, values);
      const Vec decay = set(t.decays[i]), key = set(t.key[i]), from = set(query[i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        values[v] = hn::MulAdd(key, change[v], hn::Mul(values[v], decay));
        sum[v] = hn::MulAdd(values[v], from, sum[v]);
      }
      store(values, state + i * t.width);
    }
    for (int64_t q = 0;;) {
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::Mul(sum[v], set(t.scale));
      store(sum, y + q * t.width + column);
      if (++q == t.queries) break;
      for (int v = 0; v < kVectors; ++v) sum[v] = set(0.0f);
      add_products(state, t.width, t.query[q], t.depth, sum);
    }
  }
};

void linear_attention_token_loop(const LinearToken& token, float* state, float* y) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  if (token.rate) {
    for (int64_t i = 0; i < token.depth; ++i) token.decayed_key[i] = token.key[i] * token.decays[i];
  }
  int64_t column = 0;
  for (; column + 4 * lanes <= token.width; column += 4 * lanes) Columns<4>{0}.run(token, column, state, y);
  for (; column < token.width; column += lanes) {
    Columns<1>{static_cast<size_t>(HWY_MIN(lanes, token.width - column))}.run(token, column, state, y);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(linear_attention_token_loop);

void linear_attention_token(const LinearToken& token, float* state, float* y) {
  HWY_DYNAMIC_DISPATCH(linear_attention_token_loop)(token, state, y);
}

}  // namespace rh::compute
#endif
