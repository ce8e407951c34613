#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// Channels that lie together for each pixel.
inline constexpr int64_t kChannelBlock = 16;

/// The first and the last output of a row.
inline constexpr uint8_t kFirstOutput = 1, kLastOutput = 2;

/// Input channels of a pixel that lie together.
struct BlockedStep {
  int64_t offset;
  int32_t count;
  uint8_t beyond = 0;  ///< outputs of a row whose inputs lie beyond x: they are zero
};

/// Neighbouring cache lines that are fetched into the second level beside sums, two with each input channel of a tile.
struct FetchedLines {
  const char* next;
  const char* end;
};

/// Sums of outputs that follow each other in a row, for one or two blocks of output channels:
/// y[pixel][c] = clamp(y[pixel][c] + bias[c] + sum over steps s and i < s.count of x[s.offset + pixel x_pixel + i] weights[s][i][c] +
/// residual[pixel][c]).
struct BlockedSums {
  const float* x;
  const BlockedStep* steps;
  int64_t step_count;
  int64_t x_pixel;        ///< between the inputs of neighbours
  const float* weights;   ///< [step][i][blocks x kChannelBlock]
  const float* bias;      ///< [blocks x kChannelBlock], or null
  const float* residual;  ///< or null; lies as y
  float* y;               ///< [pixel][kChannelBlock]
  int64_t y_block;        ///< between blocks of output channels
  bool half;              ///< the last block has no channels in its second half, whose weights are zero
  bool more;              ///< y holds a part of the sums
  float low;
  float high;
  FetchedLines* fetched;  ///< or null
  uint8_t rims = 0;       ///< which of the first and the last output of a row are among these and may have inputs beyond x
};

/// The same where each channel has inputs of its own: x[offsets[t] + pixel x_pixel + c] weights[t][c].
struct BlockedTaps {
  const float* x;
  const int64_t* offsets;
  int64_t taps;
  int64_t x_pixel;
  const float* weights;   ///< [tap][kChannelBlock]
  const float* bias;      ///< [kChannelBlock]
  const float* residual;  ///< or null
  float* y;
  float low;
  float high;
};

/// Rows of a convolution of 3x3, 5x5 or 7x7 taps of dilation 1, of stride 1 or 2 in both directions, in groups of 1, 4, 8 or 16 channels,
/// which reads the plane where it lies: y[row][column][c] = clamp(bias[c] + sum of taps + residual).
struct BlockedWindow {
  const float* x;
  int64_t height;
  int64_t width;
  int64_t pad_top;
  int64_t pad_left;
  const float* weights;   ///< [row of taps][input channel of the group][tap of the row][kChannelBlock]
  const float* bias;      ///< [kChannelBlock]
  const float* residual;  ///< or null; of the whole plane, as y
  float* y;
  int64_t columns;  ///< of y
  float low;
  float high;
};

/// Rows [begin, end) of y.
using BlockedWindowRows = void(const BlockedWindow& p, int64_t begin, int64_t end);

struct BlockedKernels {
  int64_t blocks;  ///< that `sums` takes at most
  bool fetches;    ///< `sums` fetches lines, where there are enough outputs
  /// For 1 to `blocks` blocks and any number of pixels.
  void (*sums)(const BlockedSums& p, int64_t blocks, int64_t pixels);
  void (*taps)(const BlockedTaps& p, int64_t pixels);
  BlockedWindowRows* window[3][2];   ///< 3x3, 5x5 or 7x7, by whether the stride is 2
  BlockedWindowRows* grouped[3][2];  ///< 3x3, in groups of 4, 8 or 16 channels, by whether the stride is 2
  /// sums[row][c] = sum over pixels of x[row][pixel][c].
  void (*row_sums)(const float* x, int64_t rows, int64_t pixels, float* sums);
};

extern const BlockedKernels kGenericBlocked;
#if defined(__x86_64__) || defined(_M_X64)
extern const BlockedKernels kAvx2Blocked;
extern const BlockedKernels kAvx512Blocked;
#endif

}  // namespace rh::compute
