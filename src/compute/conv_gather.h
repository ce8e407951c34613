#pragma once

#include <algorithm>

#include "compute/conv.h"
#include "compute/conv_micro.h"

namespace rh::compute {

/// Output pixels that follow each other, as runs within rows of at most a vector, and where each run finds its input for a kernel position.
class PixelRuns {
 public:
  static constexpr int64_t kMost = 32;  // pixels

  /// `kernel` has kernel, stride and dilation, `w` the sizes and pads.
  PixelRuns(const Window& kernel, const Window& w, int64_t pixel, int64_t pixels, int64_t lanes) : kernel_(kernel), w_(w), lanes_(lanes) {
    int64_t ow = pixel % w.output[2], oh = pixel / w.output[2] % w.output[1], od = pixel / (w.output[2] * w.output[1]);
    for (int64_t column = 0; column < pixels;) {
      const int64_t length = std::min({w.output[2] - ow, lanes, pixels - column});
      runs_[count_++] = {column, length, od * kernel.stride[0] - w.pad_begin[0], oh * kernel.stride[1] - w.pad_begin[1],
                         ow * kernel.stride[2] - w.pad_begin[2]};
      column += length;
      ow += length;
      if (ow < w.output[2]) continue;
      ow = 0;
      if (++oh < w.output[1]) continue;
      oh = 0;
      ++od;
    }
  }

  /// Fills `segments` (up to kMost + 2) with where the pixels find their input for one kernel position, and zeros for what is left of
  /// `columns` columns; returns how many.
  int64_t segments(int64_t tap, int64_t columns, Segment* segments) const {
    const int64_t stride = kernel_.stride[2], row_of_taps = tap / kernel_.kernel[2];
    const int64_t shift[3] = {row_of_taps / kernel_.kernel[1] * kernel_.dilation[0], row_of_taps % kernel_.kernel[1] * kernel_.dilation[1],
                              tap % kernel_.kernel[2] * kernel_.dilation[2]};
    int64_t made = 0;
    for (; made < count_; ++made) {
      const Run& run = runs_[made];
      Segment& s = segments[made];
      s = {0, static_cast<int32_t>(run.column), 0, 0};
      const int64_t d = run.d + shift[0], h = run.h + shift[1], start = run.start + shift[2];
      if (d < 0 || d >= w_.input[0] || h < 0 || h >= w_.input[1]) continue;
      s.offset = (d * w_.input[1] + h) * w_.input[2] + start;
      int64_t first = 0, last = run.length;
      if (start < 0) first = std::min(last, (-start + stride - 1) / stride);
      if (start + (last - 1) * stride >= w_.input[2])
        last = std::max(first, start >= w_.input[2] ? 0 : (w_.input[2] - 1 - start) / stride + 1);
      s.first = static_cast<int16_t>(first);
      s.last = static_cast<int16_t>(last);
    }
    const Run& end = runs_[count_ - 1];
    for (int64_t column = end.column + end.length; column < columns; column += lanes_)
      segments[made++] = {0, static_cast<int32_t>(column), 0, 0};
    return made;
  }

 private:
  /// Neighbouring pixels of one output row; d, h and start are where kernel position 0 reads the first of them.
  struct Run {
    int64_t column, length, d, h, start;
  };

  const Window& kernel_;
  const Window& w_;
  const int64_t lanes_;
  Run runs_[kMost];
  int64_t count_ = 0;
};

/// Whether any of the segments reads something.
inline bool any_live(const Segment* segments, int64_t count) {
  return std::any_of(segments, segments + count, [](const Segment& s) { return s.first < s.last; });
}

}  // namespace rh::compute
