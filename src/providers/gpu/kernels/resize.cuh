// Resize: a thread makes one result, of the taps of each dimension.
namespace rh {

struct Tap {
  int at;  // -1: what lies outside is meant
  float weight;
};

template <class T>
__device__ void resize_nearest(const ResizeArguments& a) {
  const Tap* taps = static_cast<const Tap*>(behind(a));
  for (long long i = first_element(); i < a.n; i += element_step()) {
    long long place = 0, left = i;
    for (int d = 0; d < a.rank; ++d) {
      const long long rest = left / a.sizes[d], at = left - rest * a.sizes[d];
      place += (a.taps[d] ? taps[a.first[d] + at].at : at) * a.strides[d];
      left = rest;
    }
    static_cast<T*>(a.y)[i] = static_cast<const T*>(a.x)[place];
  }
}

template <class T>
__device__ void resize(const ResizeArguments& a) {
  using C = compute_t<T>;
  const Tap* taps = static_cast<const Tap*>(behind(a));
  for (long long i = first_element(); i < a.n; i += element_step()) {
    long long base = 0, left = i, first[kMostDims], combinations = 1;
    bool is_outside = false;
    for (int d = 0; d < a.rank; ++d) {
      const long long rest = left / a.sizes[d], at = left - rest * a.sizes[d];
      left = rest;
      first[d] = a.first[d] + at * a.taps[d];
      if (a.taps[d] == 0) {
        base += at * a.strides[d];
      } else {
        combinations *= a.taps[d];
        is_outside = is_outside || taps[first[d]].at < 0;
      }
    }
    C sum = is_outside ? (C)a.outside : (C)0;
    for (long long c = 0; c < combinations && !is_outside; ++c) {
      long long place = base, number = c;
      C weight = (C)1;
      for (int d = 0; d < a.rank; ++d) {
        if (a.taps[d] == 0) continue;
        const Tap tap = taps[first[d] + number % a.taps[d]];
        number /= a.taps[d];
        place += tap.at * a.strides[d];
        weight *= (C)tap.weight;
      }
      sum += weight * load<T>(a.x, place);
    }
    store<T>(a.y, i, sum);
  }
}

}  // namespace rh
