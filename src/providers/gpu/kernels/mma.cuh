// Tensor cores: one product of 16 x 16 by 16 x 8 of a warp, of half or bfloat16, added up in float. Fragments are those of the PTX ISA,
// mma.m16n8k16: of a thread, with group = lane / 4 and pair = lane % 4,
//   a[i]: row group + i % 2 * 8, columns pair * 2 + i / 2 * 8 and the next; b[i]: rows pair * 2 + i * 8 and the next, column group;
//   d[i]: row group + i / 2 * 8, column pair * 2 + i % 2.
namespace rh {

__device__ inline void mma(half, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef RH_CUDA_STAND
  stand_mma_m16n8k16_f16(d, a, b, d);
#else
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__device__ inline void mma(bfloat16, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef RH_CUDA_STAND
  stand_mma_m16n8k16_bf16(d, a, b, d);
#else
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

constexpr int kMmaTile = 64, kMmaDepth = 16, kMmaThreads = 128;
constexpr int kMmaRow = kMmaDepth + 8;  // elements of a row in shared memory: eight more, so that rows begin in different banks

/// A tile of 64 x 64 by four warps, each 32 x 32 of it. `load_a(row, k)` and `load_b(k, column)` give elements, `put(row, column, sum)`
/// takes them.
template <class T, class LoadA, class LoadB, class Put>
__device__ inline void mma_tile(long long m, long long n, long long k, long long row0, long long column0, LoadA load_a, LoadB load_b,
                                Put put) {
  T* as = reinterpret_cast<T*>(shared_memory());  // [row][k]
  T* bs = as + kMmaTile * kMmaRow;                // [column][k]
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, pair = lane % 4;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  float sums[2][4][4] = {};
  for (long long k0 = 0; k0 < k; k0 += kMmaDepth) {
    for (int i = threadIdx.x; i < kMmaTile * kMmaDepth; i += kMmaThreads) {
      const int row = i / kMmaDepth, depth = i % kMmaDepth;
      as[row * kMmaRow + depth] = row0 + row < m && k0 + depth < k ? load_a(row0 + row, k0 + depth) : T{0};
      const int column = i % kMmaTile, down = i / kMmaTile;
      bs[column * kMmaRow + down] = k0 + down < k && column0 + column < n ? load_b(k0 + down, column0 + column) : T{0};
    }
    __syncthreads();
    unsigned a[2][4], b[4][2];
    for (int i = 0; i < 2; ++i) {
      for (int r = 0; r < 4; ++r) {
        const int row = warp_row + i * 16 + group + r % 2 * 8, at = pair * 2 + r / 2 * 8;
        a[i][r] = *reinterpret_cast<const unsigned*>(as + row * kMmaRow + at);
      }
    }
    for (int j = 0; j < 4; ++j) {
      for (int r = 0; r < 2; ++r) {
        b[j][r] = *reinterpret_cast<const unsigned*>(bs + (warp_column + j * 8 + group) * kMmaRow + pair * 2 + r * 8);
      }
    }
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) mma(T{}, sums[i][j], a[i], b[j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int r = 0; r < 4; ++r) {
        const long long row = row0 + warp_row + i * 16 + group + r / 2 * 8, column = column0 + warp_column + j * 8 + pair * 2 + r % 2;
        if (row < m && column < n) put(row, column, sums[i][j][r]);
      }
    }
  }
}

template <class T, class Epilogue>
__device__ void mma_gemm(const GemmArguments& a) {
  const long long tiles_down = (a.m + kMmaTile - 1) / kMmaTile, tiles_across = (a.n + kMmaTile - 1) / kMmaTile;
  for (long long tile = blockIdx.x; tile < tiles_down * tiles_across * a.batches; tile += gridDim.x) {
    const long long batch = tile / (tiles_down * tiles_across), within = tile % (tiles_down * tiles_across);
    const T* left = static_cast<const T*>(a.a) + place_of(batch, a.batch_rank, a.batch_sizes, a.a_batch);
    const T* right = static_cast<const T*>(a.b) + place_of(batch, a.batch_rank, a.batch_sizes, a.b_batch);
    mma_tile<T>(
        a.m, a.n, a.k, within / tiles_across * kMmaTile, within % tiles_across * kMmaTile,
        [&](long long row, long long k) { return left[row * a.a_row + k * a.a_column]; },
        [&](long long k, long long column) { return right[k * a.b_row + column * a.b_column]; },
        [&](long long row, long long column, float sum) {
          float value = a.alpha * sum;
          if (a.bias) value += a.beta * load<T>(a.bias, row * a.bias_row + column * a.bias_column);
          Epilogue::template put<T>(a.c, behind(a), (batch * a.m + row) * a.n + column, value);
        });
  }
}

}  // namespace rh
