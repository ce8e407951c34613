// RotaryEmbedding: pairs of elements of each head turn by the angles of their token; the rest stays.
namespace rh {

template <class T, class I>
__device__ void rotary_embedding(const RotaryArguments& a) {
  const long long half = a.rotary / 2;
  for (long long i = first_element(); i < a.batches * a.heads * a.length * a.depth; i += element_step()) {
    const long long d = i % a.depth, head = i / a.depth % a.heads, token = i / a.depth / a.heads % a.length;
    const long long batch = i / a.depth / a.heads / a.length;
    const long long base = batch * a.batch_stride + head * a.head_stride + token * a.row_stride;
    const compute_t<T> x = load<T>(a.x, base + d);
    if (d >= a.rotary) {
      store<T>(a.y, base + d, x);
      continue;
    }
    long long row = batch * a.length + token;
    const I* positions = static_cast<const I*>(a.positions);
    if (positions) row = a.one_position ? (long long)positions[0] + token : (long long)positions[row];
    const long long angle = a.interleaved ? d / 2 : d % half;
    const bool is_second = a.interleaved ? d % 2 != 0 : d >= half;
    const long long other = a.interleaved ? (is_second ? d - 1 : d + 1) : (is_second ? d - half : d + half);
    const compute_t<T> y = load<T>(a.x, base + other), cosine = load<T>(a.cosines, row * half + angle), sine = load<T>(a.sines, row * half + angle);
    store<T>(a.y, base + d, is_second ? x * cosine + y * sine : x * cosine - y * sine);
  }
}

}  // namespace rh
