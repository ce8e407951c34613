#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "compute/conv/conv.h"
#include "compute/quant/int8_depthwise_micro.h"

namespace rh::compute {

/// How a depthwise convolution of planes goes by vectors of channels: which taps share a word, and how many rows of outputs share words.
class Int8DepthwisePlan {
 public:
  /// Whether there is a way: one output a channel, planes, and channels that fill a part of a vector.
  static bool fits(const ConvChannels& channels, const Window& window);
  /// No way.
  Int8DepthwisePlan() = default;
  Int8DepthwisePlan(const Int8DepthwiseKernels& kernels, int64_t channels, const Window& window);
  /// With the fastest kernels that these weights allow, less their zero points: [channels, kernel].
  static Int8DepthwisePlan of(int64_t channels, const Window& window, const int16_t* values);
  /// Words of any weights, at most.
  static int64_t most_words(int64_t channels, const Window& window);

  explicit operator bool() const { return kernels_ != nullptr; }
  const Int8DepthwiseKernels& kernels() const { return *kernels_; }
  int64_t channels() const { return channels_; }
  int64_t units() const { return (channels_ + kernels_->unit() - 1) / kernels_->unit(); }
  int64_t unit_channels(int64_t unit) const { return std::min(kernels_->unit(), channels_ - unit * kernels_->unit()); }

  /// The taps of a word follow each other along a row, else down a column.
  bool is_along_rows() const { return along_rows_; }
  int64_t rows() const { return rows_; }
  /// Of words down a column, those that row `row` of the outputs that share them takes.
  Range groups(int64_t row) const { return groups_[row]; }
  int64_t words_across() const { return across_; }
  /// Positions of x from the first tap of a word to the first one of the next across.
  int64_t step_across() const { return (along_rows_ ? kernels_->taps : 1) * window_.dilation[2]; }
  /// Where the position of x lies that tap `tap` of the words of group `group` reads, from the first one that the outputs read.
  int64_t row_of(int64_t group, int64_t tap) const { return along_rows_ ? 0 : (group * kernels_->taps + tap) * window_.dilation[1]; }
  int64_t column_of(int64_t tap) const { return along_rows_ ? tap * window_.dilation[2] : 0; }
  /// Rows of x that the first `rows` rows of outputs read.
  int64_t rows_read(int64_t rows) const { return (rows - 1) * window_.stride[1] + (window_.kernel[1] - 1) * window_.dilation[1] + 1; }

  /// Weights as words: of each unit [rows][groups of the row][words across][channels of the unit].
  int64_t words() const;
  void write_words(const int16_t* values, uint32_t* words) const;
  /// The first word of a unit's row.
  int64_t words_at(int64_t unit, int64_t row) const;
  /// Each channel's sum of weights.
  void write_sums(const int16_t* values, int32_t* sums) const;

 private:
  static constexpr int64_t kMostRows = 4;
  double choose_rows(int64_t rows);
  int64_t words_of_channel(int64_t rows) const;
  uint32_t word(const int16_t* taps, int64_t row, int64_t group, int64_t across) const;

  const Int8DepthwiseKernels* kernels_ = nullptr;
  int64_t channels_ = 0;
  Window window_;
  bool along_rows_ = false;
  int64_t rows_ = 1, across_ = 1;
  Range groups_[kMostRows];
};

}  // namespace rh::compute
