// Products of matrices. A block of 256 threads makes a tile of 64 x 64, each thread 4 x 4 of it, from tiles of 16 of k in shared memory.
namespace rh {

constexpr int kTile = 64, kDepth = 16, kThreads = 256;

/// Loads tiles by `LoadA(row, k)` and `LoadB(k, column)`, and stores sums by `Store(row, column, sum)`. All are within the problem.
template <class C, class LoadA, class LoadB, class Store>
__device__ inline void gemm_tile(long long m, long long n, long long k, long long row0, long long column0, LoadA load_a, LoadB load_b,
                                 Store put) {
  C* as = reinterpret_cast<C*>(shared_memory());
  C* bs = as + kDepth * kTile;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  C sums[4][4] = {};
  for (long long k0 = 0; k0 < k; k0 += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      const int row = i / kDepth, depth = i % kDepth;
      as[depth * kTile + row] = row0 + row < m && k0 + depth < k ? load_a(row0 + row, k0 + depth) : (C)0;
      const int column = i % kTile, down = i / kTile;
      bs[down * kTile + column] = k0 + down < k && column0 + column < n ? load_b(k0 + down, column0 + column) : (C)0;
    }
    __syncthreads();
    for (int depth = 0; depth < kDepth; ++depth) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sums[i][j] += as[depth * kTile + ty * 4 + i] * bs[depth * kTile + tx * 4 + j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const long long row = row0 + ty * 4 + i, column = column0 + tx * 4 + j;
      if (row < m && column < n) put(row, column, sums[i][j]);
    }
  }
}

template <class T, class Epilogue>
__device__ void gemm(const GemmArguments& a) {
  using C = compute_t<T>;
  const long long tiles_down = (a.m + kTile - 1) / kTile, tiles_across = (a.n + kTile - 1) / kTile;
  for (long long tile = blockIdx.x; tile < tiles_down * tiles_across * a.batches; tile += gridDim.x) {
    const long long batch = tile / (tiles_down * tiles_across), within = tile % (tiles_down * tiles_across);
    const long long a0 = place_of(batch, a.batch_rank, a.batch_sizes, a.a_batch), b0 = place_of(batch, a.batch_rank, a.batch_sizes, a.b_batch);
    gemm_tile<C>(
        a.m, a.n, a.k, within / tiles_across * kTile, within % tiles_across * kTile,
        [&](long long row, long long k) { return load<T>(a.a, a0 + row * a.a_row + k * a.a_column); },
        [&](long long k, long long column) { return load<T>(a.b, b0 + k * a.b_row + column * a.b_column); },
        [&](long long row, long long column, C sum) {
          C value = (C)a.alpha * sum;
          if (a.bias) value += (C)a.beta * load<T>(a.bias, row * a.bias_row + column * a.bias_column);
          Epilogue::template put<T>(a.c, behind(a), (batch * a.m + row) * a.n + column, value);
        });
  }
}

}  // namespace rh
