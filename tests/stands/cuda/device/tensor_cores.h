// What a kernel gets in place of inline PTX for tensor cores and asynchronous copies: mma.sync, ldmatrix, cp.async. The layouts of
// fragments are those of the PTX ISA, section "Matrix multiply-accumulate instructions". All 32 lanes of a warp call them.
#pragma once

struct alignas(16) StandFragment {
  unsigned r[4];
};
struct StandFragments {
  StandFragment lane[32];
};

STAND_AT_ONE_PLACE inline StandFragments stand_all_fragments(const unsigned* mine, int registers) {
  StandFragment fragment{};
  for (int i = 0; i < registers; ++i) fragment.r[i] = mine[i];
  StandExchange all = stand_api->exchange(stand_state.worker, 0xffffffffull, &fragment, sizeof fragment, STAND_SITE);
  if (all.present != 0xffffffffull) stand_api->fail(stand_state.worker, "a warp function of tensor cores without all 32 lanes");
  return *static_cast<const StandFragments*>(all.values);
}

struct StandFloat16 {
  static constexpr int kPerRegister = 2;
  static float of(unsigned r, int i) { return static_cast<float>(stand_bits<_Float16>(static_cast<unsigned short>(r >> (16 * i)))); }
};
struct StandBfloat16 {
  static constexpr int kPerRegister = 2;
  static float of(unsigned r, int i) { return stand_bits<float>((r >> (16 * i) & 0xffff) << 16); }
};
struct StandTf32 {  // 10 bits of mantissa; what lies below is not read
  static constexpr int kPerRegister = 1;
  static float of(unsigned r, int) { return stand_bits<float>(r & 0xffffe000u); }
};

// D = A B + C, A is 16 x K by rows, B is K x 8 by columns. A register holds n neighbours along K; a row of A (a column of B) lies in the
// registers of a group of four lanes, 4 n values a step.
template <class Number, int K>
inline void stand_mma(float* d, const unsigned* a, const unsigned* b, const float* c) {
  constexpr int n = Number::kPerRegister, step = 4 * n, steps = K / step;
  StandFragments all_a = stand_all_fragments(a, 2 * steps), all_b = stand_all_fragments(b, steps);
  int lane = static_cast<int>(stand_state.linear % 32), group = lane / 4, pair = lane % 4;
  float result[4];
  for (int i = 0; i < 4; ++i) {
    int row = group + i / 2 * 8, column = pair * 2 + i % 2;
    float sum = c[i];
    for (int k = 0; k < K; ++k) {
      int owner = k % step / n;
      float x = Number::of(all_a.lane[row % 8 * 4 + owner].r[row / 8 + k / step * 2], k % n);
      float y = Number::of(all_b.lane[column * 4 + owner].r[k / step], k % n);
      sum += x * y;
    }
    result[i] = sum;
  }
  for (int i = 0; i < 4; ++i) d[i] = result[i];
}
inline void stand_mma_m16n8k16_f16(float* d, const unsigned* a, const unsigned* b, const float* c) {
  stand_mma<StandFloat16, 16>(d, a, b, c);
}
inline void stand_mma_m16n8k16_bf16(float* d, const unsigned* a, const unsigned* b, const float* c) {
  stand_mma<StandBfloat16, 16>(d, a, b, c);
}
inline void stand_mma_m16n8k8_f16(float* d, const unsigned* a, const unsigned* b, const float* c) {
  stand_mma<StandFloat16, 8>(d, a, b, c);
}
inline void stand_mma_m16n8k8_bf16(float* d, const unsigned* a, const unsigned* b, const float* c) {
  stand_mma<StandBfloat16, 8>(d, a, b, c);
}
inline void stand_mma_m16n8k8_tf32(float* d, const unsigned* a, const unsigned* b, const float* c) { stand_mma<StandTf32, 8>(d, a, b, c); }
inline void stand_mma_m16n8k4_tf32(float* d, const unsigned* a, const unsigned* b, const float* c) { stand_mma<StandTf32, 4>(d, a, b, c); }

// ldmatrix: lane i names a row of 8 16-bit values of matrix i / 8; lane t gets values 2 (t % 4) and the next of row t / 4 (of the column,
// transposed).
template <int Matrices, bool Transposed>
STAND_AT_ONE_PLACE void stand_ldmatrix(unsigned* r, const void* row) {
  int lane = static_cast<int>(stand_state.linear % 32);
#if defined(RH_STAND_CHECKED)
  if (lane < 8 * Matrices) stand_api->access(stand_state.worker, row, 16, kStandRead, STAND_SITE);
#endif
  if (lane < 8 * Matrices && reinterpret_cast<unsigned long long>(row) % 16)
    stand_api->fail(stand_state.worker, "ldmatrix of a row that is not aligned to 16 bytes");
  struct alignas(16) Row {
    unsigned short value[8];
  } mine{};
  if (lane < 8 * Matrices) mine = *static_cast<const Row*>(row);
  StandExchange all = stand_api->exchange(stand_state.worker, 0xffffffffull, &mine, sizeof mine, STAND_SITE);
  auto rows = static_cast<const Row*>(all.values);
  for (int m = 0; m < Matrices; ++m) {
    unsigned low, high;
    if (Transposed) {
      low = rows[8 * m + lane % 4 * 2].value[lane / 4];
      high = rows[8 * m + lane % 4 * 2 + 1].value[lane / 4];
    } else {
      low = rows[8 * m + lane / 4].value[lane % 4 * 2];
      high = rows[8 * m + lane / 4].value[lane % 4 * 2 + 1];
    }
    r[m] = low | high << 16;
  }
}
inline void stand_ldmatrix_x1(unsigned* r, const void* row) { stand_ldmatrix<1, false>(r, row); }
inline void stand_ldmatrix_x2(unsigned* r, const void* row) { stand_ldmatrix<2, false>(r, row); }
inline void stand_ldmatrix_x4(unsigned* r, const void* row) { stand_ldmatrix<4, false>(r, row); }
inline void stand_ldmatrix_x1_trans(unsigned* r, const void* row) { stand_ldmatrix<1, true>(r, row); }
inline void stand_ldmatrix_x2_trans(unsigned* r, const void* row) { stand_ldmatrix<2, true>(r, row); }
inline void stand_ldmatrix_x4_trans(unsigned* r, const void* row) { stand_ldmatrix<4, true>(r, row); }

// cp.async: the bytes are there after the wait, not before; those beyond source_bytes are 0.
STAND_AT_ONE_PLACE inline void stand_cp_async(void* to, const void* from, int bytes, int source_bytes) {
  stand_api->copy_async(stand_state.worker, to, from, static_cast<unsigned>(bytes), static_cast<unsigned>(source_bytes), STAND_SITE);
}
inline void stand_cp_async_commit() { stand_api->copy_async_commit(stand_state.worker); }
inline void stand_cp_async_wait(int groups_left) { stand_api->copy_async_wait(stand_state.worker, static_cast<unsigned>(groups_left)); }

// The names of an earlier form of these headers.
inline void emu_mma_m16n8k16_f16(float* d, const unsigned* a, const unsigned* b, const float* c) { stand_mma_m16n8k16_f16(d, a, b, c); }
inline void emu_mma_m16n8k16_bf16(float* d, const unsigned* a, const unsigned* b, const float* c) { stand_mma_m16n8k16_bf16(d, a, b, c); }
