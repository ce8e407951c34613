// Gather: slices along an axis by their indices, which may count from its end. What is out of range gives zeros: the device reports none.
namespace rh {

template <class T, class I>
__device__ void gather(const GatherArguments& a) {
  const long long n = a.outer * a.count * a.inner;
  for (long long i = first_element(); i < n; i += element_step()) {
    const long long inner = i % a.inner, which = i / a.inner % a.count, outer = i / a.inner / a.count;
    long long index = (long long)static_cast<const I*>(a.indices)[which];
    if (index < 0) index += a.size;
    const bool is_there = index >= 0 && index < a.size;
    static_cast<T*>(a.y)[i] = is_there ? static_cast<const T*>(a.data)[(outer * a.size + index) * a.inner + inner] : (T)0;
  }
}

}  // namespace rh
