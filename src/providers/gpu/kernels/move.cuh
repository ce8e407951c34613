// Copies of elements from strided places to strided places: Transpose, Slice, Split, Concat, Expand; and fills, Range among them.
namespace rh {

template <class T, bool kIsInteger>
__device__ void fill(const FillArguments& a) {
  for (long long i = first_element(); i < a.n; i += element_step()) {
    if (kIsInteger) {
      store<T>(a.y, i, a.integer + i * a.step);
    } else {
      store<T>(a.y, i, a.value);
    }
  }
}

/// As they lie.
template <class T>
__device__ void copy(const MoveArguments& a) {
  for (long long i = first_element(); i < a.n; i += element_step()) static_cast<T*>(a.to)[i] = static_cast<const T*>(a.from)[i];
}

template <class T>
__device__ void move(const MoveArguments& a) {
  const T* from = static_cast<const T*>(a.from) + a.from_offset;
  T* to = static_cast<T*>(a.to) + a.to_offset;
  for (long long i = first_element(); i < a.n; i += element_step()) {
    to[place_of(i, a.rank, a.sizes, a.to_strides)] = from[place_of(i, a.rank, a.sizes, a.from_strides)];
  }
}

}  // namespace rh
