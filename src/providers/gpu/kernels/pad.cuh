// Pad: a thread makes one result, of an element of the input or of the value.
namespace rh {

enum PadMode { kPadConstant, kPadReflect, kPadEdge, kPadWrap };

/// The place along a dimension of n elements; -1: the value is meant.
template <int kMode>
__device__ inline long long padded_place(long long at, long long n) {
  if (at >= 0 && at < n) return at;
  if (kMode == kPadConstant) return -1;
  if (kMode == kPadEdge) return at < 0 ? 0 : n - 1;
  const long long period = kMode == kPadWrap ? n : n > 1 ? 2 * (n - 1) : 1;
  at %= period;
  if (at < 0) at += period;
  return at < n ? at : period - at;
}

template <class T, int kMode>
__device__ void pad(const PadArguments& a) {
  const T value = a.value ? *static_cast<const T*>(a.value) : (T)a.bits;
  for (long long i = first_element(); i < a.n; i += element_step()) {
    long long place = 0, left = i;
    bool is_inside = true;
    for (int d = 0; d < a.rank; ++d) {
      const long long rest = left / a.sizes[d], at = padded_place<kMode>(left - rest * a.sizes[d] - a.begins[d], a.in[d]);
      is_inside = is_inside && at >= 0;
      place += at * a.strides[d];
      left = rest;
    }
    static_cast<T*>(a.y)[i] = is_inside ? static_cast<const T*>(a.x)[place] : value;
  }
}

}  // namespace rh
