// OneHot: the one value where the position along the new dimension is the index, which may count from its end; else the other.
namespace rh {

template <class T, class I>
__device__ void one_hot(const OneHotArguments& a) {
  const T* values = static_cast<const T*>(a.values);
  for (long long i = first_element(); i < a.n; i += element_step()) {
    const long long inner = i % a.inner, at = i / a.inner % a.depth, outer = i / a.inner / a.depth;
    long long index = (long long)static_cast<const I*>(a.indices)[outer * a.inner + inner];
    if (index < 0) index += a.depth;
    static_cast<T*>(a.y)[i] = values[index == at ? 1 : 0];
  }
}

}  // namespace rh
