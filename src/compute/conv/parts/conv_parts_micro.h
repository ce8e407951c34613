#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// to[i] = a[i] + sign b[i] for i below `count`, rows the given steps apart; a alone where `sign` is 0. Offsets of elements.
struct PartsSource {
  int64_t a;
  int64_t b;
  int64_t sign;
  int64_t to;
  int64_t rows;
  int64_t count;
  int64_t from_row;
  int64_t to_row;
};

inline constexpr int64_t kMostPartsReach = 16;
/// Tiles of a channel whose rows fill a vector `together`. Rows of the image become vectors of each column of the tiles, then more, which
/// are sums of two of those: `line` vectors a row of a tile. Sums of those of two rows are what is made.
struct PartsTiles {
  /// One of the vectors that have the elements of rows from a column of the tiles on: lanes [first, last) are there.
  struct Span {
    int64_t offset;
    int32_t first;
    int32_t last;
  };
  /// Vectors a, a + b or a - b of a line (`columns`) or of all lines.
  struct Sum {
    int32_t a;
    int32_t b;
    int64_t to;     ///< where the first channel's begin
    int64_t rows;   ///< of tiles
    int64_t count;  ///< tiles of a row
  };
  /// How many sums, in their order, are of one vector, how many add and subtract two.
  struct Signs {
    int64_t none;
    int64_t plus;
    int64_t minus;
  };
  const float* x;  ///< row 0, of which rows [top, bottom) are there
  int64_t x_row;
  int64_t top;
  int64_t bottom;
  const Span* spans;  ///< [every `phases`-th column, row_vectors]
  int64_t row_vectors;
  int64_t phases;  ///< columns from tile to tile: 2, 4 or 8
  int64_t phases_down;
  int64_t reach;  ///< columns that a tile reads, at most kMostPartsReach
  int64_t reach_down;
  int64_t across;
  int64_t rows;  ///< of tiles
  int64_t together;
  const Sum* columns;  ///< none of one vector
  Signs column_signs;
  int64_t line;
  const Sum* sums;
  Signs signs;
  bool whole;     ///< all sums have all tiles
  float* values;  ///< reach_down lines, and `phases` vectors that may be written
  float* to;
  int64_t channel;
};

inline constexpr int64_t kPartsLines = 8;
/// Rows of an image, `pad` zeros before each, split by column modulo `phases` (1, 2, 4 or any other number), or, where `chunk` is more than
/// 1, dealt to two phases in chunks of so many columns, and joined: row i becomes the sources' values at to + i % phases_down * plane +
/// i / phases_down * across. Up to a vector more is written after each row, before the next is.
struct PartsLines {
  const float* x;  ///< row 0, of which rows [top, bottom) are there
  int64_t x_row;
  int64_t top;
  int64_t bottom;
  int64_t lines;
  int64_t width;
  int64_t pad;
  int64_t phases;
  int64_t chunk;
  int64_t phases_down;
  int64_t split_row;  ///< of a phase, a number of whole vectors
  float* split;       ///< the fewer of lines and kPartsLines x phases x split_row, and two vectors and split_row that may be read
  const PartsSource* sources;
  int64_t source_count;
  int64_t across;
  int64_t plane;
  float* to;
};

/// Sums that outputs of a tile have in common, along one axis: the first output takes `first` + `both` + `apart`, the second one `second` +
/// `both` - `apart`.
enum PartsSlot : int { kFirst, kSecond, kBoth, kApart, kPartsSlots };

/// Sums of a panel of two vectors of channels, [tile, channel] for each slot, become pixels, [pixel, channel].
struct PartsOutputs {
  const float* slots[kPartsSlots][kPartsSlots];  ///< of rows and of columns
  int64_t across;                                ///< tiles in a row
  int64_t second_across;                         ///< those with a second column
  int64_t apart;                                 ///< columns between the two of a tile
  int64_t first;                                 ///< tile to begin with
  int64_t tiles;
  const float* bias;  ///< of each channel
  float* to;
  int64_t rows;     ///< of pixels
  int64_t columns;  ///< of pixels
};

struct PartsKernels {
  void (*tiles)(const PartsTiles& args);
  void (*lines)(const PartsLines& args);
  void (*inputs)(const float* from, const PartsSource* sources, int64_t count, float* to);
  /// By slots of an axis: 0 for one, 1 without `apart`, 2 for all. Gives the tile that it stopped before, as one of its sums is not finite,
  /// or `tiles`.
  int64_t (*outputs[3][3])(const PartsOutputs& args);
};

extern const PartsKernels kGenericParts;
#if defined(__x86_64__) || defined(_M_X64)
extern const PartsKernels kAvx2Parts;
extern const PartsKernels kAvx512Parts;
#endif

}  // namespace rh::compute
