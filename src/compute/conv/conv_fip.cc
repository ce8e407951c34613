#include <algorithm>
#include <limits>
#include <vector>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_fip.h"
#include "compute/conv/conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kGroupBytes = 384 << 10;  // of pixels that share the second-level cache
constexpr int64_t kMostPanels = 16;
constexpr int64_t kWeightBytes = 256 << 10;  // of weights that pass by a panel before the next one comes, beside which they stay near

/// Weights as rows of tiles: for each tile of rows, and of that for each block of k, rows, what their pairs have too much, and the inverse
/// of their scales. `usable` has the bits of the rows that pairs can be made of (FipKernels::scale_left).
struct WeightsLayout {
  FipLayout k;  ///< n does not matter

  int64_t rows() const { return fip_tile(k.block(0).size); }
  int64_t block_floats() const { return rows() + 4 * kFipRows; }
  int64_t tile_floats() const { return k.blocks() * block_floats(); }
};
struct WeightsBlock {
  float* rows;
  float* sums;
  float* inverse;
  float* usable;
};
WeightsBlock weights_block(const WeightsLayout& layout, float* tile, int64_t block) {
  float* const rows = tile + block * layout.block_floats();
  float* const sums = rows + layout.rows();
  return {rows, sums, sums + 2 * kFipRows, sums + 3 * kFipRows};
}

/// Output pixels as columns, weights as rows. k counts kernel positions first and input channels within each.
class ConvFip final : public Convolution<float>::Impl {
 public:
  ConvFip(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        fip_(*fip_kernels()),
        plain_(micro_kernels_for_width<float>(kFipWidth)),
        in_(channels.in / channels.groups),
        out_(channels.out / channels.groups),
        layout_{{in_ * window.kernel_size(), 0, kFipConvBlock}},
        tiles_(pieces_of(out_, kFipRows)),
        pixels_(channels, window) {
    if (bias) bias_.assign(bias, bias + channels.out);
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }
  bool adds_residual_last() const override { return layout_.k.blocks() == 1; }
  bool scales_input() const override { return reads_one_pixel(channels_, window_); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const int64_t pixels = call.window.output_size(), panels = pieces_of(pixels, kFipWidth);
    const int64_t products = call.batch * channels_.groups;
    const double m = static_cast<double>(out_), n = static_cast<double>(pixels), k = static_cast<double>(layout_.k.k());
    const double operations = m * n * k / kFipSpeed;
    Grid grid;
    if (products < 4 * parallel.threads()) {
      const double gathering = is_pointwise(window_, call.window) ? 8 : 10;  // and scaling
      grid = choose_grid(tiles_, panels, operations, 4 * m * k, gathering * n * k * sizeof(float), parallel.threads());
    }
    deal_pieces(products, grid, operations, parallel, [&](int64_t product, int64_t i) { run_piece(call, product, grid, i, panels); });
  }

 private:
  /// Where a product of a piece reads and writes.
  struct Place {
    const float* x;
    int64_t group;
    int64_t out_plane;
  };

  void pack(const float* weights) {
    const int64_t k = layout_.k.k(), taps = window_.kernel_size(), pieces = channels_.groups * tiles_;
    std::vector<float> ordered;
    const float* const by_tap = weights_by_tap(weights, channels_.out, in_, taps, ordered);
    std::vector<float> scales(static_cast<size_t>(channels_.groups * layout_.k.steps()), 1.0f);
    for (int64_t g = 0; g < channels_.groups; ++g) {
      const std::vector<float> of_group = fip_scales({k, out_}, by_tap + g * out_ * k, true, k);
      std::ranges::copy(of_group, scales.begin() + g * layout_.k.steps());
    }
    std::vector<float> inverse(scales.size());
    std::ranges::transform(scales, inverse.begin(), [](float scale) { return 1 / scale; });
    const auto begin = [&](size_t piece) { return piece * static_cast<size_t>(layout_.tile_floats()) * sizeof(float); };
    const auto write = [&](size_t piece, void* memory) {
      const int64_t i = static_cast<int64_t>(piece), group = i / tiles_;
      const Part rows = rows_of(i % tiles_);
      std::fill_n(static_cast<float*>(memory), layout_.tile_floats(), 0.0f);
      for (int64_t block = 0; block < layout_.k.blocks(); ++block) {
        const WeightsBlock to = weights_block(layout_, static_cast<float*>(memory), block);
        const Part steps = layout_.k.block(block);
        const FipLeft left{.a = by_tap + (group * out_ + rows.begin) * k + steps.begin,
                           .a_row = k,
                           .rows = rows.size,
                           .k = std::min(steps.size, k - steps.begin),
                           .scale = inverse.data() + group * layout_.k.steps() + steps.begin,
                           .to = to.rows,
                           .inverse_scale = to.inverse,
                           .sums = to.sums};
        *to.usable = static_cast<float>(fip_.scale_left[rows.size](left));
      }
    };
    const size_t count = static_cast<size_t>(pieces);
    weights_ = SharedArray<float>(share_pieces({count, begin, write}, 0), count * static_cast<size_t>(layout_.tile_floats()));
    scales_ = std::move(scales);
  }

  void run_piece(const ConvCall<float>& call, int64_t product, const Grid& grid, int64_t index, int64_t panels) const {
    const Part tiles = share_of(tiles_, grid.rows, index / grid.columns);
    const Part columns = share_of(panels, grid.columns, index % grid.columns);
    if (tiles.size == 0) return;
    const int64_t group = product % channels_.groups, image = product / channels_.groups;
    const Place place{call.x + (image * channels_.in + group * in_) * call.window.input_size(), group,
                      image * channels_.out + group * out_};
    const int64_t panel_bytes = layout_.k.block(0).size * kFipWidth * static_cast<int64_t>(sizeof(float));
    const int64_t groups = pieces_of(columns.size, std::clamp<int64_t>(kGroupBytes / panel_bytes, 1, kMostPanels));
    for (int64_t i = 0; i < groups; ++i) {
      const Part part = part_of(columns.size, groups, i);
      run_group(call, place, tiles, {columns.begin + part.begin, part.size});
    }
  }

  void run_group(const ConvCall<float>& call, const Place& place, const Part& tiles, const Part& panels) const {
    const Window& w = call.window;
    const int64_t floats = layout_.k.block(0).size * kFipWidth;
    float* const scaled = scratch_floats(ScratchSlot::packed_left, panels.size * (floats + 3 * kFipWidth) + kFipRows * kFipWidth);
    float* const sums = scaled + panels.size * floats;
    float* const inverse = sums + panels.size * 2 * kFipWidth;
    float* const plain = inverse + panels.size * kFipWidth;
    bool pairs[kMostPanels];  // of all columns
    for (int64_t block = 0; block < layout_.k.blocks(); ++block) {
      throw_if_cancelled();
      const Part steps = layout_.k.block(block);
      const int64_t tile_bytes = layout_.block_floats() * static_cast<int64_t>(sizeof(float));
      const int64_t tile_groups = pieces_of(tiles.size, std::max<int64_t>(1, kWeightBytes / tile_bytes));
      for (int64_t i = 0; i < tile_groups; ++i) {
        const Part part = part_of(tiles.size, tile_groups, i);
        const int64_t row = (tiles.begin + part.begin) * kFipRows;
        for (int64_t j = 0; j < panels.size; ++j) {
          const int64_t pixel = (panels.begin + j) * kFipWidth;
          float* const of_panel = sums + j * 2 * kFipWidth;
          FipArgs args{};
          if (i == 0) {
            pairs[j] =
                ~pixels_.scale(
                    w, call.input, place.x, pixel, steps, scales_.data() + place.group * layout_.k.steps(),
                    {.columns = kFipWidth, .to = scaled + j * floats, .sums = of_panel, .inverse_scale = inverse + j * kFipWidth}) == 0;
            std::copy_n(of_panel + kFipWidth + kFipWidth / 2, kFipWidth / 2, of_panel + kFipWidth / 2);  // of the second vector's pattern
            const bool more_panels = j + 1 < panels.size, more_blocks = block + 1 < layout_.k.blocks();
            if (more_panels || !more_blocks)
              args.rows_ahead = pixels_.source(w, place.x, pixel + kFipWidth, steps);
            else
              args.rows_ahead = pixels_.source(w, place.x, panels.begin * kFipWidth, layout_.k.block(block + 1));
          }
          args.tile = tile_args(call, place, row, pixel, block == 0, block == layout_.k.blocks() - 1);
          args.tile.b = scaled + j * floats;
          args.tile.k = steps.size;
          args.right_sums = of_panel;
          args.right_inverse = inverse + j * kFipWidth;
          args.rows_ahead_step = w.input_size();
          args.rows_ahead_count = pieces_of(kFipGroup, part.size);
          run_panel(place, {tiles.begin + part.begin, part.size}, block, args, pairs[j], plain);
        }
      }
    }
    const Part top = rows_of(tiles.begin), bottom = rows_of(tiles.begin + tiles.size - 1);
    const int64_t column = panels.begin * kFipWidth, image = w.output_size();
    const int64_t at = (place.out_plane + top.begin) * image + column;
    finish_channels(clamp_.activates, activation_, (place.out_plane + top.begin) % channels_.out, call.y + at,
                    bottom.begin + bottom.size - top.begin, std::min(image, (panels.begin + panels.size) * kFipWidth) - column, image,
                    call.addend_at(at));
  }

  /// Tiles of rows times the panel of pixels that begins at `column`. A tile's weights, which come from far, are fetched while the one
  /// before it is worked on.
  void run_panel(const Place& place, const Part& tiles, int64_t block, FipArgs args, bool pairs, float* plain) const {
    const int64_t tile_floats = layout_.tile_floats(), weights = (place.group * tiles_ + tiles.begin) * tile_floats;
    WeightsBlock left = weights_block(layout_, const_cast<float*>(weights_.data()) + weights, block);
    MicroArgs<float>& p = args.tile;
    p.a = left.rows;
    args.left_sums = left.sums;
    args.left_inverse = left.inverse;
    const float* usable = left.usable;
    const bool far = tiles_ * tile_floats * static_cast<int64_t>(sizeof(float)) > kWeightBytes;
    int64_t rows_left = p.k;  // to be fetched
    for (int64_t i = tiles.begin; i < tiles.begin + tiles.size; ++i) {
      p.ahead = far && i + 1 < tiles.begin + tiles.size ? p.a + tile_floats : nullptr;
      multiply_fip_tile(fip_, plain_, args, rows_of(i).size, pairs ? static_cast<uint32_t>(*usable) : 0, plain);
      move_rows(p, kFipRows);
      if (args.rows_ahead) {
        const int64_t fetched = p.k / kFipGroup * args.rows_ahead_count;
        rows_left -= fetched;
        args.rows_ahead = rows_left > 0 ? args.rows_ahead + fetched * args.rows_ahead_step : nullptr;
      }
      p.a += tile_floats - kFipRows;
      args.left_sums += tile_floats;
      args.left_inverse += tile_floats;
      usable += tile_floats;
    }
  }

  Part rows_of(int64_t tile) const { return {tile * kFipRows, std::min(kFipRows, out_ - tile * kFipRows)}; }

  /// What comes after the sums of some rows, which begin at `row`, and the pixels from `column` on.
  MicroArgs<float> tile_args(const ConvCall<float>& call, const Place& place, int64_t row, int64_t column, bool first, bool last) const {
    const int64_t image = call.window.output_size(), at = (place.out_plane + row) * image + column;
    MicroArgs<float> p{};
    p.fold = kFipConvFold;
    p.a_row = 1;
    p.a_k = kFipRows;
    p.b_k = kFipWidth;
    p.ahead_step = kFipRows * kFipGroup;
    p.c = call.y + at;
    p.c_row = image;
    p.columns = std::min(kFipWidth, image - column);
    p.beta = first ? 0.0f : 1.0f;
    p.low = last ? clamp_.low : -std::numeric_limits<float>::infinity();
    p.high = last ? clamp_.high : std::numeric_limits<float>::infinity();
    if (last && !bias_.empty()) p.row_bias = bias_.data() + place.group * out_ + row;
    if (call.residual && (call.residual == call.y ? first : last)) p.residual = call.residual + at;
    p.residual_row = image;
    p.residual_scale = 1;
    p.c_is_far = out_ * image * static_cast<int64_t>(sizeof(float)) >= kFarBytes;
    return p;
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const FipKernels& fip_;
  const MicroKernels<float>& plain_;
  const int64_t in_, out_;
  const WeightsLayout layout_;
  const int64_t tiles_;
  const FipPixels pixels_;
  SharedArray<float> weights_;
  std::vector<float> scales_, bias_;
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_conv_fip(const ConvChannels& channels, const Window& window, const float* weights,
                                                        const float* bias, const Activation& activation) {
  return std::make_unique<ConvFip>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
