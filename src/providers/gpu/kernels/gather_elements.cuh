// GatherElements and ScatterElements: single elements by indices along one dimension, which may count from its end.
namespace rh {

/// The element of the data that index i names; -1: out of range.
template <class I>
__device__ inline long long element_of(const ElementIndexArguments& a, long long i) {
  long long index = (long long)static_cast<const I*>(a.indices)[i], place = 0;
  if (index < 0) index += a.size;
  if (index < 0 || index >= a.size) return -1;
  for (int d = 0; d < a.rank; ++d) {
    const long long rest = i / a.sizes[d];
    if (d != a.axis) place += (i - rest * a.sizes[d]) * a.strides[d];
    i = rest;
  }
  return place + index * a.step;
}

template <class T, class I>
__device__ void gather_elements(const ElementIndexArguments& a) {
  for (long long i = first_element(); i < a.n; i += element_step()) {
    const long long place = element_of<I>(a, i);
    static_cast<T*>(a.to)[i] = place < 0 ? (T)0 : static_cast<const T*>(a.from)[place];
  }
}

/// Into data that stand there already.
template <class T, class I>
__device__ void scatter_elements(const ElementIndexArguments& a) {
  for (long long i = first_element(); i < a.n; i += element_step()) {
    const long long place = element_of<I>(a, i);
    if (place >= 0) static_cast<T*>(a.to)[place] = static_cast<const T*>(a.from)[i];
  }
}

}  // namespace rh
