#pragma once

#include <vector>

#include "base/shared_bytes.h"
#include "compute/conv.h"
#include "compute/int8_gemm.h"

namespace rh::compute {

/// Part of a convolution's sums: tile.row is the output channel, tile.column the output position in its image.
struct Int8ConvTile {
  int64_t image;
  Int8Tile tile;
};
using Int8ConvEpilogue = FunctionRef<void(const Int8ConvTile&)>;

/// A convolution of bytes, weights known at load: X [batch, in, spatial...], sums [batch, out, spatial...] of (x - x_zero) (w - w_zero) +
/// bias, exact modulo 2^32. Positions outside the image count as x_zero.
class Int8Convolution {
 public:
  /// `weights` lie as [out, in / groups, kernel...] and are copied; w_zero is one number or one an output channel; `bias` has channels.out
  /// values or is null. Only kernel, stride and dilation of `window` are looked at.
  Int8Convolution(const ConvChannels& channels, const Window& window, const Int8Matrix& weights, const ZeroPoints& w_zero,
                  const int32_t* bias);

  void run(const Window& window, int64_t batch, const Int8Matrix& x, int32_t x_zero, Int8ConvEpilogue epilogue,
           const Parallel& parallel) const;

  size_t weight_bytes() const { return weights_.size() + values_.size() * sizeof(int16_t); }

 private:
  friend class Int8ConvCall;
  bool is_depthwise() const { return in_ == 1; }

  ConvChannels channels_;
  Window window_;
  const Int8Kernels& kernels_;
  int64_t in_, out_, k_;          ///< channels of a group, products of a sum
  SharedArray<uint8_t> weights_;  ///< rows [out, groups of 4] as the kernels read the left side, k counts kernel positions first
  std::vector<int16_t> values_;   ///< depthwise: weights less their zero points, [out, kernel]
  std::vector<int32_t> w_zero_;   ///< of each output channel as the kernels see the weights; empty: all 0
  std::vector<int32_t> sums_;     ///< of each output channel's weights, as the kernels see them
  std::vector<int32_t> bias_;
};

/// The plain convolution into y [batch, out, spatial...]: the oracle.
void int8_conv_reference(const ConvChannels& channels, const Window& window, int64_t batch, const Int8Matrix& x, int32_t x_zero,
                         const Int8Matrix& weights, const ZeroPoints& w_zero, const int32_t* bias, int32_t* y);

}  // namespace rh::compute
