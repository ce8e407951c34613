// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
namespace rh {

__device__ inline long long scale_of(const QuantizeArguments& a, long long i) {
  return (i / a.outer * a.blocks + i / a.inner % a.size / a.block) * a.inner_scales + i % a.inner_scales;
}

/// Codes are of Q, from kLow to kHigh.
template <class T, class Q, int kLow, int kHigh>
__device__ void quantize(const QuantizeArguments& a) {
  for (long long i = first_element(); i < a.n; i += element_step()) {
    const long long s = scale_of(a, i);
    const float zero = a.zero ? (float)static_cast<const Q*>(a.zero)[s] : 0.0f;
    const float code = m_rint((float)load<T>(a.x, i) / (float)load<T>(a.scale, s)) + zero;
    const float bounded = code != code ? zero : code < (float)kLow ? (float)kLow : code > (float)kHigh ? (float)kHigh : code;
    static_cast<Q*>(a.y)[i] = (Q)(int)bounded;
  }
}

template <class Q, class T>
__device__ void dequantize(const QuantizeArguments& a) {
  for (long long i = first_element(); i < a.n; i += element_step()) {
    const long long s = scale_of(a, i);
    const int zero = a.zero ? (int)static_cast<const Q*>(a.zero)[s] : 0;
    store<T>(a.y, i, (float)((int)static_cast<const Q*>(a.x)[i] - zero) * (float)load<T>(a.scale, s));
  }
}

/// Of one block: the scale and the zero point that the range of x asks for.
__device__ void dynamic_range(const QuantizeArguments& a) {
  float* room = reinterpret_cast<float*>(shared_memory());
  float low = 0.0f, high = 0.0f;
  for (long long i = threadIdx.x; i < a.n; i += blockDim.x) {
    const float x = static_cast<const float*>(a.x)[i];
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  low = join_block<Least>(low, room);
  high = join_block<Largest>(high, room);
  if (threadIdx.x != 0) return;
  const float scale = high == low ? 1.0f : (high - low) / 255.0f, zero = m_rint(-low / scale);
  *static_cast<float*>(const_cast<void*>(a.scale)) = scale;
  *static_cast<unsigned char*>(const_cast<void*>(a.zero)) = (unsigned char)(zero < 0.0f ? 0.0f : zero > 255.0f ? 255.0f : zero);
}

}  // namespace rh
