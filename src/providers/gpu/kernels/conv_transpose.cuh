// ConvTranspose: a thread makes one result, of the inputs whose kernels reach it. `pads` are the begins.
namespace rh {

/// The input along a dimension whose tap reaches a result; -1: there is none.
__device__ inline long long reaching(const ConvArguments& a, int d, int out, int tap) {
  const int at = out + a.pads[d] - tap * a.dilations[d];
  if (at < 0 || at % a.strides[d] != 0 || at / a.strides[d] >= a.in[d]) return -1;
  return at / a.strides[d];
}

template <class T, class Epilogue>
__device__ void conv_transpose(const ConvArguments& a) {
  using C = compute_t<T>;
  const long long taps = (long long)a.kernel[0] * a.kernel[1] * a.kernel[2];
  const long long pixels = (long long)a.out[0] * a.out[1] * a.out[2], plane = (long long)a.in[0] * a.in[1] * a.in[2];
  const long long channels = a.groups * a.out_channels, n = a.images * channels * pixels;
  for (long long i = first_element(); i < n; i += element_step()) {
    const long long channel = i / pixels % channels, image = i / pixels / channels, group = channel / a.out_channels;
    const Pixel out = pixel_of(i % pixels, a.out);
    const long long x0 = (image * a.groups + group) * a.in_channels * plane;
    const long long w0 = (group * a.in_channels * a.out_channels + channel % a.out_channels) * taps;
    C sum = a.bias ? load<T>(a.bias, channel) : (C)0;
    for (long long tap = 0; tap < taps; ++tap) {
      const Pixel of = pixel_of(tap, a.kernel);
      long long place = 0;
      for (int d = 0; d < 3 && place >= 0; ++d) {
        const long long at = reaching(a, d, out.at[d], of.at[d]);
        place = at < 0 ? -1 : place * a.in[d] + at;
      }
      if (place < 0) continue;
      for (long long c = 0; c < a.in_channels; ++c) {
        sum += load<T>(a.x, x0 + c * plane + place) * load<T>(a.w, w0 + c * a.out_channels * taps + tap);
      }
    }
    Epilogue::template put<T>(a.y, behind(a), i, sum);
  }
}

}  // namespace rh
