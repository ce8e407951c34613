#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// One vector of a panel row: lanes [first, last) come from x[offset + lane * stride], the others are zero. Vectors are stored in the
/// order of the list, whole: a later one overwrites what an earlier one wrote too much.
struct Segment {
  int64_t offset;
  int32_t column;
  int16_t first;
  int16_t last;
};

/// Codes of Float16 and BFloat16: those types have inline functions, which must not be compiled for an instruction set.
enum class HalfCode : uint16_t {};
enum class BFloatCode : uint16_t {};

/// A plane of a depthwise convolution over a padded plane: y[r][i] = clamp(bias + residual[r][i] + sum over taps of
/// w[t] x[r x_row + offset[t] + i]).
template <typename T>
struct DepthwiseArgs {
  const T* x;
  int64_t x_row;
  const int64_t* offsets;
  const T* weights;
  int64_t taps;
  /// Rows of taps where they are one plane of `lines` rows of taps / lines columns, `x_line` apart in x; 0: anything else.
  int64_t lines;
  int64_t x_line;
  T bias;
  const T* residual;  ///< or null; rows as those of y
  T low;
  T high;
  T* y;
  int64_t rows;
  int64_t width;  ///< of a row; rows of y follow each other
};

/// Depthwise convolutions of stride 1 over planes of 4 to 8 rows and up to 8 columns, which keep their size: `taps` (3 or 5) rows and
/// columns of taps, as much padding as that takes. Planes follow each other, each with weights and bias of its own.
struct SmallPlanes {
  const float* x;
  const float* weights;
  const float* bias;  ///< or null
  float* y;
  int64_t planes;
  int64_t rows;
  int64_t width;
  int64_t taps;
  float low;
  float high;
};

/// Depthwise convolutions that read a plane where it lies: kernels of `taps` (3, 5 or 7) rows and columns, stride 1 with any dilation
/// or stride 2 without, each the same in both directions; columns * stride + taps * dilation is at most kMostDirectReach.
inline constexpr int64_t kMostDirectReach = 2048;
struct DirectPlane {
  const float* x;
  int64_t height;
  int64_t width;
  int64_t pad_top;
  int64_t pad_left;
  const float* weights;
  int64_t taps;
  int64_t stride;
  int64_t dilation;
  float bias;
  float low;
  float high;
  const float* residual;  ///< or null; may be y itself
  float* y;
  int64_t rows;     ///< of y
  int64_t columns;  ///< of y
};

inline constexpr int64_t kMostChannelTaps = 7;
/// One row of outputs of a depthwise convolution of one or two vectors of channels, which lie side by side: y[column] = bias + sum over
/// taps of weights x. `taps` (3, 5 or 7) rows and columns of taps, stride 1 with any dilation or stride 2 without.
struct ChannelRow {
  const float* rows[kMostChannelTaps];  ///< where each row of taps begins, its padding being there
  int64_t step;                         ///< channels
  const float* weights;                 ///< [taps, taps, step]
  const float* bias;                    ///< [step]
  int64_t taps;
  int64_t stride;
  int64_t dilation;
  float* y;  ///< [columns, step]
  int64_t columns;
};

/// Sums [pixel, channel], sums_row apart, become planes: y[channel * plane + pixel] = clamp(sum + residual).
struct PixelSums {
  const float* sums;
  int64_t sums_row;
  int64_t pixels;
  int64_t channels;
  const float* residual;  ///< or null; as y, may be y itself
  float* y;
  int64_t plane;
  float low;
  float high;
};

/// A part of a row of a depthwise convolution of up to a vector of channels: y[channel][first + i] = clamp(bias + residual + sum over taps
/// of weights x[channel][(first + i) * stride - pad_left + tap * dilation]) for i < columns.
struct ChannelLines {
  const float* x;   ///< the row of the first channel
  int64_t x_plane;  ///< between channels
  int64_t width;    ///< of the row of x
  int64_t pad_left;
  int64_t channels;
  const float* weights;  ///< [taps, lanes]
  const float* bias;     ///< [lanes]
  int64_t taps;
  int64_t stride;
  int64_t dilation;
  float low;
  float high;
  const float* residual;  ///< or null; as y, may be y itself
  float* y;               ///< the row of the first channel
  int64_t y_plane;
  int64_t first;
  int64_t columns;
  float* memory;  ///< [channel_line_positions(...), lanes], aligned
};

/// Positions of the rows that `columns` outputs read, whole vectors of outputs and of inputs.
inline int64_t channel_line_positions(int64_t columns, int64_t taps, int64_t stride, int64_t dilation, int64_t lanes) {
  const int64_t outputs = (columns + lanes - 1) / lanes * lanes;
  return ((outputs - 1) * stride + (taps - 1) * dilation + lanes) / lanes * lanes;
}

/// Kernels of one instruction set alone; null where there is none.
struct PlaneKernels {
  void (*small)(const SmallPlanes& args) = nullptr;
  void (*direct)(const DirectPlane& args) = nullptr;
  /// Whole vectors of sums are read.
  void (*finish)(const PixelSums& args) = nullptr;
  void (*lines)(const ChannelLines& args) = nullptr;
};

/// For elements of type S that are computed in T.
template <typename T, typename S>
struct ConvKernels {
  int64_t lanes;
  /// `rows` rows of one full panel, `ldx` apart in x.
  void (*copy_panel)(const S* x, int64_t ldx, int64_t rows, T* panel);
  /// For each of `channels` channels, `channel_stride` apart, one panel row, `panel_row` apart.
  void (*gather_panel)(const S* x, int64_t channel_stride, int64_t channels, int64_t stride, const Segment* segments, int64_t count,
                       T* panel, int64_t panel_row);
  /// The same for each tap of planes that have their padding, `offsets` from x, all lanes of segments being there: rows by tap, then
  /// channel.
  void (*gather_taps)(const T* x, const int64_t* offsets, int64_t taps, int64_t channel_stride, int64_t channels, const Segment* segments,
                      int64_t count, T* panel, int64_t panel_row);
  /// Each row must be readable up to four vectors beyond `width` at each offset.
  void (*depthwise)(const DepthwiseArgs<T>& args);
  /// Copies rows; up to a vector of zeros may be written after each, before the next is.
  void (*copy_rows)(const S* x, int64_t rows, int64_t width, T* y, int64_t y_row);
  /// even[i] = x[2 i], odd[i] = x[2 i + 1] for `pairs` pairs.
  void (*split_pairs)(const S* x, int64_t pairs, T* even, T* odd);
  PlaneKernels planes;
};

/// Tiles of 4x4 inputs, two apart (or 6x6, four apart), become 16 (36) positions each, tile after tile in panels two vectors wide: tile i
/// goes to to[i / width * panel + position * apart + i % width]. `skipped` tiles of the first row are left out.
struct WinogradInputs {
  const float* x;  ///< where the first tile begins; only its rows [top, bottom) and columns [left, right) are there, the others are zero
  int64_t x_row;
  int64_t top;
  int64_t bottom;
  int64_t left;
  int64_t right;
  int64_t ahead;  ///< what lies so far beyond will be wanted soon
  int64_t rows;   ///< of tiles
  int64_t columns;
  int64_t skipped;
  int64_t count;  ///< tiles that are not left out
  float* to;
  int64_t panel;
  int64_t apart;
};

/// Sixteen products of each of some tiles side by side become two rows of two sums, clamp(sum + bias + residual). Whole vectors are read.
struct WinogradOutputs {
  const float* products;
  int64_t apart;  ///< between positions
  int64_t tiles;
  float bias;
  const float* residual;  ///< or null; rows as those of y, may be y itself
  float low;
  float high;
  float* y;
  int64_t y_row;
  int64_t rows;     ///< of y that are there: 1 or 2
  int64_t columns;  ///< of y that are there
};

/// Products of a panel of channels, [tile, channel] for each position, become sums of tiles of 2x2 (4x4) pixels, [pixel, channel].
struct WinogradPixels {
  const float* products;
  int64_t apart;  ///< between positions
  int64_t first;  ///< tile to begin with
  int64_t tiles;
  int64_t across;     ///< tiles in a row
  const float* bias;  ///< of each channel
  float* to;
  int64_t rows;     ///< of pixels
  int64_t columns;  ///< of pixels
};

struct WinogradPixelKernels {
  void (*inputs)(const WinogradInputs& args);
  /// The tile that it stopped before, as one of its sums is not finite, or `tiles`.
  int64_t (*pixels)(const WinogradPixels& args);
};

struct WinogradKernels {
  WinogradPixelKernels two, four;  ///< tiles of 2x2 and of 4x4 outputs
  /// How many tiles it worked out: it stops before a vector of tiles with a sum that is not finite.
  int64_t (*outputs)(const WinogradOutputs& args);
};

/// y[r][c] = a[r][c] + b[r][c] + shift, rows the given steps apart.
struct AddedRows {
  const float* a;
  int64_t a_row;
  const float* b;  ///< or null
  int64_t b_row;
  float shift;
  float* y;
  int64_t y_row;
  int64_t rows;
  int64_t columns;
};

/// Products of 1 to 4 rows of weights [channel, tap, row] and of vectors of x that lie at x + channel * channel_step + offsets[tap]: sums
/// [row, output], sums_row apart, begin with `start`, or what they were where it is null.
struct TapProducts {
  const float* x;
  int64_t channels;
  int64_t channel_step;
  const int64_t* offsets;
  int64_t taps;
  const float* weights;
  int64_t rows;
  const float* start;
  float* sums;
  int64_t sums_row;
  int64_t vectors;  ///< TapKernels::vectors, half as many or 1
};

/// Rows of sums become rows of y, which follow each other: clamp(sum + residual).
struct TapOutputs {
  const float* sums;
  int64_t sums_row;
  const float* residual;  ///< or null; as y, may be y itself
  float* y;
  int64_t rows;
  int64_t width;
  float low;
  float high;
};

/// Every `stride`-th element of rows, as rows of `width` that follow each other: row r of phase i has the vectors that its `count` segments
/// find from x + from[r] on. A segment that reaches beyond its row is the only one.
struct SplitRows {
  const float* x;
  const int64_t* from;  ///< negative: the row is `zeros`
  const float* zeros;   ///< as many as a row of x has elements
  int64_t rows;
  const Segment* segments;  ///< [phases, count]
  int64_t phases;
  int64_t count;
  int64_t stride;
  int64_t width;
  float* y;  ///< phases `phase_step` apart
  int64_t phase_step;
};

struct TapKernels {
  int64_t lanes;
  int64_t vectors;
  void (*split)(const SplitRows& args);
  void (*products)(const TapProducts& args);
  void (*outputs)(const TapOutputs& args);
};

struct ConvTable {
  ConvKernels<float, float> of_float;
  ConvKernels<double, double> of_double;
  ConvKernels<float, HalfCode> of_half;
  ConvKernels<float, BFloatCode> of_bfloat;
  /// False if a sum is not finite.
  bool (*add_rows)(const AddedRows& args);
  void (*channel_row)(const ChannelRow& args);
  TapKernels taps;
};

extern const ConvTable kGenericConv, kAvx2Conv, kAvx512Conv;
extern const WinogradKernels kGenericWinograd, kAvx2Winograd, kAvx512Winograd;

}  // namespace rh::compute
