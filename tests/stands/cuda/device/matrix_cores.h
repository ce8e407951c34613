// The product of 16 x 16 by 16 x 16 of a warp's lanes, added to d: on CUDA mma.m16n8k16, twice; on AMD the instruction that the
// architecture has. Where an element lies is read from the ISA's tables of registers: MFMA of CDNA 2 and 3, WMMA of RDNA 3 and RDNA 4.
#pragma once

#ifdef __HIPCC_RTC__

struct StandPlace {
  int lane, item;
};
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
constexpr int kStandLanes = 64, kStandRegisters = 2, kStandSums = 4;
inline StandPlace stand_place(int line, int k) { return {line + 16 * (k / 4), k % 4}; }
inline StandPlace stand_sum_place(int i, int j) { return {j + 16 * (i / 4), i % 4}; }
#elif defined(__GFX11__)
constexpr int kStandLanes = 32, kStandRegisters = 8, kStandSums = 8;
inline StandPlace stand_place(int line, int k) { return {line, k}; }
inline StandPlace stand_sum_place(int i, int j) { return {j + 16 * (i % 2), i / 2}; }
#elif defined(__gfx1200__) || defined(__gfx1201__)
constexpr int kStandLanes = 32, kStandRegisters = 4, kStandSums = 8;
inline StandPlace stand_place(int line, int k) { return {line + 16 * (k / 8), k % 8}; }
inline StandPlace stand_sum_place(int i, int j) { return {j + 16 * (i / 8), i % 8}; }
#else
constexpr int kStandLanes = 0, kStandRegisters = 4, kStandSums = 8;
inline StandPlace stand_place(int line, int k) { return {line, k}; }
inline StandPlace stand_sum_place(int i, int) { return {0, i % 8}; }
#endif

struct StandRegisters {
  unsigned r[64][8];
};
// Of all lanes, four registers an exchange.
STAND_AT_ONE_PLACE inline void stand_all_registers(const unsigned* mine, StandRegisters& all) {
  constexpr int kMost = 4;
  constexpr unsigned long long kAll = kStandLanes == 64 ? ~0ull : 0xffffffffull;
  for (int first = 0; first < kStandRegisters; first += kMost) {
    struct alignas(16) Part {
      unsigned r[kMost];
    } part{};
    const int count = kStandRegisters - first < kMost ? kStandRegisters - first : kMost;
    for (int i = 0; i < count; ++i) part.r[i] = mine[first + i];
    StandExchange exchanged = stand_api->exchange(stand_state.worker, kAll, &part, sizeof part, STAND_SITE);
    if (exchanged.present != kAll) stand_api->fail(stand_state.worker, "a function of matrix cores without all lanes of the wavefront");
    for (int lane = 0; lane < kStandLanes; ++lane)
      for (int i = 0; i < count; ++i) all.r[lane][first + i] = static_cast<const Part*>(exchanged.values)[lane].r[i];
  }
#if defined(__GFX11__)
  for (int lane = 0; lane < 16; ++lane)
    for (int i = 0; i < kStandRegisters; ++i)
      if (all.r[lane][i] != all.r[lane + 16][i]) stand_api->fail(stand_state.worker, "lanes 16 to 31 have other lines than lanes 0 to 15");
#endif
}

template <class Number>
inline void stand_product(float* d, const unsigned* a, const unsigned* b) {
  if (stand_state.warp_size != kStandLanes)
    stand_api->fail(stand_state.worker, "this architecture has no matrix cores for wavefronts of this size");
  StandRegisters all_a, all_b;
  stand_all_registers(a, all_a);
  stand_all_registers(b, all_b);
  const int mine = static_cast<int>(stand_state.linear % stand_state.warp_size);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      const StandPlace to = stand_sum_place(i, j);
      if (to.lane != mine) continue;
      for (int k = 0; k < 16; ++k) {
        const StandPlace x = stand_place(i, k), y = stand_place(j, k);
        d[to.item] += Number::of(all_a.r[x.lane][x.item / 2], x.item % 2) * Number::of(all_b.r[y.lane][y.item / 2], y.item % 2);
      }
    }
  }
}

#else

template <class Number>
inline void stand_product(float* d, const unsigned* a, const unsigned* b) {
  for (int half = 0; half < 2; ++half) {
    const unsigned columns[] = {b[half], b[half + 2]};
    stand_mma<Number, 16>(d + half * 4, a, columns, d + half * 4);
  }
}

#endif

inline void stand_product_f16(float* d, const unsigned* a, const unsigned* b) { stand_product<StandFloat16>(d, a, b); }
inline void stand_product_bf16(float* d, const unsigned* a, const unsigned* b) { stand_product<StandBfloat16>(d, a, b); }
