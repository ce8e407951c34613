#pragma once

#include <limits>
#include <utility>

#include "compute/gemm/gemm_micro.h"
#include "compute/simd/inlined.h"

// The micro-kernels, written once against a vector type V that each instruction set's file defines in its own anonymous namespace, so
// that every instantiation stays inside that file.
namespace rh::compute {
namespace {

// `gap`: by how much more than neighbours a row's vectors of C lie apart, and those of the residual.

template <typename V>
inline typename V::Register epilogue(const MicroArgs<typename V::T>& p, typename V::Register sum, int row, int column, int live,
                                     int64_t gap = 0) {
  using T = typename V::T;
  const bool whole = live == V::kLanes;
  const int64_t at = column + column / V::kLanes * gap;
  const auto read = [&](const T* from) { return whole ? V::load(from) : V::load_partial(from, live); };
  typename V::Register value = p.alpha == T(1) ? sum : V::mul(sum, V::set(p.alpha));
  if (p.beta != T(0)) {
    const typename V::Register old = read(p.c + row * p.c_row + at);
    value = p.beta == T(1) ? V::add(value, old) : V::fma(old, V::set(p.beta), value);
  }
  if (p.column_bias) value = V::add(value, read(p.column_bias + column));
  if (p.row_bias) value = V::add(value, V::set(p.row_bias[row]));
  if (p.residual) value = V::fma(read(p.residual + row * p.residual_row + at), V::set(p.residual_scale), value);
  return V::min(V::set(p.high), V::max(V::set(p.low), value));
}

/// The same of a whole tile, each step over all of it.
template <typename V, int kRows, int kVectors>
RH_INLINED inline void store_tile(const MicroArgs<typename V::T>& p, typename V::Register (&sum)[kRows][kVectors], int64_t gap = 0) {
  using T = typename V::T;
  using R = typename V::Register;
  const auto for_all = [&](auto step) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) step(sum[i][j], i, j);
    }
  };
  if (p.alpha != T(1)) {
    const R alpha = V::set(p.alpha);
    for_all([&](R& x, int, int) { x = V::mul(x, alpha); });
  }
  const int64_t c_row = p.c_row, step = V::kLanes + gap;
  T* const c = p.c;
  if (p.beta == T(1)) {
    for_all([&](R& x, int i, int j) { x = V::add(x, V::load(c + i * c_row + j * step)); });
  } else if (p.beta != T(0)) {
    const R beta = V::set(p.beta);
    for_all([&](R& x, int i, int j) { x = V::fma(V::load(c + i * c_row + j * step), beta, x); });
  }
  if (const T* const bias = p.column_bias) {
    for_all([&](R& x, int, int j) { x = V::add(x, V::load(bias + j * V::kLanes)); });
  }
  if (const T* const bias = p.row_bias) {
    for_all([&](R& x, int i, int) { x = V::add(x, V::set(bias[i])); });
  }
  if (const T* const residual = p.residual) {
    const R scale = V::set(p.residual_scale);
    const int64_t row = p.residual_row;
    for_all([&](R& x, int i, int j) { x = V::fma(V::load(residual + i * row + j * step), scale, x); });
  }
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (p.low != -kInfinity || p.high != kInfinity) {
    const R low = V::set(p.low), high = V::set(p.high);
    for_all([&](R& x, int, int) { x = V::min(high, V::max(low, x)); });
  }
  for_all([&](R& x, int i, int j) { V::store(c + i * c_row + j * step, x); });
}

/// Into the second level of caches: the first one holds what is worked on.
inline void prefetch([[maybe_unused]] const void* from) {
#if defined(__GNUC__)
  __builtin_prefetch(from, 0, 2);
#endif
}

/// Into the first level: a tile of C that is read, or written, when its sums are there. Inlined, for GCC drops calls that only prefetch.
template <int kRows, int kWidth, bool kToWrite = false, typename T>
RH_INLINED inline void prefetch_tile([[maybe_unused]] const T* tile, [[maybe_unused]] int64_t row) {
#if defined(__GNUC__)
  constexpr int kLine = 64 / sizeof(T);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kWidth; j += kLine) __builtin_prefetch(tile + i * row + j, kToWrite, 3);
  }
#endif
}

/// What is left of a tile lane by lane: fewer columns than the kernel has.
template <typename V, int kRows, int kVectors>
inline void store_narrow_tile(const MicroArgs<typename V::T>& p, const typename V::T* sums, int64_t gap = 0) {
  for (int i = 0; i < kRows; ++i) {
    for (int column = 0; column < p.columns; column += V::kLanes) {
      const int64_t left = p.columns - column;
      const int live = left < V::kLanes ? static_cast<int>(left) : V::kLanes;
      const typename V::Register sum = V::load(sums + i * kVectors * V::kLanes + column);
      V::store_partial(p.c + i * p.c_row + column + column / V::kLanes * gap, epilogue<V>(p, sum, i, column, live, gap), live);
    }
  }
}

/// Small tiles keep several sums apart so that additions do not wait for each other.
constexpr int chains_of(int rows, int vectors) { return rows * vectors <= 2 ? 4 : rows * vectors <= 4 ? 2 : 1; }

template <typename V, int kRows, int kVectors, int kChains = chains_of(kRows, kVectors)>
void micro_kernel(const MicroArgs<typename V::T>& p) {
  using T = typename V::T;
  using R = typename V::Register;
  const auto for_all = [](auto step) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) step(i, j);
    }
  };
  if constexpr (kChains == 1) {
    if (p.beta != T(0)) prefetch_tile<kRows, kVectors * V::kLanes>(p.c, p.c_row);
    if (p.c_is_far && p.beta == T(0)) prefetch_tile<kRows, kVectors * V::kLanes, true>(p.c, p.c_row);
    if (p.residual) prefetch_tile<kRows, kVectors * V::kLanes>(p.residual, p.residual_row);
  }
  R sum[kChains][kRows][kVectors];
  constexpr int kWidth = kVectors * V::kLanes;
  alignas(64) T memory[kRows * kWidth];  // the sum of the parts so far, and then what is stored lane by lane
  T* kept = memory;
#if defined(__GNUC__)
  asm("" : "+r"(kept));  // else it is split into registers that are not there
#endif
  // Three row pointers five rows apart, so that every row is reached by one of them plus a small multiple of the stride.
  const T* a0 = p.a;
  const T* a1 = a0 + 5 * p.a_row;
  const T* a2 = a0 + 10 * p.a_row;
  const T* b = p.b;
  const int64_t a_row = p.a_row, a_k = p.a_k, b_k = p.b_k;
  const T* ahead = p.ahead ? p.ahead : b;
  const int64_t ahead_step = p.ahead ? p.ahead_step : 0;
  [[maybe_unused]] const bool fetches = p.ahead != nullptr;
  const auto left_of = [&](int i) { return V::set((i < 5 ? a0 : i < 10 ? a1 : a2)[i % 5 * a_row]); };
  const auto fetch = [&] {
    prefetch(ahead);
    if constexpr (V::kLanes * sizeof(T) > 32) prefetch(ahead + V::kLanes);  // else it falls into the same line
    ahead += ahead_step;
  };
  const auto advance = [&] {
    a0 += a_k;
    a1 += a_k;
    a2 += a_k;
    b += b_k;
    if constexpr (kRows == 1) {  // little else is done beside it
      if (!fetches) return;
    }
    fetch();
  };
  // The sums of the next k products. Inlined at both calls, for else the sums would lie in memory.
  const auto add_up = [&](int64_t k) RH_INLINED {
#pragma GCC unroll 4
    for (int s = 0; s < kChains; ++s) for_all([&](int i, int j) { sum[s][i][j] = V::zero(); });
    if constexpr (kChains == 1 && kRows > 1 && kVectors == 2 && V::kLanes * sizeof(T) == 32) {
      // Operands that lie side by side, two steps at a time: where two threads share a core, what counts is how little is done beside the
      // products. Rows are reached by two strides, which the compiler must not add steps to beforehand: there are no registers for sums.
      // Vectors of 256 bits: wider tiles have no registers left.
      constexpr int kSteps = 2;
      int64_t stride = a_row * static_cast<int64_t>(sizeof(T)), stride3 = 3 * stride;
      const auto row_at = [&](const T* first, int i) {
        const int64_t offset = i == 0 ? 0 : i == 1 ? stride : i == 2 ? 2 * stride : i == 3 ? stride3 : 4 * stride;
        return reinterpret_cast<const T*>(reinterpret_cast<const char*>(first) + offset);
      };
      for (; k >= kSteps && a_k == 1 && b_k == kWidth; k -= kSteps) {
#pragma GCC unroll 2
        for (int s = 0; s < kSteps; ++s) {
#if defined(__GNUC__)
          asm volatile("" : "+r"(stride), "+r"(stride3));
#endif
          R right[kVectors];
#pragma GCC unroll 4
          for (int j = 0; j < kVectors; ++j) right[j] = V::load(b + s * kWidth + j * V::kLanes);
#pragma GCC unroll 16
          for (int i = 0; i < kRows; ++i) {
            const R value = V::set(row_at(i < 5 ? a0 : i < 10 ? a1 : a2, i % 5)[s]);
#pragma GCC unroll 4
            for (int j = 0; j < kVectors; ++j) sum[0][i][j] = V::fma(value, right[j], sum[0][i][j]);
          }
          fetch();
        }
        a0 += kSteps;
        a1 += kSteps;
        a2 += kSteps;
        b += kSteps * kWidth;
      }
    }
    for (; k >= kChains; k -= kChains) {
#pragma GCC unroll 4
      for (int s = 0; s < kChains; ++s) {
        R right[kVectors];
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) right[j] = V::load(b + j * V::kLanes);
#pragma GCC unroll 16
        for (int i = 0; i < kRows; ++i) {
          const R value = left_of(i);
#pragma GCC unroll 4
          for (int j = 0; j < kVectors; ++j) sum[s][i][j] = V::fma(value, right[j], sum[s][i][j]);
        }
        advance();
      }
    }
    if constexpr (kChains > 1) {
      for (; k > 0; --k) {
        for_all([&](int i, int j) { sum[0][i][j] = V::fma(left_of(i), V::load(b + j * V::kLanes), sum[0][i][j]); });
        advance();
      }
    }
    for_all([&](int i, int j) {
#pragma GCC unroll 4
      for (int s = 1; s < kChains; ++s) sum[0][i][j] = V::add(sum[0][i][j], sum[s][i][j]);
    });
  };
  const auto add_kept = [&](int i, int j) { sum[0][i][j] = V::add(V::load(kept + i * kWidth + j * V::kLanes), sum[0][i][j]); };
  const bool folds = p.fold > 0 && p.k > p.fold;
  int64_t left = p.k;
  if (folds) {
    int64_t parts = (left + p.fold - 1) / p.fold;
    for (bool first = true; parts > 1; --parts, first = false) {
      const int64_t size = (left + parts - 1) / parts;
      left -= size;
      add_up(size);
      if (!first) for_all(add_kept);
      for_all([&](int i, int j) { V::store(kept + i * kWidth + j * V::kLanes, sum[0][i][j]); });
    }
  }
  add_up(left);
  if (folds) for_all(add_kept);
  if (p.columns >= kWidth) {
    R total[kRows][kVectors];  // a copy stays in registers, where GCC lays the sums themselves out in memory
    for_all([&](int i, int j) { total[i][j] = sum[0][i][j]; });
    return store_tile<V>(p, total);
  }
  for_all([&](int i, int j) { V::store(kept + i * kWidth + j * V::kLanes, sum[0][i][j]); });
  store_narrow_tile<V, kRows, kVectors>(p, kept);
}

/// out[i] = the sum of the lanes of x[i].
template <typename V>
inline void sum_lanes(const typename V::Register (&x)[4], typename V::T* out) {
  using R = typename V::Register;
  if constexpr (V::kLanes >= 4) {
    const auto pairs = [](R a, R b) { return V::add(V::even(a, b), V::odd(a, b)); };
    R sums = pairs(pairs(x[0], x[1]), pairs(x[2], x[3]));
    for (int width = V::kLanes / 4; width > 1; width /= 2) sums = pairs(sums, sums);
    V::store_partial(out, sums, 4);
  } else {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      typename V::T lanes[V::kLanes];
      V::store(lanes, x[i]);
      out[i] = lanes[0];
      for (int l = 1; l < V::kLanes; ++l) out[i] += lanes[l];
    }
  }
}

template <typename V, int kRows>
void dot_rows(const DotArgs<typename V::T>& p) {
  using R = typename V::Register;
  R sum[kRows][4];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) sum[i][j] = V::zero();
  }
  int64_t k = 0;
  for (; k + V::kLanes <= p.k; k += V::kLanes) {
    if (p.fetches_next) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) prefetch_tile<1, V::kLanes>(p.b + (4 + j) * p.b_row + k, 0);
    }
    R right[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) right[j] = V::load(p.b + j * p.b_row + k);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const R left = V::load(p.a + i * p.a_row + k);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) sum[i][j] = V::fma(left, right[j], sum[i][j]);
    }
  }
  const int rest = static_cast<int>(p.k - k);
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      if (rest > 0)
        sum[i][j] = V::fma(V::load_partial(p.a + i * p.a_row + k, rest), V::load_partial(p.b + j * p.b_row + k, rest), sum[i][j]);
    }
    sum_lanes<V>(sum[i], p.out + i * 4);
  }
}

template <typename V>
void dot_kernel(const DotArgs<typename V::T>& p) {
  switch (p.rows) {
    case 1: return dot_rows<V, 1>(p);
    case 2: return dot_rows<V, 2>(p);
    case 3: return dot_rows<V, 3>(p);
    default: return dot_rows<V, 4>(p);
  }
}

template <typename V, int kRows>
void add_rows(const RowArgs<typename V::T>& p) {
  using R = typename V::Register;
  R left[kRows];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) left[i] = V::set(p.a[i * p.a_k]);
  const auto add = [&](R sum, auto load) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sum = V::fma(left[i], load(p.b + i * p.b_row), sum);
    return sum;
  };
  int64_t j = 0;
  for (; j + V::kLanes <= p.columns; j += V::kLanes)
    V::store(p.sums + j, add(V::load(p.sums + j), [&](const auto* row) { return V::load(row + j); }));
  if (const int rest = static_cast<int>(p.columns - j); rest > 0)
    V::store_partial(p.sums + j, add(V::load_partial(p.sums + j, rest), [&](const auto* row) { return V::load_partial(row + j, rest); }),
                     rest);
}

template <typename V>
void row_kernel(const RowArgs<typename V::T>& p) {
  if (p.rows == kRowsAdded) return add_rows<V, kRowsAdded>(p);
  RowArgs<typename V::T> one = p;
  for (int64_t i = 0; i < p.rows; ++i, one.a += p.a_k, one.b += p.b_row) add_rows<V, 1>(one);
}

template <typename V>
void pack_kernel(const PackArgs<typename V::T>& p) {
  constexpr int64_t kWidth = 2 * V::kLanes;
  const auto* from = p.b;
  auto* to = p.panel;
  if (p.columns == kWidth) {
    for (int64_t i = 0; i < p.k; ++i, from += p.b_row, to += kWidth) {
      V::store(to, V::load(from));
      V::store(to + V::kLanes, V::load(from + V::kLanes));
    }
    return;
  }
  const bool wide = p.columns > V::kLanes;
  const int live = static_cast<int>(wide ? p.columns - V::kLanes : p.columns);
  for (int64_t i = 0; i < p.k; ++i, from += p.b_row, to += kWidth) {
    if (wide) V::store(to, V::load(from));
    V::store(wide ? to + V::kLanes : to, V::load_partial(wide ? from + V::kLanes : from, live));
  }
}

template <typename V, int kVectors, typename Rows>
struct KernelList;
template <typename V, int kVectors, int... kRow>
struct KernelList<V, kVectors, std::integer_sequence<int, kRow...>> {
  static constexpr typename MicroKernels<typename V::T>::Kernel kByRows[] = {nullptr, micro_kernel<V, kRow + 1, kVectors>...};
  static constexpr typename MicroKernels<typename V::T>::Kernel kAlike[] = {nullptr, micro_kernel<V, kRow + 1, kVectors, 1>...};
};

/// All kernels of V for tiles of up to kRows rows, by two vectors or one. No more rows than 2 x lanes: products of one pixel swap the two.
template <typename V, int kRows>
constexpr MicroKernels<typename V::T> kernel_table() {
  using Rows = std::make_integer_sequence<int, kRows>;
  static_assert(kRows <= 2 * V::kLanes);
  using Two = KernelList<V, 2, Rows>;
  return {kRows,       2 * V::kLanes, V::kLanes,     Two::kByRows,  KernelList<V, 1, Rows>::kByRows,
          Two::kAlike, dot_kernel<V>, row_kernel<V>, pack_kernel<V>};
}

}  // namespace
}  // namespace rh::compute
