#include "compute/conv/parts/conv_parts_inputs.h"

#include <algorithm>
#include <vector>

#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kMostLanes = 16;
constexpr int64_t kMostTerms = 32;  // of an axis

}  // namespace

/// Where a slot's inputs begin, [term, input channel, tile].
int64_t PartsInputs::begin_of(const PartsBand& band, int64_t slot) const {
  int64_t at = 0;
  for (int64_t i = 0; i < slot; ++i) {
    const PartsLayout::Slot& s = layout_.slots[static_cast<size_t>(i)];
    at += s.terms * in_ * band.rows_of(s.row) * band.across_of(s.column) + kPartsApartness;
  }
  return at;
}

/// How a channel's rows lie once split and joined, a value for each term of the columns and each tile: [phase][term][row][tile].
struct PartsInputs::Lines {
  int64_t count;     ///< rows
  int64_t in_phase;  ///< of them
  int64_t term;      ///< elements of a phase and a term, with a vector that may be written beyond
  int64_t terms;
  int64_t split_row;

  int64_t phase() const { return terms * term; }
};
PartsInputs::Lines PartsInputs::lines_of(const PartsBand& band) const {
  Lines lines{};
  lines.count = layout_.rows.step() * (band.rows.size - 1) + layout_.rows.reach();
  lines.in_phase = pieces_of(lines.count, layout_.rows.step());
  lines.term = lines.in_phase * band.across + kMostLanes;
  lines.terms = static_cast<int64_t>(layout_.columns.terms().size());
  const int64_t chunk = layout_.columns.apart(), more = chunk > 1 ? chunk + kMostLanes : 0;  // an incomplete chunk and a vector
  lines.split_row = pieces_of(band.across + (layout_.columns.reach() - 1) / layout_.columns.step() * chunk + more, kMostLanes) * kMostLanes;
  return lines;
}

int64_t PartsInputs::rows_together(const PartsBand& band) const { return rows_in_vector(layout_.columns, band.across, lanes_); }

int64_t PartsInputs::rows_in_vector(const PartsAxis& columns, int64_t across, int64_t lanes) {
  const int64_t step = columns.step();
  const bool fits = columns.apart() == 1 && (step == 2 || step == 4 || step == 8) && lanes % across == 0 && across * step % lanes == 0;
  return fits && columns.reach() <= kMostPartsReach ? lanes / across : 1;
}

void PartsInputs::column_sources(const Lines& lines, PartsSource* to) const {
  const int64_t step = layout_.columns.step(), chunk = layout_.columns.apart();
  const auto at = [&](int64_t column) { return column % step * lines.split_row + column / step * chunk; };
  int64_t made = 0;
  for (const PartsAxis::Term& term : layout_.columns.terms()) *to++ = {at(term.a), at(term.b), term.sign, made++ * lines.term, 1, 0, 0, 0};
}

/// Of all slots' inputs of a channel: make(row term, column term's index, place, rows, tiles of a row).
template <typename Make>
void PartsInputs::each_source(const PartsBand& band, int64_t channel, Make make) const {
  for (size_t i = 0; i < layout_.slots.size(); ++i) {
    const PartsLayout::Slot& slot = layout_.slots[i];
    const int64_t rows = band.rows_of(slot.row), across = band.across_of(slot.column);
    int64_t to = begin_of(band, static_cast<int64_t>(i)) + channel * rows * across;
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
void PartsInputs::row_sources(const PartsBand& band, const Lines& lines, int64_t channel, PartsSource* made) const {
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
void PartsInputs::transform(const PartsBand& band, const Part& channels, float* to) const {
  rows_together(band) > 1 ? transform_tiles(band, channels, to) : transform_lines(band, channels, to);
}

/// What is there of a plane as a band's tiles see it, from their first row on.
struct PartsInputs::Plane {
  const float* x;
  int64_t top, bottom;
};
PartsInputs::Plane PartsInputs::plane_of(const PartsBand& band, int64_t channel) const {
  const Window& w = band.call.window;
  const int64_t first = layout_.rows.step() * band.rows.begin - w.pad_begin[1];
  const float* const x = band.x[channel];
  if (!x) return {band.call.x, 0, 0};  // all is padding
  return {x + first * w.input[2], -first, w.input[1] - first};
}

void PartsInputs::transform_tiles(const PartsBand& band, const Part& channels, float* to) const {
  const Window& w = band.call.window;
  const int64_t lanes = lanes_, step = layout_.columns.step(), reach = layout_.columns.reach();
  const std::vector<PartsAxis::Term>& column_terms = layout_.columns.terms();
  const int64_t sum_count = layout_.terms(), column_count = static_cast<int64_t>(column_terms.size());
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
    return band.rows_of(slot.row) == band.rows.size && band.across_of(slot.column) == band.across;
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
PartsTiles::Signs PartsInputs::column_sums(PartsTiles::Sum* made, int64_t* at) const {
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
PartsTiles::Signs PartsInputs::tile_sums(const PartsBand& band, int64_t line, const int64_t* at, PartsTiles::Sum* made) const {
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

void PartsInputs::find_spans(const PartsBand& band, PartsTiles::Span* span) const {
  const Window& w = band.call.window;
  const int64_t lanes = lanes_, step = layout_.columns.step();
  const int64_t first = step * band.first_tile - w.pad_begin[2];
  for (int64_t column = first; column < first + layout_.columns.reach(); column += step) {
    for (int64_t start = column; start < column + band.across * step; start += lanes) {
      const int64_t last = std::clamp<int64_t>(w.input[2] - start, 0, lanes);
      *span++ = {start, static_cast<int32_t>(std::clamp<int64_t>(-start, 0, last)), static_cast<int32_t>(last)};
    }
  }
}

void PartsInputs::transform_lines(const PartsBand& band, const Part& channels, float* to) const {
  const Window& w = band.call.window;
  const Lines lines = lines_of(band);
  const int64_t source_count = layout_.terms(), values_size = layout_.rows.step() * lines.phase() + kMostLanes;
  const int64_t together = std::min(kPartsLines, lines.count);
  const int64_t split_size = (together * layout_.columns.step() + 1) * lines.split_row + 2 * kMostLanes;
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
  const int64_t before = layout_.columns.step() * band.first_tile - w.pad_begin[2];  // columns, those of the padding are negative
  p.width = std::max<int64_t>(0, w.input[2] - std::max<int64_t>(0, before));
  p.pad = std::max<int64_t>(0, -before);
  p.phases = layout_.columns.step();
  p.chunk = layout_.columns.apart();
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
    p.x = plane.x + w.input[2] - p.width;
    p.top = plane.top;
    p.bottom = plane.bottom;
    kernels_.lines(p);
    kernels_.inputs(values, of_rows, source_count, to);
    for (int64_t i = 0; i < source_count; ++i) of_rows[i].to += of_rows[i].rows * of_rows[i].count;
  }
}

}  // namespace rh::compute
