// Reductions: a block makes one result.
namespace rh {

/// What is joined, what is first made of each element, and what of the whole. P: the type that sums are kept in.
struct ReduceSum { using Join = Sum; template <class P> __device__ static P begin() { return (P)0; } template <class P> __device__ static P of(P x) { return x; } template <class P> __device__ static P end(P s, long long) { return s; } };
struct ReduceMean : ReduceSum { template <class P> __device__ static P end(P s, long long n) { return s / (P)n; } };
struct ReduceL1 : ReduceSum { template <class P> __device__ static P of(P x) { return x < (P)0 ? (P)-x : x; } };
struct ReduceSumSquare : ReduceSum { template <class P> __device__ static P of(P x) { return x * x; } };
struct ReduceL2 : ReduceSumSquare { template <class P> __device__ static P end(P s, long long) { return (P)m_sqrt(s); } };
struct ReduceLogSum : ReduceSum { template <class P> __device__ static P end(P s, long long) { return m_log(s); } };
struct ReduceProd : ReduceSum { using Join = Product; template <class P> __device__ static P begin() { return (P)1; } };
struct ReduceMax : ReduceSum { using Join = Largest; };
struct ReduceMin : ReduceSum { using Join = Least; };

template <class T, class Function, bool kStartsWithFirst>
__device__ void reduce(const ReduceArguments& a) {
  using C = compute_t<T>;
  C* room = reinterpret_cast<C*>(shared_memory());
  for (long long i = blockIdx.x; i < a.kept; i += gridDim.x) {
    const long long base = place_of(i, a.kept_rank, a.kept_sizes, a.kept_strides);
    // Of maxima and minima a thread without an element takes the first one.
    C sum = kStartsWithFirst ? load<T>(a.x, base) : Function::template begin<C>();
    for (long long j = threadIdx.x; j < a.reduced; j += blockDim.x) {
      const C value = Function::template of<C>(load<T>(a.x, base + place_of(j, a.reduced_rank, a.reduced_sizes, a.reduced_strides)));
      sum = Function::Join::join(sum, value);
    }
    sum = join_block<typename Function::Join>(sum, room);
    if (threadIdx.x == 0) store<T>(a.y, i, Function::template end<C>(sum, a.reduced));
  }
}

/// The logarithm of the sum of exponentials, from which the largest is taken first.
template <class T>
__device__ void reduce_log_sum_exp(const ReduceArguments& a) {
  using C = compute_t<T>;
  C* room = reinterpret_cast<C*>(shared_memory());
  for (long long i = blockIdx.x; i < a.kept; i += gridDim.x) {
    const long long base = place_of(i, a.kept_rank, a.kept_sizes, a.kept_strides);
    C top = load<T>(a.x, base);
    for (long long j = threadIdx.x; j < a.reduced; j += blockDim.x) {
      top = Largest::join(top, load<T>(a.x, base + place_of(j, a.reduced_rank, a.reduced_sizes, a.reduced_strides)));
    }
    top = join_block<Largest>(top, room);
    const C shift = top - top == (C)0 ? top : (C)0;  // of an infinite one nothing is taken
    C sum = (C)0;
    for (long long j = threadIdx.x; j < a.reduced; j += blockDim.x) {
      sum += m_exp(load<T>(a.x, base + place_of(j, a.reduced_rank, a.reduced_sizes, a.reduced_strides)) - shift);
    }
    sum = join_block<Sum>(sum, room);
    if (threadIdx.x == 0) store<T>(a.y, i, m_log(sum) + shift);
  }
}

}  // namespace rh
