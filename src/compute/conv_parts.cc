#include "compute/conv_parts.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv_bands.h"
#include "compute/conv_impl.h"
#include "compute/conv_pack.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kInputBytes = 1088 << 10;   // of transformed inputs that are kept for all output channels
constexpr int64_t kProductBytes = 128 << 10;  // of one panel
constexpr int64_t kMostLanes = 16;
constexpr int64_t kMostTerms = 32;  // of an axis

constexpr int64_t kApartness = 16;  // elements between what lies at the same place of two slots: not a power of two

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
        panels_(pieces_of(out_, products_.columns)) {
    bias_.resize(static_cast<size_t>(channels.groups * panels_ * products_.columns));
    for (int64_t i = 0; bias && i < channels.out; ++i)
      bias_[static_cast<size_t>(i / out_ * panels_ * products_.columns + i % out_)] = bias[i];
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const int64_t planes = call.batch * channels_.groups * w.output[0], across = layout_.columns.tiles(w.output[2]);
    Bands bands(*this, w);
    const double tiles = static_cast<double>(bands.rows * across);
    const double operations = tiles * static_cast<double>(terms() * panels_ * products_.columns * in_);
    run_bands(
        {planes, bands.rows, across, 2 * products_.rows, panels_, weight_bytes(), operations}, bands.count, parallel,
        [&](int64_t plane, int64_t i) { run_band(band_of(call, bands, plane, i)); },
        [&](int64_t plane, int64_t i) { share_band(band_of(call, bands, plane, i), parallel); });
  }

 private:
  int64_t terms() const { return static_cast<int64_t>(layout_.rows.terms().size() * layout_.columns.terms().size()); }

  /// How the rows of tiles of a plane are cut.
  struct Bands {
    int64_t rows, count;

    Bands(const ConvParts& conv, const Window& w) : rows(conv.layout_.rows.tiles(w.output[1])) {
      const int64_t row_bytes = conv.terms() * conv.layout_.columns.tiles(w.output[2]) * conv.in_ * static_cast<int64_t>(sizeof(float));
      count = pieces_of(rows, std::max<int64_t>(1, kInputBytes / row_bytes));
    }
  };

  /// A band of rows of tiles of a plane: a group of an image at a depth.
  struct Band {
    const ConvCall<float>& call;
    int64_t group;
    SummedPlanes x;
    int64_t y;  ///< offset of the first output channel
    Part rows;
    int64_t second_rows;  ///< of tiles that have a second row of outputs
    int64_t across, second_across;
  };

  Band band_of(const ConvCall<float>& call, const Bands& bands, int64_t plane, int64_t index) const {
    const Window& w = call.window;
    const int64_t depth = plane % w.output[0], group = plane / w.output[0] % channels_.groups;
    const int64_t image = plane / w.output[0] / channels_.groups;
    const float* x = call.x + (image * channels_.in + group * (channels_.in / channels_.groups)) * w.input_size();
    const int64_t y = (image * channels_.out + group * out_) * w.output_size() + depth * w.output[1] * w.output[2];
    const Part rows = part_of(bands.rows, bands.count, index);
    return {call,
            group,
            {window_, w, x, depth},
            y,
            rows,
            std::clamp<int64_t>(layout_.rows.second_tiles(w.output[1]) - rows.begin, 0, rows.size),
            layout_.columns.tiles(w.output[2]),
            layout_.columns.second_tiles(w.output[2])};
  }

  /// Some rows of tiles as one slot sees them.
  static int64_t rows_of(int64_t slot, const Band& band) { return slot == kSecond ? band.second_rows : band.rows.size; }
  static int64_t across_of(int64_t slot, const Band& band) { return slot == kSecond ? band.second_across : band.across; }

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

  /// Where a slot's inputs begin, [term, input channel, tile].
  int64_t inputs_at(const Band& band, int64_t slot) const {
    int64_t at = 0;
    for (int64_t i = 0; i < slot; ++i) {
      const PartsLayout::Slot& s = layout_.slots[static_cast<size_t>(i)];
      at += s.terms * in_ * rows_of(s.row, band) * across_of(s.column, band) + kApartness;
    }
    return at;
  }
  int64_t inputs_size(const Band& band) const { return inputs_at(band, static_cast<int64_t>(layout_.slots.size())); }

  void run_band(const Band& band) const {
    float* inputs = scratch_floats(ScratchSlot::packed_right, inputs_size(band));
    transform_inputs(band, {0, in_}, inputs);
    run_panels(band, {0, panels_}, inputs);
  }

  /// The same on several threads, which share what one after the other has transformed.
  void share_band(const Band& band, const Parallel& parallel) const {
    constexpr int64_t kLeastChannels = 16;
    const int64_t most = 4 * parallel.threads(), parts = std::clamp<int64_t>(in_ / kLeastChannels, 1, most);
    float* inputs = scratch_floats(ScratchSlot::packed_right, inputs_size(band));
    parallel.for_pieces(parts, [&](int64_t i) { transform_inputs(band, part_of(in_, parts, i), inputs); });
    const int64_t pieces = std::min(panels_, most);
    parallel.for_pieces(pieces, [&](int64_t i) { run_panels(band, part_of(panels_, pieces, i), inputs); });
  }

  /// How a channel's rows lie once split and joined, a value for each term of the columns and each tile: [phase][term][row][tile].
  struct Lines {
    int64_t count;     ///< rows
    int64_t in_phase;  ///< of them
    int64_t term;      ///< elements of a phase and a term, with a vector that may be written beyond
    int64_t terms;
    int64_t split_row;

    int64_t phase() const { return terms * term; }
  };
  Lines lines_of(const Band& band) const {
    Lines lines{};
    lines.count = layout_.rows.step() * (band.rows.size - 1) + layout_.rows.reach();
    lines.in_phase = pieces_of(lines.count, layout_.rows.step());
    lines.term = lines.in_phase * band.across + kMostLanes;
    lines.terms = static_cast<int64_t>(layout_.columns.terms().size());
    lines.split_row = pieces_of(band.across + (layout_.columns.reach() - 1) / layout_.columns.step(), kMostLanes) * kMostLanes;
    return lines;
  }

  /// Rows whose tiles fill one vector, where their elements fill whole ones.
  int64_t rows_together(const Band& band) const {
    const int64_t lanes = products_.columns / 2, step = layout_.columns.step();
    const bool fits = (step == 2 || step == 4 || step == 8) && lanes % band.across == 0 && band.across * step % lanes == 0;
    return fits && layout_.columns.reach() <= kMostPartsReach ? lanes / band.across : 1;
  }

  void column_sources(const Lines& lines, PartsSource* to) const {
    const auto at = [&](int64_t column) { return column % layout_.columns.step() * lines.split_row + column / layout_.columns.step(); };
    int64_t made = 0;
    for (const PartsAxis::Term& term : layout_.columns.terms())
      *to++ = {at(term.a), at(term.b), term.sign, made++ * lines.term, 1, 0, 0, 0};
  }

  /// Of all slots' inputs of a channel: make(row term, column term's index, place, rows, tiles of a row).
  template <typename Make>
  void each_source(const Band& band, int64_t channel, Make make) const {
    for (size_t i = 0; i < layout_.slots.size(); ++i) {
      const PartsLayout::Slot& slot = layout_.slots[i];
      const int64_t rows = rows_of(slot.row, band), across = across_of(slot.column, band);
      int64_t to = inputs_at(band, static_cast<int64_t>(i)) + channel * rows * across;
      for (const PartsAxis::Term& r : layout_.rows.terms()) {
        for (size_t c = 0; c < layout_.columns.terms().size(); ++c) {
          if (r.slot != slot.row || layout_.columns.terms()[c].slot != slot.column) continue;
          make(r, static_cast<int64_t>(c), to, rows, across);
          to += in_ * rows * across;
        }
      }
    }
  }

  /// Out of lines.
  void row_sources(const Band& band, const Lines& lines, int64_t channel, PartsSource* made) const {
    const auto at = [&](int64_t row) { return row % layout_.rows.step() * lines.phase() + row / layout_.rows.step() * band.across; };
    each_source(band, channel, [&](const PartsAxis::Term& r, int64_t c, int64_t to, int64_t rows, int64_t across) {
      *made = {at(r.a) + c * lines.term, at(r.b) + c * lines.term, r.sign, to, rows, across, band.across, across};
      if (across == band.across) {
        made->count *= rows;
        made->rows = 1;
      }
      ++made;
    });
  }

  /// Some channels as [slot, term, channel, tile].
  void transform_inputs(const Band& band, const Part& channels, float* to) const {
    rows_together(band) > 1 ? transform_tiles(band, channels, to) : transform_lines(band, channels, to);
  }

  /// What is there of a plane as a band's tiles see it, from their first row on.
  struct Plane {
    const float* x;
    int64_t top, bottom;
  };
  Plane plane_of(const Band& band, int64_t channel) const {
    const Window& w = band.call.window;
    const int64_t first = layout_.rows.step() * band.rows.begin - w.pad_begin[1];
    const float* const x = band.x[channel];
    if (!x) return {band.call.x, 0, 0};  // all is padding
    return {x + first * w.input[2], -first, w.input[1] - first};
  }

  void transform_tiles(const Band& band, const Part& channels, float* to) const {
    const Window& w = band.call.window;
    const int64_t lanes = products_.columns / 2, step = layout_.columns.step(), reach = layout_.columns.reach();
    const std::vector<PartsAxis::Term>& column_terms = layout_.columns.terms();
    const int64_t sum_count = terms(), column_count = static_cast<int64_t>(column_terms.size());
    const int64_t line = reach + column_count, values_size = (layout_.rows.reach() * line + step) * lanes;
    const int64_t sums_size = (sum_count + column_count) * static_cast<int64_t>(sizeof(PartsTiles::Sum) / sizeof(float));
    float* const memory = scratch_floats(ScratchSlot::row, values_size + sums_size);
    auto* const sums = reinterpret_cast<PartsTiles::Sum*>(memory + values_size);  // that is aligned
    PartsTiles p{};
    p.columns = sums + sum_count;
    p.sums = sums;
    int64_t at[kMostTerms];
    p.column_signs = column_sums(sums + sum_count, at);
    p.signs = tile_sums(band, line, at, sums);
    PartsTiles::Span spans[kMostPartsReach];
    p.spans = spans;
    find_spans(band, spans);
    p.x_row = w.input[2];
    p.row_vectors = band.across * step / lanes;
    p.phases = step;
    p.phases_down = layout_.rows.step();
    p.reach = reach;
    p.reach_down = layout_.rows.reach();
    p.across = band.across;
    p.rows = band.rows.size;
    p.together = rows_together(band);
    p.line = line;
    p.whole = std::ranges::all_of(layout_.slots, [&](const PartsLayout::Slot& slot) {
      return rows_of(slot.row, band) == band.rows.size && across_of(slot.column, band) == band.across;
    });
    p.values = memory;
    p.to = to;
    for (p.channel = channels.begin; p.channel < channels.begin + channels.size; ++p.channel) {
      const Plane plane = plane_of(band, p.channel);
      p.x = plane.x;
      p.top = plane.top;
      p.bottom = plane.bottom;
      kernels_.tiles(p);
    }
  }

  /// Sums of two columns, those that add first, and `at` which vector of a line each term of the columns is.
  PartsTiles::Signs column_sums(PartsTiles::Sum* made, int64_t* at) const {
    PartsTiles::Signs signs{};
    const auto make = [&](int64_t sign, int64_t& count) {
      for (size_t i = 0; i < layout_.columns.terms().size(); ++i) {
        const PartsAxis::Term& term = layout_.columns.terms()[i];
        if (term.sign != sign) continue;
        *made++ = {static_cast<int32_t>(term.a), static_cast<int32_t>(term.b), 0, 0, 0};
        at[i] = layout_.columns.reach() + signs.plus + signs.minus;
        ++count;
      }
    };
    make(1, signs.plus);
    make(-1, signs.minus);
    for (size_t i = 0; i < layout_.columns.terms().size(); ++i)
      if (layout_.columns.terms()[i].sign == 0) at[i] = layout_.columns.terms()[i].a;
    return signs;
  }

  /// Of all slots' inputs, out of lines of `line` vectors that have the terms of the columns `at` these places.
  PartsTiles::Signs tile_sums(const Band& band, int64_t line, const int64_t* at, PartsTiles::Sum* made) const {
    PartsTiles::Signs signs{};
    const auto make = [&](int64_t sign, int64_t& count) {
      each_source(band, 0, [&](const PartsAxis::Term& r, int64_t c, int64_t to, int64_t rows, int64_t across) {
        if (r.sign != sign) return;
        *made++ = {static_cast<int32_t>(r.a * line + at[c]), static_cast<int32_t>(r.b * line + at[c]), to, rows, across};
        ++count;
      });
    };
    make(0, signs.none);
    make(1, signs.plus);
    make(-1, signs.minus);
    return signs;
  }

  void find_spans(const Band& band, PartsTiles::Span* span) const {
    const Window& w = band.call.window;
    const int64_t lanes = products_.columns / 2, step = layout_.columns.step();
    for (int64_t column = -w.pad_begin[2]; column < layout_.columns.reach() - w.pad_begin[2]; column += step) {
      for (int64_t start = column; start < column + band.across * step; start += lanes) {
        const int64_t last = std::clamp<int64_t>(w.input[2] - start, 0, lanes);
        *span++ = {start, static_cast<int32_t>(std::clamp<int64_t>(-start, 0, last)), static_cast<int32_t>(last)};
      }
    }
  }

  void transform_lines(const Band& band, const Part& channels, float* to) const {
    const Window& w = band.call.window;
    const Lines lines = lines_of(band);
    const int64_t source_count = terms(), values_size = layout_.rows.step() * lines.phase() + kMostLanes;
    const int64_t split_size = (kPartsLines * layout_.columns.step() + 1) * lines.split_row + 2 * kMostLanes;
    const int64_t sources_size = (source_count + lines.terms) * static_cast<int64_t>(sizeof(PartsSource) / sizeof(float));
    float* const first_of_all = scratch_floats(ScratchSlot::row, sources_size + split_size + values_size);
    auto* const of_rows = reinterpret_cast<PartsSource*>(first_of_all);  // that is aligned
    PartsSource* const of_columns = of_rows + source_count;
    float *const split = first_of_all + sources_size, *const values = split + split_size;
    row_sources(band, lines, channels.begin, of_rows);
    column_sources(lines, of_columns);
    PartsLines p{};
    p.x_row = w.input[2];
    p.lines = lines.count;
    p.width = w.input[2];
    p.pad = w.pad_begin[2];
    p.phases = layout_.columns.step();
    p.phases_down = layout_.rows.step();
    p.split_row = lines.split_row;
    p.split = split;
    p.sources = of_columns;
    p.source_count = lines.terms;
    p.across = band.across;
    p.plane = lines.phase();
    p.to = values;
    for (int64_t channel = channels.begin; channel < channels.begin + channels.size; ++channel) {
      const Plane plane = plane_of(band, channel);
      p.x = plane.x;
      p.top = plane.top;
      p.bottom = plane.bottom;
      kernels_.lines(p);
      kernels_.inputs(values, of_rows, source_count, to);
      for (int64_t i = 0; i < source_count; ++i) of_rows[i].to += of_rows[i].rows * of_rows[i].count;
    }
  }

  void run_panels(const Band& band, const Part& panels, const float* inputs) const {
    const int64_t width = products_.columns, slots = static_cast<int64_t>(layout_.slots.size());
    const int64_t row_bytes = slots * band.across * width * static_cast<int64_t>(sizeof(float));
    const int64_t parts = pieces_of(band.rows.size, std::max<int64_t>(1, kProductBytes / row_bytes));
    const int64_t most = pieces_of(band.rows.size, parts) * band.across;
    float* products = scratch_floats(ScratchSlot::packed_left, slots * (most * width + kApartness));
    float* sums = scratch_floats(ScratchSlot::row, layout_.rows.tile() * layout_.columns.tile() * most * width);
    for (int64_t panel = panels.begin; panel < panels.begin + panels.size; ++panel) {
      throw_if_cancelled();
      for (int64_t i = 0; i < parts; ++i) {
        const Part rows = part_of(band.rows.size, parts, i);
        Band part = band;
        part.rows = {band.rows.begin + rows.begin, rows.size};
        part.second_rows = std::clamp<int64_t>(band.second_rows - rows.begin, 0, rows.size);
        multiply(band, part, panel, i + 1 == parts && panel + 1 < panels.begin + panels.size, inputs, products);
        finish(part, panel, products, sums);
      }
    }
  }

  /// Where the products of a slot begin, [tile, channel].
  int64_t products_at(const Band& part, int64_t slot) const {
    return slot * (part.rows.size * part.across * products_.columns + kApartness);
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
    p.alpha = 1;
    p.low = -std::numeric_limits<float>::infinity();
    p.high = std::numeric_limits<float>::infinity();
    const float* const weights = weights_.data() + (band.group * panels_ + panel) * panel_size();
    int64_t from = 0;
    for (size_t i = 0; i < layout_.slots.size(); ++i) {
      const PartsLayout::Slot& slot = layout_.slots[i];
      const int64_t across = across_of(slot.column, band), all = rows_of(slot.row, band) * across;
      const int64_t tiles = rows_of(slot.row, part) * across, chunks = pieces_of(tiles, products_.rows);
      const float* const left = inputs + from + (part.rows.begin - band.rows.begin) * across;
      float* const to = products + products_at(part, static_cast<int64_t>(i));
      from += slot.terms * in_ * all + kApartness;
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
          products_.two[rows.size](p);  // narrower kernels add small chunks up in another order
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
    p.tiles = part.rows.size * part.across;
    p.bias = bias_.data() + (part.group * panels_ + panel) * width;
    p.to = sums;
    p.rows = std::min(layout_.rows.tile() * part.rows.size, w.output[1] - first_row);
    p.columns = w.output[2];
    const auto kind = [](const PartsAxis& axis) { return axis.slots() == 1 ? 0 : axis.slots() - 2; };
    const auto join = kernels_.outputs[kind(layout_.rows)][kind(layout_.columns)];
    for (; (p.first = join(p)) < p.tiles; ++p.first) sum_plainly(part, panel, channels, p);
    const int64_t plane = w.output_size(), at = part.y + first * plane + first_row * w.output[2], pixels = p.rows * p.columns;
    float* y = part.call.y + at;
    const float* residual = part.call.residual ? part.call.residual + at : nullptr;
    finish_pixels(planes_, {sums, width, pixels, channels, residual, y, plane, clamp_.low, clamp_.high});
    if (clamp_.activates) activate_rows(activation_, y, channels, pixels, plane);
  }

  /// The sums of tile `p.first`, one of which is not finite, from the definition.
  void sum_plainly(const Band& part, int64_t panel, int64_t channels, const PartsOutputs& p) const {
    const int64_t width = products_.columns, row = p.first / p.across * layout_.rows.tile(),
                  column = p.first % p.across * layout_.columns.tile();
    const float* const weights = weights_.data() + (part.group * panels_ + panel) * panel_size();
    for (int64_t i = row; i < std::min(row + layout_.rows.tile(), p.rows); ++i) {
      for (int64_t j = column; j < std::min(column + layout_.columns.tile(), p.columns); ++j) {
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
          const int64_t h = row * window_.stride[1] + i - w.pad_begin[1], v = column * window_.stride[2] + j - w.pad_begin[2];
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
  SharedArray<float> weights_;
  std::vector<float> bias_;  // of whole panels
};

}  // namespace

bool conv_takes_parts(const ConvChannels& channels, const Window& window) {
  // Shorter sums round more than where they are made plainly.
  constexpr int64_t kLeastProducts = 256, kLeastTiles = 12, kMostTaps = 11, kMostStride = 4;
  if (channels.out / channels.groups < micro_kernels<float>().columns ||
      channels.in / channels.groups * window.kernel_size() < kLeastProducts)
    return false;
  for (int d = 1; d < 3; ++d) {
    if (window.kernel[d] > kMostTaps || window.stride[d] > kMostStride || window.dilation[d] != 1) return false;
  }
  const PartsAxis rows(window.kernel[1], window.stride[1]), columns(window.kernel[2], window.stride[2]);
  return rows.tiles(window.output[1]) * columns.tiles(window.output[2]) >= kLeastTiles;
}

ConvPartsWork conv_parts_work(const Window& w) {
  const PartsAxis rows(w.kernel[1], w.stride[1]), columns(w.kernel[2], w.stride[2]);
  const double outputs = static_cast<double>(std::max<int64_t>(1, w.output[1] * w.output[2])),
               plain = outputs * static_cast<double>(w.kernel[1] * w.kernel[2]);
  const double tiles = static_cast<double>(rows.tiles(w.output[1]) * columns.tiles(w.output[2]));
  const double of_rows = static_cast<double>(rows.terms().size()), of_columns = static_cast<double>(columns.terms().size());
  return {static_cast<double>(rows.products(w.output[1]) * columns.products(w.output[2])) / plain,
          tiles * of_columns * (of_rows + static_cast<double>(rows.step())) / plain,
          (tiles * static_cast<double>(rows.slots() * columns.slots()) + outputs) / plain};
}

std::unique_ptr<Convolution<float>::Impl> make_conv_parts(const ConvChannels& channels, const Window& window, const float* weights,
                                                          const float* bias, const Activation& activation) {
  return std::make_unique<ConvParts>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
