#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "compute/elementwise/activation.h"

namespace rh::compute {

/// Geometry of a window that slides over up to three spatial axes: [0] depth, [1] height, [2] width. Lower ranks leave the leading axes
/// at their defaults: a 2-D convolution fills [1] and [2], a 1-D one [2].
struct Window {
  int64_t input[3] = {1, 1, 1};
  int64_t output[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t dilation[3] = {1, 1, 1};
  int64_t pad_begin[3] = {0, 0, 0};  ///< what is needed at the end follows from `output`

  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t output_size() const { return output[0] * output[1] * output[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// Channels of a convolution; weights lie as [out_channels, in_channels / groups, kernel...].
struct ConvChannels {
  int64_t in = 0;
  int64_t out = 0;
  int64_t groups = 1;
};

/// relu(scale x + shift), a pair for each input channel, is convolved in place of x; x itself where `scale` is null.
struct InputScale {
  const float* scale = nullptr;
  const float* shift = nullptr;
};

/// `fast`: results may be off by ten times as much as float32 sums are; `strict`: without products by pairs (gemm_fip.h).
enum class ConvAccuracy : uint8_t { strict, usual, fast };

/// A convolution whose weights are known beforehand: X [batch, in, spatial...] -> Y [batch, out, spatial...], row-major.
/// y = activation(conv(x) + bias + residual) + addend, T out of float, double, Float16 and BFloat16: the half types are widened where they
/// are gathered, summed in float and rounded once; their weights stay narrow.
template <typename T>
class Convolution {
 public:
  /// `bias` has channels.out values or is null. `windows` give kernel, stride and dilation; their input and output are what calls may have,
  /// most of them those of the first, all 1 where that is not known: other sizes only take longer. The weights are copied. `variant` asks
  /// for one of variants(); where it is none of them, the one that costs least by what is known of the machine is taken. `lean`: only
  /// variants whose weights take no more memory than they do in a model. In the PackingScope of a run all of this lies in the run's memory.
  Convolution(const ConvChannels& channels, std::span<const Window> windows, const T* weights, const T* bias, const Activation& activation,
              std::string_view variant = {}, ConvAccuracy accuracy = ConvAccuracy::usual, bool lean = false);
  Convolution(const ConvChannels& channels, const Window& window, const T* weights, const T* bias, const Activation& activation,
              std::string_view variant = {}, ConvAccuracy accuracy = ConvAccuracy::usual, bool lean = false)
      : Convolution(channels, std::span(&window, 1), weights, bias, activation, variant, accuracy, lean) {}
  ~Convolution();
  Convolution(Convolution&&) noexcept;
  Convolution& operator=(Convolution&&) noexcept;

  /// `residual` has the shape of y or is null; it may be y itself. Threads pack into memory of their own that is kept for later calls.
  /// `input` names a scale only where scales_input(). `addend` is as `residual`, but not y itself, and null for half types.
  void run(const Window& window, int64_t batch, const T* x, const T* residual, T* y, const Parallel& parallel, const InputScale& input = {},
           const T* addend = nullptr) const;

  size_t weight_bytes() const;
  /// False: a residual that is y itself becomes part of the sum early, which rounds more.
  bool adds_residual_last() const;
  /// Whether the input can be scaled while it is gathered.
  bool scales_input() const;
  /// "depthwise", "winograd", "winograd_pixels", "winograd_fip", "winograd_amx", "winograd_4x4", "winograd_parts", "phases", "direct",
  /// "paired", "pixels", "fip", "fip_pixels", "amx" or "gemm".
  std::string_view variant() const { return variant_; }
  /// Those that can convolve this.
  static std::vector<std::string_view> variants(const ConvChannels& channels, const Window& window,
                                                ConvAccuracy accuracy = ConvAccuracy::usual, bool lean = false);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
  std::string_view variant_;
};

/// The plain convolution, for any of float, double, Float16, BFloat16; sums in float (double for double). The oracle of Convolution.
template <typename T>
void conv_reference(const ConvChannels& channels, const Window& window, int64_t batch, const T* x, const T* weights, const T* bias, T* y,
                    const Parallel& parallel);

/// A transposed convolution whose weights are known beforehand, T as for Convolution, and an activation behind it; see
/// conv_transpose_reference. Each phase of the outputs, by position modulo stride, is an ordinary convolution, or, of floats, a sum of
/// parts of one product.
template <typename T>
class TransposedConvolution {
 public:
  /// Arguments and memory as those of Convolution; weights lie as [in, out / groups, kernel...]. `variant` names one of variants(); none:
  /// what costs least.
  TransposedConvolution(const ConvChannels& channels, const Window& window, const T* weights, const T* bias, bool lean = false,
                        std::string_view variant = {}, const Activation& activation = {});
  ~TransposedConvolution();
  TransposedConvolution(TransposedConvolution&&) noexcept;
  TransposedConvolution& operator=(TransposedConvolution&&) noexcept;

  void run(const Window& window, int64_t batch, const T* x, T* y, const Parallel& parallel) const;

  size_t weight_bytes() const;
  /// "depthwise", "blocks", "sums", "phases", or "plain": one phase.
  std::string_view variant() const;
  /// Those that there is a choice of.
  static std::vector<std::string_view> variants(const ConvChannels& channels, const Window& window);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// The plain transposed convolution: X [batch, in, input...] -> Y [batch, out, output...], weights [in, out / groups, kernel...], where
/// output position = input position x stride - pad_begin + kernel position x dilation. Positions that no input reaches hold the bias.
template <typename T>
void conv_transpose_reference(const ConvChannels& channels, const Window& window, int64_t batch, const T* x, const T* weights,
                              const T* bias, T* y, const Parallel& parallel);

}  // namespace rh::compute
