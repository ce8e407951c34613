#pragma once

#include "compute/conv_parts_micro.h"

// Written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

/// kCount vectors that follow each other become the vectors of their elements modulo kCount, kApart of `to` apart.
template <typename V, int kCount, int kApart>
inline void deal(const typename V::Register* x, typename V::Register* to) {
  if constexpr (kCount == 1) {
    to[0] = x[0];
  } else {
    typename V::Register even[kCount / 2], odd[kCount / 2];
#pragma GCC unroll 4
    for (int i = 0; i < kCount / 2; ++i) {
      even[i] = V::even(x[2 * i], x[2 * i + 1]);
      odd[i] = V::odd(x[2 * i], x[2 * i + 1]);
    }
    deal<V, kCount / 2, 2 * kApart>(even, to);
    deal<V, kCount / 2, 2 * kApart>(odd, to + kApart);
  }
}

/// The first of those vectors.
template <typename V, int kCount>
inline typename V::Register deal_first(const typename V::Register* x) {
  if constexpr (kCount == 1) {
    return x[0];
  } else {
    return V::even(deal_first<V, kCount / 2>(x), deal_first<V, kCount / 2>(x + kCount / 2));
  }
}

inline int lanes_below(int64_t count, int most) { return count <= 0 ? 0 : count < most ? static_cast<int>(count) : most; }

/// Elements from `start` on, `stride` apart, zero where a row has none.
template <typename V>
inline typename V::Register line_part(const PartsLines& p, const float* line, int64_t start, int64_t stride) {
  const int first = lanes_below((stride - 1 - start) / stride, V::kLanes);
  const int last = lanes_below((p.width - start + stride - 1) / stride, V::kLanes);
  if (first >= last) return V::zero();
  if (stride == 1 && first == 0 && last == V::kLanes) return V::load(line + start);
  return V::load_lanes(line + start, stride, first, last);
}

template <typename V, int kPhases>
void split_line(const PartsLines& p, const float* line, float* split) {
  for (int64_t at = 0; at < p.split_row; at += V::kLanes) {
    if constexpr (kPhases > 0) {
      typename V::Register x[kPhases], phases[kPhases];
#pragma GCC unroll 8
      for (int i = 0; i < kPhases; ++i) x[i] = line_part<V>(p, line, at * kPhases + i * V::kLanes - p.pad, 1);
      deal<V, kPhases, 1>(x, phases);
#pragma GCC unroll 8
      for (int i = 0; i < kPhases; ++i) V::store(split + i * p.split_row + at, phases[i]);
    } else {
      for (int64_t i = 0; i < p.phases; ++i)
        V::store(split + i * p.split_row + at, line_part<V>(p, line, at * p.phases + i - p.pad, p.phases));
    }
  }
}

/// `count` elements of each of some rows, and up to a vector more.
template <typename V, typename Place>
inline void join_rows(const PartsSource& s, const float* from, int64_t from_row, int64_t rows, int64_t count, float* to, Place place) {
  const auto each = [&](auto join) {
    const float *a = from + s.a, *b = from + s.b;
    for (int64_t row = 0; row < rows; ++row, a += from_row, b += from_row) {
      float* const y = to + s.to + place(row);
      for (int64_t i = 0; i < count; i += V::kLanes) V::store(y + i, join(V::load(a + i), b + i));
    }
  };
  if (s.sign == 0)
    each([](auto a, const float*) { return a; });
  else if (s.sign > 0)
    each([](auto a, const float* b) { return V::add(a, V::load(b)); });
  else
    each([](auto a, const float* b) { return V::sub(a, V::load(b)); });
}

/// Rows `line`, `line` + phases_down and so on, whose tiles lie in one vector, as vectors of each column of a tile.
template <typename V, int kPhases>
inline void split_together(const PartsLines& p, int64_t line, float* split) {
  const int64_t row_vectors = p.across * kPhases / V::kLanes;
  for (int64_t column = 0; column < p.reach; column += kPhases) {
    typename V::Register x[kPhases], phases[kPhases];
#pragma GCC unroll 8
    for (int i = 0; i < kPhases; ++i) {
      const int64_t from = line + i / row_vectors * p.phases_down;
      const bool is_there = from >= p.top && from < p.bottom && from < p.lines;
      x[i] = is_there ? line_part<V>(p, p.x + from * p.x_row, column + i % row_vectors * V::kLanes - p.pad, 1) : V::zero();
    }
    if (p.reach == column + 1) {
      V::store(split + column * V::kLanes, deal_first<V, kPhases>(x));
      break;
    }
    deal<V, kPhases, 1>(x, phases);
#pragma GCC unroll 8
    for (int i = 0; i < kPhases; ++i) V::store(split + (column + i) * V::kLanes, phases[i]);
  }
}

template <typename V, int kPhases>
void lines_together(const PartsLines& p) {
  alignas(64) float split[(kMostPartsReach + kPhases) * V::kLanes];
  for (int64_t first = 0; first < p.phases_down; ++first) {
    float* to = p.to + first * p.plane;
    for (int64_t line = first; line < p.lines; line += p.together * p.phases_down, to += V::kLanes) {
      split_together<V, kPhases>(p, line, split);
      for (int64_t s = 0; s < p.source_count; ++s) {
        const PartsSource& source = p.sources[s];
        const typename V::Register a = V::load(split + source.a * V::kLanes), b = V::load(split + source.b * V::kLanes);
        V::store(to + source.to, source.sign == 0 ? a : source.sign > 0 ? V::add(a, b) : V::sub(a, b));
      }
    }
  }
}

template <typename V>
void parts_lines(const PartsLines& p) {
  if (p.together > 1) {
    return p.phases == 2 ? lines_together<V, 2>(p) : p.phases == 4 ? lines_together<V, 4>(p) : lines_together<V, 8>(p);
  }
  const auto split = p.phases == 1   ? split_line<V, 1>
                     : p.phases == 2 ? split_line<V, 2>
                     : p.phases == 4 ? split_line<V, 4>
                     : p.phases == 8 ? split_line<V, 8>
                                     : split_line<V, 0>;
  // Some rows are split before they are read again, which would wait for what was only just written.
  const int64_t split_size = p.phases * p.split_row;
  for (int64_t first = 0; first < p.lines; first += kPartsLines) {
    const int64_t count = p.lines - first < kPartsLines ? p.lines - first : kPartsLines;
    int64_t to[kPartsLines];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t line = first + i;
      float* const at = p.split + i * split_size;
      to[i] = line % p.phases_down * p.plane + line / p.phases_down * p.across;
      if (line >= p.top && line < p.bottom)
        split(p, p.x + line * p.x_row, at);
      else
        for (int64_t lane = 0; lane < split_size; lane += V::kLanes) V::store(at + lane, V::zero());
    }
    for (int64_t s = 0; s < p.source_count; ++s) {
      join_rows<V>(p.sources[s], p.split, split_size, count, p.across, p.to, [&](int64_t row) { return to[row]; });
    }
  }
}

template <typename V>
void parts_inputs(const float* from, const PartsSource* sources, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    const PartsSource& s = sources[i];
    const int64_t whole = s.count / V::kLanes * V::kLanes;
    const int rest = static_cast<int>(s.count - whole);
    for (int64_t row = 0; row < s.rows; ++row) {
      const float* const x = from + row * s.from_row;
      float* const y = to + row * s.to_row;
      join_rows<V>(s, x, 0, 1, whole, y, [](int64_t) { return 0; });
      if (rest == 0) continue;
      typename V::Register value = V::load_partial(x + s.a + whole, rest);
      if (s.sign != 0) {
        const typename V::Register b = V::load_partial(x + s.b + whole, rest);
        value = s.sign > 0 ? V::add(value, b) : V::sub(value, b);
      }
      V::store_partial(y + s.to + whole, value, rest);
    }
  }
}

/// Slots of one axis become its outputs.
template <typename V, int kSlots>
inline void parts_join(const typename V::Register (&m)[kPartsSlots], typename V::Register& first, typename V::Register& second) {
  if constexpr (kSlots == 1) {
    first = second = m[kFirst];
  } else if constexpr (kSlots == 3) {
    first = V::add(m[kFirst], m[kBoth]);
    second = V::add(m[kSecond], m[kBoth]);
  } else {
    first = V::add(m[kFirst], V::add(m[kBoth], m[kApart]));
    second = V::add(m[kSecond], V::sub(m[kBoth], m[kApart]));
  }
}

template <typename V, int kRowSlots, int kColumnSlots>
int64_t parts_outputs(const PartsOutputs& p) {
  using R = typename V::Register;
  constexpr int64_t kWidth = 2 * V::kLanes, kHeight = kRowSlots > 1 ? 2 : 1, kAcross = kColumnSlots > 1 ? 2 : 1;
  int64_t row = p.first / p.across, column = p.first % p.across;
  for (int64_t tile = p.first; tile < p.tiles; ++tile) {
    const bool second_row = kHeight * row + 1 < p.rows && kHeight > 1, second_column = kAcross * column + 1 < p.columns && kAcross > 1;
    float* const to = p.to + (kHeight * row * p.columns + kAcross * column) * kWidth;
    for (int64_t lane = 0; lane < kWidth; lane += V::kLanes) {
      R upper[kPartsSlots], lower[kPartsSlots], sums[2][2];
#pragma GCC unroll 4
      for (int i = 0; i < kRowSlots; ++i) {
        upper[i] = lower[i] = V::zero();
        if (i == kSecond && !second_row) continue;
        R m[kPartsSlots];
#pragma GCC unroll 4
        for (int j = 0; j < kColumnSlots; ++j) {
          const int64_t at = j == kSecond ? row * p.second_across + column : tile;
          m[j] = j == kSecond && !second_column ? V::zero() : V::load(p.slots[i][j] + at * kWidth + lane);
        }
        parts_join<V, kColumnSlots>(m, upper[i], lower[i]);
      }
      parts_join<V, kRowSlots>(upper, sums[0][0], sums[1][0]);
      parts_join<V, kRowSlots>(lower, sums[0][1], sums[1][1]);
      const R bias = V::load(p.bias + lane);
      R strange = V::zero();  // sums times zero: zero, or not a number
#pragma GCC unroll 2
      for (int i = 0; i < kHeight; ++i) {
#pragma GCC unroll 2
        for (int j = 0; j < kAcross; ++j) {
          if ((i > 0 && !second_row) || (j > 0 && !second_column)) continue;
          sums[i][j] = V::add(sums[i][j], bias);
          strange = V::fma(sums[i][j], V::zero(), strange);
          V::store(to + (i * p.columns + j) * kWidth + lane, sums[i][j]);
        }
      }
      if (!V::all_zero(strange)) return tile;
    }
    if (++column < p.across) continue;
    column = 0;
    ++row;
  }
  return p.tiles;
}

template <typename V>
constexpr PartsKernels parts_kernels() {
  return {parts_lines<V>,
          parts_inputs<V>,
          {{parts_outputs<V, 1, 1>, parts_outputs<V, 1, 3>, parts_outputs<V, 1, 4>},
           {parts_outputs<V, 3, 1>, parts_outputs<V, 3, 3>, parts_outputs<V, 3, 4>},
           {parts_outputs<V, 4, 1>, parts_outputs<V, 4, 3>, parts_outputs<V, 4, 4>}}};
}

}  // namespace
}  // namespace rh::compute
