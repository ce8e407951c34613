#include <type_traits>

#include "compute/conv/conv.h"
#include "compute/gemm/gemm_reference.h"

namespace rh::compute {
namespace {

/// The least and one past the largest kernel position whose input position, start + position x dilation, lies inside the input.
struct Reach {
  int64_t begin, end;
};
Reach reach(int64_t start, int64_t dilation, int64_t kernel, int64_t input) {
  const int64_t begin = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  const int64_t end = start >= input ? 0 : (input - 1 - start) / dilation + 1;
  return {begin, end < kernel ? end : kernel};
}

template <typename T, typename A>
A window_sum(const Window& w, const int64_t (&at)[3], const T* x, const T* weights, int64_t channels) {
  int64_t start[3];
  Reach r[3];
  for (int d = 0; d < 3; ++d) {
    start[d] = at[d] * w.stride[d] - w.pad_begin[d];
    r[d] = reach(start[d], w.dilation[d], w.kernel[d], w.input[d]);
  }
  const int64_t input_size = w.input_size(), kernel_size = w.kernel_size(), dilation = w.dilation[2];
  A sum = 0;
  for (int64_t c = 0; c < channels; ++c, x += input_size, weights += kernel_size) {
    for (int64_t i = r[0].begin; i < r[0].end; ++i) {
      for (int64_t j = r[1].begin; j < r[1].end; ++j) {
        const T* row = x + ((start[0] + i * w.dilation[0]) * w.input[1] + start[1] + j * w.dilation[1]) * w.input[2] + start[2];
        const T* taps = weights + (i * w.kernel[1] + j) * w.kernel[2];
        for (int64_t k = r[2].begin; k < r[2].end; ++k) sum += static_cast<A>(row[k * dilation]) * static_cast<A>(taps[k]);
      }
    }
  }
  return sum;
}

}  // namespace

template <typename T>
void conv_reference(const ConvChannels& channels, const Window& w, int64_t batch, const T* x, const T* weights, const T* bias, T* y,
                    const Parallel& parallel) {
  using A = Accumulator<T>;
  const int64_t in = channels.in / channels.groups, out = channels.out / channels.groups;
  const double work = static_cast<double>(w.output_size()) * static_cast<double>(in * w.kernel_size());
  parallel.for_range(batch * channels.out, {.operations = 10 * work}, [&](Range planes) {
    for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
      const int64_t channel = plane % channels.out, group = channel / out;
      const T* source = x + (plane / channels.out * channels.in + group * in) * w.input_size();
      const T* taps = weights + channel * in * w.kernel_size();
      T* target = y + plane * w.output_size();
      const A start = bias ? static_cast<A>(bias[channel]) : A(0);
      int64_t at[3];
      for (at[0] = 0; at[0] < w.output[0]; ++at[0])
        for (at[1] = 0; at[1] < w.output[1]; ++at[1])
          for (at[2] = 0; at[2] < w.output[2]; ++at[2]) *target++ = static_cast<T>(window_sum<T, A>(w, at, source, taps, in) + start);
    }
  });
}

namespace {

/// The sum that reaches output position `at` of one plane: the input positions i with i x stride + k x dilation = at + pad.
template <typename T, typename A>
A scatter_sum(const Window& w, const int64_t (&at)[3], const T* x, const T* weights, int64_t channels, int64_t weight_stride) {
  const int64_t input_size = w.input_size();
  A sum = 0;
  int64_t k[3], i[3];
  const auto source = [&](int d) {
    const int64_t offset = at[d] + w.pad_begin[d] - k[d] * w.dilation[d];
    i[d] = offset / w.stride[d];
    return offset >= 0 && offset % w.stride[d] == 0 && i[d] < w.input[d];
  };
  for (k[0] = 0; k[0] < w.kernel[0]; ++k[0]) {
    if (!source(0)) continue;
    for (k[1] = 0; k[1] < w.kernel[1]; ++k[1]) {
      if (!source(1)) continue;
      for (k[2] = 0; k[2] < w.kernel[2]; ++k[2]) {
        if (!source(2)) continue;
        const T* from = x + (i[0] * w.input[1] + i[1]) * w.input[2] + i[2];
        const T* tap = weights + (k[0] * w.kernel[1] + k[1]) * w.kernel[2] + k[2];
        for (int64_t c = 0; c < channels; ++c) sum += static_cast<A>(from[c * input_size]) * static_cast<A>(tap[c * weight_stride]);
      }
    }
  }
  return sum;
}

}  // namespace

template <typename T>
void conv_transpose_reference(const ConvChannels& channels, const Window& w, int64_t batch, const T* x, const T* weights, const T* bias,
                              T* y, const Parallel& parallel) {
  using A = Accumulator<T>;
  const int64_t in = channels.in / channels.groups, out = channels.out / channels.groups;
  const double work = static_cast<double>(w.output_size()) * static_cast<double>(in * w.kernel_size());
  parallel.for_range(batch * channels.out, {.operations = 10 * work}, [&](Range planes) {
    for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
      const int64_t channel = plane % channels.out, group = channel / out;
      const T* source = x + (plane / channels.out * channels.in + group * in) * w.input_size();
      const T* taps = weights + (group * in * out + channel % out) * w.kernel_size();
      T* target = y + plane * w.output_size();
      const A start = bias ? static_cast<A>(bias[channel]) : A(0);
      int64_t at[3];
      for (at[0] = 0; at[0] < w.output[0]; ++at[0])
        for (at[1] = 0; at[1] < w.output[1]; ++at[1])
          for (at[2] = 0; at[2] < w.output[2]; ++at[2])
            *target++ = static_cast<T>(scatter_sum<T, A>(w, at, source, taps, in, out * w.kernel_size()) + start);
    }
  });
}

#define RH_INSTANTIATE(T)                                                                                                       \
  template void conv_reference(const ConvChannels&, const Window&, int64_t, const T*, const T*, const T*, T*, const Parallel&); \
  template void conv_transpose_reference(const ConvChannels&, const Window&, int64_t, const T*, const T*, const T*, T*, const Parallel&);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
#undef RH_INSTANTIATE

}  // namespace rh::compute
