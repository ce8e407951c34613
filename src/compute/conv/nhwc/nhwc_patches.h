#pragma once

#include "compute/conv/conv.h"
#include "compute/gemm/gemm.h"

namespace rh::compute {

/// Where the channels of a convolution's input stand.
enum class ChannelsOfInput : uint8_t { last, first };

/// A convolution between x [batch, height, width, in], or [batch, in, height, width], and y [batch, rows, columns, out]: a product with a
/// row for each patch that a kernel covers, which are gathered some rows at a time. y = activation(conv(x) + bias + residual) + addend.
class NhwcPatches {
 public:
  /// Whether run() can compute this: one group, planes, no dilation.
  static bool fits(const ConvChannels& channels, const Window& window);

  /// Arguments as those of Convolution; where fits(). `use` is of the product, whose rows are the patches.
  NhwcPatches(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation,
              ChannelsOfInput input, PackedUse use = {});

  /// `residual` and `addend` lie as y or are null; `addend` is not y itself.
  void run(const Window& window, int64_t batch, const float* x, const float* residual, float* y, const Parallel& parallel,
           const float* addend = nullptr) const;

  size_t weight_bytes() const { return weights_.bytes() + bias_.size() * sizeof(float); }

 private:
  /// Rows of patches, of all images.
  struct Rows {
    int64_t begin, end;
  };

  void gather(const Window& window, const float* x, Rows rows, float* patches) const;
  void gather_lines(const Window& window, const float* x, int64_t row, float* patches) const;
  void multiply(const Window& window, Rows rows, const float* patches, const float* residual, const float* addend, float* y,
                const Parallel& parallel) const;

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const ChannelsOfInput input_;
  const int64_t taps_;  ///< of a patch, all channels
  PackedMatrix<float> weights_;
  std::vector<float> bias_;
};

}  // namespace rh::compute
