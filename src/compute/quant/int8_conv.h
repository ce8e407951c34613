#pragma once

#include <span>
#include <vector>

#include "compute/conv/conv.h"
#include "compute/quant/int8_depthwise.h"
#include "compute/quant/int8_gemm.h"
#include "compute/quant/quantize.h"

namespace rh::compute {

/// Where an image of bytes lies: [batch, channels, pixels], or [batch, pixels, channels].
struct Int8Image {
  Int8Matrix bytes;
  int32_t zero_point = 0;
  bool channels_last = false;
};

/// Where a convolution's results go, in either order: the int32 sums, or with `factors` bytes, clamp(rint(sum * factor) + zero point).
struct Int8ConvResult {
  void* data = nullptr;
  bool channels_last = false;
  const float* factors = nullptr;  ///< one an output channel
  QuantRange range;                ///< of bytes
};

/// A convolution of bytes, its weights packed: X [batch, in, spatial...], sums [batch, out, spatial...] of (x - x_zero) (w - w_zero) +
/// bias, exact modulo 2^32. Positions outside the image count as x_zero.
class Int8Convolution {
 public:
  /// `weights` lie as [out, in / groups, kernel...] and are copied; w_zero is one number or one an output channel; `bias` has channels.out
  /// values or is null. Only kernel, stride and dilation of `window` are looked at.
  Int8Convolution(const ConvChannels& channels, const Window& window, const Int8Matrix& weights, const ZeroPoints& w_zero,
                  const int32_t* bias);
  /// The same for one run, into memory_bytes(channels, window) of the caller's, 64-byte aligned, which outlive it as `bias` does.
  Int8Convolution(const ConvChannels& channels, const Window& window, const Int8Matrix& weights, const ZeroPoints& w_zero,
                  const int32_t* bias, void* memory, const Parallel& parallel);
  static size_t memory_bytes(const ConvChannels& channels, const Window& window);
  Int8Convolution(Int8Convolution&&) = default;
  Int8Convolution& operator=(Int8Convolution&&) = default;
  Int8Convolution(const Int8Convolution&) = delete;
  Int8Convolution& operator=(const Int8Convolution&) = delete;

  /// Threads pack into memory of their own that is kept for later calls.
  void run(const Window& window, int64_t batch, const Int8Image& x, const Int8ConvResult& y, const Parallel& parallel) const;

  size_t weight_bytes() const;
  /// Each output channel has one input channel of its own.
  bool is_depthwise() const { return in_ == 1 && channels_.groups > 1; }

 private:
  friend class Int8ConvCall;
  friend class Int8ChannelsCall;
  friend class Int8DepthwiseCall;
  struct Memory;
  Int8Convolution(const ConvChannels& channels, const Window& window);
  int64_t packed_rows() const;  ///< of a group's panels
  void write_values(const Int8Matrix& weights, const ZeroPoints& w_zero, int16_t* values) const;
  /// Returns whether there are any.
  bool write_zeros(const Int8Matrix& weights, const ZeroPoints& w_zero, int32_t* zeros);
  /// The weights of a group as rows [out, segments * whole groups of 4], between which lies what becomes 0.
  void write_rows(const Int8Matrix& weights, int64_t group, uint8_t* rows) const;

  ConvChannels channels_;
  Window window_;
  int64_t in_, out_, k_;                      ///< channels of a group, products of a sum
  int64_t segments_, segment_;                ///< of a sum, and the elements in each, which lie together where they are read
  std::span<const PackedInt8Matrix> panels_;  ///< of each group: weights [segments * whole groups of 4, out]
  std::span<const int16_t> values_;           ///< depthwise: weights less their zero points, [out, kernel]
  Int8DepthwisePlan plan_;                    ///< by vectors of channels, where that is possible: the values again, and their sums
  std::span<const uint32_t> words_;
  std::span<const int32_t> tap_sums_;
  std::span<const int32_t> w_zero_;  ///< of each output channel as the kernels see the weights; empty: all 0
  bool many_zeros_ = false;          ///< not all of w_zero_ are the same
  std::span<const int32_t> bias_;
  std::vector<PackedInt8Matrix> own_panels_;  ///< what these refer to, where it is not the caller's
  std::vector<int16_t> own_values_;
  std::shared_ptr<uint32_t[]> own_words_;
  std::vector<int32_t> own_zeros_, own_bias_, own_tap_sums_;
};

/// The plain convolution into y [batch, out, spatial...]: the oracle.
void int8_conv_reference(const ConvChannels& channels, const Window& window, int64_t batch, const Int8Matrix& x, int32_t x_zero,
                         const Int8Matrix& weights, const ZeroPoints& w_zero, const int32_t* bias, int32_t* y);

}  // namespace rh::compute
