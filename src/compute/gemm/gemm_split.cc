#include "compute/gemm/gemm_split.h"

#include <bit>
#include <cstring>

#include "compute/move/transpose_words.h"

namespace rh::compute {
namespace {

constexpr int64_t kPanelsAtOnce = 12;                 // whose blocks of B, and the next ones, share the second-level cache
constexpr int64_t kChunksAtOnce = 512 / kSplitWidth;  // of A, that pass them one after the other
constexpr int64_t kLeastTurns = 4;                    // over which bringing a block near takes no time
constexpr double kSpeed = 1.4;                        // of products, beside multiply-add

static_assert(kBlockK % kSplitStep == 0);

int exponent(uint32_t bits) { return static_cast<int>(bits >> 23) - 127; }

/// Whether all values are sums of normal parts.
bool can_split(const Magnitudes& x) { return x.most == 0 || (exponent(x.least) >= -100 && exponent(x.most) <= 125); }

/// Where the magnitudes of the blocks begin.
size_t magnitudes_at(int64_t k) { return static_cast<size_t>(split_steps(k) * kSplitStepBytes); }

/// split(ks, steps) splits a block, copy(ks, values) leaves it as it is.
template <typename Split, typename Copy>
void split_blocks_of(int64_t k, void* to, Split split, Copy copy) {
  char* const out = static_cast<char*>(to);
  std::memset(out + magnitudes_at(k), 0, split_bytes(k) - magnitudes_at(k));
  for (int64_t i = 0; i < split_blocks(k); ++i) {
    const Part ks = split_block_of(k, i);
    char* const steps = out + static_cast<size_t>(i) * kSplitBlockBytes;
    const size_t bytes = static_cast<size_t>(split_steps(ks.size) * kSplitStepBytes);
    std::memset(steps, 0, bytes);  // equal operands share their memory, rows that are not there included
    const Magnitudes magnitudes = split(ks, steps);
    std::memcpy(out + magnitudes_at(k) + static_cast<size_t>(i) * sizeof magnitudes, &magnitudes, sizeof magnitudes);
    if (can_split(magnitudes)) continue;
    std::memset(steps, 0, bytes);
    void* const values = steps;
    copy(ks, static_cast<float*>(values));
  }
}

AmxKernels::Multiply multiply_for(ProductAccuracy accuracy) {
  switch (accuracy) {
    case ProductAccuracy::fast: return kAmxKernels.multiply_three;
    case ProductAccuracy::bf16: return kAmxKernels.multiply_one;
    default: return kAmxKernels.multiply_six;
  }
}

}  // namespace

size_t split_bytes(int64_t k) {
  const size_t magnitudes = static_cast<size_t>(split_blocks(k)) * sizeof(Magnitudes);
  return magnitudes_at(k) + (magnitudes + 63) / 64 * 64;
}

void split_rows(const float* a, int64_t rows, int64_t k, void* to) {
  split_blocks_of(
      k, to, [&](const Part& ks, void* steps) { return kAmxKernels.split_left(a + ks.begin, k, rows, ks.size, steps); },
      [&](const Part& ks, float* values) {
        for (int64_t row = 0; row < rows; ++row) std::copy_n(a + row * k + ks.begin, ks.size, values + row * ks.size);
      });
}

void split_columns(const float* b, int64_t k, void* to) {
  split_blocks_of(
      k, to, [&](const Part& ks, void* steps) { return kAmxKernels.split_right(b + ks.begin * kSplitWidth, kSplitWidth, ks.size, steps); },
      [&](const Part& ks, float* values) { std::copy_n(b + ks.begin * kSplitWidth, ks.size * kSplitWidth, values); });
}

SplitBlock split_block(const void* split, int64_t k, int64_t index) {
  const char* const from = static_cast<const char*>(split);
  SplitBlock block;
  std::memcpy(&block.magnitudes, from + magnitudes_at(k) + static_cast<size_t>(index) * sizeof(Magnitudes), sizeof(Magnitudes));
  block.steps = from + static_cast<size_t>(index) * kSplitBlockBytes;
  if (!can_split(block.magnitudes)) block.values = static_cast<const float*>(block.steps);
  return block;
}

float split_row_value(const void* split, int64_t rows, int64_t k, int64_t row, int64_t at) {
  constexpr int64_t kTileBytes = kSplitStepBytes / 6, kTileRow = 64, kPairs = 16;
  const int64_t index = at / kBlockK, within = at % kBlockK, upper = (rows + 1) / 2;
  const SplitBlock block = split_block(split, k, index);
  if (block.values) return block.values[row * split_block_of(k, index).size + within];
  const char* from = static_cast<const char*>(block.steps) + within / kSplitStep * kSplitStepBytes;
  from += row < upper ? row * kTileRow : kTileBytes + (row - upper) * kTileRow;
  from += (within % kPairs * 2 + within / kPairs % 2) * static_cast<int64_t>(sizeof(uint16_t));
  float sum = 0;
  for (int i = 0; i < 3; ++i, from += 2 * kTileBytes) {
    uint16_t part;
    std::memcpy(&part, from, sizeof part);
    sum += std::bit_cast<float>(uint32_t{part} << 16);
  }
  return sum;
}

bool fits_split(const Magnitudes& a, const Magnitudes& b) {
  if (!can_split(a) || !can_split(b)) return false;
  if (a.most == 0 || b.most == 0) return true;
  return exponent(a.least) + exponent(b.least) >= -96 && exponent(a.most) + exponent(b.most) <= 116;
}

void multiply_add(const MicroKernels<float>& kernels, MicroArgs<float> tile, int64_t rows) {
  const auto* table = tile.columns <= kernels.lanes ? kernels.one : kernels.two;
  const int64_t parts = (rows + kernels.rows - 1) / kernels.rows;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t some = part_of(rows, parts, i).size;
    table[some](tile);
    move_rows(tile, some);
  }
}

SplitProduct::SplitProduct(const GemmArgs<float>& args, const float* a, const PackedMatrix<float>& b, float* c)
    : base_(args, a, nullptr, b.data(), c, micro_kernels_for_width<float>(kSplitWidth)),
      b_(b),
      multiply_(multiply_for(b.use().accuracy)),
      chunks_((args.m + kSplitWidth - 1) / kSplitWidth) {}

Grid SplitProduct::grid(int threads) const {
  const double m = static_cast<double>(base_.args.m), n = static_cast<double>(base_.args.n), k = static_cast<double>(base_.args.k);
  const double right_bytes = n * k * (b_.is_split() ? 6 : 4);
  return choose_grid(chunks_, base_.panels, m * n * k / kSpeed, m * k * sizeof(float), right_bytes, threads);
}

void SplitProduct::run_piece(const Grid& grid, int64_t index) const {
  const Part chunks = share_of(chunks_, grid.rows, index / grid.columns);
  const Part panels = share_of(base_.panels, grid.columns, index % grid.columns);
  TileScope tiles;
  for (int64_t first = panels.begin; first < panels.begin + panels.size; first += kPanelsAtOnce) {
    const int64_t end = std::min(first + kPanelsAtOnce, panels.begin + panels.size);
    for (int64_t chunk = 0; chunk < chunks.size; chunk += kChunksAtOnce) {
      run_group({chunks.begin + chunk, std::min(kChunksAtOnce, chunks.size - chunk)}, first, end, chunk + kChunksAtOnce < chunks.size,
                tiles);
    }
  }
}

SplitBlock SplitProduct::right_of(int64_t panel, int64_t index, void* steps) const {
  const int64_t k = base_.args.k, column = base_.args.first_column + panel * kSplitWidth;
  if (b_.is_split()) {
    const char* const split = static_cast<const char*>(b_.split_data());
    return split_block(split + static_cast<size_t>(column / kSplitWidth) * split_bytes(k), k, index);
  }
  const Part ks = split_block_of(k, index);
  SplitBlock block;
  block.values = b_.data() + column * k + ks.begin * kSplitWidth;
  block.magnitudes = kAmxKernels.split_right(block.values, kSplitWidth, ks.size, steps);
  block.steps = steps;
  return block;
}

SplitAhead SplitProduct::ahead_of(int64_t panel, int64_t index, int64_t steps, int64_t turn, int64_t turns) const {
  const int64_t k = base_.args.k, column = base_.args.first_column + panel * kSplitWidth, block = split_block_of(k, index).size;
  if (panel >= base_.panels || turns < kLeastTurns) return {};
  if (b_.is_split()) {
    const char* const split = static_cast<const char*>(b_.split_data()) + static_cast<size_t>(column / kSplitWidth) * split_bytes(k);
    return share_ahead(split + static_cast<size_t>(index) * kSplitBlockBytes, split_steps(block) * kSplitStepBytes, steps, turn, turns);
  }
  const float* const values = b_.data() + column * k + split_block_of(k, index).begin * kSplitWidth;
  return share_ahead(reinterpret_cast<const char*>(values), block * kSplitWidth * static_cast<int64_t>(sizeof(float)), steps, turn, turns);
}

Magnitudes SplitProduct::split_left(const Part& rows, const Part& ks, char* steps, float* copy) const {
  const float* from = base_.a_at(rows.begin, ks.begin);
  if (!base_.args.transpose_a) return kAmxKernels.split_left(from, base_.args.lda, rows.size, ks.size, steps);
  transpose_words(reinterpret_cast<const uint32_t*>(from), base_.args.lda, reinterpret_cast<uint32_t*>(copy), ks.size, rows.size, ks.size);
  return kAmxKernels.split_left(copy, ks.size, rows.size, ks.size, steps);
}

void SplitProduct::run_group(const Part& chunks, int64_t first_panel, int64_t end_panel, bool again, TileScope& tiles) const {
  const int64_t k = base_.args.k, blocks = split_blocks(k);
  const size_t panels = static_cast<size_t>(end_panel - first_panel);
  char* const right_steps = static_cast<char*>(thread_scratch(ScratchSlot::packed_right, b_.is_split() ? 64 : panels * kSplitBlockBytes));
  constexpr size_t kFloats = static_cast<size_t>(2 * kSplitBlockValues + kSplitWidth * kSplitWidth);
  char* const left_steps = static_cast<char*>(thread_scratch(ScratchSlot::packed_left, kSplitBlockBytes + kFloats * sizeof(float)));
  float* const copy = reinterpret_cast<float*>(left_steps + kSplitBlockBytes);
  float* const joined = copy + kSplitBlockValues;
  float* const sums = joined + kSplitBlockValues;
  SplitBlock right[kPanelsAtOnce];
  for (int64_t index = 0; index < blocks; ++index) {
    throw_if_cancelled();
    const Part ks = split_block_of(k, index);
    for (size_t i = 0; i < panels; ++i) {
      right[i] = right_of(first_panel + static_cast<int64_t>(i), index, b_.is_split() ? nullptr : right_steps + i * kSplitBlockBytes);
    }
    for (int64_t chunk = chunks.begin; chunk < chunks.begin + chunks.size; ++chunk) {
      const Part rows = part_of(base_.args.m, chunks_, chunk);
      const Magnitudes magnitudes = split_left(rows, ks, left_steps, copy);
      tiles.set_rows(rows.size);
      for (size_t i = 0; i < panels; ++i) {
        MicroArgs<float> tile = base_.tile_args(rows.begin, first_panel + static_cast<int64_t>(i), ks, index == 0, index == blocks - 1);
        if (fits_split(magnitudes, right[i].magnitudes)) {
          // The next block of these panels, after the last the first one: of the same where more rows come, or of those behind them.
          const bool last = index == blocks - 1;
          const int64_t panel = first_panel + static_cast<int64_t>(i) + (last && !again ? kPanelsAtOnce : 0), steps = split_steps(ks.size);
          multiply_(steps, left_steps, right[i].steps, rows.size, sums,
                    ahead_of(panel, last ? 0 : index + 1, steps, chunk - chunks.begin, chunks.size));
          kAmxKernels.finish(tile, rows.size, sums);
          continue;
        }
        if (!right[i].values) kAmxKernels.join_right(right[i].steps, ks.size, joined);
        tile.b = right[i].values ? right[i].values : joined;
        tile.b_k = kSplitWidth;
        multiply_add(*base_.kernels, tile, rows.size);
      }
    }
  }
  if (!base_.activates) return;
  const Part top = part_of(base_.args.m, chunks_, chunks.begin), bottom = part_of(base_.args.m, chunks_, chunks.begin + chunks.size - 1);
  const int64_t column = first_panel * kSplitWidth;
  activate_rows(base_.args.epilogue.activation, base_.c + top.begin * base_.args.ldc + column, bottom.begin + bottom.size - top.begin,
                std::min(base_.args.n, end_panel * kSplitWidth) - column, base_.args.ldc);
}

}  // namespace rh::compute
