#pragma once

#include <algorithm>

#include "base/thread_pool.h"
#include "compute/quant/int8_conv.h"
#include "compute/quant/int8_depthwise.h"
#include "compute/quant/int8_kernels.h"

namespace rh::compute {

inline uint32_t int8_product(int32_t a, int32_t b) { return static_cast<uint32_t>(a) * static_cast<uint32_t>(b); }

/// Row and column offsets of one kernel position, and which output positions of a row it reaches.
struct Tap {
  int64_t shift[3];
};
inline Tap tap_at(const Window& w, int64_t tap) {
  return {{tap / w.kernel[2] / w.kernel[1] * w.dilation[0], tap / w.kernel[2] % w.kernel[1] * w.dilation[1],
           tap % w.kernel[2] * w.dilation[2]}};
}

/// Output positions [first, last) along an axis whose input stays within [0, size): start is where position 0 reads.
inline Range reach(int64_t start, int64_t stride, int64_t size, int64_t count) {
  const int64_t first = start >= 0 ? 0 : std::min(count, (-start + stride - 1) / stride);
  const int64_t last = start >= size ? 0 : std::min(count, (size - 1 - start) / stride + 1);
  return {first, std::max(first, last)};
}

/// One call of Int8Convolution::run where a group has several channels, or all are one group.
class Int8ConvCall {
 public:
  Int8ConvCall(const Int8Convolution& conv, const Window& window, int64_t batch, const Int8Image& x, const Int8ConvResult& y);
  void run(const Parallel& parallel);

 private:
  /// A rectangle of output positions of one image and group, and the panels of weights that it is multiplied by.
  struct Block {
    int64_t image, group, depth;
    Range rows, columns, panels;
    int64_t pixels() const { return rows.size() * columns.size(); }
  };
  /// What the kernels read: a pixel's channels lie together, and steps are in bytes.
  struct Source {
    const uint8_t* data = nullptr;
    int64_t tap[3] = {}, output[3] = {};  ///< from one kernel position, and from one output position to the next
    const int32_t* pixel_sums = nullptr;  ///< of each pixel's channels, where zero points of weights need them
  };

  void plan_blocks(int threads);
  Source lay_out(const Block& block) const;
  Source in_place(const Block& block) const;
  const uint8_t* channels_last(const Block& block, int64_t depth, const Range& rows, const Range& columns) const;
  void fill_row(const uint8_t* row, int64_t pitch, int64_t first_column, int64_t count, uint8_t* out, int32_t* sums) const;
  void sum_windows(const Block& block, const Source& source, int32_t* sums) const;
  void multiply(const Block& block, const Source& source) const;
  void fill_start(int64_t group, const PackedInt8Matrix& panels, int64_t first_column, int64_t columns, int32_t* start) const;
  void fill_offsets(const Block& block, const Source& source, int64_t* row_offset, int64_t* segment_offset) const;
  void correct(int64_t channel, const int32_t* row_sums, int64_t rows, int64_t columns, int64_t stride, int32_t* tile) const;
  void store(const Block& block, const Range& pixels, int64_t column, int64_t columns, const int32_t* tile, int64_t stride,
             uint8_t* pending, int64_t pending_columns) const;
  void store_channels_first(const Block& block, const uint8_t* pending, int64_t column, int64_t columns) const;
  /// Those of a block are neighbours: whole rows, or a part of one.
  int64_t first_pixel(const Block& block) const {
    return (block.depth * w_.output[1] + block.rows.begin) * w_.output[2] + block.columns.begin;
  }

  const Int8Convolution& conv_;
  const Window& w_;
  const int64_t batch_;
  const Int8Image& x_;
  const Int8ConvResult& y_;
  const Int8Kernels& kernels_;
  const uint8_t flip_;
  const int32_t zero_;  ///< as the kernels see x
  const int64_t pixels_, panels_;
  bool in_place_;
  int64_t step_[3];                                                ///< pixels of the laid out image from one output position to the next
  int64_t sampled_[3];                                             ///< pixels of the image from one that is laid out to the next
  int64_t block_rows_ = 1, block_columns_ = 1, column_parts_ = 1;  ///< into how many parts the output's rows, columns and panels go
};

/// One call where each group has one channel, by vectors of channels.
class Int8ChannelsCall {
 public:
  Int8ChannelsCall(const Int8Convolution& conv, const Window& window, int64_t batch, const Int8Image& x, const Int8ConvResult& y);
  static bool fits(const Int8Convolution& conv, const Window& window);
  void run(const Parallel& parallel);

 private:
  /// Output positions of an image whose words are brought together at once, and the unit of channels.
  struct Block {
    int64_t image, unit;
    Range rows, columns;
  };

  void turn(const Parallel& parallel);
  void order_channels();
  void compute(const Block& block) const;
  void fill_words(const Block& block, int64_t group, int64_t columns, uint8_t* words) const;
  void store_channels_first(const Block& block, const uint8_t* pending, int64_t live) const;

  const Int8Convolution& conv_;
  const Int8DepthwisePlan& plan_;
  const Int8DepthwiseKernels& kernels_;
  const Window& w_;
  const int64_t batch_;
  const Int8Image& x_;
  const Int8ConvResult& y_;
  const uint8_t flip_;
  const int32_t zero_;                               ///< as the kernels see x
  const int64_t channels_, reach_;                   ///< positions across from the first to the last that one output reads
  int64_t parts_ = 1, blocks_ = 1;                   ///< into how many the output's columns and rows go
  const uint8_t *image_ = nullptr, *end_ = nullptr;  ///< channels last
  const int32_t* starts_ = nullptr;                  ///< of each unit's words
  const float* factors_ = nullptr;
};

/// One call where each group has one channel, by planes.
class Int8DepthwiseCall {
 public:
  Int8DepthwiseCall(const Int8Convolution& conv, const Window& window, int64_t batch, const Int8Image& x, const Int8ConvResult& y)
      : conv_(conv), w_(window), batch_(batch), x_(x), y_(y), pixels_(window.output_size()) {}
  void run(const Parallel& parallel) const;

 private:
  void add_tap(const uint8_t* plane, const Tap& tap, int32_t weight, int32_t* sums) const;

  const Int8Convolution& conv_;
  const Window& w_;
  const int64_t batch_;
  const Int8Image& x_;
  const Int8ConvResult& y_;
  const int64_t pixels_;
};

}  // namespace rh::compute
