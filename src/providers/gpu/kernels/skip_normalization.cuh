// SkipLayerNormalization and SkipSimplifiedLayerNormalization: a block makes one row of the sum, and what is normalised of it.
namespace rh {

template <class T, bool kRms>
__device__ void skip_normalize(const SkipNormalizationArguments& a) {
  using C = compute_t<T>;
  C* room = reinterpret_cast<C*>(shared_memory());
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const long long base = row * a.columns, skip = row % a.skip_rows * a.columns;
    const auto at = [&](long long j) {
      return load<T>(a.x, base + j) + load<T>(a.skip, skip + j) + (a.bias ? load<T>(a.bias, j) : (C)0);
    };
    C mean = (C)0, squares = (C)0;
    if (!kRms) {
      for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) mean += at(j);
      mean = join_block<Sum>(mean, room) / (C)a.columns;
    }
    for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) squares += (at(j) - mean) * (at(j) - mean);
    squares = join_block<Sum>(squares, room) / (C)a.columns;
    const C inverse = (C)1 / m_sqrt(squares + (C)a.epsilon);
    for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) {
      const C sum = at(j);
      if (a.sum) store<T>(a.sum, base + j, sum);
      store<T>(a.y, base + j, (sum - mean) * inverse * load<T>(a.scale, j) + (a.beta ? load<T>(a.beta, j) : (C)0));
    }
    if (threadIdx.x == 0 && a.mean) static_cast<float*>(a.mean)[row] = (float)mean;
    if (threadIdx.x == 0 && a.inverse_deviation) static_cast<float*>(a.inverse_deviation)[row] = (float)inverse;
  }
}

}  // namespace rh
