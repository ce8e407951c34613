#include "compute/conv/parts/conv_parts.h"

#include <algorithm>
#include <vector>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_bands.h"
#include "compute/conv/conv_impl.h"
#include "compute/conv/conv_pack.h"
#include "compute/conv/parts/conv_parts_inputs.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kInputBytes = 1088 << 10;   // of transformed inputs that are kept for all output channels
constexpr int64_t kProductBytes = 128 << 10;  // of one panel
constexpr int64_t kLeastRowTiles = 64;        // of a band of one row

const PartsKernels& parts_kernels_for_width([[maybe_unused]] int64_t columns) {
#if defined(__x86_64__) || defined(_M_X64)
  if (columns == 32) return kAvx512Parts;
  if (columns == 16) return kAvx2Parts;
#endif
  return kGenericParts;
}

/// Output channels as columns, tiles of up to 2x2 outputs as rows; the sums of a tile's slots are products of inputs and weights that both
/// are sums (PartsAxis).
class ConvParts final : public Convolution<float>::Impl {
 public:
  ConvParts(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        products_(micro_kernels<float>()),
        kernels_(parts_kernels_for_width(products_.columns)),
        planes_(conv_kernels_for_width<float>(products_.columns)),
        layout_(window),
        in_(channels.in / channels.groups * window.kernel[0]),
        out_(channels.out / channels.groups),
        panels_(pieces_of(out_, products_.columns)),
        inputs_(layout_, kernels_, in_, products_.columns / 2) {
    bias_.resize(static_cast<size_t>(channels.groups * panels_ * products_.columns));
    for (int64_t i = 0; bias && i < channels.out; ++i)
      bias_[static_cast<size_t>(i / out_ * panels_ * products_.columns + i % out_)] = bias[i];
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const int64_t planes = call.batch * channels_.groups * w.output[0];
    Bands bands(*this, w);
    const double tiles = static_cast<double>(layout_.rows.tiles(w.output[1]) * layout_.columns.tiles(w.output[2]));
    const double operations = tiles * static_cast<double>(layout_.terms() * panels_ * products_.columns * in_);
    const int64_t alike = bands.is_row || layout_.rows.second_tiles(w.output[1]) == bands.rows ? bands.rows : w.output[1];
    run_bands(
        {planes, bands.rows, bands.across, alike, false, 2 * products_.rows, weight_bytes(), operations}, bands.cuts, parallel,
        [&](int64_t plane, int64_t i) { run_band(band_of(call, bands, plane, i)); },
        [&](int64_t plane, int64_t i) { share_band(band_of(call, bands, plane, i), parallel); });
  }

 private:
  /// How the rows of tiles of a plane are cut. One long row counts as several.
  struct Bands {
    int64_t rows, across;
    bool is_row;
    BandCuts cuts;

    Bands(const ConvParts& conv, const Window& w) : rows(conv.layout_.rows.tiles(w.output[1])) {
      constexpr int64_t kPieces = 4, kFloat = sizeof(float);  // of what may be a band
      const int64_t tiles = conv.layout_.columns.tiles(w.output[2]), tile_bytes = conv.layout_.terms() * conv.in_ * kFloat;
      const int64_t product_bytes = static_cast<int64_t>(conv.layout_.slots.size()) * conv.products_.columns * kFloat;
      const int64_t most = std::max(kLeastRowTiles, std::min(kInputBytes / tile_bytes, kProductBytes / product_bytes));
      is_row = w.output[1] == 1 && tiles > most;
      const int64_t apart = conv.layout_.columns.apart();
      across = is_row ? pieces_of(most / kPieces, apart) * apart : tiles;
      if (is_row) rows = pieces_of(tiles, across);
      cuts.count = pieces_of(rows, is_row ? kPieces : std::max<int64_t>(1, kInputBytes / (tile_bytes * tiles)));
    }
  };

  using Band = PartsBand;

  Band band_of(const ConvCall<float>& call, const Bands& bands, int64_t plane, int64_t index) const {
    const Window& w = call.window;
    const int64_t depth = plane % w.output[0], group = plane / w.output[0] % channels_.groups;
    const int64_t image = plane / w.output[0] / channels_.groups;
    const float* x = call.x + (image * channels_.in + group * (channels_.in / channels_.groups)) * w.input_size();
    const int64_t y = (image * channels_.out + group * out_) * w.output_size() + depth * w.output[1] * w.output[2];
    const Part some = share_of(bands.rows, bands.cuts.count, index), rows = bands.is_row ? Part{0, 1} : some;
    const int64_t first_tile = bands.is_row ? some.begin * bands.across : 0, tiles = layout_.columns.tiles(w.output[2]) - first_tile;
    const int64_t across = bands.is_row ? std::min(tiles, some.size * bands.across) : tiles;
    return {call,
            group,
            {window_, w, x, depth},
            y + layout_.columns.output_of(first_tile),
            rows,
            std::clamp<int64_t>(layout_.rows.second_tiles(w.output[1]) - rows.begin, 0, rows.size),
            across,
            std::clamp<int64_t>(layout_.columns.second_tiles(w.output[2]) - first_tile, 0, across),
            first_tile};
  }

  int64_t panel_size() const { return static_cast<int64_t>(layout_.places.size()) * in_ * products_.columns; }

  /// As [place, input channel, output channel of the panel] for each panel.
  void pack(const float* weights) {
    const int64_t width = products_.columns, taps = window_.kernel[1] * window_.kernel[2], pieces = channels_.groups * panels_;
    const auto begin = [&](size_t piece) { return piece * static_cast<size_t>(panel_size()) * sizeof(float); };
    const auto write = [&](size_t piece, void* memory) {
      const int64_t group = static_cast<int64_t>(piece) / panels_, first = static_cast<int64_t>(piece) % panels_ * width;
      const int64_t live = std::min(width, out_ - first);
      std::vector<float> block(static_cast<size_t>(taps * width));
      std::vector<double> columns(static_cast<size_t>(window_.kernel[1] * static_cast<int64_t>(layout_.columns.weights().size()) * width));
      for (int64_t channel = 0; channel < in_; ++channel) {
        transpose_words(reinterpret_cast<const uint32_t*>(weights + ((group * out_ + first) * in_ + channel) * taps), in_ * taps,
                        reinterpret_cast<uint32_t*>(block.data()), width, taps, live);
        layout_.spread(block.data(), width, in_, columns.data(), static_cast<float*>(memory) + channel * width);
      }
    };
    weights_ = SharedArray<float>(share_pieces({static_cast<size_t>(pieces), begin, write}, 0), static_cast<size_t>(pieces * panel_size()));
  }

  void run_band(const Band& band) const {
    float* inputs = scratch_floats(ScratchSlot::packed_right, inputs_.size(band));
    inputs_.transform(band, {0, in_}, inputs);
    for (int64_t panel = 0; panel < panels_; ++panel) run_panel(band, panel, {0, band.rows.size}, inputs);
  }

  /// The same on several threads, which share what one after the other has transformed.
  void share_band(const Band& band, const Parallel& parallel) const {
    constexpr int64_t kLeastChannels = 16;
    const int64_t most = 4 * parallel.threads(), parts = std::clamp<int64_t>(in_ / kLeastChannels, 1, most);
    float* inputs = scratch_floats(ScratchSlot::packed_right, inputs_.size(band));
    parallel.for_pieces(parts, [&](int64_t i) { inputs_.transform(band, share_of(in_, parts, i), inputs); });
    share_panels(panels_, band.rows.size, parallel, [&](const Part& panels, const Part& rows) {
      for (int64_t i = 0; i < panels.size; ++i) run_panel(band, panels.begin + i, rows, inputs);
    });
  }

  /// Some rows of a band for one panel.
  void run_panel(const Band& band, int64_t panel, const Part& rows, const float* inputs) const {
    throw_if_cancelled();
    const int64_t width = products_.columns, slots = static_cast<int64_t>(layout_.slots.size());
    const int64_t row_bytes = slots * band.across * width * static_cast<int64_t>(sizeof(float));
    const int64_t parts = pieces_of(rows.size, std::max<int64_t>(1, kProductBytes / row_bytes));
    const int64_t most = pieces_of(rows.size, parts) * band.across;
    float* products = scratch_floats(ScratchSlot::packed_left, slots * (most * width + kPartsApartness));
    float* sums = scratch_floats(ScratchSlot::row, layout_.rows.tile() * layout_.columns.tile() * most * width);
    for (int64_t i = 0; i < parts; ++i) {
      const Part some = part_of(rows.size, parts, i);
      const int64_t first = rows.begin + some.begin;
      Band part = band;
      part.rows = {band.rows.begin + first, some.size};
      part.second_rows = std::clamp<int64_t>(band.second_rows - first, 0, some.size);
      multiply(band, part, panel, i + 1 == parts && panel + 1 < panels_, inputs, products);
      finish(part, panel, products, sums);
    }
  }

  /// Where the products of a slot begin, [tile, channel].
  int64_t products_at(const Band& part, int64_t slot) const {
    return slot * (part.rows.size * part.across * products_.columns + kPartsApartness);
  }

  /// Products of some rows of tiles of a band for one panel.
  void multiply(const Band& band, const Band& part, int64_t panel, bool more, const float* inputs, float* products) const {
    const int64_t width = products_.columns;
    MicroArgs<float> p{};
    p.fold = kWinogradFold;
    p.a_row = 1;
    p.b_k = width;
    p.c_row = width;
    p.columns = width;
    const float* const weights = weights_.data() + (band.group * panels_ + panel) * panel_size();
    int64_t from = 0;
    for (size_t i = 0; i < layout_.slots.size(); ++i) {
      const PartsLayout::Slot& slot = layout_.slots[i];
      const int64_t across = band.across_of(slot.column), all = band.rows_of(slot.row) * across;
      const int64_t tiles = part.rows_of(slot.row) * across, chunks = pieces_of(tiles, products_.rows);
      const float* const left = inputs + from + (part.rows.begin - band.rows.begin) * across;
      float* const to = products + products_at(part, static_cast<int64_t>(i));
      from += slot.terms * in_ * all + kPartsApartness;
      p.a_k = all;
      p.beta = 0;
      for (size_t j = 0; j < slot.runs.size() && chunks > 0; ++j, p.beta = 1) {
        const PartsLayout::Run& run = slot.runs[j];
        const bool last = i + 1 == layout_.slots.size() && j + 1 == slot.runs.size();
        p.k = run.terms * in_;
        p.b = weights + run.weight * in_ * width;
        // Each chunk brings its share of what comes next nearer.
        const bool ends = j + 1 == slot.runs.size();
        const PartsLayout::Run& next = last ? layout_.slots[0].runs[0] : ends ? layout_.slots[i + 1].runs[0] : slot.runs[j + 1];
        const float* const ahead = weights + (last ? panel_size() : 0) + next.weight * in_ * width;
        const int64_t share = next.terms * in_ * width / chunks;
        p.ahead_step = pieces_of(share, p.k);
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
          const Part rows = part_of(tiles, chunks, chunk);
          p.a = left + (run.input - slot.begin) * in_ * all + rows.begin;
          p.c = to + rows.begin * width;
          p.ahead = !last || more ? ahead + chunk * share : nullptr;
          products_.alike[rows.size](p);
        }
      }
    }
  }

  void finish(const Band& part, int64_t panel, const float* products, float* sums) const {
    const Window& w = part.call.window;
    const int64_t width = products_.columns, first = panel * width, channels = std::min(width, out_ - first);
    const int64_t first_row = layout_.rows.tile() * part.rows.begin;
    PartsOutputs p{};
    for (size_t i = 0; i < layout_.slots.size(); ++i)
      p.slots[layout_.slots[i].row][layout_.slots[i].column] = products + products_at(part, static_cast<int64_t>(i));
    p.across = part.across;
    p.second_across = part.second_across;
    p.apart = layout_.columns.apart();
    p.tiles = part.rows.size * part.across;
    p.bias = bias_.data() + (part.group * panels_ + panel) * width;
    p.to = sums;
    p.rows = std::min(layout_.rows.tile() * part.rows.size, w.output[1] - first_row);
    p.columns = std::min(layout_.columns.tile() * part.across, w.output[2] - layout_.columns.output_of(part.first_tile));
    const auto kind = [](const PartsAxis& axis) { return axis.slots() == 1 ? 0 : axis.slots() - 2; };
    const auto join = kernels_.outputs[kind(layout_.rows)][kind(layout_.columns)];
    for (; (p.first = join(p)) < p.tiles; ++p.first) sum_plainly(part, panel, channels, p);
    const int64_t plane = w.output_size(), at = part.y + first * plane + first_row * w.output[2], pixels = p.rows * p.columns;
    float* y = part.call.y + at;
    const float* residual = part.call.residual ? part.call.residual + at : nullptr;
    finish_pixels(planes_, {sums, width, pixels, channels, residual, y, plane, clamp_.low, clamp_.high});
    finish_channels(clamp_.activates, activation_, part.group * out_ + first, y, channels, pixels, plane, part.call.addend_at(at));
  }

  /// The sums of tile `p.first`, one of which is not finite, from the definition.
  void sum_plainly(const Band& part, int64_t panel, int64_t channels, const PartsOutputs& p) const {
    const int64_t width = products_.columns, row = p.first / p.across * layout_.rows.tile();
    const int64_t tile = p.first % p.across, column = layout_.columns.output_of(tile);
    const int64_t last = tile < p.second_across ? column + p.apart : column;
    const float* const weights = weights_.data() + (part.group * panels_ + panel) * panel_size();
    for (int64_t i = row; i < std::min(row + layout_.rows.tile(), p.rows); ++i) {
      for (int64_t j = column; j <= last; j += p.apart) {
        for (int64_t c = 0; c < channels; ++c)
          p.to[(i * p.columns + j) * width + c] = plain_sum(part, part.rows.begin * layout_.rows.tile() + i, j, weights + c, p.bias[c]);
      }
    }
  }

  float plain_sum(const Band& part, int64_t row, int64_t column, const float* weights, float sum) const {
    const Window& w = part.call.window;
    const auto weight = [&](int64_t r, int64_t c, int64_t channel) {
      if (r < 0 || c < 0) return 0.0f;
      const size_t place = static_cast<size_t>(r) * layout_.columns.weights().size() + static_cast<size_t>(c);
      return weights[(layout_.places[place] * in_ + channel) * products_.columns];
    };
    for (int64_t channel = 0; channel < in_; ++channel) {
      const float* const x = part.x[channel];
      if (!x) continue;
      for (int64_t i = 0; i < window_.kernel[1]; ++i) {
        for (int64_t j = 0; j < window_.kernel[2]; ++j) {
          const int64_t h = row * window_.stride[1] + i - w.pad_begin[1];
          const int64_t v =
              (layout_.columns.output_of(part.first_tile) + column) * window_.stride[2] + j * window_.dilation[2] - w.pad_begin[2];
          if (h < 0 || h >= w.input[1] || v < 0 || v >= w.input[2]) continue;
          const PartsAxis::Tap &r = layout_.rows.taps()[static_cast<size_t>(i)], &c = layout_.columns.taps()[static_cast<size_t>(j)];
          const float upper = weight(r.plus, c.plus, channel) - weight(r.plus, c.minus, channel);
          const float lower = weight(r.minus, c.plus, channel) - weight(r.minus, c.minus, channel);
          sum += (upper - lower) * x[h * w.input[2] + v];
        }
      }
    }
    return sum;
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const MicroKernels<float>& products_;
  const PartsKernels& kernels_;
  const ConvKernels<float, float>& planes_;
  const PartsLayout layout_;
  const int64_t in_;  ///< planes of a sum
  const int64_t out_, panels_;
  const PartsInputs inputs_;
  SharedArray<float> weights_;
  std::vector<float> bias_;  // of whole panels
};

}  // namespace

bool conv_takes_parts(const ConvChannels& channels, const Window& window) {
  // Shorter sums round more than where they are made plainly; along one axis as little as other sums of floats.
  const int64_t least_products = window.kernel[1] == 1 || window.kernel[2] == 1 ? 96 : 256;
  constexpr int64_t kLeastTiles = 12, kMostTaps = 16, kMostStride = 8, kMostApart = 512;  // a band has as many tiles at least
  if (channels.out / channels.groups < micro_kernels<float>().columns ||
      channels.in / channels.groups * window.kernel_size() < least_products)
    return false;
  for (int d = 1; d < 3; ++d) {
    if (window.kernel[d] > kMostTaps || window.stride[d] > kMostStride) return false;
  }
  const bool dilated = window.dilation[2] != 1;
  if (window.dilation[1] != 1 || (dilated && (window.kernel[1] != 1 || window.stride[2] != 1 || window.dilation[2] > kMostApart)))
    return false;
  const PartsAxis rows(window.kernel[1], window.stride[1]), columns(window.kernel[2], window.stride[2], window.dilation[2]);
  return rows.tiles(window.output[1]) * columns.tiles(window.output[2]) >= kLeastTiles;
}

ConvPartsWork conv_parts_work(const ConvChannels& channels, const Window& w) {
  const PartsAxis rows(w.kernel[1], w.stride[1]), columns(w.kernel[2], w.stride[2], w.dilation[2]);
  const double outputs = static_cast<double>(std::max<int64_t>(1, w.output[1] * w.output[2])),
               plain = outputs * static_cast<double>(w.kernel[1] * w.kernel[2]);
  const double tiles = static_cast<double>(rows.tiles(w.output[1]) * columns.tiles(w.output[2]));
  const double of_rows = static_cast<double>(rows.terms().size()), of_columns = static_cast<double>(columns.terms().size());
  const int64_t planes = channels.in / channels.groups * w.kernel[0];
  const int64_t together = w.output[1] == 1 ? std::min(kLeastRowTiles, columns.tiles(w.output[2])) : columns.tiles(w.output[2]);
  const double row_bytes = of_rows * of_columns * static_cast<double>(together * planes) * sizeof(float);
  const int64_t across = columns.tiles(w.output[2]), lanes = micro_kernels<float>().lanes;
  const double vectors = PartsInputs::rows_in_vector(columns, across, lanes) > 1
                             ? 1
                             : static_cast<double>(pieces_of(across, lanes) * lanes) / static_cast<double>(across);
  return {static_cast<double>(rows.products(w.output[1]) * columns.products(w.output[2])) / plain,
          vectors * tiles * of_columns * (of_rows + static_cast<double>(rows.step())) / plain,
          (tiles * static_cast<double>(rows.slots() * columns.slots()) + outputs) / plain, row_bytes <= static_cast<double>(kInputBytes)};
}

std::unique_ptr<Convolution<float>::Impl> make_conv_parts(const ConvChannels& channels, const Window& window, const float* weights,
                                                          const float* bias, const Activation& activation) {
  return std::make_unique<ConvParts>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
