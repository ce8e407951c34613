// ArgMax, ArgMin and TopK: a block makes the results of a line. A NaN is above all numbers.
namespace rh {

template <class C>
struct Candidate {
  C value;
  long long at;  // -1: there is none
};

template <class C>
__device__ inline bool is_above(C a, C b) {
  return a > b || (a != a && b == b);
}

/// The one that comes first: the larger (or smaller) one, of equals the one with the lower (or higher) number.
template <bool kLargest, bool kLast>
struct First {
  template <class C>
  __device__ static bool comes_before(const Candidate<C>& a, const Candidate<C>& b) {
    if (kLargest ? is_above(a.value, b.value) : is_above(b.value, a.value)) return true;
    if (kLargest ? is_above(b.value, a.value) : is_above(a.value, b.value)) return false;
    return kLast ? a.at > b.at : a.at < b.at;
  }
  template <class C>
  __device__ static Candidate<C> join(const Candidate<C>& a, const Candidate<C>& b) {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    return comes_before(a, b) ? a : b;
  }
};

/// The extreme by its number; a NaN is one for minima as well.
template <class T, bool kLargest, bool kLast>
__device__ void arg_reduce(const LineArguments& a) {
  using C = compute_t<T>;
  using Order = First<true, kLast>;
  Candidate<C>* room = reinterpret_cast<Candidate<C>*>(shared_memory());
  for (long long line = blockIdx.x; line < a.lines; line += gridDim.x) {
    const long long base = line / a.step * a.size * a.step + line % a.step;
    Candidate<C> best{(C)0, -1};
    for (long long j = threadIdx.x; j < a.size; j += blockDim.x) {
      const C value = (C)load<T>(a.x, base + j * a.step);
      const Candidate<C> other{value, j};
      if (best.at < 0) {
        best = other;
      } else {
        const bool is_nan = value != value, was_nan = best.value != best.value;
        const bool is_better = kLargest || is_nan || was_nan ? Order::comes_before(other, best)
                                                             : First<false, kLast>::comes_before(other, best);
        if (is_better) best = other;
      }
    }
    room[threadIdx.x] = best;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
      if (threadIdx.x < step) {
        const Candidate<C> left = room[threadIdx.x], right = room[threadIdx.x + step];
        const bool has_nan = left.value != left.value || right.value != right.value;
        room[threadIdx.x] = kLargest || has_nan ? Order::join(left, right) : First<false, kLast>::join(left, right);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) static_cast<long long*>(a.y)[line] = room[0].at;
    __syncthreads();
  }
}

/// One after the other: each is the first of those that come behind the last one.
template <class T, bool kLargest>
__device__ void top_k(const LineArguments& a) {
  using C = compute_t<T>;
  using Order = First<kLargest, false>;
  Candidate<C>* room = reinterpret_cast<Candidate<C>*>(shared_memory());
  for (long long line = blockIdx.x; line < a.lines; line += gridDim.x) {
    const long long base = line / a.step * a.size * a.step + line % a.step, to = line / a.step * a.count * a.step + line % a.step;
    Candidate<C> last{(C)0, -1};
    for (long long k = 0; k < a.count; ++k) {
      Candidate<C> best{(C)0, -1};
      for (long long j = threadIdx.x; j < a.size; j += blockDim.x) {
        const Candidate<C> other{(C)load<T>(a.x, base + j * a.step), j};
        if (last.at < 0 || Order::comes_before(last, other)) best = Order::join(best, other);
      }
      last = join_block<Order>(best, room);
      if (threadIdx.x == 0) {
        if (a.y) store<T>(a.y, to + k * a.step, last.value);
        if (a.indices) static_cast<long long*>(a.indices)[to + k * a.step] = last.at;
      }
    }
  }
}

}  // namespace rh
