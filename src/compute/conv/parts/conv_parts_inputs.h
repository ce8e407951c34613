#pragma once

#include <cstdint>

#include "compute/conv/conv_impl.h"
#include "compute/conv/parts/conv_parts.h"

namespace rh::compute {

/// Elements between what lies at the same place of two slots: not a power of two.
inline constexpr int64_t kPartsApartness = 16;

/// A band of rows of tiles of a plane, or of tiles of a plane of one row: a group of an image at a depth.
struct PartsBand {
  const ConvCall<float>& call;
  int64_t group;
  SummedPlanes x;
  int64_t y;  ///< offset of the first output channel
  Part rows;
  int64_t second_rows;  ///< of tiles that have a second row of outputs
  int64_t across, second_across;
  int64_t first_tile;  ///< of a row

  /// Its tiles as one slot sees them.
  int64_t rows_of(int64_t slot) const { return slot == kSecond ? second_rows : rows.size; }
  int64_t across_of(int64_t slot) const { return slot == kSecond ? second_across : across; }
};

/// Makes what the products of a convolution by parts read: for each slot the sums of inputs of each of its terms, channels and tiles.
class PartsInputs {
 public:
  /// `channels` are the planes of a sum, `lanes` the elements of the kernels' vectors. The layout and the kernels are kept by reference.
  PartsInputs(const PartsLayout& layout, const PartsKernels& kernels, int64_t channels, int64_t lanes)
      : layout_(layout), kernels_(kernels), in_(channels), lanes_(lanes) {}

  /// Elements of [slot, term, channel, tile].
  int64_t size(const PartsBand& band) const { return begin_of(band, static_cast<int64_t>(layout_.slots.size())); }
  /// Some channels of them. Takes scratch memory of slot `row`.
  void transform(const PartsBand& band, const Part& channels, float* to) const;

  /// Rows of `across` tiles whose tiles fill one vector, where their elements fill whole ones; 1: each row takes vectors of its own.
  static int64_t rows_in_vector(const PartsAxis& columns, int64_t across, int64_t lanes);

 private:
  struct Lines;
  struct Plane;

  int64_t begin_of(const PartsBand& band, int64_t slot) const;
  Plane plane_of(const PartsBand& band, int64_t channel) const;
  int64_t rows_together(const PartsBand& band) const;
  template <typename Make>
  void each_source(const PartsBand& band, int64_t channel, Make make) const;

  Lines lines_of(const PartsBand& band) const;
  void column_sources(const Lines& lines, PartsSource* to) const;
  void row_sources(const PartsBand& band, const Lines& lines, int64_t channel, PartsSource* made) const;
  void transform_lines(const PartsBand& band, const Part& channels, float* to) const;

  PartsTiles::Signs column_sums(PartsTiles::Sum* made, int64_t* at) const;
  PartsTiles::Signs tile_sums(const PartsBand& band, int64_t line, const int64_t* at, PartsTiles::Sum* made) const;
  void find_spans(const PartsBand& band, PartsTiles::Span* span) const;
  void transform_tiles(const PartsBand& band, const Part& channels, float* to) const;

  const PartsLayout& layout_;
  const PartsKernels& kernels_;
  const int64_t in_, lanes_;
};

}  // namespace rh::compute
