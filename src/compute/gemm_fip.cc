#include "compute/gemm_fip.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "base/shared_bytes.h"
#include "compute/transpose_words.h"

namespace rh::compute {
namespace {

constexpr int64_t kFold = 96;      // products by pairs that are added up before they join a longer sum: errors are those of kSumK plain ones
constexpr int kMostExponent = 40;  // of scales of columns
constexpr int kLeastExponent = -12;  // of scales of k, the greatest of which is 1

/// The power of two next to a positive value.
double power_near(double value) { return std::exp2(std::round(std::log2(value))); }

/// What the pairs of a column of either vector of a panel add to its product: see gemm_fip_kernels.h.
double pairs_of(const float* column, const Part& steps, bool second) {
  double sum = 0;
  for (int64_t k = steps.begin; k < steps.begin + steps.size; k += kFipGroup) {
    const auto product = [&](int64_t at) {
      return static_cast<double>(column[at * kFipWidth]) * static_cast<double>(column[(at + 1) * kFipWidth]);
    };
    sum += product(second ? k + 4 : k) - product(k + 2);
  }
  return sum;
}

}  // namespace

const FipKernels* fip_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  const CpuFeatures& cpu = cpu_features();
  if (cpu.avx512 && cpu.own_adders) return &kAvx512Fip;
#endif
  return nullptr;
}

std::vector<float> fip_scales(const FipLayout& layout, const float* b, bool transposed, int64_t ldb) {
  std::vector<float> squares(static_cast<size_t>(layout.steps()), 0.0f);
  if (transposed) {
    for (int64_t column = 0; column < layout.n; ++column) {
      const float* const from = b + column * ldb;
      for (int64_t k = 0; k < layout.k; ++k) squares[static_cast<size_t>(k)] += from[k] * from[k];
    }
  } else {
    for (int64_t k = 0; k < layout.k; ++k) {
      const float* const from = b + k * ldb;
      float sums[8] = {};
      int64_t column = 0;
      for (; column + 8 <= layout.n; column += 8) {
        for (int64_t i = 0; i < 8; ++i) sums[i] += from[column + i] * from[column + i];
      }
      for (; column < layout.n; ++column) sums[0] += from[column] * from[column];
      for (const float sum : sums) squares[static_cast<size_t>(k)] += sum;
    }
  }
  float most = 0;
  for (const float sum : squares) {
    if (!std::isfinite(sum)) return {};
    most = std::max(most, sum);
  }
  const double most_root = std::sqrt(static_cast<double>(most));
  for (float& sum : squares) {
    const double root = std::sqrt(static_cast<double>(sum));
    sum = root > 0 ? static_cast<float>(std::max(std::exp2(kLeastExponent), power_near(root / most_root))) : 1.0f;
  }
  return squares;
}

bool scale_fip_columns(const FipLayout& layout, const std::vector<float>& scales, float* panel) {
  const int64_t steps = layout.steps();
  double squares[kFipWidth] = {};
  for (int64_t k = 0; k < steps; ++k) {
    float* const row = panel + k * kFipWidth;
    const float inverse = 1 / scales[static_cast<size_t>(k)];
    for (int64_t j = 0; j < kFipWidth; ++j) {
      row[j] *= inverse;
      squares[j] += static_cast<double>(row[j]) * static_cast<double>(row[j]);
    }
  }
  float scale[kFipWidth];
  float* const inverse = panel + (steps + layout.blocks()) * kFipWidth;
  bool usable = true;
  for (int64_t j = 0; j < kFipWidth; ++j) {
    const double root = std::sqrt(squares[j] / static_cast<double>(layout.k));
    usable = usable && (root == 0 || std::abs(std::log2(root)) < kMostExponent);
    inverse[j] = root == 0 ? 1.0f : static_cast<float>(power_near(root));
    scale[j] = 1 / inverse[j];
  }
  for (int64_t k = 0; k < steps; ++k) {
    for (int64_t j = 0; j < kFipWidth; ++j) panel[k * kFipWidth + j] *= scale[j];
  }
  for (int64_t block = 0; block < layout.blocks(); ++block) {
    for (int64_t j = 0; j < kFipWidth; ++j)
      panel[(steps + block) * kFipWidth + j] = static_cast<float>(pairs_of(panel + j, layout.block(block), j >= kFipWidth / 2));
  }
  return usable;
}

std::shared_ptr<const float[]> pack_fip(const FipLayout& layout, const float* b, bool transposed, int64_t ldb) {
  const std::vector<float> scales = fip_scales(layout, b, transposed, ldb);
  if (scales.empty()) return nullptr;
  std::atomic<bool> usable = true;
  const size_t panels = static_cast<size_t>(layout.panels());
  const auto begin = [&](size_t piece) {
    return static_cast<size_t>(piece <= panels ? static_cast<int64_t>(piece) * layout.panel_floats() : layout.floats()) * sizeof(float);
  };
  const auto write = [&](size_t piece, void* memory) {
    float* const to = static_cast<float*>(memory);
    if (piece == panels) {
      std::copy(scales.begin(), scales.end(), to);
      return;
    }
    const int64_t column = static_cast<int64_t>(piece) * kFipWidth;
    pack_panel(transposed ? b + column * ldb : b + column, ldb, transposed, layout.k, std::min(kFipWidth, layout.n - column),
               kFipWidth, to);
    std::fill(to + layout.k * kFipWidth, to + layout.steps() * kFipWidth, 0.0f);
    if (!scale_fip_columns(layout, scales, to)) usable = false;
  };
  const auto shared = share_pieces({panels + 1, begin, write}, 64);
  if (!usable) return nullptr;
  return std::shared_ptr<const float[]>(shared, static_cast<const float*>(shared.get()));
}

uint32_t make_fip_tile(const FipKernels& kernels, const FipLeft& left, float* tile) {
  const uint32_t usable = kernels.scale_left(left);
  const int64_t steps = pieces_of(left.k, kFipGroup) * kFipGroup;
  transpose_words(reinterpret_cast<const uint32_t*>(left.to), left.to_row, reinterpret_cast<uint32_t*>(tile), kFipRows, steps, left.rows);
  return usable;
}

void multiply_fip_tile(const FipKernels& kernels, const MicroKernels<float>& plain_kernels, FipArgs args, int64_t rows, uint32_t pairs,
                       float* plain) {
  const uint32_t all = (1u << rows) - 1;
  if ((pairs & all) == all) return kernels.multiply[rows](args);
  for (int64_t row = 0, some; row < rows; row += some) {
    const auto paired = [&](int64_t i) { return (pairs >> i & 1) != 0; };
    for (some = 1; row + some < rows && paired(row + some) == paired(row);) ++some;
    if (paired(row)) {
      kernels.multiply[some](args);
    } else {
      MicroArgs<float> p{};
      p.k = args.tile.k;
      p.fold = kSumK;
      p.a = args.tile.a;
      p.a_row = args.tile.a_row;
      p.a_k = args.tile.a_k;
      p.b = args.tile.b;
      p.b_k = args.tile.b_k;
      p.c = plain;
      p.c_row = kFipWidth;
      p.columns = kFipWidth;
      p.alpha = 1;
      p.low = -std::numeric_limits<float>::infinity();
      p.high = std::numeric_limits<float>::infinity();
      plain_kernels.alike[some](p);
      kernels.finish(args, some, plain);
    }
    move_rows(args.tile, some);
    args.left_sums += 2 * some;
    args.left_inverse += some;
  }
}

/// Rows of A whose part of a block lies scaled in memory of the thread.
struct FipProduct::Walk {
  Part chunks;
  int64_t block;
  int64_t tile_floats;    ///< between tiles
  float* left;            ///< tiles
  float* rows;            ///< of one tile, scaled, before they become one
  float* sums;            ///< [rows, 2]
  float* inverse;         ///< [rows]
  uint32_t* pairs;        ///< [chunks]: bits of rows
  float* plain;           ///< sums of a tile without pairs
};

FipProduct::FipProduct(const GemmArgs<float>& args, const float* a, const PackedMatrix<float>& b, float* c)
    : base_(args, a, nullptr, b.fip_data(), c, micro_kernels_for_width<float>(kFipWidth)),
      kernels_(*fip_kernels()),
      layout_{b.k(), b.n()},
      packed_(b.fip_data()),
      first_panel_(args.first_column / kFipWidth),
      chunks_(pieces_of(args.m, args.m <= kFewFipRows ? kFewFipRows : kFipRows)) {
  base_.row_chunks = chunks_;
}

Grid FipProduct::grid(int threads) const {
  const double m = static_cast<double>(base_.args.m), n = static_cast<double>(base_.args.n), k = static_cast<double>(base_.args.k);
  return choose_grid(chunks_, base_.panels, m * n * k / kFipSpeed, m * k * sizeof(float), n * k * sizeof(float), threads);
}

void FipProduct::run_piece(const Grid& grid, int64_t index) const {
  const Part chunks = share_of(chunks_, grid.rows, index / grid.columns);
  const Part columns = share_of(base_.panels, grid.columns, index % grid.columns);
  if (chunks.size == 0 || columns.size == 0) return;
  if (base_.args.m <= kFewFipRows) return run_few(columns);
  const int64_t row_bytes = fip_row(layout_.block(0).size) * static_cast<int64_t>(sizeof(float));
  const int64_t most = std::clamp<int64_t>(kLeftBytes / (kFipRows * row_bytes), 1, kRowBlock / kFipRows);
  const int64_t walks = pieces_of(chunks.size, most);
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

/// Panels are read once, in the order in which they lie, as fast as memory gives them.
void FipProduct::run_few(const Part& columns) const {
  const int64_t rows = base_.args.m, steps = layout_.steps(), k = base_.args.k, row_floats = fip_row(steps);
  float* const left = scratch_floats(ScratchSlot::packed_left, rows * (row_floats + kFipWidth));
  float* const sums = left + rows * row_floats;
  int64_t a_row = 0;
  const float* const from = rows_of_left({0, rows}, 0, k, a_row);
  float inverse[kFewFipRows];
  for (int64_t row = 0; row < rows; row += kFipRows) {
    float pairs[2 * kFipRows];
    const int64_t some = std::min(kFipRows, rows - row);
    kernels_.scale_left(
        {from + row * a_row, a_row, some, k, layout_.left_scale(packed_), left + row * row_floats, row_floats, pairs, inverse + row});
  }
  const int64_t end = columns.begin + columns.size;
  for (int64_t i = 0; i < columns.size; ++i) {
    const int64_t panel = base_.args.backwards ? end - 1 - i : columns.begin + i;
    if (i % kGroupPanels == 0) throw_if_cancelled();
    MicroArgs<float> p{};
    p.k = steps;
    p.fold = kSumK * base_.sums_apart();
    p.a = left;
    p.a_row = row_floats;
    p.a_k = 1;
    p.b = panel_of(panel);
    p.b_k = kFipWidth;
    p.c = sums;
    p.c_row = kFipWidth;
    p.columns = kFipWidth;
    p.alpha = 1;
    p.low = -std::numeric_limits<float>::infinity();
    p.high = std::numeric_limits<float>::infinity();
    p.ahead = base_.args.repeated ? nullptr : p.b + (rows <= 4 ? kNearAhead : kFarAhead);
    p.ahead_step = kFipWidth;
    base_.kernels->two[rows](p);
    FipArgs tile = tile_at({0, rows}, panel, 0);
    tile.left_inverse = inverse;
    tile.tile = base_.tile_args(0, panel, {0, k}, true, true);
    kernels_.finish(tile, rows, sums);
  }
  if (base_.activates) base_.activate_chunks(0, chunks_, columns.begin, end);
}

/// Rows that stay in the cache pass by all panels of a block, each of which is brought nearer while the one before it is worked on.
void FipProduct::run_walk(const Part& chunks, const Part& columns) const {
  const int64_t tile_floats = fip_tile(layout_.block(0).size), row_floats = fip_row(layout_.block(0).size);
  const int64_t rows = chunks.size * kFipRows, pairs_floats = chunks.size;
  float* const memory = scratch_floats(ScratchSlot::packed_left,
                                       chunks.size * tile_floats + kFipRows * (row_floats + kFipWidth) + 3 * rows + pairs_floats);
  Walk walk{chunks, 0, tile_floats, memory, memory + chunks.size * tile_floats, nullptr, nullptr, nullptr, nullptr};
  walk.plain = walk.rows + kFipRows * row_floats;
  walk.sums = walk.plain + kFipRows * kFipWidth;
  walk.inverse = walk.sums + 2 * rows;
  walk.pairs = reinterpret_cast<uint32_t*>(walk.inverse + rows);
  const int64_t blocks = layout_.blocks(), end_panel = columns.begin + columns.size;
  for (; walk.block < blocks; ++walk.block) {
    scale_tiles(walk);
    const bool last = walk.block == blocks - 1;
    const int64_t from = layout_.block(walk.block).begin * kFipWidth;
    for (int64_t panel = columns.begin; panel < end_panel; ++panel) {
      const int64_t done = panel - columns.begin + 1;
      if (done % kGroupPanels == 1) throw_if_cancelled();
      const float* const next = panel + 1 < end_panel ? panel_of(panel + 1) + from
                                                      : panel_of(columns.begin) + (last ? 0 : layout_.block(walk.block + 1).begin * kFipWidth);
      run_panel(walk, panel, next);
      if (base_.activates && last && (done % kGroupPanels == 0 || panel + 1 == end_panel)) {
        base_.activate_chunks(chunks.begin, chunks.begin + chunks.size, panel - (done - 1) % kGroupPanels, panel + 1);
      }
    }
  }
}

void FipProduct::scale_tiles(const Walk& walk) const {
  const Part steps = layout_.block(walk.block);
  const int64_t count = std::min(steps.size, layout_.k - steps.begin);
  const float* const scale = layout_.left_scale(packed_) + steps.begin;
  for (int64_t i = 0; i < walk.chunks.size; ++i) {
    const Part rows = part_of(base_.args.m, chunks_, walk.chunks.begin + i);
    const int64_t at = i * kFipRows;
    int64_t a_row = 0;
    const float* const from = rows_of_left(rows, steps.begin, count, a_row);
    walk.pairs[i] = make_fip_tile(
        kernels_,
        {from, a_row, rows.size, count, scale, walk.rows, fip_row(layout_.block(0).size), walk.sums + 2 * at, walk.inverse + at},
        walk.left + i * walk.tile_floats);
  }
}

FipArgs FipProduct::tile_at(const Part& rows, int64_t panel, int64_t block) const {
  const float* const right = panel_of(panel);
  const bool last = block == layout_.blocks() - 1;
  const Part steps = layout_.block(block);
  FipArgs args{};
  args.tile = base_.tile_args(rows.begin, panel, steps, block == 0, last);
  args.tile.k = steps.size;
  args.tile.fold = base_.args.fold > 0 ? std::max(kFipGroup, base_.args.fold / 3 * kFipGroup) : kFold;
  args.tile.b = right + steps.begin * kFipWidth;
  args.tile.b_k = kFipWidth;
  args.right_sums = layout_.sums(right, block);
  args.right_inverse = layout_.inverse_scale(right);
  return args;
}

void FipProduct::run_panel(const Walk& walk, int64_t panel, const float* next) const {
  FipArgs args = tile_at(part_of(base_.args.m, chunks_, walk.chunks.begin), panel, walk.block);
  MicroArgs<float>& p = args.tile;
  p.a_row = 1;
  p.a_k = kFipRows;
  // Each tile brings its share of what comes next nearer.
  const int64_t groups = p.k / kFipGroup;
  p.ahead = walk.chunks.size == 1 ? p.b + kFarAhead : next;
  p.ahead_step = pieces_of(pieces_of(kFipGroup * kFipWidth, walk.chunks.size), 16) * 16;
  for (int64_t i = 0; i < walk.chunks.size; ++i) {
    const int64_t rows = part_of(base_.args.m, chunks_, walk.chunks.begin + i).size, at = i * kFipRows;
    p.a = walk.left + i * walk.tile_floats;
    args.left_sums = walk.sums + 2 * at;
    args.left_inverse = walk.inverse + at;
    multiply_fip_tile(kernels_, *base_.kernels, args, rows, walk.pairs[i], walk.plain);
    move_rows(p, rows);
    if (p.ahead) p.ahead += groups * p.ahead_step;
    if (p.ahead && p.ahead >= next + p.k * kFipWidth) p.ahead = nullptr;  // all is on its way
  }
}

}  // namespace rh::compute
