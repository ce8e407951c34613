// GatherND and ScatterND: slices by rows of indices, which may count from the end. What is out of range gives zeros, or is left out.
namespace rh {

/// Where the slice of a row of indices begins; -1: out of range.
template <class I>
__device__ inline long long slice_of(const GatherNdArguments& a, long long row) {
  long long place = row / a.count * a.data_batch;
  for (int d = 0; d < a.depth; ++d) {
    long long index = (long long)static_cast<const I*>(a.indices)[row * a.depth + d];
    if (index < 0) index += a.sizes[d];
    if (index < 0 || index >= a.sizes[d]) return -1;
    place += index * a.strides[d];
  }
  return place;
}

template <class T, class I>
__device__ void gather_nd(const GatherNdArguments& a) {
  for (long long i = first_element(); i < a.batches * a.count * a.inner; i += element_step()) {
    const long long place = slice_of<I>(a, i / a.inner);
    static_cast<T*>(a.y)[i] = place < 0 ? (T)0 : static_cast<const T*>(a.data)[place + i % a.inner];
  }
}

/// `data` are the updates, `y` the result, in which the data stand already.
template <class T, class I>
__device__ void scatter_nd(const GatherNdArguments& a) {
  for (long long i = first_element(); i < a.count * a.inner; i += element_step()) {
    const long long place = slice_of<I>(a, i / a.inner);
    if (place >= 0) static_cast<T*>(a.y)[place + i % a.inner] = static_cast<const T*>(a.data)[i];
  }
}

}  // namespace rh
