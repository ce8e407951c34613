// Convolutions of one to three spatial dimensions: an implicit product of the filters, [channels, inputs x kernel], by the windows,
// [inputs x kernel, pixels]; of each channel by itself directly.
namespace rh {

struct Pixel {
  int at[3];
};
__device__ inline Pixel pixel_of(long long i, const int* sizes) {
  const int x = (int)(i % sizes[2]);
  i /= sizes[2];
  return {{(int)(i / sizes[1]), (int)(i % sizes[1]), x}};
}

/// The element of a plane that a tap of the kernel reads; -1 in the padding.
__device__ inline long long tapped(const ConvArguments& a, const Pixel& out, const Pixel& tap) {
  long long place = 0;
  for (int d = 0; d < 3; ++d) {
    const int at = out.at[d] * a.strides[d] - a.pads[d] + tap.at[d] * a.dilations[d];
    if (at < 0 || at >= a.in[d]) return -1;
    place = place * a.in[d] + at;
  }
  return place;
}

/// The tiles of each image and group, made by `Tiles`.
template <class T, class Tiles, class Epilogue>
__device__ inline void conv_tiles(const ConvArguments& a) {
  const long long taps = (long long)a.kernel[0] * a.kernel[1] * a.kernel[2], k = a.in_channels * taps;
  const long long pixels = (long long)a.out[0] * a.out[1] * a.out[2], plane = (long long)a.in[0] * a.in[1] * a.in[2];
  const long long down = (a.out_channels + kTile - 1) / kTile, across = (pixels + kTile - 1) / kTile;
  const T* x = static_cast<const T*>(a.x);
  const T* w = static_cast<const T*>(a.w);
  for (long long tile = blockIdx.x; tile < down * across * a.images * a.groups; tile += gridDim.x) {
    const long long part = tile / (down * across), within = tile % (down * across);
    const long long group = part % a.groups;
    const long long x0 = part * a.in_channels * plane, w0 = group * a.out_channels * k, y0 = part * a.out_channels * pixels;
    Tiles::make(
        a.out_channels, pixels, k, within / across * kTile, within % across * kTile,
        [&](long long row, long long i) { return w[w0 + row * k + i]; },
        [&](long long i, long long pixel) {
          const long long place = tapped(a, pixel_of(pixel, a.out), pixel_of(i % taps, a.kernel));
          return place < 0 ? T{0} : x[x0 + i / taps * plane + place];
        },
        [&](long long row, long long pixel, compute_t<T> sum) {
          if (a.bias) sum += load<T>(a.bias, group * a.out_channels + row);
          Epilogue::template put<T>(a.y, behind(a), y0 + row * pixels + pixel, sum);
        });
  }
}

template <class T>
struct PlainTiles {
  template <class A, class B, class Put>
  __device__ static void make(long long m, long long n, long long k, long long row, long long column, A load_a, B load_b, Put put) {
    gemm_tile<compute_t<T>>(
        m, n, k, row, column, [&](long long r, long long i) { return value_of(load_a(r, i)); },
        [&](long long i, long long c) { return value_of(load_b(i, c)); }, put);
  }
};
template <class T>
struct MmaTiles {
  template <class A, class B, class Put>
  __device__ static void make(long long m, long long n, long long k, long long row, long long column, A load_a, B load_b, Put put) {
    mma_tile<T>(m, n, k, row, column, load_a, load_b, put);
  }
};

template <class T, class Epilogue>
__device__ void conv(const ConvArguments& a) {
  conv_tiles<T, PlainTiles<T>, Epilogue>(a);
}
template <class T, class Epilogue>
__device__ void mma_conv(const ConvArguments& a) {
  conv_tiles<T, MmaTiles<T>, Epilogue>(a);
}

/// Where a group has one input: a thread makes one result.
template <class T, class Epilogue>
__device__ void depthwise_conv(const ConvArguments& a) {
  using C = compute_t<T>;
  const long long taps = (long long)a.kernel[0] * a.kernel[1] * a.kernel[2];
  const long long pixels = (long long)a.out[0] * a.out[1] * a.out[2], plane = (long long)a.in[0] * a.in[1] * a.in[2];
  const long long channels = a.groups * a.out_channels, n = a.images * channels * pixels;
  for (long long i = first_element(); i < n; i += element_step()) {
    const long long channel = i / pixels % channels, image = i / pixels / channels;
    const Pixel out = pixel_of(i % pixels, a.out);
    const long long x0 = (image * a.groups + channel / a.out_channels) * plane;
    C sum = a.bias ? load<T>(a.bias, channel) : (C)0;
    for (long long tap = 0; tap < taps; ++tap) {
      const long long place = tapped(a, out, pixel_of(tap, a.kernel));
      if (place >= 0) sum += load<T>(a.x, x0 + place) * load<T>(a.w, channel * taps + tap);
    }
    Epilogue::template put<T>(a.y, behind(a), i, sum);
  }
}

}  // namespace rh
