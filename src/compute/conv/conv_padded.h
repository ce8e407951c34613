#pragma once

#include <algorithm>
#include <type_traits>

#include "compute/conv/conv.h"
#include "compute/conv/conv_micro.h"

namespace rh::compute {

/// A plane with its padding, rows split by column modulo the stride, so that every kernel position reads contiguous elements without any
/// bound to look at: [depth][height][stride phases][phase width].
class PaddedPlane {
 public:
  /// `kernel` has kernel, stride and dilation, `w` the sizes and pads.
  PaddedPlane(const Window& kernel, const Window& w) : phases_(kernel.stride[2]) {
    const auto extent = [&](int d) {
      const int64_t reached = (w.output[d] - 1) * kernel.stride[d] + (kernel.kernel[d] - 1) * kernel.dilation[d] + 1;
      return std::max(reached, w.pad_begin[d] + w.input[d]);
    };
    depth_ = extent(0);
    height = extent(1);
    phase_width_ = (extent(2) + phases_ - 1) / phases_;
    row = phases_ * phase_width_;
  }

  int64_t height;
  int64_t row;  ///< elements

  int64_t rows() const { return depth_ * height; }
  int64_t size() const { return rows() * row; }

  int64_t position(int64_t d, int64_t h, int64_t column) const {
    return (d * height + h) * row + column % phases_ * phase_width_ + column / phases_;
  }

  void tap_offsets(const Window& k, int64_t* offsets) const {
    for (int64_t d = 0; d < k.kernel[0]; ++d)
      for (int64_t h = 0; h < k.kernel[1]; ++h)
        for (int64_t c = 0; c < k.kernel[2]; ++c) *offsets++ = position(d * k.dilation[0], h * k.dilation[1], c * k.dilation[2]);
  }

  /// The whole plane into zeros.
  template <typename T, typename S>
  void copy_in(const ConvKernels<T, S>& kernels, const Window& w, const S* x, T* padded) const {
    const bool crops = std::min({w.pad_begin[0], w.pad_begin[1], w.pad_begin[2]}) < 0;
    for (int64_t d = std::max<int64_t>(0, -w.pad_begin[0]); crops && d < w.input[0]; ++d) {
      for (int64_t h = std::max<int64_t>(0, -w.pad_begin[1]); h < w.input[1]; ++h)
        split_row(kernels, x + (d * w.input[1] + h) * w.input[2], w.input[2], w.pad_begin[2],
                  padded + ((d + w.pad_begin[0]) * height + h + w.pad_begin[1]) * row);
    }
    for (int64_t d = 0; !crops && d < w.input[0]; ++d) {
      if (phases_ == 1) {
        T* to = padded + ((d + w.pad_begin[0]) * height + w.pad_begin[1]) * row + w.pad_begin[2];
        kernels.copy_rows(x, w.input[1], w.input[2], to, row);
        x += w.input[1] * w.input[2];
        continue;
      }
      for (int64_t h = 0; h < w.input[1]; ++h, x += w.input[2])
        split_row(kernels, x, w.input[2], w.pad_begin[2], padded + ((d + w.pad_begin[0]) * height + h + w.pad_begin[1]) * row);
    }
  }

  /// Row `index` of rows(), with its padding.
  template <typename T, typename S>
  void make_row(const ConvKernels<T, S>& kernels, const Window& w, const S* x, int64_t index, T* to) const {
    std::fill_n(to, row, T(0));
    const int64_t d = index / height - w.pad_begin[0], h = index % height - w.pad_begin[1];
    if (d < 0 || d >= w.input[0] || h < 0 || h >= w.input[1]) return;
    split_row(kernels, x + (d * w.input[1] + h) * w.input[2], w.input[2], w.pad_begin[2], to);
  }

 private:
  /// Writes nothing but the elements of the row.
  template <typename T, typename S>
  void split_row(const ConvKernels<T, S>& kernels, const S* x, int64_t width, int64_t pad, T* to) const {
    const int64_t cropped = std::max<int64_t>(0, -pad);
    if (cropped >= width) return;
    x += cropped;
    width -= cropped;
    pad += cropped;
    int64_t done = 0;
    if (phases_ == 2) {
      done = std::min(width, pad % 2);
      const int64_t pairs = (width - done) / 2, at = (pad + done) / 2;
      kernels.split_pairs(x + done, pairs, to + at, to + phase_width_ + at);
      split_part(kernels, x, 0, done, pad, to);
      done += 2 * pairs;
    } else if (phases_ == 4 && std::is_same_v<T, S>) {
      done = split_quads(kernels, x, width, pad, to);
    } else if (phases_ == 1) {
      done = width / kernels.lanes * kernels.lanes;
      kernels.copy_rows(x, 1, done, to + pad, row);
    }
    split_part(kernels, x, done, width, pad, to);
  }

  /// Phases of four, as pairs of pairs; returns how many elements of the row there were in whole quadruples.
  template <typename T, typename S>
  int64_t split_quads(const ConvKernels<T, S>& kernels, const S* x, int64_t width, int64_t pad, T* to) const {
    constexpr int64_t kMost = 64;
    int64_t done = std::min(width, (4 - pad % 4) % 4);
    split_part(kernels, x, 0, done, pad, to);
    if constexpr (std::is_same_v<T, S>) {
      T even[2 * kMost], odd[2 * kMost];
      for (int64_t quads; (quads = std::min(kMost, (width - done) / 4)) > 0; done += 4 * quads) {
        T* const at = to + (pad + done) / 4;
        kernels.split_pairs(x + done, 2 * quads, even, odd);
        kernels.split_pairs(even, quads, at, at + 2 * phase_width_);
        kernels.split_pairs(odd, quads, at + phase_width_, at + 3 * phase_width_);
      }
    }
    return done;
  }

  /// The elements [begin, end) of a row, phase by phase.
  template <typename T, typename S>
  void split_part(const ConvKernels<T, S>& kernels, const S* x, int64_t begin, int64_t end, int64_t pad, T* to) const {
    constexpr int64_t kMostLanes = 16;
    for (int64_t first = begin; first < std::min(end, begin + phases_); ++first) {
      T* const phase = to + (pad + first) % phases_ * phase_width_;
      for (int64_t i = first; i < end;) {
        const int64_t count = std::min(kernels.lanes, (end - 1 - i) / phases_ + 1);
        const Segment segment{i, 0, 0, static_cast<int16_t>(count)};
        T lanes[kMostLanes];
        kernels.gather_panel(x, 0, 1, phases_, &segment, 1, lanes, 0);
        std::copy_n(lanes, count, phase + (pad + i) / phases_);
        i += count * phases_;
      }
    }
  }

  int64_t phases_, depth_, phase_width_;
};

}  // namespace rh::compute
