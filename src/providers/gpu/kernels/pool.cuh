// Pools over windows of one to three spatial dimensions; a thread makes one result.
namespace rh {

template <class T, bool kAverage, bool kCountPad>
__device__ void pool(const PoolArguments& a) {
  using C = compute_t<T>;
  const long long pixels = (long long)a.out[0] * a.out[1] * a.out[2], plane = (long long)a.in[0] * a.in[1] * a.in[2];
  for (long long i = first_element(); i < a.planes * pixels; i += element_step()) {
    long long rest = i % pixels;
    int begin[3];
    for (int d = 2; d >= 0; --d) {
      begin[d] = (int)(rest % a.out[d]) * a.strides[d] - a.pads[d];
      rest /= a.out[d];
    }
    C result = (C)0;
    long long count = 0;
    bool any = false;
    for (int z = 0; z < a.kernel[0]; ++z) {
      for (int y = 0; y < a.kernel[1]; ++y) {
        for (int x = 0; x < a.kernel[2]; ++x) {
          const int at[3] = {begin[0] + z * a.dilations[0], begin[1] + y * a.dilations[1], begin[2] + x * a.dilations[2]};
          bool inside = true, padded = true;
          long long place = 0;
          for (int d = 0; d < 3; ++d) {
            inside = inside && at[d] >= 0 && at[d] < a.in[d];
            padded = padded && at[d] < a.in[d] + a.end_pads[d];
            place = place * a.in[d] + at[d];
          }
          count += inside || (kCountPad && padded);
          if (!inside) continue;
          const C value = load<T>(a.x, i / pixels * plane + place);
          result = kAverage ? result + value : any ? Largest::join(result, value) : value;
          any = true;
        }
      }
    }
    store<T>(a.y, i, kAverage ? (count > 0 ? result / (C)count : (C)0) : result);
  }
}

}  // namespace rh
