// Trilu: a triangle of each matrix; the rest is 0.
namespace rh {

template <class T, bool kUpper>
__device__ void trilu(const TriluArguments& a) {
  for (long long i = first_element(); i < a.n; i += element_step()) {
    const long long distance = i % a.columns - i / a.columns % a.rows - a.diagonal;
    static_cast<T*>(a.y)[i] = (kUpper ? distance >= 0 : distance <= 0) ? static_cast<const T*>(a.x)[i] : (T)0;
  }
}

}  // namespace rh
