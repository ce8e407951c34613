#pragma once

#include "compute/conv/parts/conv_parts_micro.h"

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

/// Two phases get chunks of `p.chunk` columns by turns. Each is copied `kAtOnce` elements at a time: a few more are written after it, which
/// the next one replaces.
template <typename V, int kAtOnce>
void split_chunks(const PartsLines& p, const float* line, float* split) {
  const int64_t chunk = p.chunk, copied = (chunk + kAtOnce - 1) / kAtOnce * kAtOnce, width = p.width;
  int64_t start = -p.pad;
  for (int64_t at = 0; at + copied <= p.split_row; at += chunk) {
    for (int phase = 0; phase < 2; ++phase, start += chunk) {
      float* const to = split + phase * p.split_row + at;
      const float* const from = line + start;
      if (start >= 0 && start + copied <= width) {
        for (int64_t i = 0; i < chunk; i += kAtOnce) {
          if constexpr (kAtOnce == V::kLanes)
            V::store(to + i, V::load(from + i));
          else
            __builtin_memcpy(to + i, from + i, kAtOnce * sizeof(float));
        }
      } else {
        for (int64_t i = 0; i < chunk; ++i) to[i] = start + i >= 0 && start + i < width ? from[i] : 0.0f;
      }
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

/// Where the vectors of elements lie that become one vector of each column of tiles of some rows.
template <typename V, int kPhases>
struct TogetherVectors {
  int64_t lines[kPhases];    ///< from the first
  int64_t offsets[kPhases];  ///< from the beginning of the first
  int64_t spans[kPhases];
  typename V::Lanes lanes[kMostPartsReach];

  explicit TogetherVectors(const PartsTiles& p) {
    for (int64_t i = 0, row = 0, span = 0; i < kPhases; ++i) {
      lines[i] = row * p.phases_down;
      offsets[i] = lines[i] * p.x_row;
      spans[i] = span;
      if (++span < p.row_vectors) continue;
      span = 0;
      ++row;
    }
    for (int64_t column = 0, i = 0; column < p.reach; column += kPhases) {
      for (int64_t end = i + p.row_vectors; i < end; ++i) lanes[i] = V::lanes(p.spans[i].first, p.spans[i].last);
    }
  }
};

/// The elements of rows from `line` on as vectors of each column of a tile.
template <typename V, int kPhases>
inline void split_together(const PartsTiles& p, const TogetherVectors<V, kPhases>& at, int64_t line, float* split) {
  const int64_t reach = p.reach, row_vectors = p.row_vectors, top = p.top - line, bottom = p.bottom - line;
  const float* const row = p.x + line * p.x_row;
  const bool all = top <= 0 && at.lines[kPhases - 1] < bottom;
  for (int64_t column = 0, span = 0; column < reach; column += kPhases, span += row_vectors) {
    typename V::Register x[kPhases], phases[kPhases];
    const auto read = [&](int i) {
      return V::load_lanes(row + at.offsets[i] + p.spans[span + at.spans[i]].offset, at.lanes[span + at.spans[i]]);
    };
    if (all) {
#pragma GCC unroll 8
      for (int i = 0; i < kPhases; ++i) x[i] = read(i);
    } else {
#pragma GCC unroll 8
      for (int i = 0; i < kPhases; ++i) x[i] = at.lines[i] >= top && at.lines[i] < bottom ? read(i) : V::zero();
    }
    if (reach == column + 1) {
      V::store(split + column * V::kLanes, deal_first<V, kPhases>(x));
      break;
    }
    deal<V, kPhases, 1>(x, phases);
#pragma GCC unroll 8
    for (int i = 0; i < kPhases; ++i) V::store(split + (column + i) * V::kLanes, phases[i]);
  }
}

/// put(sum, value) for each sum of vectors at `from`.
template <typename V, typename Put>
inline void each_sum(const PartsTiles::Sum* sum, const PartsTiles::Signs& signs, const float* from, Put put) {
  const auto vector = [&](int32_t i) { return V::load(from + int64_t{i} * V::kLanes); };
  const PartsTiles::Sum *const plain = sum + signs.none, *const added = plain + signs.plus, *const end = added + signs.minus;
  for (; sum < plain; ++sum) put(*sum, vector(sum->a));
  for (; sum < added; ++sum) put(*sum, V::add(vector(sum->a), vector(sum->b)));
  for (; sum < end; ++sum) put(*sum, V::sub(vector(sum->a), vector(sum->b)));
}

/// A vector of the tiles of some rows, as far as there are so many.
template <typename V>
inline void store_tiles(const PartsTiles::Sum& s, const PartsTiles& p, int64_t row, typename V::Register value) {
  const int64_t left = s.rows - row, rows = left < p.together ? left : p.together;
  float* to = p.to + s.to + (p.channel * s.rows + row) * s.count;
  if (s.count == p.across && rows == p.together) return V::store(to, value);
  alignas(64) float tiles[2 * V::kLanes] = {};
  V::store(tiles, value);
  for (int64_t i = 0; i < rows; ++i, to += s.count) V::store_partial(to, V::load(tiles + i * p.across), static_cast<int>(s.count));
}

template <typename V, int kPhases>
void tiles_together(const PartsTiles& args) {
  const PartsTiles p = args;  // which no store may change
  const TogetherVectors<V, kPhases> vectors(p);
  for (int64_t row = 0; row < p.rows; row += p.together) {
    float* line = p.values;
    for (int64_t i = 0; i < p.reach_down; ++i, line += p.line * V::kLanes) {
      split_together<V, kPhases>(p, vectors, row * p.phases_down + i, line);
      float* made = line + p.reach * V::kLanes;
      each_sum<V>(p.columns, p.column_signs, line, [&](const PartsTiles::Sum&, typename V::Register value) {
        V::store(made, value);
        made += V::kLanes;
      });
    }
    if (p.whole && row + p.together <= p.rows) {
      float* const to = p.to + (p.channel * p.rows + row) * p.across;
      each_sum<V>(p.sums, p.signs, p.values, [&](const PartsTiles::Sum& s, typename V::Register value) { V::store(to + s.to, value); });
    } else {
      each_sum<V>(p.sums, p.signs, p.values,
                  [&](const PartsTiles::Sum& s, typename V::Register value) { store_tiles<V>(s, p, row, value); });
    }
  }
}

template <typename V>
void parts_tiles(const PartsTiles& p) {
  p.phases == 2 ? tiles_together<V, 2>(p) : p.phases == 4 ? tiles_together<V, 4>(p) : tiles_together<V, 8>(p);
}

template <typename V>
void parts_lines(const PartsLines& p) {
  const auto split = p.chunk == 2    ? split_chunks<V, 2>
                     : p.chunk > 4   ? split_chunks<V, V::kLanes>
                     : p.chunk > 1   ? split_chunks<V, 4>
                     : p.phases == 1 ? split_line<V, 1>
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
  int64_t row = p.first / p.across, column = p.first % p.across, in_chunk = column % p.apart;
  for (int64_t tile = p.first; tile < p.tiles; ++tile) {
    const bool second_row = kHeight * row + 1 < p.rows && kHeight > 1, second_column = column < p.second_across && kAcross > 1;
    const int64_t pixel = kAcross * column - (kAcross - 1) * in_chunk;
    float* const to = p.to + (kHeight * row * p.columns + pixel) * kWidth;
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
          V::store(to + (i * p.columns + j * p.apart) * kWidth + lane, sums[i][j]);
        }
      }
      if (!V::all_zero(strange)) return tile;
    }
    if (++in_chunk == p.apart) in_chunk = 0;
    if (++column < p.across) continue;
    column = in_chunk = 0;
    ++row;
  }
  return p.tiles;
}

template <typename V>
constexpr PartsKernels parts_kernels() {
  return {parts_tiles<V>,
          parts_lines<V>,
          parts_inputs<V>,
          {{parts_outputs<V, 1, 1>, parts_outputs<V, 1, 3>, parts_outputs<V, 1, 4>},
           {parts_outputs<V, 3, 1>, parts_outputs<V, 3, 3>, parts_outputs<V, 3, 4>},
           {parts_outputs<V, 4, 1>, parts_outputs<V, 4, 3>, parts_outputs<V, 4, 4>}}};
}

}  // namespace
}  // namespace rh::compute
