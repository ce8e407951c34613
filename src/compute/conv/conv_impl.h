#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "base/packed_vector.h"
#include "compute/conv/conv.h"
#include "compute/conv/conv_micro.h"
#include "compute/elementwise/narrow_floats.h"
#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/scratch.h"

namespace rh::compute {

/// Elements of S as the micro-kernels see them.
template <typename S>
using Code = std::conditional_t<std::is_same_v<S, Float16>, HalfCode, std::conditional_t<std::is_same_v<S, BFloat16>, BFloatCode, S>>;

/// The kernels for the processor at hand, or those that fit panels of `columns` columns.
template <typename S>
const ConvKernels<Computed<S>, Code<S>>& conv_kernels();
template <typename S>
const ConvKernels<Computed<S>, Code<S>>& conv_kernels_for_width(int64_t columns);

template <typename S>
const Code<S>* codes(const S* x) {
  return reinterpret_cast<const Code<S>*>(x);
}

const WinogradKernels& winograd_kernels_for_width(int64_t columns);

/// Of the processor at hand: see ConvTable.
bool (*conv_add_rows())(const AddedRows& args);
void (*conv_channel_row())(const ChannelRow& args);
const TapKernels& conv_tap_kernels();

/// What relu and clip become inside the kernels; other activations are left to a pass of their own.
struct Clamp {
  explicit Clamp(const Activation& activation);
  float low;
  float high;
  bool activates = false;  ///< a pass of its own is needed
};

/// Convolutions add up about so many products before they join a longer sum (MicroArgs::fold): of pixels, whose values have one sign, and
/// under the transformations of Winograd's algorithm rounding weighs more.
inline constexpr int64_t kConvFold = 112, kImageFold = 25, kWinogradFold = 48;
/// Of patches whose taps are one sum.
inline constexpr int64_t kPatchFold = 40;
/// Where a part of a sum goes through memory, the 27 products of three channels under 3x3 taps are one.
inline constexpr int64_t kBlockedImageFold = 32;

/// One call of Convolution::run.
template <typename S>
struct ConvCall {
  const Window& window;
  int64_t batch;
  const S* x;
  const S* residual;
  S* y;
  InputScale input;
  const S* addend = nullptr;  ///< see Convolution::run; null where S is a half type

  const S* addend_at(int64_t at) const { return addend ? addend + at : nullptr; }
};

/// y = activation(y) + addend over rows as those of activate_channels, the activation only where it `activates`. The addend lies as y.
template <typename T>
void activate_and_add(bool activates, const Activation& activation, int64_t channel, T* y, int64_t rows, int64_t columns, int64_t stride,
                      const T* addend);

/// What kernels leave to be done with rows of y, each of a channel of its own (see activate_channels), while they are near the processor:
/// the activation, where it is no clamp, and what is added behind it, lying as y.
template <typename T, typename S>
void finish_channels(bool activates, const Activation& activation, int64_t channel, T* y, int64_t rows, int64_t columns, int64_t stride,
                     const S* addend) {
  if constexpr (std::is_same_v<T, S>) {
    if (addend) return activate_and_add(activates, activation, channel, y, rows, columns, stride, addend);
  }
  if (activates) activate_channels(activation, channel, y, rows, columns, stride);
}

/// The same of values of one channel, or of any where the activation has no slopes.
template <typename T, typename S>
void finish_values(bool activates, const Activation& activation, T* y, int64_t count, const S* addend) {
  finish_channels(activates, activation, 0, y, 1, count, count, addend);
}

/// The same of `rows` pixels with channels side by side: see activate_pixels.
template <typename T, typename S>
void finish_interleaved(bool activates, const Activation& activation, int64_t channel, T* y, int64_t rows, int64_t channels, int64_t stride,
                        const S* addend) {
  const bool by_channel = activation.kind == ActivationKind::prelu;
  if (activates && by_channel) activate_pixels(activation, channel, y, rows, channels, stride);
  finish_values(activates && !by_channel, activation, y, rows * stride, addend);
}

/// The planes that a plane of outputs is summed over: each input channel of a group at each depth of the kernel, depths first.
struct SummedPlanes {
  const float* x;                        ///< the group's first channel of an image
  int64_t channel, plane;                ///< elements
  int64_t first, taps, dilation, depth;  ///< of the kernel's depths, and how deep the input is

  /// `image` is a group of an image.
  SummedPlanes(const Window& kernel, const Window& w, const float* image, int64_t output_depth)
      : x(image),
        channel(w.input_size()),
        plane(w.input[1] * w.input[2]),
        first(output_depth * kernel.stride[0] - w.pad_begin[0]),
        taps(kernel.kernel[0]),
        dilation(kernel.dilation[0]),
        depth(w.input[0]) {}

  /// Null where all of it is padding.
  const float* operator[](int64_t i) const {
    const int64_t at = first + i % taps * dilation;
    return at >= 0 && at < depth ? x + i / taps * channel + at * plane : nullptr;
  }
};

template <typename S>
struct Convolution<S>::Impl : PackedObject {
  virtual ~Impl() = default;
  virtual void run(const ConvCall<S>& call, const Parallel& parallel) const = 0;
  virtual size_t weight_bytes() const = 0;
  virtual bool adds_residual_last() const { return true; }
  virtual bool scales_input() const { return false; }
};

/// Every channel by itself: groups = in = out.
template <typename S>
std::unique_ptr<typename Convolution<S>::Impl> make_depthwise(const ConvChannels& channels, const Window& window, const S* weights,
                                                              const S* bias, const Activation& activation);
/// Everything else: the matrix product of the weights and of columns that are gathered a block at a time.
template <typename S>
std::unique_ptr<typename Convolution<S>::Impl> make_conv_gemm(const ConvChannels& channels, const Window& window, const S* weights,
                                                              const S* bias, const Activation& activation);
/// Whether its planes are copied first: where so few channels share what a kernel position means that finding it would cost most.
bool conv_stages(const ConvChannels& channels, const Window& w);

/// The same product with pixels as rows and output channels as columns.
std::unique_ptr<Convolution<float>::Impl> make_conv_pixels(const ConvChannels& channels, const Window& window, const float* weights,
                                                           const float* bias, const Activation& activation);
/// Turns sums of pixels round into y.
void finish_pixels(const ConvKernels<float, float>& kernels, const PixelSums& sums);

/// The product of make_conv_gemm by AMX tiles, see gemm_split.h.
std::unique_ptr<Convolution<float>::Impl> make_conv_split(const ConvChannels& channels, const Window& window, const float* weights,
                                                          const float* bias, const Activation& activation);
/// The products of make_conv_gemm and of make_conv_pixels by pairs, see gemm_fip.h. Only where there are such kernels.
std::unique_ptr<Convolution<float>::Impl> make_conv_fip(const ConvChannels& channels, const Window& window, const float* weights,
                                                        const float* bias, const Activation& activation);
std::unique_ptr<Convolution<float>::Impl> make_conv_fip_pixels(const ConvChannels& channels, const Window& window, const float* weights,
                                                               const float* bias, const Activation& activation);
/// Whether kernel positions of `kernel` lie beyond the planes of `w` so often that pixels are cut into chunks by row to leave them out.
bool conv_skips(const Window& kernel, const Window& w, int64_t in);

/// Kernels of 3x3 across, of stride 1 there, by Winograd's F(2x2, 3x3): 16 products for 4 outputs where others take 36. Each output depends
/// on the inputs that it should and on no others; where a sum is not finite, its tile is worked out in the plain way.
std::unique_ptr<Convolution<float>::Impl> make_winograd(const ConvChannels& channels, const Window& window, const float* weights,
                                                        const float* bias, const Activation& activation);

/// The same with tiles as rows and output channels as columns, for planes of few tiles.
std::unique_ptr<Convolution<float>::Impl> make_winograd_pixels(const ConvChannels& channels, const Window& window, const float* weights,
                                                               const float* bias, const Activation& activation);

/// The same with products by pairs, see gemm_fip.h. Only where there are such kernels.
std::unique_ptr<Convolution<float>::Impl> make_winograd_fip(const ConvChannels& channels, const Window& window, const float* weights,
                                                            const float* bias, const Activation& activation);

/// Winograd's F(2x2, 3x3) with products by AMX tiles, see gemm_split.h.
std::unique_ptr<Convolution<float>::Impl> make_winograd_split(const ConvChannels& channels, const Window& window, const float* weights,
                                                              const float* bias, const Activation& activation);

/// The same by F(4x4, 3x3): 36 products for 16 outputs; results are off by several times as much.
std::unique_ptr<Convolution<float>::Impl> make_winograd_4x4(const ConvChannels& channels, const Window& window, const float* weights,
                                                            const float* bias, const Activation& activation);

/// 3x3 kernels whose dilation is at least half of the plane (conv_pairs): outputs a dilation apart share products. As for Winograd's,
/// planes whose sums are not finite are worked out in the plain way.
std::unique_ptr<Convolution<float>::Impl> make_conv_paired(const ConvChannels& channels, const Window& window, const float* weights,
                                                           const float* bias, const Activation& activation);
/// Whether a convolution of such a `kernel` finds its pairs in the planes of `w`.
bool conv_pairs(const ConvChannels& channels, const Window& kernel, const Window& w);
/// Products that are made so, by those that plain convolution with its padding takes.
double conv_pair_products(const Window& w);

/// Values of S as those that are computed in: `from` itself, or widened into `to`.
template <typename S>
const Computed<S>* widened(const S* from, Computed<S>* to, int64_t count) {
  if constexpr (std::is_same_v<S, Computed<S>>) {
    return from;
  } else {
    widen(from, to, count);
    return to;
  }
}

}  // namespace rh::compute
