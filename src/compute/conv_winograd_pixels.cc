#include <algorithm>
#include <limits>
#include <vector>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv_bands.h"
#include "compute/conv_impl.h"
#include "compute/conv_pack.h"
#include "compute/conv_winograd.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

// Of transformed inputs that are kept for all output channels: the less the faster they are read, but each band reads all weights.
constexpr int64_t kInputBytes = 512 << 10, kMostInputBytes = 1088 << 10;
constexpr size_t kNearWeights = 2 << 20, kMostWeights = 4 << 20;  // the latter where there are kManyBands anyhow
constexpr int64_t kManyBands = 4;
constexpr int64_t kProductBytes = 128 << 10;  // of one panel

/// Output channels as columns, tiles of kSize x kSize outputs as rows: whatever the size of the plane, vectors are full.
template <int64_t kSize>
class ConvWinogradPixels final : public Convolution<float>::Impl {
  static constexpr int64_t kPositions = winograd_positions(kSize);

 public:
  ConvWinogradPixels(const ConvChannels& channels, const Window& window, const float* weights, const float* bias,
                     const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        products_(micro_kernels<float>()),
        transforms_(kSize == 2 ? winograd_kernels_for_width(products_.columns).two : winograd_kernels_for_width(products_.columns).four),
        planes_(conv_kernels_for_width<float>(products_.columns)),
        in_(channels.in / channels.groups * window.kernel[0]),
        out_(channels.out / channels.groups),
        panels_(pieces_of(out_, products_.columns)) {
    bias_.resize(static_cast<size_t>(channels.groups * panels_ * products_.columns));
    for (int64_t i = 0; bias && i < channels.out; ++i)
      bias_[static_cast<size_t>(i / out_ * panels_ * products_.columns + i % out_)] = bias[i];
    pack(weights);
  }

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
    const auto begin = [&](size_t piece) { return piece * static_cast<size_t>(panel_size()) * sizeof(float); };
    const auto write = [&](size_t piece, void* memory) {
      const int64_t group = static_cast<int64_t>(piece) / panels_, first = static_cast<int64_t>(piece) % panels_ * width;
      const int64_t live = std::min(width, out_ - first);
      float* to = static_cast<float*>(memory);
      pack_winograd(kSize, weights + (group * out_ + first) * in_ * 9, in_, live, width, to);
    };
    weights_ = SharedArray<float>(share_pieces({static_cast<size_t>(pieces), begin, write}, 0), static_cast<size_t>(pieces * panel_size()));
  }

  int64_t panel_size() const { return kPositions * in_ * products_.columns; }

  /// Between positions of a band's transformed inputs: not a power of two.
  int64_t apart(const Band& band) const { return in_ * band.tiles() + 16; }

  void run_band(const Band& band) const {
    float* inputs = scratch_floats(ScratchSlot::packed_right, kPositions * apart(band));
    transform_inputs(band, {0, in_}, inputs);
    for (int64_t panel = 0; panel < panels_; ++panel) run_panel(band, panel, band.own, inputs);
  }

  /// The same on several threads, which share what one after the other has transformed.
  void share_band(const Band& band, const Parallel& parallel) const {
    constexpr int64_t kLeastChannels = 16;
    const int64_t most = 4 * parallel.threads(), parts = std::clamp<int64_t>(in_ / kLeastChannels, 1, most);
    float* inputs = scratch_floats(ScratchSlot::packed_right, kPositions * apart(band));
    parallel.for_pieces(parts, [&](int64_t i) { transform_inputs(band, share_of(in_, parts, i), inputs); });
    share_panels(panels_, band.rows.size, parallel, [&](int64_t panel, const Part& rows) {
      run_panel(band, panel, {rows.begin * band.across, rows.size * band.across}, inputs);
    });
  }

  /// Some tiles of a band for one panel.
  void run_panel(const Band& band, int64_t panel, const Part& tiles, const float* inputs) const {
    throw_if_cancelled();
    const int64_t across = band.across, width = products_.columns,
                  row_bytes = kPositions * across * width * static_cast<int64_t>(sizeof(float));
    const int64_t first = tiles.begin / across, end = tiles.begin + tiles.size, rows = pieces_of(end, across) - first;
    const int64_t parts = pieces_of(rows, std::max<int64_t>(1, kProductBytes / row_bytes)), most = pieces_of(rows, parts) * across;
    float* products = scratch_floats(ScratchSlot::packed_left, kPositions * most * width);
    float* sums = scratch_floats(ScratchSlot::row, kSize * kSize * most * width);
    for (int64_t i = 0; i < parts; ++i) {
      const Part some = part_of(rows, parts, i);
      const int64_t from = std::max(tiles.begin, (first + some.begin) * across);
      const Part part{from, std::min(end, (first + some.begin + some.size) * across) - from};
      multiply(band, panel, part, i + 1 == parts && panel + 1 < panels_, inputs, products);
      finish(band, panel, part, products, sums);
    }
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

  /// Products of some tiles for one panel as [position, tile, channel].
  void multiply(const Band& band, int64_t panel, const Part& tiles, bool more, const float* inputs, float* products) const {
    const int64_t width = products_.columns, chunks = pieces_of(tiles.size, products_.rows);
    const int64_t share = in_ * width / chunks;
    MicroArgs<float> p{};
    p.k = in_;
    p.fold = kWinogradFold;
    p.a_row = 1;
    p.a_k = band.tiles();
    p.b_k = width;
    p.c_row = width;
    p.columns = width;
    p.alpha = 1;
    p.low = -std::numeric_limits<float>::infinity();
    p.high = std::numeric_limits<float>::infinity();
    p.ahead_step = pieces_of(width, chunks);
    p.b = weights_.data() + (band.group * panels_ + panel) * panel_size();
    for (int64_t position = 0; position < kPositions; ++position, p.b += in_ * width) {
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const Part rows = part_of(tiles.size, chunks, chunk);
        p.a = inputs + position * apart(band) + tiles.begin + rows.begin;
        p.c = products + (position * tiles.size + rows.begin) * width;
        // Each chunk brings its share of the next position's weights nearer.
        p.ahead = more || position + 1 < kPositions ? p.b + in_ * width + chunk * share : nullptr;
        products_.alike[rows.size](p);
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
      if (clamp_.activates) activate_rows(activation_, y, channels, pixels, plane);
    }
  }

  /// The sums of tile `p.first` of a block, one of which is not finite.
  void sum_plainly(const Band& band, int64_t panel, int64_t channels, const Block& block, const WinogradPixels& p) const {
    const int64_t width = products_.columns, row = p.first / p.across, column = p.first % p.across;
    const WinogradTile tile{band.call.window, kSize, band.x, in_, block.row + row, block.column + column};
    for (int64_t c = 0; c < channels; ++c) {
      const float* weights = weights_.data() + (band.group * panels_ + panel) * panel_size() + c;
      const auto weights_of = [&](int64_t channel, float(&g)[9]) {
        float u[kPositions];
        for (int64_t i = 0; i < kPositions; ++i) u[i] = weights[(i * in_ + channel) * width];
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
  SharedArray<float> weights_;
  std::vector<float> bias_;  // of whole panels
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_winograd_pixels(const ConvChannels& channels, const Window& window, const float* weights,
                                                               const float* bias, const Activation& activation) {
  return std::make_unique<ConvWinogradPixels<2>>(channels, window, weights, bias, activation);
}

std::unique_ptr<Convolution<float>::Impl> make_winograd_4x4(const ConvChannels& channels, const Window& window, const float* weights,
                                                            const float* bias, const Activation& activation) {
  return std::make_unique<ConvWinogradPixels<4>>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
