#include <algorithm>
#include <numeric>

#include "compute/conv_impl.h"

namespace rh::compute {
namespace {

/// One axis of a transposed convolution. Output positions o with equal (o + pad) mod stride form a phase, and see every few kernel
/// positions only: over them, a phase is an ordinary convolution of stride 1 with those taps in reverse.
struct AxisPhase {
  int64_t taps = 0;   ///< kernel positions that the phase sees
  int64_t first = 0;  ///< the least of them; the others are `step` apart
  int64_t step = 1;
  int64_t dilation = 1;  ///< of the ordinary convolution
  int64_t reach = 0;     ///< how far before position 0 of the input its window begins where (o + pad) / stride is 0

  AxisPhase() = default;
  AxisPhase(int64_t phase, int64_t stride, int64_t kernel, int64_t kernel_dilation) {
    const int64_t common = std::gcd(stride, kernel_dilation);
    step = stride / common;
    dilation = kernel_dilation / common;
    while (first < kernel && first * kernel_dilation % stride != phase) ++first;
    if (first < kernel) taps = (kernel - 1 - first) / step + 1;
    if (taps > 0) reach = (first * kernel_dilation - phase) / stride + (taps - 1) * dilation;
  }
};

/// The outputs of a phase: first + i x stride for i in [0, count); pad as an ordinary convolution has it.
struct AxisOutputs {
  int64_t first = 0, count = 0, pad = 0;

  AxisOutputs() = default;
  AxisOutputs(const AxisPhase& axis, int64_t phase, int64_t stride, int64_t pad_begin, int64_t output) {
    const int64_t begin = pad_begin > phase ? (pad_begin - phase + stride - 1) / stride : -((phase - pad_begin) / stride);
    first = begin * stride + phase - pad_begin;
    count = first < output ? (output - 1 - first) / stride + 1 : 0;
    pad = axis.reach - begin;
  }
};

constexpr int64_t kBandBytes = 256 * 1024;  // of results that wait to be interleaved, whatever the number of threads: same bits

}  // namespace

template <typename S>
struct TransposedConvolution<S>::Impl {
  struct Phase {
    AxisPhase axes[3];
    std::unique_ptr<typename Convolution<S>::Impl> conv;  ///< null where a phase sees no tap
  };

  Impl(const ConvChannels& channels, const Window& window, const S* weights, const S* given_bias) : channels(channels), window(window) {
    bias.assign(static_cast<size_t>(channels.out), S(0.0f));
    if (given_bias) bias.assign(given_bias, given_bias + channels.out);
    phases.resize(static_cast<size_t>(window.stride[0] * window.stride[1] * window.stride[2]));
    for (size_t i = 0; i < phases.size(); ++i) {
      int64_t at[3];
      split(static_cast<int64_t>(i), at);
      Window taps;
      for (int d = 0; d < 3; ++d) {
        phases[i].axes[d] = AxisPhase(at[d], window.stride[d], window.kernel[d], window.dilation[d]);
        taps.kernel[d] = phases[i].axes[d].taps;
        taps.dilation[d] = phases[i].axes[d].dilation;
      }
      if (taps.kernel_size() == 0) continue;
      phases[i].conv = make_conv_gemm<S>(channels, taps, weights_of(phases[i], weights).data(), bias.data(), {});
    }
  }

  void split(int64_t phase, int64_t (&at)[3]) const {
    at[2] = phase % window.stride[2];
    at[1] = phase / window.stride[2] % window.stride[1];
    at[0] = phase / (window.stride[2] * window.stride[1]);
  }

  /// [out, in / groups, taps...], reversed along every axis, from [in, out / groups, kernel...].
  std::vector<S> weights_of(const Phase& phase, const S* weights) const {
    const int64_t in = channels.in / channels.groups, out = channels.out / channels.groups;
    const auto& a = phase.axes;
    std::vector<S> result(static_cast<size_t>(channels.out * in * a[0].taps * a[1].taps * a[2].taps));
    S* to = result.data();
    const auto position = [&](int d, int64_t t) { return a[d].first + (a[d].taps - 1 - t) * a[d].step; };
    for (int64_t o = 0; o < channels.out; ++o) {
      for (int64_t i = 0; i < in; ++i) {
        const S* kernel = weights + ((o / out * in + i) * out + o % out) * window.kernel_size();
        for (int64_t d = 0; d < a[0].taps; ++d)
          for (int64_t h = 0; h < a[1].taps; ++h)
            for (int64_t w = 0; w < a[2].taps; ++w)
              *to++ = kernel[(position(0, d) * window.kernel[1] + position(1, h)) * window.kernel[2] + position(2, w)];
      }
    }
    return result;
  }

  void run(const Window& w, int64_t batch, const S* x, S* y, const Parallel& parallel) const {
    // A piece: some rows of one phase of depth and height, all of whose phases of width are then interleaved.
    const int64_t rows = (w.output[1] + window.stride[1] - 1) / window.stride[1];
    const int64_t depth = (w.output[0] + window.stride[0] - 1) / window.stride[0], planes = window.stride[0] * window.stride[1];
    const int64_t row_bytes = channels.out * depth * (w.output[2] + window.stride[2]) * static_cast<int64_t>(sizeof(S));
    const int64_t bands = std::min(rows, (rows * row_bytes + kBandBytes - 1) / kBandBytes);
    const double work = static_cast<double>(w.input_size() * window.kernel_size()) * static_cast<double>(channels.out) *
                        static_cast<double>(channels.in / channels.groups);
    parallel.for_range(batch * planes * bands, {.operations = 0.25 * work / static_cast<double>(planes * bands)}, [&](Range pieces) {
      for (int64_t i = pieces.begin; i < pieces.end; ++i) {
        const int64_t image = i / bands / planes;
        run_band(w, x + image * channels.in * w.input_size(), y + image * channels.out * w.output_size(), i / bands % planes, bands,
                 i % bands);
      }
    });
  }

  void run_band(const Window& w, const S* x, S* y, int64_t plane, int64_t bands, int64_t band) const {
    for (int64_t column = 0; column < window.stride[2]; ++column) {
      const int64_t index = plane * window.stride[2] + column;
      const Phase& phase = phases[static_cast<size_t>(index)];
      int64_t at[3];
      split(index, at);
      AxisOutputs o[3];
      Window inner = w;
      for (int d = 0; d < 3; ++d) {
        o[d] = AxisOutputs(phase.axes[d], at[d], window.stride[d], w.pad_begin[d], w.output[d]);
        inner.output[d] = o[d].count;
        inner.pad_begin[d] = o[d].pad;
      }
      const Part rows = part_of(o[1].count, bands, band);
      inner.output[1] = rows.size;
      inner.pad_begin[1] = o[1].pad - rows.begin;
      const int64_t size = inner.output_size();
      if (size <= 0) continue;
      S* results = static_cast<S*>(thread_scratch(ScratchSlot::phase, static_cast<size_t>(channels.out * size) * sizeof(S)));
      if (phase.conv) {
        phase.conv->run({inner, 1, x, nullptr, results}, {});
      } else {
        for (int64_t c = 0; c < channels.out; ++c) std::fill_n(results + c * size, size, bias[static_cast<size_t>(c)]);
      }
      scatter(w, o, rows, results, y);
    }
  }

  /// Results [out, depth, rows, width] of a phase to their places.
  void scatter(const Window& w, const AxisOutputs (&o)[3], const Part& rows, const S* results, S* y) const {
    const int64_t stride = window.stride[2], count = o[2].count;
    for (int64_t c = 0; c < channels.out; ++c) {
      for (int64_t d = 0; d < o[0].count; ++d) {
        S* plane = y + (c * w.output[0] + o[0].first + d * window.stride[0]) * w.output[1] * w.output[2];
        for (int64_t r = 0; r < rows.size; ++r, results += count) {
          S* to = plane + (o[1].first + (rows.begin + r) * window.stride[1]) * w.output[2] + o[2].first;
          if (stride == 1) {
            std::copy_n(results, count, to);
          } else if (stride == 2) {
            for (int64_t i = 0; i < count; ++i) to[2 * i] = results[i];
          } else {
            for (int64_t i = 0; i < count; ++i) to[i * stride] = results[i];
          }
        }
      }
    }
  }

  const ConvChannels channels;
  const Window window;
  std::vector<S> bias;
  std::vector<Phase> phases;
};

template <typename T>
TransposedConvolution<T>::TransposedConvolution(const ConvChannels& channels, const Window& window, const T* weights, const T* bias)
    : impl_(std::make_unique<Impl>(channels, window, weights, bias)) {}

template <typename T>
size_t TransposedConvolution<T>::weight_bytes() const {
  size_t bytes = 0;
  for (const auto& phase : impl_->phases) bytes += phase.conv ? phase.conv->weight_bytes() : 0;
  return bytes;
}
template <typename T>
TransposedConvolution<T>::~TransposedConvolution() = default;
template <typename T>
TransposedConvolution<T>::TransposedConvolution(TransposedConvolution&&) noexcept = default;
template <typename T>
TransposedConvolution<T>& TransposedConvolution<T>::operator=(TransposedConvolution&&) noexcept = default;

template <typename T>
void TransposedConvolution<T>::run(const Window& window, int64_t batch, const T* x, T* y, const Parallel& parallel) const {
  if (batch > 0 && window.output_size() > 0) impl_->run(window, batch, x, y, parallel);
}

template class TransposedConvolution<float>;
template class TransposedConvolution<double>;
template class TransposedConvolution<Float16>;
template class TransposedConvolution<BFloat16>;

}  // namespace rh::compute
