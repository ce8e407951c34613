#pragma once

#include <algorithm>

#include "compute/conv/conv.h"
#include "compute/conv/conv_impl.h"

namespace rh::compute {

/// Output pixels that follow each other, as runs within rows of at most a vector, and where each run finds its input for a kernel position.
class PixelRuns {
 public:
  static constexpr int64_t kMost = 32;  // pixels

  /// `kernel` has kernel, stride and dilation, `w` the sizes and pads. Pixels beyond the last of an image are those of the next, whose
  /// input lies `image` elements on.
  PixelRuns(const Window& kernel, const Window& w, int64_t pixel, int64_t pixels, int64_t lanes, int64_t image = 0)
      : kernel_(kernel), w_(w), lanes_(lanes) {
    int64_t ow = pixel % w.output[2], oh = pixel / w.output[2] % w.output[1], od = pixel / (w.output[2] * w.output[1]);
    int64_t offset = od / w.output[0] * image;
    od %= w.output[0];
    for (int64_t column = 0; column < pixels;) {
      const int64_t length = std::min({w.output[2] - ow, lanes, pixels - column});
      runs_[count_++] = {column,
                         length,
                         offset,
                         od * kernel.stride[0] - w.pad_begin[0],
                         oh * kernel.stride[1] - w.pad_begin[1],
                         ow * kernel.stride[2] - w.pad_begin[2]};
      column += length;
      ow += length;
      if (ow < w.output[2]) continue;
      ow = 0;
      if (++oh < w.output[1]) continue;
      oh = 0;
      if (++od < w.output[0]) continue;
      od = 0;
      offset += image;
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
      s.offset = run.image + (d * w_.input[1] + h) * w_.input[2] + start;
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
  /// Neighbouring pixels of one output row of the image at `image`; d, h and start are where kernel position 0 reads the first of them.
  struct Run {
    int64_t column, length, image, d, h, start;
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

/// Whether the image itself is the matrix of columns.
inline bool is_pointwise(const Window& kernel, const Window& w) {
  for (int d = 0; d < 3; ++d)
    if (kernel.kernel[d] != 1 || kernel.stride[d] != 1 || w.pad_begin[d] != 0 || w.input[d] != w.output[d]) return false;
  return true;
}

/// Whether a group reads one row of one channel alone, a signal, so that the kernel positions of a pixel lie evenly.
inline bool reads_one_row(const ConvChannels& channels, const Window& kernel, const Window& w) {
  for (int d = 0; d < 2; ++d)
    if (kernel.kernel[d] != 1 || w.input[d] != 1 || w.output[d] != 1 || w.pad_begin[d] != 0) return false;
  return channels.in == channels.groups;
}

/// Whether kernels of one position read no padding.
inline bool reads_one_pixel(const ConvChannels& channels, const Window& kernel) {
  return channels.groups == 1 && kernel.kernel_size() == 1 && std::ranges::all_of(kernel.pad_begin, [](int64_t pad) { return pad == 0; });
}

/// Rows [ks.begin, ks.begin + ks.size) of the panel of pixels that begins at `pixel`, as wide as those of `kernels`; a row is one of `in`
/// channels at a kernel position, positions first. False where all of it is padding, as whole kernel positions of strong dilation are.
template <typename S>
bool fill_pixel_panel(const Window& kernel, const Window& w, const S* x, int64_t in, int64_t pixel, const Part& ks,
                      const MicroKernels<Computed<S>>& kernels, const ConvKernels<Computed<S>, Code<S>>& gather, Computed<S>* panel) {
  const int64_t width = kernels.columns, image = w.input_size();
  if (is_pointwise(kernel, w)) {
    const S* from = x + ks.begin * image + pixel;
    if (pixel + width <= image) return gather.copy_panel(codes(from), image, ks.size, panel), true;
    if constexpr (std::is_same_v<S, Computed<S>>) return pack_panel(from, image, false, ks.size, image - pixel, width, panel), true;
  }
  const PixelRuns runs(kernel, w, pixel, std::min(width, w.output_size() - pixel), kernels.lanes);
  Segment segments[PixelRuns::kMost + 2];
  bool live = false;
  for (int64_t k = ks.begin; k < ks.begin + ks.size;) {
    const int64_t tap = k / in, channel = k % in, count = std::min(in - channel, ks.begin + ks.size - k);
    const int64_t made = runs.segments(tap, width, segments);
    live = live || any_live(segments, made);
    gather.gather_panel(codes(x + channel * image), image, count, kernel.stride[2], segments, made, panel, width);
    panel += count * width;
    k += count;
  }
  return live;
}

}  // namespace rh::compute
