#include "compute/conv/blocked/conv_blocked_pairs.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/cancellation.h"
#include "compute/conv/blocked/conv_blocked.h"
#include "compute/conv/conv_fip.h"
#include "compute/move/bring_near.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kBlock = kChannelBlock, kPanelBlocks = kFipWidth / kBlock, kPixelBytes = kBlock * sizeof(float);
constexpr int64_t kTileBytes = 256 << 10;  // of pixels that pass by a panel before the next one comes
constexpr double kScaledBytes = 7;         // that scaling a value of a pixel is like reading
// Rows of two lines that are fetched with each group of products.
constexpr int64_t kFetchedRows = 3;

/// Into how many tiles so many pixels are cut: as many for each thread, where tiles do not get too small for it. No bits depend on that.
int64_t tiles_of(int64_t pixels, int64_t threads) {
  const int64_t least = pieces_of(pixels, kFipRows), even = pieces_of(least, threads) * threads;
  return even * kLeastTileRows > pixels ? least : even;
}

}  // namespace

/// Some tiles of the pixels of an image times some panels.
struct BlockedPairs::Piece {
  const ConvCall<float>& call;
  int64_t image;
  const float* gates;  ///< of the image, or null
  bool is_far;         ///< its input does not lie in this processor's nearest caches
  int64_t all_tiles;   ///< of the image
  Part tiles, panels;

  int64_t plane() const { return call.window.output_size(); }
  Part pixels(int64_t tile) const { return part_of(plane(), all_tiles, tile); }
  Part pixels() const {
    const int64_t begin = pixels(tiles.begin).begin;
    const Part last = pixels(tiles.begin + tiles.size - 1);
    return {begin, last.begin + last.size - begin};
  }
};

std::unique_ptr<BlockedPairs> BlockedPairs::make(const ConvChannels& channels, const float* weights, const float* bias,
                                                 const Activation& activation) {
  if (!fip_kernels() || has_many_zeros(weights, channels.out, channels.in, channels.in, 1)) return nullptr;
  std::unique_ptr<BlockedPairs> made(new BlockedPairs(channels, weights, bias, activation));
  return made->weights_ ? std::move(made) : nullptr;
}

BlockedPairs::BlockedPairs(const ConvChannels& channels, const float* weights, const float* bias, const Activation& activation)
    : channels_(channels),
      activation_(activation),
      clamp_(activation),
      kernels_(*fip_kernels()),
      plain_(micro_kernels_for_width<float>(kFipWidth)),
      layout_(channels.in, channels.out, kFipConvBlock, CompactForm::none, std::lcm(kFipGroup, kBlock)),
      weights_(pack_fip(layout_, weights, true, channels.in)),
      bias_(static_cast<size_t>(layout_.panels() * kFipWidth)) {
  if (bias) std::copy_n(bias, channels.out, bias_.data());
}

size_t BlockedPairs::weight_bytes() const { return (static_cast<size_t>(layout_.floats()) + bias_.size()) * sizeof(float); }

void BlockedPairs::run(const ConvCall<float>& call, const float* gates, FetchList ahead, const Parallel& parallel) const {
  const int64_t tiles = tiles_of(call.window.output_size(), parallel.threads()), panels = layout_.panels();
  const double m = static_cast<double>(call.window.output_size()), n = static_cast<double>(channels_.out);
  const double k = static_cast<double>(channels_.in), operations = m * n * k / kFipSpeed;
  Grid grid;
  if (call.batch < 4 * parallel.threads())
    grid = choose_grid(tiles, panels, operations, kScaledBytes * m * k, n * k * sizeof(float), parallel.threads(), kFipLateness);
  const int64_t pieces = grid.pieces(), in_blocks = channel_blocks(channels_.in);
  const bool is_far = parallel.threads() > 1 || call.window.output_size() * in_blocks * kPixelBytes >= kFarBytes;
  deal_pieces(call.batch, grid, operations, parallel, [&](int64_t image, int64_t i) {
    FetchedPart fetched(ahead, image * pieces + i, image * pieces + i + 1, call.batch * pieces);
    run_piece({call, image, gates ? gates + image * in_blocks * kBlock : nullptr, is_far, tiles,
               share_of(tiles, grid.rows, i / grid.columns), share_of(panels, grid.columns, i % grid.columns)},
              fetched);
  });
}

void BlockedPairs::run_piece(const Piece& piece, FetchedPart& fetched) const {
  if (piece.tiles.size == 0 || piece.panels.size == 0) return;
  const int64_t tile_bytes = FipTiles{nullptr, fip_tile(layout_.block(0).size)}.stride() * static_cast<int64_t>(sizeof(float));
  const int64_t walks = pieces_of(piece.tiles.size, std::max<int64_t>(1, kTileBytes / tile_bytes));
  for (int64_t walk = 0; walk < walks; ++walk) {
    const Part some = part_of(piece.tiles.size, walks, walk);
    run_walk(
        {piece.call, piece.image, piece.gates, piece.is_far, piece.all_tiles, {piece.tiles.begin + some.begin, some.size}, piece.panels},
        fetched);
  }
}

void BlockedPairs::run_walk(const Piece& piece, FetchedPart& fetched) const {
  const int64_t rows = fip_tile(layout_.block(0).size);
  const FipTiles tiles{scratch_floats(ScratchSlot::packed_left, piece.tiles.size * FipTiles{nullptr, rows}.stride()), rows};
  for (int64_t block = 0; block < layout_.blocks(); ++block) {
    throw_if_cancelled();
    if (piece.is_far) {
      const Part steps = layout_.block(block);
      const Part pixels = piece.pixels();
      bring_near(input_at(piece, steps.begin, pixels.begin), pieces_of(steps.size, kBlock), pixels.size * kPixelBytes,
                 piece.plane() * kPixelBytes);
    }
    for (int64_t i = 0; i < piece.tiles.size; ++i) scale_tile(piece, piece.pixels(piece.tiles.begin + i), block, tiles, i);
    for (int64_t panel = piece.panels.begin; panel < piece.panels.begin + piece.panels.size; ++panel) {
      run_panel(piece, panel, block, tiles, fetched);
      if (block + 1 == layout_.blocks()) finish(piece, panel);
    }
  }
}

const float* BlockedPairs::input_at(const Piece& piece, int64_t channel, int64_t pixel) const {
  return piece.call.x + ((piece.image * channel_blocks(channels_.in) + channel / kBlock) * piece.plane() + pixel) * kBlock;
}

void BlockedPairs::scale_tile(const Piece& piece, const Part& pixels, int64_t block, const FipTiles& to, int64_t index) const {
  static_assert(kBlock == 16);
  const Part steps = layout_.block(block);
  const int64_t count = std::min(steps.size, layout_.k() - steps.begin);
  const float* scale = layout_.left_scale(weights_.get()) + steps.begin;
  if (piece.gates) {  // the scales are powers of two, so that values are rounded as by gates alone
    float* const gated = scratch_floats(ScratchSlot::row, count);
    for (int64_t i = 0; i < count; ++i) gated[i] = scale[i] * piece.gates[steps.begin + i];
    scale = gated;
  }
  to.pairs(index) = kernels_.scale_left[pixels.size]({.a = input_at(piece, steps.begin, pixels.begin),
                                                      .a_row = kBlock,
                                                      .rows = pixels.size,
                                                      .k = count,
                                                      .scale = scale,
                                                      .to = to.at(index),
                                                      .inverse_scale = to.inverse(index),
                                                      .sums = to.sums(index),
                                                      .a_sixteen = piece.plane() * kBlock});
}

FipArgs BlockedPairs::tile_at(const Piece& piece, const Part& pixels, int64_t panel, int64_t block) const {
  const bool last = block + 1 == layout_.blocks();
  const int64_t plane = piece.plane(), out_blocks = channel_blocks(channels_.out), first = panel * kPanelBlocks;
  const int64_t at = ((piece.image * out_blocks + first) * plane + pixels.begin) * kBlock;
  const float* const right = layout_.panel(weights_.get(), panel);
  const Part steps = layout_.block(block);
  FipArgs args{};
  MicroArgs<float>& p = args.tile;
  p.k = steps.size;
  p.fold = kFipConvFold;
  p.a_row = 1;
  p.a_k = kFipRows;
  p.b = right + layout_.row_at(steps.begin);
  p.b_k = kFipWidth;
  p.c = piece.call.y + at;
  p.c_row = kBlock;
  p.columns = std::min(kPanelBlocks, out_blocks - first) * kBlock;
  p.beta = block == 0 ? 0.0f : 1.0f;
  if (last) {
    p.column_bias = bias_.data() + panel * kFipWidth;
    if (piece.call.residual) p.residual = piece.call.residual + at;
  }
  p.c_is_far = plane * out_blocks * kBlock * static_cast<int64_t>(sizeof(float)) >= kFarBytes;
  p.residual_row = kBlock;
  p.residual_scale = 1;
  p.low = last ? clamp_.low : -std::numeric_limits<float>::infinity();
  p.high = last ? clamp_.high : std::numeric_limits<float>::infinity();
  args.c_gap = (plane - 1) * kBlock;
  args.right_sums = layout_.sums(right, block);
  args.right_inverse = layout_.inverse_scale(right);
  return args;
}

void BlockedPairs::run_panel(const Piece& piece, int64_t panel, int64_t block, const FipTiles& tiles, FetchedPart& fetched) const {
  FipArgs args = tile_at(piece, piece.pixels(piece.tiles.begin), panel, block);
  MicroArgs<float>& p = args.tile;
  const int64_t groups = p.k / kFipGroup;
  // Each tile brings its share of the next panel nearer, or of the first one's next block.
  if (panel + 1 < piece.panels.begin + piece.panels.size)
    p.ahead = p.b + layout_.panel_floats();
  else if (block + 1 < layout_.blocks())
    p.ahead = layout_.panel(weights_.get(), piece.panels.begin) + layout_.row_at(layout_.block(block + 1).begin);
  const float* const end = p.ahead + p.k * kFipWidth;
  p.ahead_step = pieces_of(pieces_of(kFipGroup * kFipWidth, piece.tiles.size), 16) * 16;
  args.rows_ahead_step = kFipWidth;
  args.rows_ahead_count = kFetchedRows;
  float plain[kFipRows * kFipWidth];
  for (int64_t i = 0; i < piece.tiles.size; ++i) {
    const int64_t rows = piece.pixels(piece.tiles.begin + i).size;
    FetchedLines& lines = fetched.lines();
    args.rows_ahead = lines.next < lines.end ? reinterpret_cast<const float*>(lines.next) : nullptr;
    lines.next = std::min(lines.next + groups * kFetchedRows * kFipWidth * static_cast<int64_t>(sizeof(float)), lines.end);
    p.a = tiles.at(i);
    args.left_sums = tiles.sums(i);
    args.left_inverse = tiles.inverse(i);
    multiply_fip_tile(kernels_, plain_, args, rows, tiles.pairs(i), plain);
    move_rows(p, rows);
    if (!p.ahead) continue;
    p.ahead += groups * p.ahead_step;
    if (p.ahead >= end) p.ahead = nullptr;
  }
}

void BlockedPairs::finish(const Piece& piece, int64_t panel) const {
  if (!clamp_.activates && !piece.call.addend) return;
  const int64_t out_blocks = channel_blocks(channels_.out), first = panel * kPanelBlocks;
  const Part pixels = piece.pixels();
  for (int64_t block = first; block < std::min(first + kPanelBlocks, out_blocks); ++block) {
    const int64_t at = ((piece.image * out_blocks + block) * piece.plane() + pixels.begin) * kBlock;
    finish_interleaved(clamp_.activates, activation_, block * kBlock, piece.call.y + at, pixels.size,
                       std::min(kBlock, channels_.out - block * kBlock), kBlock, piece.call.addend_at(at));
  }
}

}  // namespace rh::compute
