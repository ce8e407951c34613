#include <algorithm>
#include <vector>

#include "base/cancellation.h"
#include "compute/conv/conv_fip.h"
#include "compute/conv/conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kMostPanels = 8;  // of pixels that are gathered together
constexpr int64_t kTilesOfPanel = kFipWidth / kFipRows;
constexpr int64_t kSumBytes = 512 << 10;  // of the sums of one group

/// Output channels as columns, pixels as rows: for planes whose pixels do not fill panels well. k counts kernel positions first and input
/// channels within each.
class ConvFipPixels final : public Convolution<float>::Impl {
 public:
  ConvFipPixels(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        fip_(*fip_kernels()),
        plain_(micro_kernels_for_width<float>(kFipWidth)),
        gather_(conv_kernels_for_width<float>(kFipWidth)),
        in_(channels.in / channels.groups),
        out_(channels.out / channels.groups),
        layout_{in_ * window.kernel_size(), out_, kFipConvBlock},
        pixels_(channels, window) {
    const int64_t width = layout_.panels() * kFipWidth;
    bias_.resize(static_cast<size_t>(channels.groups * width));
    for (int64_t i = 0; bias && i < channels.out; ++i) bias_[static_cast<size_t>(i / out_ * width + i % out_)] = bias[i];
    std::vector<float> ordered;
    const float* const by_tap = weights_by_tap(weights, channels.out, in_, window.kernel_size(), ordered);
    for (int64_t g = 0; g < channels.groups; ++g) weights_.push_back(pack_fip(layout_, by_tap + g * out_ * layout_.k(), true, layout_.k()));
  }

  bool is_usable() const {
    return std::ranges::none_of(weights_, [](const auto& of_group) { return of_group == nullptr; });
  }

  size_t weight_bytes() const override { return weights_.size() * static_cast<size_t>(layout_.floats()) * sizeof(float); }
  bool scales_input() const override { return reads_one_pixel(channels_, window_); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const Pixels pixels(w.output_size(), parallel.threads());
    const int64_t products = call.batch * channels_.groups;
    const double m = static_cast<double>(w.output_size()), n = static_cast<double>(out_), k = static_cast<double>(layout_.k());
    const double operations = m * n * k / kFipSpeed;
    Grid grid;
    if (products < 4 * parallel.threads()) {
      const double gathering = is_pointwise(window_, w) ? 8 : 10;  // and scaling
      grid = choose_grid(pixels.panels, layout_.panels(), operations, gathering * m * k * sizeof(float), n * k * sizeof(float),
                         parallel.threads(), kFipLateness);
    }
    deal_pieces(products, grid, operations, parallel, [&](int64_t product, int64_t i) { run_piece(call, product, grid, i, pixels); });
  }

 private:
  /// The pixels of an image, cut into as many panels for each thread, where these do not get too small for it, that begin at multiples of a
  /// tile's rows. No bits depend on that.
  struct Pixels {
    Pixels(int64_t count, int64_t threads) : count(count), panels(pieces_of(count, kFipWidth)) {
      const int64_t even = pieces_of(panels, threads) * threads;
      if (even * 2 * kFipRows <= count) panels = even;
    }
    int64_t begin(int64_t panel) const {
      const int64_t nearest = (count * panel + kFipRows / 2 * panels) / (kFipRows * panels) * kFipRows;
      return panel < panels ? std::max(nearest, count - (panels - panel) * kFipWidth) : count;
    }

    int64_t count, panels;
  };

  /// Some panels of pixels of one image times some panels of output channels.
  struct Group {
    const ConvCall<float>& call;
    const Pixels& all;
    int64_t image, group;
    Part rows, columns;

    /// Of a panel of them, beside the first pixel.
    int64_t begin(int64_t panel) const { return all.begin(rows.begin + panel) - first_pixel(); }
    int64_t first_pixel() const { return all.begin(rows.begin); }
    int64_t pixels() const { return begin(rows.size); }
  };

  /// A block of pixels of a group as tiles read them.
  struct Scaled {
    float* tiles;                 ///< [panels][kTilesOfPanel][steps, kFipRows]
    float* sums;                  ///< [panels][kFipWidth, 2]
    float* inverse;               ///< [panels][kFipWidth]
    uint32_t pairs[kMostPanels];  ///< bits of pixels
  };

  /// Between tiles, at most.
  int64_t tile_floats() const { return fip_tile(layout_.block(0).size); }

  void run_piece(const ConvCall<float>& call, int64_t product, const Grid& grid, int64_t index, const Pixels& pixels) const {
    const Part rows = share_of(pixels.panels, grid.rows, index / grid.columns);
    const Part columns = share_of(layout_.panels(), grid.columns, index % grid.columns);
    if (rows.size == 0 || columns.size == 0) return;
    const int64_t row_groups = pieces_of(rows.size, kMostPanels);
    for (int64_t i = 0; i < row_groups; ++i) {
      const Part part = part_of(rows.size, row_groups, i);
      const int64_t bytes = part.size * kFipWidth * kFipWidth * static_cast<int64_t>(sizeof(float));
      const int64_t column_groups = pieces_of(columns.size, std::max<int64_t>(1, kSumBytes / bytes));
      for (int64_t j = 0; j < column_groups; ++j) {
        const Part some = part_of(columns.size, column_groups, j);
        run_group({call,
                   pixels,
                   product / channels_.groups,
                   product % channels_.groups,
                   {rows.begin + part.begin, part.size},
                   {columns.begin + some.begin, some.size}});
      }
    }
  }

  void run_group(const Group& g) const {
    const int64_t pixels = g.pixels(), tiles = g.rows.size * kTilesOfPanel * tile_floats();
    float* const memory = scratch_floats(ScratchSlot::packed_left,
                                         tiles + g.rows.size * 3 * kFipWidth + kFipRows * kFipWidth + g.columns.size * pixels * kFipWidth);
    Scaled scaled{memory, memory + tiles, nullptr, {}};
    scaled.inverse = scaled.sums + g.rows.size * 2 * kFipWidth;
    float* const plain = scaled.inverse + g.rows.size * kFipWidth;
    float* const sums = plain + kFipRows * kFipWidth;
    for (int64_t block = 0; block < layout_.blocks(); ++block) {
      throw_if_cancelled();
      scale(g, layout_.block(block), scaled);
      for (int64_t i = 0; i < g.columns.size; ++i) run_panel(g, i, block, scaled, plain, sums + i * pixels * kFipWidth);
    }
    for (int64_t i = 0; i < g.columns.size; ++i) finish(g, i, sums + i * pixels * kFipWidth);
  }

  void scale(const Group& g, const Part& steps, Scaled& scaled) const {
    const float* const x = g.call.x + (g.image * channels_.in + g.group * in_) * g.call.window.input_size();
    const float* const scales = layout_.left_scale(weights_[static_cast<size_t>(g.group)].get());
    for (int64_t i = 0; i < g.rows.size; ++i) {
      float sums[2 * kFipWidth] = {};
      scaled.pairs[i] = pixels_.scale(g.call.window, g.call.input, x, g.first_pixel() + g.begin(i), steps, scales,
                                      {.columns = g.begin(i + 1) - g.begin(i),
                                       .tiles = scaled.tiles + i * kTilesOfPanel * tile_floats(),
                                       .sums = sums,
                                       .inverse_scale = scaled.inverse + i * kFipWidth});
      for (int64_t j = 0; j < 2 * kFipWidth; ++j) scaled.sums[2 * i * kFipWidth + j] = sums[j % 2 * kFipWidth + j / 2];
    }
  }

  void run_panel(const Group& g, int64_t index, int64_t block, const Scaled& scaled, float* plain, float* sums) const {
    const int64_t panel = g.columns.begin + index;
    const Part steps = layout_.block(block);
    const float* const right = layout_.panel(weights_[static_cast<size_t>(g.group)].get(), panel);
    FipArgs args{};
    args.right_sums = layout_.sums(right, block);
    args.right_inverse = layout_.inverse_scale(right);
    MicroArgs<float>& p = args.tile;
    p.k = steps.size;
    p.fold = kFipConvFold;
    p.a_row = 1;
    p.a_k = kFipRows;
    p.b = right + steps.begin * kFipWidth;
    p.b_k = kFipWidth;
    p.c_row = kFipWidth;
    p.columns = kFipWidth;
    p.beta = block == 0 ? 0.0f : 1.0f;
    if (block == 0) p.column_bias = bias_.data() + (g.group * layout_.panels() + panel) * kFipWidth;
    // Each tile brings its share of the next panel's weights nearer.
    const int64_t tiles = pieces_of(g.pixels(), kFipRows);
    if (index + 1 < g.columns.size) p.ahead = p.b + layout_.panel_floats();
    p.ahead_step = pieces_of(pieces_of(kFipGroup * kFipWidth, tiles), 16) * 16;
    const float* const end = p.ahead + steps.size * kFipWidth;
    for (int64_t i = 0; i < g.rows.size; ++i) {
      const int64_t first = g.begin(i), pixels = g.begin(i + 1) - first;
      const int64_t parts = pieces_of(pixels, kFipRows);
      for (int64_t tile = 0; tile < parts; ++tile) {
        const Part rows = part_of(pixels, parts, tile);
        p.a = scaled.tiles + i * kTilesOfPanel * tile_floats() + tile * fip_tile(steps.size);
        p.c = sums + (first + rows.begin) * kFipWidth;
        args.left_sums = scaled.sums + 2 * (i * kFipWidth + rows.begin);
        args.left_inverse = scaled.inverse + i * kFipWidth + rows.begin;
        multiply_fip_tile(fip_, plain_, args, rows.size, scaled.pairs[i] >> rows.begin, plain);
        if (!p.ahead) continue;
        p.ahead += steps.size / kFipGroup * p.ahead_step;
        if (p.ahead >= end) p.ahead = nullptr;
      }
    }
  }

  /// Turns the sums of a panel round into y.
  void finish(const Group& g, int64_t index, const float* sums) const {
    const int64_t plane = g.call.window.output_size(), first = (g.columns.begin + index) * kFipWidth, pixels = g.pixels();
    const int64_t at = (g.image * channels_.out + g.group * out_ + first) * plane + g.first_pixel();
    const PixelSums p{
        sums,  kFipWidth,  pixels,     std::min(kFipWidth, out_ - first), g.call.residual ? g.call.residual + at : nullptr, g.call.y + at,
        plane, clamp_.low, clamp_.high};
    finish_pixels(gather_, p);
    finish_channels(clamp_.activates, activation_, g.group * out_ + first, p.y, p.channels, pixels, plane, g.call.addend_at(at));
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const FipKernels& fip_;
  const MicroKernels<float>& plain_;
  const ConvKernels<float, float>& gather_;
  const int64_t in_, out_;
  const FipLayout layout_;
  const FipPixels pixels_;
  std::vector<std::shared_ptr<const float[]>> weights_;  // of each group
  std::vector<float> bias_;                              // of whole panels
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_conv_fip_pixels(const ConvChannels& channels, const Window& window, const float* weights,
                                                               const float* bias, const Activation& activation) {
  auto made = std::make_unique<ConvFipPixels>(channels, window, weights, bias, activation);
  if (made->is_usable()) return made;
  return make_conv_pixels(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
