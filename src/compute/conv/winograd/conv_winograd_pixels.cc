#include <algorithm>
#include <atomic>
#include <vector>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_bands.h"
#include "compute/conv/conv_impl.h"
#include "compute/conv/conv_pack.h"
#include "compute/conv/winograd/conv_winograd.h"
#include "compute/gemm/gemm_fip.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

// Of transformed inputs that are kept for all output channels: the less the faster they are read, but each band reads all weights.
constexpr int64_t kInputBytes = 512 << 10, kMostInputBytes = 1088 << 10;
constexpr size_t kNearWeights = 2 << 20, kMostWeights = 4 << 20;  // the latter where there are kManyBands anyhow
constexpr int64_t kManyBands = 4;
constexpr int64_t kProductBytes = 128 << 10;  // of one panel
constexpr int64_t kWinogradFipFold = 96;      // products by pairs that are added up before they join a longer sum

/// Output channels as columns, tiles of kSize x kSize outputs as rows: whatever the size of the plane, vectors are full. Products may be
/// made by pairs (gemm_fip.h).
template <int64_t kSize>
class ConvWinogradPixels final : public Convolution<float>::Impl {
  static constexpr int64_t kPositions = winograd_positions(kSize);

 public:
  ConvWinogradPixels(const ConvChannels& channels, const Window& window, const float* weights, const float* bias,
                     const Activation& activation, bool by_pairs)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        products_(micro_kernels<float>()),
        transforms_(kSize == 2 ? winograd_kernels_for_width(products_.columns).two : winograd_kernels_for_width(products_.columns).four),
        planes_(conv_kernels_for_width<float>(products_.columns)),
        in_(channels.in / channels.groups * window.kernel[0]),
        out_(channels.out / channels.groups),
        panels_(pieces_of(out_, products_.columns)),
        fip_(by_pairs ? fip_kernels() : nullptr),
        layout_{in_, products_.columns, in_ + kFipGroup} {
    bias_.resize(static_cast<size_t>(channels.groups * panels_ * products_.columns));
    for (int64_t i = 0; bias && i < channels.out; ++i)
      bias_[static_cast<size_t>(i / out_ * panels_ * products_.columns + i % out_)] = bias[i];
    pack(weights);
  }

  /// Whether weights could be packed as they were to be.
  bool is_usable() const { return usable_; }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const int64_t planes = call.batch * channels_.groups * w.output[0];
    Bands bands(w, in_, weight_bytes());
    const double operations = static_cast<double>(kPositions * bands.rows * bands.across * panels_ * products_.columns * in_);
    run_bands(
        {planes, bands.rows, bands.across, bands.rows, true, 2 * products_.rows, weight_bytes(), operations}, bands.cuts, parallel,
        [&](int64_t plane, int64_t i) { run_band(band_of(call, bands, plane, i)); },
        [&](int64_t plane, int64_t i) { share_band(band_of(call, bands, plane, i), parallel); });
  }

 private:
  /// How the tiles of a plane are cut.
  struct Bands {
    int64_t rows, across;
    BandCuts cuts;

    Bands(const Window& w, int64_t in, size_t weight_bytes) : rows(pieces_of(w.output[1], kSize)), across(pieces_of(w.output[2], kSize)) {
      const int64_t row_bytes = kPositions * across * in * static_cast<int64_t>(sizeof(float));
      const auto bands_of = [&](int64_t most) { return pieces_of(rows, std::max<int64_t>(1, most / row_bytes)); };
      cuts.count = bands_of(kMostInputBytes);
      if (weight_bytes <= (cuts.count < kManyBands ? kNearWeights : kMostWeights)) cuts.count = bands_of(kInputBytes);
    }
  };

  /// A band of rows of tiles of a plane: a group of an image at a depth.
  struct Band {
    const ConvCall<float>& call;
    int64_t group;
    SummedPlanes x;
    int64_t y;  ///< offset of the first output channel
    Part rows;
    int64_t across;
    Part own;  ///< tiles of these rows that are its own

    int64_t tiles() const { return rows.size * across; }
  };

  Band band_of(const ConvCall<float>& call, const Bands& bands, int64_t plane, int64_t index) const {
    const Window& w = call.window;
    const int64_t depth = plane % w.output[0], group = plane / w.output[0] % channels_.groups;
    const int64_t image = plane / w.output[0] / channels_.groups;
    const float* x = call.x + (image * channels_.in + group * (channels_.in / channels_.groups)) * w.input_size();
    const int64_t y = (image * channels_.out + group * out_) * w.output_size() + depth * w.output[1] * w.output[2];
    const auto [rows, own] = bands.cuts.band(bands.rows, bands.across, index);
    return {call, group, {window_, w, x, depth}, y, rows, bands.across, own};
  }

  /// As [position, input channel, output channel of the panel] for each panel.
  void pack(const float* weights) {
    const int64_t width = products_.columns, pieces = channels_.groups * panels_;
    std::vector<std::vector<float>> scales;
    for (int64_t group = 0; fip_ && group < channels_.groups; ++group) {
      scales.push_back(scales_of(weights + group * out_ * in_ * 9));
      scales_.insert(scales_.end(), scales.back().begin(), scales.back().end());
    }
    std::atomic<bool> usable = std::ranges::none_of(scales, [](const auto& of_group) { return of_group.empty(); });
    if (!usable) return void(usable_ = false);
    const auto begin = [&](size_t piece) { return piece * static_cast<size_t>(panel_size()) * sizeof(float); };
    const auto write = [&](size_t piece, void* memory) {
      const int64_t group = static_cast<int64_t>(piece) / panels_, first = static_cast<int64_t>(piece) % panels_ * width;
      const int64_t live = std::min(width, out_ - first);
      float* to = static_cast<float*>(memory);
      float* const plain = fip_ ? scratch_floats(ScratchSlot::packed_left, kPositions * in_ * width) : to;
      pack_winograd(kSize, weights + (group * out_ + first) * in_ * 9, in_, live, width, plain);
      for (int64_t i = 0; fip_ && i < kPositions; ++i, to += position_size()) {
        std::copy_n(plain + i * in_ * width, in_ * width, to);
        std::fill(to + in_ * width, to + layout_.steps() * width, 0.0f);
        if (!scale_fip_columns(layout_, scales[static_cast<size_t>(group)], to)) usable = false;
      }
    };
    weights_ = SharedArray<float>(share_pieces({static_cast<size_t>(pieces), begin, write}, 0), static_cast<size_t>(pieces * panel_size()));
    usable_ = usable;
  }

  /// The scale of each input channel of a group (fip_scales), by the weights of all taps.
  std::vector<float> scales_of(const float* weights) const {
    const FipLayout taps{9 * in_, out_};
    const std::vector<float> of_taps = fip_scales(taps, weights, true, 9 * in_);
    if (of_taps.empty()) return {};
    std::vector<float> scales(static_cast<size_t>(layout_.steps()), 1.0f);
    for (int64_t i = 0; i < in_; ++i) {
      const auto first = of_taps.begin() + 9 * i;
      scales[static_cast<size_t>(i)] = *std::max_element(first, first + 9);
    }
    return scales;
  }

  int64_t position_size() const { return fip_ ? layout_.panel_floats() : in_ * products_.columns; }
  int64_t panel_size() const { return kPositions * position_size(); }
  const float* weights_at(int64_t group, int64_t panel) const { return weights_.data() + (group * panels_ + panel) * panel_size(); }

  /// A weight as pack_winograd() made it; `panel` is one of a group's panels.
  float weight(int64_t group, const float* panel, int64_t position, int64_t channel, int64_t column) const {
    const float* const at = panel + position * position_size();
    const float value = at[channel * products_.columns + column];
    if (!fip_) return value;
    return value * layout_.inverse_scale(at)[column] * scales_[static_cast<size_t>(group * layout_.steps() + channel)];
  }

  /// Between positions of a band's transformed inputs: not a power of two.
  int64_t apart(const Band& band) const { return in_ * band.tiles() + 16; }

  void run_band(const Band& band) const {
    float* inputs = scratch_floats(ScratchSlot::packed_right, kPositions * apart(band) + kFipWidth);  // whole panels are read
    transform_inputs(band, {0, in_}, inputs);
    const ScaledTiles scaled = scaled_tiles(band);
    for (int64_t i = 0; fip_ && i < kPositions; ++i) scale_position(band, i, inputs, scaled);
    run_panels(band, {0, panels_}, band.own, {inputs, scaled});
  }

  /// The same on several threads, which share what one after the other has transformed.
  void share_band(const Band& band, const Parallel& parallel) const {
    constexpr int64_t kLeastChannels = 16;
    const int64_t most = 4 * parallel.threads(), parts = std::clamp<int64_t>(in_ / kLeastChannels, 1, most);
    float* inputs = scratch_floats(ScratchSlot::packed_right, kPositions * apart(band) + kFipWidth);  // whole panels are read
    parallel.for_pieces(parts, [&](int64_t i) { transform_inputs(band, share_of(in_, parts, i), inputs); });
    const ScaledTiles scaled = scaled_tiles(band);
    if (fip_) parallel.for_pieces(kPositions, [&](int64_t i) { scale_position(band, i, inputs, scaled); });
    share_panels(panels_, band.rows.size, parallel, [&](const Part& panels, const Part& rows) {
      run_panels(band, panels, {rows.begin * band.across, rows.size * band.across}, {inputs, scaled});
    });
  }

  /// Transformed inputs of a band for products by pairs: at each position, panels of tiles, cut into tiles of rows.
  struct ScaledTiles {
    int64_t panels;
    float* rows;      ///< [position, panel, kFipWidth / kFipRows][row_floats]
    float* sums;      ///< [position, panel, kFipWidth, 2]
    float* inverse;   ///< [position, panel, kFipWidth]
    uint32_t* pairs;  ///< [position, panel]: bits of tiles
  };

  /// Of a band, plain or by pairs.
  struct Inputs {
    const float* plain;
    const ScaledTiles& scaled;
  };

  int64_t row_floats() const { return fip_tile(in_); }

  ScaledTiles scaled_tiles(const Band& band) const {
    if (!fip_) return {};
    const int64_t panels = pieces_of(band.tiles(), kFipWidth), count = kPositions * panels;
    const int64_t rows = count * (kFipWidth / kFipRows) * row_floats();
    float* const memory = scratch_floats(ScratchSlot::image, rows + count * (3 * kFipWidth + 1));
    return {panels, memory, memory + rows, memory + rows + count * 2 * kFipWidth,
            reinterpret_cast<uint32_t*>(memory + rows + count * 3 * kFipWidth)};
  }

  void scale_position(const Band& band, int64_t position, const float* inputs, const ScaledTiles& to) const {
    for (int64_t i = 0; i < to.panels; ++i) {
      const int64_t at = position * to.panels + i;
      float sums[2 * kFipWidth];
      to.pairs[at] = fip_->scale_panel({.b = inputs + position * apart(band) + i * kFipWidth,
                                        .b_row = band.tiles(),
                                        .columns = std::min(kFipWidth, band.tiles() - i * kFipWidth),
                                        .k = in_,
                                        .scale = scales_.data() + band.group * layout_.steps(),
                                        .tiles = to.rows + at * (kFipWidth / kFipRows) * row_floats(),
                                        .sums = sums,
                                        .inverse_scale = to.inverse + at * kFipWidth});
      for (int64_t j = 0; j < 2 * kFipWidth; ++j) to.sums[2 * at * kFipWidth + j] = sums[j % 2 * kFipWidth + j / 2];
    }
  }

  /// Some tiles of a band for some panels.
  void run_panels(const Band& band, const Part& panels, const Part& tiles, const Inputs& inputs) const {
    const int64_t across = band.across, row_bytes = kPositions * across * products_.columns * static_cast<int64_t>(sizeof(float));
    const int64_t first = tiles.begin / across, end = tiles.begin + tiles.size, rows = pieces_of(end, across) - first;
    const int64_t parts = pieces_of(rows, std::max<int64_t>(1, kProductBytes / row_bytes));
    const int64_t groups = pieces_of(panels.size, panels_at_once(band));
    for (int64_t group = 0; group < groups; ++group) {
      const Part some_panels = part_of(panels.size, groups, group);
      for (int64_t i = 0; i < parts; ++i) {
        throw_if_cancelled();
        const Part some = part_of(rows, parts, i);
        const int64_t from = std::max(tiles.begin, (first + some.begin) * across);
        run_group(band, {panels.begin + some_panels.begin, some_panels.size},
                  {from, std::min(end, (first + some.begin + some.size) * across) - from}, inputs);
      }
    }
  }

  /// Panels that take the inputs of a position one after the other, where those of all positions do not stay in the second-level cache.
  int64_t panels_at_once(const Band& band) const {
    constexpr int64_t kMostPanels = 4;
    const int64_t bytes = kPositions * apart(band) * static_cast<int64_t>(sizeof(float));
    return bytes <= cpu_features().l2_bytes * 3 / 4 ? 1 : kMostPanels;
  }

  void run_group(const Band& band, const Part& panels, const Part& tiles, const Inputs& inputs) const {
    const int64_t size = kPositions * tiles.size * products_.columns;
    float* const products = scratch_floats(ScratchSlot::packed_left, panels.size * size);
    float* const sums = scratch_floats(ScratchSlot::row, kSize * kSize * tiles.size * products_.columns);
    for (int64_t position = 0; position < kPositions; ++position) {
      for (int64_t i = 0; i < panels.size; ++i) {
        const int64_t panel = panels.begin + i;
        const float* const weights = weights_at(band.group, panel) + position * position_size();
        const float* next = i + 1 < panels.size ? weights + panel_size() : nullptr;
        if (!next && position + 1 < kPositions) next = weights_at(band.group, panels.begin) + (position + 1) * position_size();
        if (!next && panel + 1 < panels_) next = weights_at(band.group, panel + 1);
        const Multiplied m{position, tiles, weights, next, products + i * size + position * tiles.size * products_.columns};
        if (fip_)
          multiply_pairs(band, m, inputs.scaled);
        else
          multiply(band, m, inputs.plain);
      }
    }
    for (int64_t i = 0; i < panels.size; ++i) finish(band, panels.begin + i, tiles, products + i * size, sums);
  }

  /// Some channels as [position, channel, tile].
  void transform_inputs(const Band& band, const Part& channels, float* to) const {
    const Window& w = band.call.window;
    const int64_t row = kSize * band.rows.begin - w.pad_begin[1], column = -w.pad_begin[2];
    WinogradInputs p{};
    p.x_row = w.input[2];
    p.left = -column;
    p.right = w.input[2] - column;
    p.ahead = 2 * w.input_size();
    p.rows = band.rows.size;
    p.columns = band.across;
    p.count = band.tiles();
    p.panel = products_.columns;  // panels follow each other
    p.apart = apart(band);
    for (int64_t channel = channels.begin; channel < channels.begin + channels.size; ++channel) {
      const float* const x = band.x[channel];
      p.x = x ? x + row * w.input[2] + column : band.call.x;  // read nowhere if all is padding
      p.top = x ? -row : 0;
      p.bottom = x ? w.input[1] - row : 0;
      p.to = to + channel * band.tiles();
      transforms_.inputs(p);
    }
  }

  /// Products of some tiles of a band at a position for one panel.
  struct Multiplied {
    int64_t position;
    Part tiles;
    const float* weights;
    const float* next;  ///< weights that come after these, or null
    float* to;          ///< [tile, channel]
  };

  MicroArgs<float> product_args(const Multiplied& m) const {
    MicroArgs<float> p{};
    p.a_row = 1;
    p.b = m.weights;
    p.b_k = products_.columns;
    p.c_row = products_.columns;
    p.columns = products_.columns;
    return p;
  }

  void multiply(const Band& band, const Multiplied& m, const float* inputs) const {
    const int64_t width = products_.columns, chunks = pieces_of(m.tiles.size, products_.rows), share = in_ * width / chunks;
    MicroArgs<float> p = product_args(m);
    p.k = in_;
    p.fold = kWinogradFold;
    p.a_k = band.tiles();
    p.ahead_step = pieces_of(width, chunks);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const Part rows = part_of(m.tiles.size, chunks, chunk);
      p.a = inputs + m.position * apart(band) + m.tiles.begin + rows.begin;
      p.c = m.to + rows.begin * width;
      p.ahead = m.next ? m.next + chunk * share : nullptr;  // each chunk brings its share of what comes next nearer
      products_.alike[rows.size](p);
    }
  }

  /// The same by pairs.
  void multiply_pairs(const Band& band, const Multiplied& m, const ScaledTiles& scaled) const {
    constexpr int64_t kTiles = kFipWidth / kFipRows;
    const int64_t end = m.tiles.begin + m.tiles.size;
    float plain[kFipRows * kFipWidth];
    FipArgs args{};
    args.right_sums = layout_.sums(m.weights, 0);
    args.right_inverse = layout_.inverse_scale(m.weights);
    MicroArgs<float>& p = args.tile;
    p = product_args(m);
    p.k = layout_.steps();
    p.fold = kWinogradFipFold;
    p.a_k = kFipRows;
    p.ahead = m.next;
    p.ahead_step = pieces_of(pieces_of(kFipGroup * kFipWidth, pieces_of(m.tiles.size, kFipRows)), 16) * 16;
    const float* const last = m.next + p.k * kFipWidth;
    for (int64_t i = m.tiles.begin / kFipWidth; i * kFipWidth < end; ++i) {
      const int64_t at = m.position * scaled.panels + i, columns = std::min(kFipWidth, band.tiles() - i * kFipWidth);
      const int64_t parts = pieces_of(columns, kFipRows);
      for (int64_t part = 0; part < parts; ++part) {
        const Part of_panel = part_of(columns, parts, part);
        const int64_t first = i * kFipWidth + of_panel.begin;
        const int64_t from = std::max(first, m.tiles.begin), to = std::min(first + of_panel.size, end);
        if (from >= to) continue;
        p.a = scaled.rows + (at * kTiles + part) * row_floats() + (from - first);
        p.c = m.to + (from - m.tiles.begin) * kFipWidth;
        const int64_t row = at * kFipWidth + from - i * kFipWidth;
        args.left_sums = scaled.sums + 2 * row;
        args.left_inverse = scaled.inverse + row;
        multiply_fip_tile(*fip_, products_, args, to - from, scaled.pairs[at] >> (from - i * kFipWidth), plain);
        if (!p.ahead) continue;
        p.ahead += p.k / kFipGroup * p.ahead_step;
        if (p.ahead >= last) p.ahead = nullptr;
      }
    }
  }

  /// Some tiles side by side, in whole rows or in one.
  struct Block {
    int64_t row, column;  ///< of the plane, in tiles
    int64_t rows, across;
  };

  /// The outputs of some tiles of a band, whose products these are.
  void finish(const Band& band, int64_t panel, const Part& tiles, const float* products, float* sums) const {
    const int64_t width = products_.columns, end = tiles.begin + tiles.size;
    for (int64_t tile = tiles.begin, rows, across; tile < end; tile += rows * across) {
      const int64_t column = tile % band.across;
      across = std::min(band.across - column, end - tile);
      rows = across == band.across ? (end - tile) / across : 1;
      WinogradPixels p{};
      p.products = products + (tile - tiles.begin) * width;
      p.apart = tiles.size * width;
      p.to = sums;
      finish_block(band, panel, {band.rows.begin + tile / band.across, column, rows, across}, p);
    }
  }

  void finish_block(const Band& band, int64_t panel, const Block& block, WinogradPixels& p) const {
    const Window& w = band.call.window;
    const int64_t width = products_.columns, first = panel * width, channels = std::min(width, out_ - first);
    p.tiles = block.rows * block.across;
    p.across = block.across;
    p.bias = bias_.data() + (band.group * panels_ + panel) * width;
    p.rows = std::min(kSize * block.rows, w.output[1] - kSize * block.row);
    p.columns = std::min(kSize * block.across, w.output[2] - kSize * block.column);
    for (; (p.first = transforms_.pixels(p)) < p.tiles; ++p.first) sum_plainly(band, panel, channels, block, p);
    // Rows that lie together are written at once.
    const int64_t lines = p.columns == w.output[2] ? 1 : p.rows, pixels = p.rows * p.columns / lines, plane = w.output_size();
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t at = band.y + first * plane + (kSize * block.row + line) * w.output[2] + kSize * block.column;
      float* y = band.call.y + at;
      const float* residual = band.call.residual ? band.call.residual + at : nullptr;
      finish_pixels(planes_, {p.to + line * pixels * width, width, pixels, channels, residual, y, plane, clamp_.low, clamp_.high});
      finish_channels(clamp_.activates, activation_, band.group * out_ + first, y, channels, pixels, plane, band.call.addend_at(at));
    }
  }

  /// The sums of tile `p.first` of a block, one of which is not finite.
  void sum_plainly(const Band& band, int64_t panel, int64_t channels, const Block& block, const WinogradPixels& p) const {
    const int64_t width = products_.columns, row = p.first / p.across, column = p.first % p.across;
    const WinogradTile tile{band.call.window, kSize, band.x, in_, block.row + row, block.column + column};
    for (int64_t c = 0; c < channels; ++c) {
      const float* const weights = weights_at(band.group, panel);
      const auto weights_of = [&](int64_t channel, float(&g)[9]) {
        float u[kPositions];
        for (int64_t i = 0; i < kPositions; ++i) u[i] = weight(band.group, weights, i, channel, c);
        winograd_restore(kSize, u, g);
      };
      float sums[kSize * kSize];
      plain_tile(tile, p.bias[c], weights_of, sums);
      for (int64_t i = 0; i < kSize * kSize; ++i) {
        const int64_t h = kSize * row + i / kSize, v = kSize * column + i % kSize;
        if (h < p.rows && v < p.columns) p.to[(h * p.columns + v) * width + c] = sums[i];
      }
    }
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const MicroKernels<float>& products_;
  const WinogradPixelKernels& transforms_;
  const ConvKernels<float, float>& planes_;
  const int64_t in_;  ///< planes of a sum
  const int64_t out_, panels_;
  const FipKernels* const fip_;  ///< or null
  const FipLayout layout_;       ///< of a panel's weights at a position, by pairs
  bool usable_ = true;
  SharedArray<float> weights_;
  PackedVector<float> scales_;  // of each group's inputs, by pairs
  PackedVector<float> bias_;    // of whole panels
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_winograd_pixels(const ConvChannels& channels, const Window& window, const float* weights,
                                                               const float* bias, const Activation& activation) {
  return std::make_unique<ConvWinogradPixels<2>>(channels, window, weights, bias, activation, false);
}

std::unique_ptr<Convolution<float>::Impl> make_winograd_fip(const ConvChannels& channels, const Window& window, const float* weights,
                                                            const float* bias, const Activation& activation) {
  auto made = std::make_unique<ConvWinogradPixels<2>>(channels, window, weights, bias, activation, true);
  if (made->is_usable()) return made;
  return make_winograd_pixels(channels, window, weights, bias, activation);
}

std::unique_ptr<Convolution<float>::Impl> make_winograd_4x4(const ConvChannels& channels, const Window& window, const float* weights,
                                                            const float* bias, const Activation& activation) {
  return std::make_unique<ConvWinogradPixels<4>>(channels, window, weights, bias, activation, false);
}

}  // namespace rh::compute
