#pragma once

#include <algorithm>
#include <vector>

#include "base/shares.h"
#include "compute/conv/blocked/conv_blocked_micro.h"
#include "compute/conv/conv.h"
#include "compute/conv/conv_pack.h"

namespace rh::compute {

/// Blocks of output channels that are worked out at once, with the input channels that they are summed over: all, or those of their group.
class BlockedBundles {
 public:
  struct Bundle {
    int64_t first, blocks;  ///< of output channels
    int64_t input, inputs;  ///< channels
    int64_t weights;        ///< where its weights begin, [tap][input][channels of its blocks]
    int64_t steps, step_count;
  };

  /// `unit` channels of the input lie together. In groups, each has whole blocks of input and of output channels.
  BlockedBundles(const ConvChannels& channels, int64_t taps, int64_t unit, int64_t most_blocks)
      : channels_(channels), taps_(taps), unit_(unit) {
    const int64_t blocks = (channels.out + kChannelBlock - 1) / kChannelBlock, inputs = channels.in / channels.groups;
    const int64_t in_group = channels.groups == 1 ? blocks : channels.out / channels.groups / kChannelBlock;
    for (int64_t first = 0, size; first < blocks; first += size) {
      const int64_t group = first / in_group;
      size = std::min({most_blocks, blocks - first, (group + 1) * in_group - first});
      // Bundles of one group read the same inputs.
      const bool repeats = !all_.empty() && all_.back().input == group * inputs;
      const int64_t step_count = taps * ((inputs + unit - 1) / unit), steps = repeats ? all_.back().steps : steps_;
      all_.push_back({first, size, group * inputs, inputs, weights_, steps, step_count});
      weights_ += size * kChannelBlock * taps * inputs;
      steps_ = steps + step_count;
      most_ = std::max(most_, size);
    }
  }

  int64_t count() const { return static_cast<int64_t>(all_.size()); }
  const Bundle& operator[](int64_t i) const { return all_[static_cast<size_t>(i)]; }
  int64_t weights() const { return weights_; }
  int64_t steps() const { return steps_; }
  /// Products of an output.
  int64_t products() const { return taps_ * channels_.in / channels_.groups; }
  /// Blocks of the largest bundle.
  int64_t most_blocks() const { return most_; }

  /// Weights [out, in / groups, tap] as bundles.
  void pack(const float* weights, float* all) const {
    for (const Bundle& bundle : all_) {
      const int64_t first = bundle.first * kChannelBlock, width = bundle.blocks * kChannelBlock;
      pack_taps(weights + first * products(), bundle.inputs, taps_, std::min(width, channels_.out - first), width, all + bundle.weights);
    }
  }

  /// What bundles are summed over: each tap, which lies in a plane as tap_step(tap) says, and each `unit` channels, whose planes lie
  /// `plane` apart.
  template <typename TapStep>
  void fill_steps(int64_t plane, const TapStep& tap_step, BlockedStep* to) const {
    for (const Bundle& bundle : all_) {
      BlockedStep* next = to + bundle.steps;
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const BlockedStep step = tap_step(tap);
        for (int64_t channel = bundle.input; channel < bundle.input + bundle.inputs; channel += unit_)
          *next++ = {channel / unit_ * plane + step.offset, static_cast<int32_t>(std::min(unit_, bundle.input + bundle.inputs - channel)),
                     step.beyond};
      }
    }
  }

 private:
  const ConvChannels channels_;
  int64_t taps_, unit_, weights_ = 0, steps_ = 0, most_ = 1;
  std::vector<Bundle> all_;
};

}  // namespace rh::compute
