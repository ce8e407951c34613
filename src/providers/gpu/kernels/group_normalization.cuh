// InstanceNormalization and GroupNormalization: a block makes one group.
namespace rh {

template <class T>
__device__ void normalize_group(const GroupNormalizationArguments& a) {
  using C = compute_t<T>;
  C* room = reinterpret_cast<C*>(shared_memory());
  const long long columns = a.channels * a.inner;
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const long long base = row * columns, group = row % a.groups;
    C mean = (C)0, squares = (C)0;
    for (long long j = threadIdx.x; j < columns; j += blockDim.x) mean += load<T>(a.x, base + j);
    mean = join_block<Sum>(mean, room) / (C)columns;
    for (long long j = threadIdx.x; j < columns; j += blockDim.x) {
      const C d = load<T>(a.x, base + j) - mean;
      squares += d * d;
    }
    squares = join_block<Sum>(squares, room) / (C)columns;
    const C inverse = (C)1 / m_sqrt(squares + (C)a.epsilon);
    for (long long j = threadIdx.x; j < columns; j += blockDim.x) {
      const long long channel = a.is_of_groups ? group : group * a.channels + j / a.inner;
      store<T>(a.y, base + j, (load<T>(a.x, base + j) - mean) * inverse * load<T>(a.scale, channel) + load<T>(a.bias, channel));
    }
  }
}

}  // namespace rh
