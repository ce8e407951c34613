// Kernels as a provider holds them, whose results are known. The same text compiles by NVRTC.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "wrappers.h"

extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// One block a row; dynamic shared memory, barriers.
extern "C" __global__ void softmax(const float* x, float* y, int columns) {
  extern __shared__ __align__(16) float part[];
  const float* row = x + (size_t)blockIdx.x * columns;
  float top = -3.4e38f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, row[c]);
  part[threadIdx.x] = top;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if ((int)threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - top);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if ((int)threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  sum = part[0];
  for (int c = threadIdx.x; c < columns; c += blockDim.x) y[(size_t)blockIdx.x * columns + c] = expf(row[c] - top) / sum;
}

// Shuffles, and one atomic addition a block.
extern "C" __global__ void sum(const float* x, float* y, int n) {
  __shared__ float part[32];
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) total += x[i];
  for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) part[warp] = total;
  __syncthreads();
  if (warp == 0) {
    total = lane < (int)blockDim.x / 32 ? part[lane] : 0.0f;
    for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(0xffffffffu, total, d);
    if (lane == 0) atomicAdd(y, total);
  }
}

// The block that comes last adds what the others wrote: fences and a counter order them.
extern "C" __global__ void sum_by_last_block(const float* x, float* parts, unsigned* counter, float* y) {
  __shared__ float s[64];
  __shared__ bool last;
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < 64; ++i) total += s[i];
    parts[blockIdx.x] = total;
    __threadfence();
    last = atomicAdd(counter, 1u) == gridDim.x - 1;
    if (last) {
      total = 0;
      for (unsigned b = 0; b < gridDim.x; ++b) total += parts[b];
      *y = total;
    }
  }
}

// C[m,n] = A[m,k] B[k,n]; tiles of 32 x 32, 64 threads, 4 x 4 results a thread.
extern "C" __global__ void __launch_bounds__(64) gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[16][32], bs[16][32];
  int tx = threadIdx.x % 8, ty = threadIdx.x / 8, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = threadIdx.x; i < 512; i += 64) {
      int r = i / 16, q = i % 16;
      as[q][r] = row0 + r < m && k0 + q < k ? a[(size_t)(row0 + r) * k + k0 + q] : 0.0f;
      int p = i / 32, s = i % 32;
      bs[p][s] = k0 + p < k && col0 + s < n ? b[(size_t)(k0 + p) * n + col0 + s] : 0.0f;
    }
    __syncthreads();
    for (int q = 0; q < 16; ++q)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += as[q][ty * 4 + i] * bs[q][tx * 4 + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (row0 + ty * 4 + i < m && col0 + tx * 4 + j < n) c[(size_t)(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = acc[i][j];
}

extern "C" __global__ void half_axpy(const __half2* x, __half2* y, float alpha, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) y[i] = __hfma2(__float2half2_rn(alpha), x[i], y[i]);
}
// Neighbouring threads write neighbouring halves of a word.
extern "C" __global__ void bfloat_axpy(const __nv_bfloat16* x, __nv_bfloat16* y, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma(__float2bfloat16(alpha), x[i], y[i]);
}

// One warp a tile of 16 x 8: C = A[m,k] B, with B[n,k]; m % 16 == n % 8 == k % 16 == 0.
template <class Mma>
__device__ void tensor_core_tile(const unsigned short* a, const unsigned short* b, float* c, int n, int k, Mma mma) {
  int lane = threadIdx.x % 32, group = lane / 4, pair = lane % 4, row = blockIdx.y * 16, col = blockIdx.x * 8;
  float acc[4] = {0, 0, 0, 0};
  for (int k0 = 0; k0 < k; k0 += 16) {
    unsigned fa[4], fb[2];
    for (int i = 0; i < 4; ++i) fa[i] = *(const unsigned*)(a + (size_t)(row + group + i % 2 * 8) * k + k0 + pair * 2 + i / 2 * 8);
    for (int i = 0; i < 2; ++i) fb[i] = *(const unsigned*)(b + (size_t)(col + group) * k + k0 + pair * 2 + i * 8);
    mma(acc, fa, fb, acc);
  }
  for (int i = 0; i < 4; ++i) c[(size_t)(row + group + i / 2 * 8) * n + col + pair * 2 + i % 2] = acc[i];
}
extern "C" __global__ void mma_half(const unsigned short* a, const unsigned short* b, float* c, int n, int k) {
  tensor_core_tile(a, b, c, n, k, [](float* d, const unsigned* x, const unsigned* y, const float* z) { mma_m16n8k16_f16(d, x, y, z); });
}
extern "C" __global__ void mma_bfloat(const unsigned short* a, const unsigned short* b, float* c, int n, int k) {
  tensor_core_tile(a, b, c, n, k, [](float* d, const unsigned* x, const unsigned* y, const float* z) { mma_m16n8k16_bf16(d, x, y, z); });
}
extern "C" __global__ void mma_tf32(const float* a, const float* b, float* c, int n, int k) {
  int lane = threadIdx.x % 32, group = lane / 4, pair = lane % 4, row = blockIdx.y * 16, col = blockIdx.x * 8;
  float acc[4] = {0, 0, 0, 0};
  for (int k0 = 0; k0 < k; k0 += 8) {
    unsigned fa[4], fb[2];
    for (int i = 0; i < 4; ++i) fa[i] = __float_as_uint(a[(size_t)(row + group + i % 2 * 8) * k + k0 + pair + i / 2 * 4]);
    for (int i = 0; i < 2; ++i) fb[i] = __float_as_uint(b[(size_t)(col + group) * k + k0 + pair + i * 4]);
    mma_m16n8k8_tf32(acc, fa, fb, acc);
  }
  for (int i = 0; i < 4; ++i) c[(size_t)(row + group + i / 2 * 8) * n + col + pair * 2 + i % 2] = acc[i];
}

// The same through shared memory: asynchronous copies in two stages, and ldmatrix. B[k,n] by rows, which ldmatrix transposes.
extern "C" __global__ void mma_staged(const unsigned short* a, const unsigned short* b, float* c, int n, int k) {
  __shared__ __align__(16) unsigned short as[2][16][16], bs[2][16][8];
  int lane = threadIdx.x % 32, group = lane / 4, pair = lane % 4, row = blockIdx.y * 16, col = blockIdx.x * 8;
  auto fetch = [&](int stage, int k0) {
    copy_async_16(&as[stage][lane / 2][lane % 2 * 8], a + (size_t)(row + lane / 2) * k + k0 + lane % 2 * 8);
    if (lane < 16) copy_async_16(&bs[stage][lane][0], b + (size_t)(k0 + lane) * n + col);
    copy_async_commit();
  };
  float acc[4] = {0, 0, 0, 0};
  fetch(0, 0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += 16, stage ^= 1) {
    bool more = k0 + 16 < k;
    if (more) fetch(stage ^ 1, k0 + 16);
    if (more) copy_async_wait<1>(); else copy_async_wait<0>();
    __syncthreads();
    unsigned fa[4], fb[2];
    load_matrix_x4(fa, &as[stage][lane % 16][lane / 16 * 8]);
    load_matrix_x2_transposed(fb, &bs[stage][lane % 16][0]);
    mma_m16n8k16_f16(acc, fa, fb, acc);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) c[(size_t)(row + group + i / 2 * 8) * n + col + pair * 2 + i % 2] = acc[i];
}

// Votes and reductions: y[0] the ballot of odd lanes, y[1] how many threads of the block are below 40, y[2] the largest lane of the warp, y[3] any, all.
extern "C" __global__ void votes(unsigned* y) {
  unsigned lane = threadIdx.x % 32;
  unsigned odd = __ballot_sync(0xffffffffu, lane & 1);
  int below = __syncthreads_count(threadIdx.x < 40);
  unsigned top = __reduce_max_sync(0xffffffffu, lane * 3);
  int any = __any_sync(0xffffffffu, lane == 7), all = __all_sync(0xffffffffu, lane < 31);
  unsigned up = __shfl_up_sync(0xffffffffu, lane, 1);
  if (threadIdx.x == 5) {
    y[0] = odd;
    y[1] = (unsigned)below;
    y[2] = top;
    y[3] = (unsigned)any * 2 + (unsigned)all;
    y[4] = up;
  }
}

struct Pair {
  const float* data;
  int count;
};
// A structure as parameter, and a table in constant memory.
__constant__ float kWeights[4] = {1, 2, 4, 8};
extern "C" __global__ void weighted(Pair x, float* y) {
  int i = threadIdx.x;
  if (i < x.count) y[i] = x.data[i] * kWeights[i % 4];
}

// All addresses come from a block of arguments in device memory: one captured graph serves other addresses.
struct Arguments {
  const float* x;
  float* y;
  int count;
};
extern "C" __global__ void doubled(const Arguments* arguments) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < arguments->count) arguments->y[i] = 2 * arguments->x[i];
}

// A template, reached by its lowered name.
template <class T, int kUnroll>
__global__ void scale(T* x, T factor, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * kUnroll;
  for (int u = 0; u < kUnroll; ++u)
    if (i + u < n) x[i + u] = x[i + u] * factor;
}
