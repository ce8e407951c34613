// Matrix cores: the product of a, 16 x 16, and b, 16 x 16, of a warp's lanes, of half or bfloat16, added up in float (Mma). What of them a
// lane has differs between GPUs: registers of a and b with two neighbours along k each, and numbers of d. Register r of a is of row
// line(lane, r), that of b of column line(lane, r), and both begin at k = depth(lane, r); number i of d is in row(lane, i), column(lane, i).
// The forms are those of the PTX ISA (mma.m16n8k16, twice) and of AMD's CDNA 2 and 3 (MFMA), RDNA 3 and RDNA 4 (WMMA).
namespace rh {

#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
struct Mma {
  static constexpr int kLanes = 64, kRegisters = 2, kNumbers = 4;
  __device__ static int line(int lane, int) { return lane % 16; }
  __device__ static int depth(int lane, int r) { return lane / 16 * 4 + r * 2; }
  __device__ static int row(int lane, int i) { return lane / 16 * 4 + i; }
  __device__ static int column(int lane, int) { return lane % 16; }
};
#define RH_MMA_HALF(a, b, d) __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, d, 0, 0, 0)
#define RH_MMA_BFLOAT16(a, b, d) __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, d, 0, 0, 0)
#elif defined(__GFX11__)
struct Mma {  // both halves of the warp have all of a and b
  static constexpr int kLanes = 32, kRegisters = 8, kNumbers = 8;
  __device__ static int line(int lane, int) { return lane % 16; }
  __device__ static int depth(int, int r) { return r * 2; }
  __device__ static int row(int lane, int i) { return i * 2 + lane / 16; }
  __device__ static int column(int lane, int) { return lane % 16; }
};
#define RH_MMA_HALF(a, b, d) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, d)
#define RH_MMA_BFLOAT16(a, b, d) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, d)
#elif defined(__gfx1200__) || defined(__gfx1201__)
struct Mma {
  static constexpr int kLanes = 32, kRegisters = 4, kNumbers = 8;
  __device__ static int line(int lane, int) { return lane % 16; }
  __device__ static int depth(int lane, int r) { return lane / 16 * 8 + r * 2; }
  __device__ static int row(int lane, int i) { return lane / 16 * 8 + i; }
  __device__ static int column(int lane, int) { return lane % 16; }
};
#define RH_MMA_HALF(a, b, d) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, d)
#define RH_MMA_BFLOAT16(a, b, d) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, d)
#else
struct Mma {
  static constexpr int kLanes = 32, kRegisters = 4, kNumbers = 8;
  __device__ static int line(int lane, int r) { return lane / 4 + r % 2 * 8; }
  __device__ static int depth(int lane, int r) { return lane % 4 * 2 + r / 2 * 8; }
  __device__ static int row(int lane, int i) { return lane / 4 + i % 4 / 2 * 8; }
  __device__ static int column(int lane, int i) { return lane % 4 * 2 + i % 2 + i / 4 * 8; }
};
#endif

using MmaNumbers = float[Mma::kNumbers];
using MmaRegisters = unsigned[Mma::kRegisters];

#if defined(RH_CUDA_STAND)
__device__ inline void mma(half, MmaNumbers& d, const MmaRegisters& a, const MmaRegisters& b) { stand_product_f16(d, a, b); }
__device__ inline void mma(bfloat16, MmaNumbers& d, const MmaRegisters& a, const MmaRegisters& b) { stand_product_bf16(d, a, b); }
#elif defined(RH_MMA_HALF)
template <class V>
__device__ inline V mma_vector(const MmaRegisters& registers) {
  union {
    unsigned r[Mma::kRegisters];
    V vector;
  } both;
  for (int r = 0; r < Mma::kRegisters; ++r) both.r[r] = registers[r];
  return both.vector;
}
typedef float MmaSums __attribute__((ext_vector_type(Mma::kNumbers)));
typedef _Float16 MmaHalves __attribute__((ext_vector_type(Mma::kRegisters * 2)));
typedef short MmaShorts __attribute__((ext_vector_type(Mma::kRegisters * 2)));
#define RH_MMA(T, Vector, product)                                                                      \
  __device__ inline void mma(T, MmaNumbers& d, const MmaRegisters& a, const MmaRegisters& b) {          \
    MmaSums sums;                                                                                       \
    for (int i = 0; i < Mma::kNumbers; ++i) sums[i] = d[i];                                             \
    sums = product(mma_vector<Vector>(a), mma_vector<Vector>(b), sums);                                 \
    for (int i = 0; i < Mma::kNumbers; ++i) d[i] = sums[i];                                             \
  }
RH_MMA(half, MmaHalves, RH_MMA_HALF)
RH_MMA(bfloat16, MmaShorts, RH_MMA_BFLOAT16)
#elif defined(__HIPCC_RTC__)  // no matrix cores: the provider chooses other kernels
template <class T>
__device__ inline void mma(T, MmaNumbers&, const MmaRegisters&, const MmaRegisters&) {
  __builtin_trap();
}
#else
#define RH_MMA(T, type)                                                                                                              \
  __device__ inline void mma(T, MmaNumbers& d, const MmaRegisters& a, const MmaRegisters& b) {                                       \
    for (int i = 0; i < 2; ++i)                                                                                                      \
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                   : "+f"(d[i * 4]), "+f"(d[i * 4 + 1]), "+f"(d[i * 4 + 2]), "+f"(d[i * 4 + 3])                                      \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[i]), "r"(b[i + 2]));                                          \
  }
RH_MMA(half, "f16")
RH_MMA(bfloat16, "bf16")
#endif

constexpr int kMmaTile = 64, kMmaDepth = 16, kMmaThreads = 128;
constexpr int kMmaRow = kMmaDepth + 8;  // elements of a row in shared memory: eight more, so that rows begin in different banks

/// A tile of 64 x 64 by warps that have 32 x 32 of it each, or 32 x 64 where a warp has 64 lanes. `load_a(row, k)` and
/// `load_b(k, column)` give elements, `put(row, column, sum)` takes them.
template <class T, class LoadA, class LoadB, class Put>
__device__ inline void mma_tile(long long m, long long n, long long k, long long row0, long long column0, LoadA load_a, LoadB load_b,
                                Put put) {
  constexpr int kDown = 2, kAcross = Mma::kLanes / 16, kWarpsAcross = kMmaTile / 16 / kAcross;
  T* as = reinterpret_cast<T*>(shared_memory());  // [row][k]
  T* bs = as + kMmaTile * kMmaRow;                // [column][k]
  const int lane = threadIdx.x % Mma::kLanes, warp = threadIdx.x / Mma::kLanes;
  const int warp_row = warp / kWarpsAcross * kDown * 16, warp_column = warp % kWarpsAcross * kAcross * 16;
  float sums[kDown][kAcross][Mma::kNumbers] = {};
  for (long long k0 = 0; k0 < k; k0 += kMmaDepth) {
    for (int i = threadIdx.x; i < kMmaTile * kMmaDepth; i += kMmaThreads) {
      const int row = i / kMmaDepth, depth = i % kMmaDepth;
      as[row * kMmaRow + depth] = row0 + row < m && k0 + depth < k ? load_a(row0 + row, k0 + depth) : T{0};
      const int column = i % kMmaTile, down = i / kMmaTile;
      bs[column * kMmaRow + down] = k0 + down < k && column0 + column < n ? load_b(k0 + down, column0 + column) : T{0};
    }
    __syncthreads();
    unsigned a[kDown][Mma::kRegisters], b[kAcross][Mma::kRegisters];
    for (int r = 0; r < Mma::kRegisters; ++r) {
      const int line = Mma::line(lane, r), depth = Mma::depth(lane, r);
      for (int i = 0; i < kDown; ++i) a[i][r] = *reinterpret_cast<const unsigned*>(as + (warp_row + i * 16 + line) * kMmaRow + depth);
      for (int j = 0; j < kAcross; ++j) b[j][r] = *reinterpret_cast<const unsigned*>(bs + (warp_column + j * 16 + line) * kMmaRow + depth);
    }
    for (int i = 0; i < kDown; ++i) {
      for (int j = 0; j < kAcross; ++j) mma(T{}, sums[i][j], a[i], b[j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < kDown; ++i) {
    for (int j = 0; j < kAcross; ++j) {
      for (int r = 0; r < Mma::kNumbers; ++r) {
        const long long row = row0 + warp_row + i * 16 + Mma::row(lane, r), column = column0 + warp_column + j * 16 + Mma::column(lane, r);
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
