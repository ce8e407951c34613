// Softmax and LogSoftmax: a block makes one row.
namespace rh {

template <class T, bool kLog>
__device__ void softmax(const SoftmaxArguments& a) {
  using C = compute_t<T>;
  C* room = reinterpret_cast<C*>(shared_memory());
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const long long base = row / a.step * a.columns * a.step + row % a.step;
    C top = load<T>(a.x, base);
    for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) top = Largest::join(top, load<T>(a.x, base + j * a.step));
    top = join_block<Largest>(top, room);
    C sum = (C)0;
    for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) sum += m_exp(load<T>(a.x, base + j * a.step) - top);
    sum = join_block<Sum>(sum, room);
    const C log_sum = kLog ? m_log(sum) : (C)0;
    for (long long j = threadIdx.x; j < a.columns; j += blockDim.x) {
      const C value = load<T>(a.x, base + j * a.step) - top;
      store<T>(a.y, base + j * a.step, kLog ? value - log_sum : m_exp(value) / sum);
    }
  }
}

}  // namespace rh
