#pragma once

#include <memory>
#include <string_view>

#include "base/fetch_list.h"
#include "compute/conv/blocked/conv_blocked_micro.h"
#include "compute/conv/conv.h"

namespace rh::compute {

/// Blocks that hold `channels` channels.
inline int64_t channel_blocks(int64_t channels) { return (channels + kChannelBlock - 1) / kChannelBlock; }

/// x [batch, channels, plane] becomes y [batch, blocks, plane, kChannelBlock]; channels that the last block has beyond are 0.
void to_blocked(const float* x, int64_t batch, int64_t channels, int64_t plane, float* y, const Parallel& parallel);
/// The way back.
void from_blocked(const float* x, int64_t batch, int64_t channels, int64_t plane, float* y, const Parallel& parallel);

/// What the input of a blocked convolution is.
enum class BlockedInput : uint8_t { blocks, planes };

/// What a blocked convolution takes and gives besides. Both are [batch, channels of the blocks].
struct BlockedScales {
  const float* gates = nullptr;  ///< x is multiplied by them first; where takes_gates()
  float* means = nullptr;        ///< those of the planes of y; where gives_means()
};

/// A convolution in up to two dimensions between values in blocks of channels: see to_blocked; what the last block has beyond the
/// channels is not looked at, and may be anything in y. y = activation(conv(x) + bias + residual) + addend.
class BlockedConvolution {
 public:
  /// Whether run() can compute this: one group, or groups of blocks, of one channel, or of 4 or 8 under 3x3 taps (of blocks as input
  /// alone); planes, not volumes.
  static bool fits(const ConvChannels& channels, const Window& window, BlockedInput input);

  /// Arguments as those of Convolution; where fits(). `window` has the pads of all calls, and where these have its sizes, single pixels may
  /// be summed by pairs (conv_blocked_pairs.h).
  BlockedConvolution(const ConvChannels& channels, const Window& window, const float* weights, const float* bias,
                     const Activation& activation, BlockedInput input, ConvAccuracy accuracy = ConvAccuracy::strict);
  ~BlockedConvolution();
  BlockedConvolution(BlockedConvolution&&) noexcept;
  BlockedConvolution& operator=(BlockedConvolution&&) noexcept;

  std::string_view variant() const;  ///< blocked, or blocked_fip: by pairs
  /// Whether run() does anything with `ahead`.
  bool fetches_ahead() const;
  /// One group of blocks, one pixel.
  bool takes_gates() const;
  /// As many output channels as inputs in groups of less than a block, or of one block under 3x3 taps; 3x3, 5x5 or 7x7 taps that lie
  /// together, of stride 1 or 2.
  bool gives_means() const;

  /// `residual` and `addend` lie as y or are null; they are not y itself. `ahead` is brought into the caches on the way, where
  /// fetches_ahead().
  void run(const Window& window, int64_t batch, const float* x, const float* residual, float* y, const Parallel& parallel,
           const BlockedScales& scales = {}, FetchList ahead = {}, const float* addend = nullptr) const;

  size_t weight_bytes() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rh::compute
