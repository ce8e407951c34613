#pragma once

#include <memory>
#include <vector>

#include "base/fetch_list.h"
#include "compute/conv/blocked/fetched_part.h"
#include "compute/conv/conv_impl.h"
#include "compute/gemm/gemm_fip.h"

namespace rh::compute {

/// Convolutions of single pixels, in one group, between values in blocks of channels (to_blocked) by pairs: pixels are rows, two blocks of
/// output channels the columns of a panel.
class BlockedPairs {
 public:
  /// Null where this processor does not multiply by pairs, or the weights, [out, in], cannot be scaled (pack_fip).
  static std::unique_ptr<BlockedPairs> make(const ConvChannels& channels, const float* weights, const float* bias,
                                            const Activation& activation);

  /// Pixels of x are those of y, call.input is not looked at. `gates` [batch, channels of the blocks], or null: x is multiplied by them
  /// first.
  void run(const ConvCall<float>& call, const float* gates, FetchList ahead, const Parallel& parallel) const;

  size_t weight_bytes() const;

 private:
  struct Piece;
  BlockedPairs(const ConvChannels& channels, const float* weights, const float* bias, const Activation& activation);

  void run_piece(const Piece& piece, FetchedPart& fetched) const;
  void run_walk(const Piece& piece, FetchedPart& fetched) const;
  const float* input_at(const Piece& piece, int64_t channel, int64_t pixel) const;
  void scale_tile(const Piece& piece, const Part& pixels, int64_t block, const FipTiles& to, int64_t index) const;
  void run_panel(const Piece& piece, int64_t panel, int64_t block, const FipTiles& tiles, FetchedPart& fetched) const;
  void finish(const Piece& piece, int64_t panel) const;
  FipArgs tile_at(const Piece& piece, const Part& pixels, int64_t panel, int64_t block) const;

  const ConvChannels channels_;
  const Activation activation_;
  const Clamp clamp_;
  const FipKernels& kernels_;
  const MicroKernels<float>& plain_;
  const FipLayout layout_;
  std::shared_ptr<const float[]> weights_;
  std::vector<float> bias_;  ///< of whole panels
};

}  // namespace rh::compute
