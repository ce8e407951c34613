// Kernels with the usual mistakes. All take one pointer to 1024 floats of which the first 256 are set, one to 1024 others, and a number.
#include "wrappers.h"

extern "C" {

__global__ void no_barrier(const float* x, float* y, int) {
  __shared__ float s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void no_warp_barrier(const float* x, float* y, int) {
  __shared__ float s[256];
  s[threadIdx.x] = 0;
  __syncwarp();
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void blocks_race(const float* x, float* y, int) { y[threadIdx.x] = x[threadIdx.x] + (float)blockIdx.x; }
__global__ void out_of_bounds(const float* x, float* y, int n) { y[threadIdx.x + n] = 1; }
__global__ void far_out_of_bounds(const float* x, float* y, int n) { y[(size_t)n << 20] = 1; }
__global__ void beyond_shared(const float* x, float* y, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = 1;
  y[threadIdx.x] = 1;
}
__global__ void divergent(const float* x, float* y, int) {
  if (threadIdx.x < 64) {
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x];
  } else {
    y[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] += 2;
  }
}
__global__ void missing_lane(const float* x, float* y, int) {
  float v = (float)threadIdx.x;
  if (threadIdx.x % 32 < 16)
    v += __shfl_xor_sync(0xffffffffu, v, 1);
  else
    __syncthreads();
  y[threadIdx.x] = v;
}
__global__ void wrong_mask(const float* x, float* y, int) { y[threadIdx.x] = __shfl_sync(0x0000ffffu, (float)threadIdx.x, 0); }
struct Hidden {
  const float* data;
};
__global__ void reads_host(Hidden hidden, float* y, int) { y[threadIdx.x] = hidden.data[threadIdx.x]; }
__global__ void reads_unset(const float* x, float* y, int) { y[threadIdx.x] = x[threadIdx.x + 512]; }
__global__ void reads_unset_shared(const float* x, float* y, int) {
  __shared__ float s[256];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}
__global__ void no_wait_for_copy(const float* x, float* y, int) {
  __shared__ __align__(16) float s[1024];
  copy_async_16(s + 4 * (threadIdx.x % 64), x + 4 * (threadIdx.x % 64));
  copy_async_commit();
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x % 256];
}
__global__ void endless_stack(const float* x, float* y, int n) {
  volatile float large[40000];
  for (int i = 0; i < 40000; i += 512) large[i] = x[0];
  y[threadIdx.x] = large[n];
}
__global__ void __launch_bounds__(128) small_blocks(const float* x, float* y, int) { y[threadIdx.x] = x[threadIdx.x]; }
}
