#include "compute/gemm/gemm_amx.h"

#include "compute/gemm/gemm_micro_body.h"
#include "compute/simd/vector_avx512.h"

namespace rh::compute {
namespace {

constexpr int64_t kTileBytes = 1024, kTileRow = 64, kTileRows = 16, kLine = 64;
constexpr int64_t kSumsRow = kSplitWidth * static_cast<int64_t>(sizeof(float));

// The instructions stand as assembly: the compilers' own functions for them tell the compiler too little of the memory that they read.
struct alignas(64) TileConfig {
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64);

template <int kTile>
inline void zero_tile() {
  __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kTile>
inline void load_tile(const void* from, int64_t row_bytes) {
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(kTile) : "memory");
}
template <int kTile>
inline void store_tile_at(void* to, int64_t row_bytes) {
  __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_bytes), "i"(kTile) : "memory");
}
template <int kSum, int kLeft, int kRight>
inline void add_product() {
  __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
}

/// Rows of a panel that its upper tile has; the lower one has the rest.
int64_t upper_rows(int64_t rows) { return (rows + 1) / 2; }

// Tiles 0 to 3 are sums: upper left, upper right, lower left, lower right; 4 and 5 are A's, 6 and 7 B's.
void configure(int64_t rows) {
  const uint8_t upper = static_cast<uint8_t>(upper_rows(rows)), lower = static_cast<uint8_t>(rows > 1 ? rows - upper : 1);
  TileConfig config{1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {upper, upper, lower, lower, upper, lower, 16, 16}};
  __asm__ volatile("ldtilecfg %0" : : "m"(config) : "memory");
}

void release() { __asm__ volatile("tilerelease" : : : "memory"); }

inline const char* part(const char* step, int index) { return step + index * 2 * kTileBytes; }

inline void load_left(const char* step, int index) {
  load_tile<4>(part(step, index), kTileRow);
  load_tile<5>(part(step, index) + kTileBytes, kTileRow);
}
inline void load_right(const char* step, int index) {
  load_tile<6>(part(step, index), kTileRow);
  load_tile<7>(part(step, index) + kTileBytes, kTileRow);
}
inline void add_products() {
  add_product<0, 4, 6>();
  add_product<1, 4, 7>();
  add_product<2, 5, 6>();
  add_product<3, 5, 7>();
}

/// Small products first, in an order in which each finds one of its operands loaded.
template <int kProducts>
void multiply(int64_t steps, const void* left, const void* right, int64_t rows, float* sums, SplitAhead ahead) {
  zero_tile<0>();
  zero_tile<1>();
  zero_tile<2>();
  zero_tile<3>();
  const char* a = static_cast<const char*>(left);
  const char* b = static_cast<const char*>(right);
  for (int64_t i = 0; i < steps; ++i, a += kSplitStepBytes, b += kSplitStepBytes) {
    load_right(b, 0);
    if constexpr (kProducts > 3) {
      load_left(a, 2);
      add_products();
    }
    if constexpr (kProducts > 1) {
      load_left(a, 1);
      add_products();
    }
    if constexpr (kProducts > 3) {
      load_right(b, 1);
      add_products();
    }
    load_left(a, 0);
    if constexpr (kProducts > 1) {
      if constexpr (kProducts == 3) load_right(b, 1);
      add_products();
    }
    if constexpr (kProducts > 3) {
      load_right(b, 2);
      add_products();
    }
    if constexpr (kProducts > 1) load_right(b, 0);
    add_products();
    for (int64_t line = 0; line < ahead.lines; ++line, ahead.from += kLine) _mm_prefetch(ahead.from, _MM_HINT_T1);
  }
  float* const lower = sums + upper_rows(rows) * kSplitWidth;
  store_tile_at<0>(sums, kSumsRow);
  store_tile_at<1>(sums + kTileRows, kSumsRow);
  if (rows == 1) return;
  store_tile_at<2>(lower, kSumsRow);
  store_tile_at<3>(lower + kTileRows, kSumsRow);
}

/// The least (less 1, so that 0 is the greatest) and the greatest magnitude, a lane at a time.
struct LaneMagnitudes {
  __m512i least_less_1 = _mm512_set1_epi32(-1);
  __m512i most = _mm512_setzero_si512();

  void take(__m512 x) {
    const __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
    most = _mm512_maskz_max_epu32(0xffff, most, magnitude);
    least_less_1 = _mm512_maskz_min_epu32(0xffff, least_less_1, _mm512_sub_epi32(magnitude, _mm512_set1_epi32(1)));
  }
  Magnitudes over_all() const {
    alignas(64) uint32_t least[16], greatest[16];
    _mm512_store_si512(least, least_less_1);
    _mm512_store_si512(greatest, most);
    for (int i = 1; i < 16; ++i) {
      least[0] = least[i] < least[0] ? least[i] : least[0];
      greatest[0] = greatest[i] > greatest[0] ? greatest[i] : greatest[0];
    }
    return {least[0] + 1, greatest[0]};
  }
};

/// 16 lanes of two values of k, as parts whose even elements are of `x` and odd ones of `y`. A part is rounded to nearest, halves away from
/// 0; the third is exact.
inline void split(__m512 x, __m512 y, char* to) {
  const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000)), half = _mm512_set1_epi32(0x8000);
  for (int i = 0; i < 3; ++i, to += 2 * kTileBytes) {
    __m512i even = _mm512_castps_si512(x), odd = _mm512_castps_si512(y);
    if (i < 2) {
      even = _mm512_add_epi32(even, half);
      odd = _mm512_add_epi32(odd, half);
    }
    _mm512_store_si512(to, _mm512_ternarylogic_epi32(high, odd, _mm512_maskz_srli_epi32(0xffff, even, 16), 0xca));
    if (i == 2) break;
    x = _mm512_sub_ps(x, _mm512_castsi512_ps(_mm512_and_si512(even, high)));
    y = _mm512_sub_ps(y, _mm512_castsi512_ps(_mm512_and_si512(odd, high)));
  }
}

/// Of the values of a step that are there, the first 16 and the others.
struct Lanes {
  explicit Lanes(int64_t left)
      : first(left < 16 ? Float::mask(static_cast<int>(left)) : 0xffff),
        second(left <= 16  ? 0
               : left < 32 ? Float::mask(static_cast<int>(left - 16))
                           : 0xffff) {}
  __mmask16 first, second;
};

Magnitudes split_left(const float* a, int64_t a_row, int64_t rows, int64_t k, void* steps) {
  LaneMagnitudes magnitudes;
  const int64_t upper = upper_rows(rows);
  char* step = static_cast<char*>(steps);
  for (int64_t at = 0; at < k; at += kSplitStep, step += kSplitStepBytes) {
    const Lanes lanes(k - at);
    const float* from = a + at;
    for (int64_t row = 0; row < rows; ++row, from += a_row) {
      const __m512 x = _mm512_maskz_loadu_ps(lanes.first, from);
      const __m512 y = lanes.second ? _mm512_maskz_loadu_ps(lanes.second, from + 16) : _mm512_setzero_ps();
      magnitudes.take(x);
      magnitudes.take(y);
      split(x, y, step + (row < upper ? row * kTileRow : kTileBytes + (row - upper) * kTileRow));
    }
  }
  return magnitudes.over_all();
}

Magnitudes split_right(const float* b, int64_t b_k, int64_t k, void* steps) {
  LaneMagnitudes magnitudes;
  char* step = static_cast<char*>(steps);
  for (int64_t at = 0; at < k; at += kSplitStep, step += kSplitStepBytes) {
    for (int64_t row = 0; row < kTileRows; ++row) {
      const bool one = at + row < k, two = at + 16 + row < k;
      const float* from = b + (at + row) * b_k;
      for (int64_t tile = 0; tile < 2; ++tile) {
        const __m512 x = one ? _mm512_loadu_ps(from + tile * 16) : _mm512_setzero_ps();
        const __m512 y = two ? _mm512_loadu_ps(from + 16 * b_k + tile * 16) : _mm512_setzero_ps();
        magnitudes.take(x);
        magnitudes.take(y);
        split(x, y, step + tile * kTileBytes + row * kTileRow);
      }
    }
  }
  return magnitudes.over_all();
}

/// What split() took apart.
struct Joined {
  explicit Joined(const char* from) {
    const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000));
    for (int i = 0; i < 3; ++i) {
      const __m512i pairs = _mm512_load_si512(part(from, i));
      x = _mm512_add_ps(x, _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, pairs, 16)));
      y = _mm512_add_ps(y, _mm512_castsi512_ps(_mm512_and_si512(pairs, high)));
    }
  }
  __m512 x = _mm512_setzero_ps(), y = _mm512_setzero_ps();
};

void join_left(const void* steps, int64_t rows, int64_t k, float* a) {
  const int64_t upper = upper_rows(rows);
  const char* step = static_cast<const char*>(steps);
  for (int64_t at = 0; at < k; at += kSplitStep, step += kSplitStepBytes) {
    const Lanes lanes(k - at);
    for (int64_t row = 0; row < rows; ++row) {
      const Joined values(step + (row < upper ? row * kTileRow : kTileBytes + (row - upper) * kTileRow));
      float* const to = a + row * k + at;
      _mm512_mask_storeu_ps(to, lanes.first, values.x);
      if (lanes.second) _mm512_mask_storeu_ps(to + 16, lanes.second, values.y);
    }
  }
}

void join_right(const void* steps, int64_t k, float* b) {
  const char* step = static_cast<const char*>(steps);
  for (int64_t at = 0; at < k; at += kSplitStep, step += kSplitStepBytes) {
    for (int64_t row = 0; row < kTileRows && at + row < k; ++row) {
      for (int64_t tile = 0; tile < 2; ++tile) {
        const Joined values(step + tile * kTileBytes + row * kTileRow);
        float* const to = b + (at + row) * kSplitWidth + tile * 16;
        _mm512_storeu_ps(to, values.x);
        if (at + 16 + row < k) _mm512_storeu_ps(to + 16 * kSplitWidth, values.y);
      }
    }
  }
}

void finish(const MicroArgs<float>& args, int64_t rows, const float* sums) {
  constexpr int kRows = 8;
  MicroArgs<float> p = args;
  const auto advance = [&](int64_t count) {
    p.c += count * p.c_row;
    if (p.row_bias) p.row_bias += count;
    if (p.residual) p.residual += count * p.residual_row;
    sums += count * kSplitWidth;
    rows -= count;
  };
  while (p.columns >= kSplitWidth && rows >= kRows) {
    __m512 tile[kRows][2];
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < 2; ++j) tile[i][j] = _mm512_loadu_ps(sums + i * kSplitWidth + j * 16);
    }
    store_tile<Float, kRows, 2>(p, tile);
    advance(kRows);
  }
  while (rows > 0) {
    for (int column = 0; column < p.columns; column += Float::kLanes) {
      const int64_t left = p.columns - column;
      const int live = left < Float::kLanes ? static_cast<int>(left) : Float::kLanes;
      Float::store_partial(p.c + column, epilogue<Float>(p, Float::load(sums + column), 0, column, live), live);
    }
    advance(1);
  }
}

}  // namespace

extern const AmxKernels kAmxKernels = {configure,  release,     split_left,  split_right, join_left,
                                       join_right, multiply<6>, multiply<3>, multiply<1>, finish};

}  // namespace rh::compute
