#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string_view>

#include "compute/conv/conv_impl.h"
#include "compute/conv/conv_phases.h"

namespace rh::compute {

template <typename S>
struct TransposedConvolution<S>::Impl : PackedObject {
  virtual ~Impl() = default;
  virtual void run(const Window& w, int64_t batch, const S* x, S* y, const Parallel& parallel) const = 0;
  virtual size_t weight_bytes() const = 0;
  virtual std::string_view variant() const = 0;
};

template <typename S>
using TransposedImpl = typename TransposedConvolution<S>::Impl;

/// Every channel by itself: groups = in = out.
template <typename S>
std::unique_ptr<TransposedImpl<S>> make_transposed_depthwise(const ConvChannels& channels, const Window& window, const S* weights,
                                                             const S* bias, const Activation& activation);
/// Kernels as large as their stride: each input becomes a block of outputs that no other one reaches. One product makes them all.
template <typename S>
std::unique_ptr<TransposedImpl<S>> make_transposed_blocks(const ConvChannels& channels, const Window& window, const S* weights,
                                                          const S* bias, const Activation& activation, bool lean);

/// Whether sizes are known and what make_transposed_sums keeps of some rows is not too much.
bool transposed_sums_fit(const ConvChannels& channels, const Window& window);
/// Whether it takes less time than a convolution for each phase: kernels that overlap few outputs, or few output channels.
bool transposed_sums_pay(const ConvChannels& channels, const Window& window);
/// Kernels larger than their stride: one product makes what each input gives at each kernel position, and these are added up.
std::unique_ptr<TransposedImpl<float>> make_transposed_sums(const ConvChannels& channels, const Window& window, const float* weights,
                                                            const float* bias, const Activation& activation, bool lean);

/// What outputs hold that no input reaches: the activation of the bias, one for each channel.
template <typename S>
PackedVector<S> activated_bias(const PackedVector<S>& bias, const Activation& activation) {
  using T = Computed<S>;
  PackedVector<T> values(bias.begin(), bias.end());
  if (activation.kind != ActivationKind::none) activate_channels(activation, 0, values.data(), static_cast<int64_t>(values.size()), 1, 1);
  return {values.begin(), values.end()};
}

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

/// A phase of all three axes.
struct TransposedPhase {
  AxisPhase axes[3];

  TransposedPhase(const Window& window, int64_t index) {
    for (int d = 0; d < 3; ++d) axes[d] = AxisPhase(at(window, index, d), window.stride[d], window.kernel[d], window.dilation[d]);
  }

  static int64_t count(const Window& window) { return window.stride[0] * window.stride[1] * window.stride[2]; }
  /// Of phase `index`, the one of axis `d`.
  static int64_t at(const Window& window, int64_t index, int d) {
    for (int later = 2; later > d; --later) index /= window.stride[later];
    return index % window.stride[d];
  }

  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  /// The ordinary convolution's kernel.
  Window kernel() const {
    Window w;
    for (int d = 0; d < 3; ++d) {
      w.kernel[d] = axes[d].taps;
      w.dilation[d] = axes[d].dilation;
    }
    return w;
  }

  /// The same with the sizes and padding of phase `index` of `window`; no output counts as one.
  Window ordinary(const Window& window, int64_t index) const {
    Window usual = kernel();
    for (int d = 0; d < 3; ++d) {
      const AxisOutputs o(axes[d], at(window, index, d), window.stride[d], window.pad_begin[d], window.output[d]);
      usual.input[d] = window.input[d];
      usual.output[d] = std::max<int64_t>(1, o.count);
      usual.pad_begin[d] = o.pad;
    }
    return usual;
  }

  /// [out, in / groups, taps...], reversed along every axis, from [in, out / groups, kernel...].
  template <typename S>
  PackedVector<S> weights(const ConvChannels& channels, const Window& window, const S* weights) const {
    const int64_t in = channels.in / channels.groups, out = channels.out / channels.groups;
    PackedVector<S> result(static_cast<size_t>(channels.out * in * taps()));
    S* to = result.data();
    const auto position = [&](int d, int64_t t) { return axes[d].first + (axes[d].taps - 1 - t) * axes[d].step; };
    for (int64_t o = 0; o < channels.out; ++o) {
      for (int64_t i = 0; i < in; ++i) {
        const S* kernel = weights + ((o / out * in + i) * out + o % out) * window.kernel_size();
        for (int64_t d = 0; d < axes[0].taps; ++d)
          for (int64_t h = 0; h < axes[1].taps; ++h)
            for (int64_t w = 0; w < axes[2].taps; ++w)
              *to++ = kernel[(position(0, d) * window.kernel[1] + position(1, h)) * window.kernel[2] + position(2, w)];
      }
    }
    return result;
  }
};

}  // namespace rh::compute
