#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
//
// A word has what several taps of a depthwise kernel read of one channel: four bytes, or two values of 16 bits. A unit is as many channels
// as 4, 2 or 1 vectors of words hold, whose words lie in the order of int8_channel_of_four().
namespace rh::compute {

/// Taps of a word, at most.
inline constexpr int64_t kInt8WordTaps = 4;
/// Channels of a unit, at most.
inline constexpr int64_t kInt8UnitChannels = 64;

/// Channels of a unit that lie in one block of 16 bytes, and how many such blocks there are.
inline constexpr int64_t kInt8UnitBlock = 16;
static constexpr int64_t int8_unit_blocks(int64_t unit) { return unit > kInt8UnitBlock ? unit / kInt8UnitBlock : 1; }
/// Unpacking bytes gives, of each block of a unit's channels, four at a time: of words 4 i to 4 i + 3 the first one's channel. Each file
/// has its own function, as files are compiled for different instruction sets.
static constexpr int64_t int8_channel_of_four(int64_t unit, int64_t i) {
  const int64_t blocks = int8_unit_blocks(unit);
  return kInt8UnitBlock * (i % blocks) + 4 * (i / blocks);
}

/// words[column][unit] = what each tap reads there: bytes of pixels[tap] + column * steps[tap], flipped.
struct Int8WordsArgs {
  const uint8_t* pixels[kInt8WordTaps];
  int64_t steps[kInt8WordTaps];
  int64_t columns;
  int64_t channels;  ///< of the unit that are there
  bool whole;        ///< as many bytes as a unit has, and at least 16, may be read of each pixel
  uint8_t flip;
  uint8_t* words;
};

/// A row of outputs of a unit: start + sum over groups and taps of words * weights, modulo 2^32.
struct Int8DepthwiseRow {
  const uint8_t* words;
  int64_t group_bytes, tap_bytes, output_bytes;  ///< from one group, tap or output to the next
  int64_t groups, taps;
  const uint8_t* weights;  ///< [groups][taps][unit], words
  const int32_t* start;    ///< [unit]
  const float* factors;    ///< [unit]; null: the sums are wanted
  int32_t zero, low, high;
  int32_t shift;  ///< from results to unsigned bytes: 0, or 128
  uint8_t* y;
  int64_t pixel_bytes;  ///< from one pixel of y to the next
  int64_t channels;     ///< of the unit that are there
  int64_t columns;
};

/// Functions for units of 4, 2 and 1 vectors.
struct Int8DepthwiseKernels {
  int64_t lanes;       ///< words of a vector
  int64_t taps;        ///< of a word: 4, whose weights are signed bytes, or 2, whose weights have 16 bits
  double word, taken;  ///< what it costs to bring a vector of words together, and to multiply it, about
  void (*words[3])(const Int8WordsArgs&);
  void (*row[3])(const Int8DepthwiseRow&);

  int64_t unit() const { return 4 * lanes; }
  /// The functions for a unit of which so many channels are there, and the channels that they work on.
  int64_t kind(int64_t channels) const { return channels > 2 * lanes ? 0 : channels > lanes ? 1 : 2; }
  int64_t unit(int64_t channels) const { return unit() >> kind(channels); }
};

extern const Int8DepthwiseKernels kGenericInt8Depthwise, kAvx2Int8Depthwise, kAvx512Int8Depthwise, kAvx512VnniInt8Depthwise;

}  // namespace rh::compute
