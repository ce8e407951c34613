#pragma once

#include <algorithm>

#include "compute/conv/winograd/conv_winograd.h"

namespace rh::compute {

/// F(2x2, 3x3) between planes, with tiles as columns and output channels as rows of the products: which tiles are worked out together, what
/// their inputs become, and what their products do. How the products are made is up to those that derive from it.
class WinogradPlanes : public Convolution<float>::Impl {
 public:
  void run(const ConvCall<float>& call, const Parallel& parallel) const final;

 protected:
  static constexpr int64_t kPositions = winograd_positions(2);
  static constexpr int64_t kMaxColumns = 32;  // of a panel, of any instruction set

  /// How the products are made.
  struct Products {
    int64_t rows;              ///< of a chunk, at most
    int64_t lanes, columns;    ///< of a panel of tiles: two vectors
    double speed = 1;          ///< beside multiply-add
    int64_t weight_bytes = 4;  ///< of one that is transformed
  };

  WinogradPlanes(const ConvChannels& channels, const Window& window, const float* bias, const Activation& activation,
                 const Products& products);

  /// One plane of outputs: a group of an image at a depth.
  struct Plane {
    const ConvCall<float>& call;
    int64_t rows;  ///< of tiles
    int64_t group;
    SummedPlanes x;
    int64_t y;  ///< offset of the first output channel
    int64_t y_channel;
  };

  /// Tiles from a column on, as many side by side; all rows of the plane.
  struct Strip {
    int64_t column, columns;
  };

  /// Some tiles of a strip, row by row.
  struct Run {
    const Plane& plane;
    const Strip& strip;
    int64_t first, count;

    int64_t panels(int64_t width) const { return pieces_of(count, width); }
    Run panel(int64_t index, int64_t width) const { return {plane, strip, first + index * width, std::min(width, count - index * width)}; }
  };

  /// Panels whose transformed inputs are kept for all output channels, at most.
  virtual int64_t most_panels() const = 0;
  /// Works out some chunks of output channels of tiles that begin with a panel.
  virtual void run_group(const Run& run, const Part& chunks) const = 0;
  /// A transformed weight of a row of a chunk.
  virtual float weight(int64_t group, int64_t chunk, int64_t row, int64_t position, int64_t input) const = 0;

  /// Output channels of a chunk.
  Part rows_of(int64_t chunk) const { return part_of(out_, chunks_, chunk); }

  /// The tiles of all input channels: position p of tile t of panel i of channel c goes to
  /// to[i * panel + p * apart + c * products_.columns + t].
  void transform_inputs(const Run& run, float* to, int64_t panel, int64_t apart) const;

  /// Puts the products of a chunk and of at most a panel of tiles where they belong: those of a row of the chunk lie
  /// products_.columns apart, those of a position `position`.
  void finish_block(const Run& run, int64_t chunk, const float* products, int64_t position) const;

  static float* memory(ScratchSlot slot, int64_t count) {
    return static_cast<float*>(
        thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 128));  // whole vectors are read and written
  }

  const ConvChannels channels_;
  const Window window_;
  const Products products_;
  const int64_t in_;  ///< planes of a sum
  const int64_t out_, chunks_;

 private:
  /// The tiles of a plane, cut into strips. Panels take the tiles of a strip row by row.
  struct Tiles;
  /// Tiles side by side, and where their sums go.
  struct Segment {
    int64_t tile, tiles;  ///< of a panel
    int64_t y;            ///< offset within the plane
    int64_t rows, columns;
  };
  /// A row of a chunk.
  struct Row {
    int64_t chunk, index;
    int64_t channel;  ///< of the group
  };

  void run_tiles(const ConvCall<float>& call, const Parallel& parallel) const;
  void run_piece(const ConvCall<float>& call, const Tiles& tiles, int64_t plane_index, const Grid& grid, int64_t index) const;
  void run_strip(const Plane& plane, const Strip& strip, const Part& chunks, const Part& panels) const;
  int64_t segments_of(const Run& run, Segment* segments) const;
  void finish(const Run& run, const Row& row, const Segment& s, const float* products, int64_t position) const;
  void finish_plainly(const Run& run, const Row& row, int64_t tile, const WinogradOutputs& p, int64_t at) const;

  const Activation activation_;
  const Clamp clamp_;
  const WinogradKernels& transforms_;
  PackedVector<float> bias_;
};

}  // namespace rh::compute
