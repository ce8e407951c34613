// LayerNormalization and RMSNormalization: a block makes one row. Means and deviations are kept in S, the type that the operator stashes.
namespace rh {

template <class T, class S, bool kRms>
__device__ void normalize(const NormalizationArguments& a) {
  using C = compute_t<S>;
  C* room = reinterpret_cast<C*>(shared_memory());
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const long long base = row * a.columns;
    C mean = (C)0;
    if (!kRms) {
      for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) mean += (C)load<T>(a.x, base + j);
      mean = join_block<Sum>(mean, room) / (C)a.columns;
    }
    C squares = (C)0;
    for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) {
      const C d = (C)load<T>(a.x, base + j) - mean;
      squares += d * d;
    }
    squares = join_block<Sum>(squares, room) / (C)a.columns;
    const C inverse = (C)1 / m_sqrt(squares + (C)a.epsilon);
    for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) {
      C value = ((C)load<T>(a.x, base + j) - mean) * inverse * (C)load<T>(a.scale, j);
      if (a.bias) value += (C)load<T>(a.bias, j);
      store<T>(a.y, base + j, value);
    }
    if (threadIdx.x == 0 && a.mean) store<S>(a.mean, row, mean);
    if (threadIdx.x == 0 && a.inverse_deviation) store<S>(a.inverse_deviation, row, inverse);
  }
}

}  // namespace rh
