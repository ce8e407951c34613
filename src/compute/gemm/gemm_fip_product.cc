#include "compute/gemm/gemm_fip_product.h"

#include <algorithm>

#include "compute/move/transpose_words.h"

namespace rh::compute {
namespace {

// Products that are added up before they join a longer sum: errors are those of kSumK plain ones, and of short sums those of plain ones.
constexpr int64_t kFold = 96, kShortFold = 48, kShortSum = 192;
constexpr double kScaledBytes = 7;  // that scaling a value of A is like reading
constexpr int64_t kCompactFold = kSumK / kCompactRows;

}  // namespace

FipProduct::FipProduct(const GemmArgs<float>& args, const float* a, const PackedMatrix<float>& b, float* c)
    : base_(args, a, nullptr, b.fip_data(), c, micro_kernels_for_width<float>(kFipWidth)),
      kernels_(*scaled_kernels()),
      by_pairs_(fip_kernels() != nullptr),
      layout_{b.k(), b.n(), kFipBlock, b.compact_form()},
      packed_(b.fip_data()),
      first_panel_(args.first_column / kFipWidth),
      chunks_(std::max<int64_t>(1, pieces_of(args.m, args.m <= kFewFipRows ? kFewFipRows : kFipRows))),
      least_rows_(args.m / chunks_),
      larger_chunks_(args.m % chunks_) {
  base_.row_chunks = chunks_;
}

FipTiles FipProduct::tiles_in(float* memory) const { return {memory, fip_tile(layout_.block(0).size)}; }

Grid FipProduct::grid(int threads) const {
  const double m = static_cast<double>(base_.args.m), n = static_cast<double>(base_.args.n), k = static_cast<double>(base_.args.k);
  return choose_grid(chunks_, base_.panels, m * n * k / kFipSpeed, kScaledBytes * m * k, n * k * sizeof(float), threads, kFipLateness);
}

/// Cuts rows into a multiple of `parts` tiles, where these do not get too small for it. No bits depend on that.
void FipProduct::even_out(int64_t parts) {
  const int64_t even = pieces_of(chunks_, parts) * parts;
  if (even * kLeastTileRows > base_.args.m) return;
  chunks_ = base_.row_chunks = even;
  least_rows_ = base_.args.m / even;
  larger_chunks_ = base_.args.m % even;
}

void FipProduct::run(const Parallel& parallel) {
  if (base_.args.m <= 0 || base_.args.n <= 0) return;
  const bool few = base_.args.m <= kFewFipRows;
  if (!few && parallel.threads() > 1) even_out(parallel.threads());
  const Grid pieces = grid(parallel.threads());
  if (!few && pieces.rows > parallel.threads()) even_out(pieces.rows);
  parallel.for_pieces(pieces.pieces(), [&](int64_t piece) {
    const Part columns = share_of(base_.panels, pieces.columns, piece % pieces.columns);
    if (few) return run_few(columns);
    run_piece(share_of(chunks_, pieces.rows, piece / pieces.columns), columns);
  });
}

void FipProduct::run_piece(const Part& chunks, const Part& columns) const {
  if (chunks.size == 0 || columns.size == 0) return;
  const int64_t tile_bytes = tiles_in(nullptr).stride() * static_cast<int64_t>(sizeof(float));
  const int64_t walks = pieces_of(chunks.size, std::clamp<int64_t>(kLeftBytes / tile_bytes, 1, kRowBlock / kFipRows));
  for (int64_t walk = 0; walk < walks; ++walk) {
    const Part part = part_of(chunks.size, walks, walk);
    run_walk({chunks.begin + part.begin, part.size}, columns);
  }
}

/// Rows of A where they lie one value of k after the other; transposed ones are laid out so first.
const float* FipProduct::rows_of_left(const Part& rows, int64_t k, int64_t count, int64_t& a_row) const {
  const float* const from = base_.a_at(rows.begin, k);
  a_row = base_.args.lda;
  if (!base_.args.transpose_a) return from;
  float* const copy = scratch_floats(ScratchSlot::packed_right, rows.size * count);
  transpose_words(reinterpret_cast<const uint32_t*>(from), base_.args.lda, reinterpret_cast<uint32_t*>(copy), count, rows.size, count);
  a_row = count;
  return copy;
}

/// Rows of a panel as floats: where they lie, or decoded.
const float* FipProduct::rows_of_panel(const float* panel, const Part& steps) const {
  if (!layout_.compact()) return panel + steps.begin * kFipWidth;
  float* const rows = scratch_floats(ScratchSlot::dequantized, (steps.size + kCompactRows) * kFipWidth);
  decode_compact(layout_.form(), reinterpret_cast<const uint32_t*>(panel), layout_.steps(), layout_.k(), steps.begin, steps.size, rows);
  return rows;
}

/// Sums of few rows, whose products with a panel they are: p has all but the panel.
void FipProduct::multiply_few(MicroArgs<float>& p, const float* panel, bool fetches) const {
  const int64_t rows = base_.args.m, steps = layout_.steps();
  if (!layout_.compact()) {
    p.b = panel;
    p.ahead = fetches ? panel + (rows <= 4 ? kNearAhead : kFarAhead) : nullptr;
    base_.kernels->two[rows](p);
    return;
  }
  const int64_t fold = rows == 1 ? 2 * kCompactFold : kCompactFold;  // which keeps two sums apart
  const int64_t turns = pieces_of(rows, kMostCompactFew);
  for (int64_t turn = 0; turn < turns; ++turn) {
    const Part some = part_of(rows, turns, turn);
    const CompactFew few{
        reinterpret_cast<const uint32_t*>(panel), steps, fold, p.a + some.begin * p.a_row, p.a_row, p.c + some.begin * p.c_row};
    multiply_compact(layout_.form(), few, some.size);
  }
}

/// Panels are read once, in the order in which they lie, as fast as memory gives them.
void FipProduct::run_few(const Part& columns) const {
  const int64_t rows = base_.args.m, steps = layout_.steps(), k = base_.args.k, row_floats = fip_row(steps);
  float* const left = scratch_floats(ScratchSlot::packed_left, rows * (row_floats + kFipWidth));
  float* const sums = left + rows * row_floats;
  int64_t a_row = 0;
  const float* const from = rows_of_left({0, rows}, 0, k, a_row);
  float inverse[kFewFipRows];
  for (int64_t row = 0; row < rows; row += kFipRows) {
    const int64_t some = std::min(kFipRows, rows - row);
    kernels_.scale_rows[some]({.a = from + row * a_row,
                               .a_row = a_row,
                               .rows = some,
                               .k = k,
                               .scale = layout_.left_scale(packed_),
                               .to = left + row * row_floats,
                               .inverse_scale = inverse + row,
                               .sums = nullptr,
                               .to_row = row_floats});
  }
  MicroArgs<float> p{};
  p.k = steps;
  p.fold = kSumK * base_.sums_apart();
  p.a = left;
  p.a_row = row_floats;
  p.a_k = 1;
  p.b_k = kFipWidth;
  p.c = sums;
  p.c_row = kFipWidth;
  p.columns = kFipWidth;
  p.ahead_step = kFipWidth;
  FipArgs tile{};
  tile.left_inverse = inverse;
  const int64_t end = columns.begin + columns.size;
  for (int64_t i = 0; i < columns.size; ++i) {
    const int64_t panel = base_.args.backwards ? end - 1 - i : columns.begin + i;
    if (i % kGroupPanels == 0) throw_if_cancelled();
    multiply_few(p, panel_of(panel), !base_.args.repeated);
    tile.tile = base_.tile_args(0, panel, {0, k}, true, true);
    tile.right_inverse = layout_.inverse_scale(panel_of(panel));
    kernels_.finish(tile, rows, sums);
  }
  if (base_.activates) base_.activate_chunks(0, chunks_, columns.begin, end);
}

/// Rows that stay in the cache pass by all panels of a block, each of which is brought nearer while the one before it is worked on.
void FipProduct::run_walk(const Part& chunks, const Part& columns) const {
  const FipTiles tiles = tiles_in(scratch_floats(ScratchSlot::packed_left, chunks.size * tiles_in(nullptr).stride()));
  const int64_t blocks = layout_.blocks(), end_panel = columns.begin + columns.size;
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t i = 0; i < chunks.size; ++i) scale_tile(rows_of(chunks.begin + i), block, tiles, i);
    const bool last = block == blocks - 1;
    const int64_t from = layout_.row_at(layout_.block(block).begin), after = last ? 0 : layout_.row_at(layout_.block(block + 1).begin);
    for (int64_t panel = columns.begin; panel < end_panel; ++panel) {
      const int64_t done = panel - columns.begin + 1;
      if (done % kGroupPanels == 1) throw_if_cancelled();
      const float* const next = panel + 1 < end_panel ? panel_of(panel + 1) + from : panel_of(columns.begin) + after;
      run_panel(chunks, panel, block, tiles, next);
      if (base_.activates && last && (done % kGroupPanels == 0 || panel + 1 == end_panel)) {
        base_.activate_chunks(chunks.begin, chunks.begin + chunks.size, panel - (done - 1) % kGroupPanels, panel + 1);
      }
    }
  }
}

void FipProduct::scale_tile(const Part& rows, int64_t block, const FipTiles& to, int64_t index) const {
  const Part steps = layout_.block(block);
  const int64_t count = std::min(steps.size, layout_.k() - steps.begin);
  int64_t a_row = 0;
  const float* const from = rows_of_left(rows, steps.begin, count, a_row);
  const uint32_t pairs = kernels_.scale_left[rows.size]({.a = from,
                                                         .a_row = a_row,
                                                         .rows = rows.size,
                                                         .k = count,
                                                         .scale = layout_.left_scale(packed_) + steps.begin,
                                                         .to = to.at(index),
                                                         .inverse_scale = to.inverse(index),
                                                         .sums = to.sums(index)});
  to.pairs(index) = by_pairs_ ? pairs : 0;
}

FipArgs FipProduct::tile_at(const Part& rows, int64_t panel, int64_t block) const {
  const float* const right = panel_of(panel);
  const bool last = block == layout_.blocks() - 1;
  const Part steps = layout_.block(block);
  FipArgs args{};
  args.tile = base_.tile_args(rows.begin, panel, steps, block == 0, last);
  args.tile.k = steps.size;
  args.tile.fold = steps.size <= kShortSum ? kShortFold : kFold;
  if (base_.args.fold > 0) args.tile.fold = std::max(kFipGroup, base_.args.fold / kFipGroup * kFipGroup);
  args.tile.b = rows_of_panel(right, steps);
  args.tile.b_k = kFipWidth;
  args.right_sums = layout_.sums(right, block);
  args.right_inverse = layout_.inverse_scale(right);
  return args;
}

void FipProduct::run_panel(const Part& chunks, int64_t panel, int64_t block, const FipTiles& tiles, const float* next) const {
  FipArgs args = tile_at(rows_of(chunks.begin), panel, block);
  MicroArgs<float>& p = args.tile;
  p.a_row = 1;
  p.a_k = kFipRows;
  // Each tile brings its share of what comes next nearer.
  const int64_t groups = p.k / kFipGroup;
  p.ahead = chunks.size == 1 && !layout_.compact() ? p.b + kFarAhead : next;
  p.ahead_step = pieces_of(pieces_of(kFipGroup * kFipWidth, chunks.size), 16) * 16;
  float plain[kFipRows * kFipWidth];
  for (int64_t i = 0; i < chunks.size; ++i) {
    const int64_t rows = rows_of(chunks.begin + i).size;
    p.a = tiles.at(i);
    args.left_sums = tiles.sums(i);
    args.left_inverse = tiles.inverse(i);
    multiply_fip_tile(kernels_, *base_.kernels, args, rows, tiles.pairs(i), plain);
    move_rows(p, rows);
    if (p.ahead) p.ahead += groups * p.ahead_step;
    if (p.ahead && p.ahead >= next + p.k * kFipWidth) p.ahead = nullptr;  // all is on its way
  }
}

}  // namespace rh::compute
