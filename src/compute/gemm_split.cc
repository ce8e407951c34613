#include "compute/gemm_split.h"

#include <cstring>

#include "compute/transpose_words.h"

namespace rh::compute {
namespace {

constexpr int64_t kPanelsAtOnce = 16;                 // whose blocks of B share the second-level cache
constexpr int64_t kChunksAtOnce = 256 / kSplitWidth;  // of A, that pass them one after the other
constexpr int64_t kBlockSteps = kBlockK / kSplitStep;
constexpr size_t kBlockBytes = static_cast<size_t>(kBlockSteps * kSplitStepBytes);
constexpr size_t kPanelFloats = static_cast<size_t>(kSplitWidth * kBlockK);
constexpr double kSpeed = 1.7;  // of products, beside multiply-add

static_assert(kBlockK % kSplitStep == 0);

int exponent(uint32_t bits) { return static_cast<int>(bits >> 23) - 127; }

int64_t blocks_of(int64_t k) { return std::max<int64_t>(1, (k + kBlockK - 1) / kBlockK); }
Part block_of(int64_t k, int64_t index) { return {index * kBlockK, std::min(kBlockK, k - index * kBlockK)}; }

/// Where the magnitudes of a panel's blocks stand: after all blocks.
size_t magnitudes_at(int64_t k) { return static_cast<size_t>(split_steps(k) * kSplitStepBytes); }

}  // namespace

bool splits(const Magnitudes& x) { return x.most == 0 || (exponent(x.least) >= -100 && exponent(x.most) <= 125); }

bool fits_split(const Magnitudes& a, const Magnitudes& b) {
  if (!splits(a) || !splits(b)) return false;
  if (a.most == 0 || b.most == 0) return true;
  return exponent(a.least) + exponent(b.least) >= -96 && exponent(a.most) + exponent(b.most) <= 116;
}

size_t split_panel_bytes(int64_t k) {
  const size_t magnitudes = static_cast<size_t>(blocks_of(k)) * sizeof(Magnitudes);
  return magnitudes_at(k) + (magnitudes + 63) / 64 * 64;
}

void split_panel(const float* panel, int64_t k, void* to) {
  char* const out = static_cast<char*>(to);
  std::memset(out + magnitudes_at(k), 0, split_panel_bytes(k) - magnitudes_at(k));
  for (int64_t i = 0; i < blocks_of(k); ++i) {
    const Part ks = block_of(k, i);
    char* const steps = out + static_cast<size_t>(i) * kBlockBytes;
    const float* const from = panel + ks.begin * kSplitWidth;
    const Magnitudes magnitudes = kAmxKernels.split_right(from, kSplitWidth, ks.size, steps);
    std::memcpy(out + magnitudes_at(k) + static_cast<size_t>(i) * sizeof magnitudes, &magnitudes, sizeof magnitudes);
    if (splits(magnitudes)) continue;
    std::memset(steps, 0, static_cast<size_t>(split_steps(ks.size) * kSplitStepBytes));
    std::memcpy(steps, from, static_cast<size_t>(ks.size * kSplitWidth) * sizeof(float));
  }
}

/// A block of a panel of B, split where it can be.
struct SplitProduct::Right {
  Magnitudes magnitudes;
  const void* steps = nullptr;
  const float* panel = nullptr;  ///< [k, 32], where there is one
};

/// The calling thread's tiles while it works: none of their state is left behind.
class SplitProduct::Tiles {
 public:
  Tiles() = default;
  ~Tiles() {
    if (rows_ > 0) kAmxKernels.release();
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  void set_rows(int64_t rows) {
    if (rows != rows_) kAmxKernels.configure(rows);
    rows_ = rows;
  }

 private:
  int64_t rows_ = 0;
};

SplitProduct::SplitProduct(const GemmArgs<float>& args, const float* a, const PackedMatrix<float>& b, float* c)
    : base_(args, a, nullptr, b.data(), c, micro_kernels_for_width<float>(kSplitWidth)),
      b_(b),
      chunks_((args.m + kSplitWidth - 1) / kSplitWidth) {}

Grid SplitProduct::grid(int threads) const {
  const double m = static_cast<double>(base_.args.m), n = static_cast<double>(base_.args.n), k = static_cast<double>(base_.args.k);
  const double right_bytes = n * k * (b_.is_split() ? 6 : 4);
  return choose_grid(chunks_, base_.panels, m * n * k / kSpeed, m * k * sizeof(float), right_bytes, threads);
}

int64_t SplitProduct::block_count() const { return blocks_of(base_.args.k); }
Part SplitProduct::block(int64_t index) const { return block_of(base_.args.k, index); }

void SplitProduct::run_piece(const Grid& grid, int64_t index) const {
  const Part chunks = part_of(chunks_, grid.rows, index / grid.columns);
  const Part panels = part_of(base_.panels, grid.columns, index % grid.columns);
  Tiles tiles;
  for (int64_t first = panels.begin; first < panels.begin + panels.size; first += kPanelsAtOnce) {
    const int64_t end = std::min(first + kPanelsAtOnce, panels.begin + panels.size);
    for (int64_t chunk = 0; chunk < chunks.size; chunk += kChunksAtOnce) {
      run_group({chunks.begin + chunk, std::min(kChunksAtOnce, chunks.size - chunk)}, first, end, tiles);
    }
  }
}

SplitProduct::Right SplitProduct::right_of(int64_t panel, int64_t index, void* steps) const {
  const int64_t k = base_.args.k;
  const Part ks = block(index);
  Right right{};
  if (b_.is_split()) {
    const char* const from = static_cast<const char*>(b_.split_data()) +
                             static_cast<size_t>(base_.args.first_column / kSplitWidth + panel) * split_panel_bytes(k);
    std::memcpy(&right.magnitudes, from + magnitudes_at(k) + static_cast<size_t>(index) * sizeof(Magnitudes), sizeof(Magnitudes));
    const void* const steps_of_block = from + static_cast<size_t>(index) * kBlockBytes;
    right.steps = steps_of_block;
    if (!splits(right.magnitudes)) right.panel = static_cast<const float*>(steps_of_block);
    return right;
  }
  right.panel = b_.data() + (base_.args.first_column + panel * kSplitWidth) * k + ks.begin * kSplitWidth;
  right.magnitudes = kAmxKernels.split_right(right.panel, kSplitWidth, ks.size, steps);
  right.steps = steps;
  return right;
}

Magnitudes SplitProduct::split_rows(const Part& rows, const Part& ks, char* steps, float* copy) const {
  const float* from = base_.a_at(rows.begin, ks.begin);
  if (!base_.args.transpose_a) return kAmxKernels.split_left(from, base_.args.lda, rows.size, ks.size, steps);
  transpose_words(reinterpret_cast<const uint32_t*>(from), base_.args.lda, reinterpret_cast<uint32_t*>(copy), ks.size, rows.size, ks.size);
  return kAmxKernels.split_left(copy, ks.size, rows.size, ks.size, steps);
}

void SplitProduct::run_group(const Part& chunks, int64_t first_panel, int64_t end_panel, Tiles& tiles) const {
  const size_t panels = static_cast<size_t>(end_panel - first_panel);
  char* const right_steps = static_cast<char*>(thread_scratch(ScratchSlot::packed_right, b_.is_split() ? 64 : panels * kBlockBytes));
  char* const left_steps = static_cast<char*>(
      thread_scratch(ScratchSlot::packed_left, kBlockBytes + (2 * kPanelFloats + kSplitWidth * kSplitWidth) * sizeof(float)));
  float* const copy = reinterpret_cast<float*>(left_steps + kBlockBytes);
  float* const joined = copy + kPanelFloats;
  float* const sums = joined + kPanelFloats;
  Right right[kPanelsAtOnce];
  for (int64_t index = 0; index < block_count(); ++index) {
    throw_if_cancelled();
    const Part ks = block(index);
    const bool first = index == 0, last = index == block_count() - 1;
    for (size_t i = 0; i < panels; ++i) right[i] = right_of(first_panel + static_cast<int64_t>(i), index, right_steps + i * kBlockBytes);
    for (int64_t chunk = chunks.begin; chunk < chunks.begin + chunks.size; ++chunk) {
      const Part rows = part_of(base_.args.m, chunks_, chunk);
      const Magnitudes magnitudes = split_rows(rows, ks, left_steps, copy);
      tiles.set_rows(rows.size);
      for (size_t i = 0; i < panels; ++i) {
        const MicroArgs<float> tile = base_.tile_args(rows.begin, first_panel + static_cast<int64_t>(i), ks, first, last);
        if (!fits_split(magnitudes, right[i].magnitudes)) {
          multiply_add(rows, ks, right[i], joined, tile);
          continue;
        }
        kAmxKernels.multiply(split_steps(ks.size), left_steps, right[i].steps, rows.size, sums);
        kAmxKernels.finish(tile, rows.size, sums);
      }
    }
  }
  if (!base_.activates) return;
  const Part top = part_of(base_.args.m, chunks_, chunks.begin), bottom = part_of(base_.args.m, chunks_, chunks.begin + chunks.size - 1);
  const int64_t column = first_panel * kSplitWidth;
  activate_rows(base_.args.epilogue.activation, base_.c + top.begin * base_.args.ldc + column, bottom.begin + bottom.size - top.begin,
                std::min(base_.args.n, end_panel * kSplitWidth) - column, base_.args.ldc);
}

/// The same rows of a block, with B's values as they are.
void SplitProduct::multiply_add(const Part& rows, const Part& ks, const Right& right, float* joined, MicroArgs<float> tile) const {
  if (!right.panel) kAmxKernels.join_right(right.steps, ks.size, joined);
  tile.b = right.panel ? right.panel : joined;
  tile.b_k = kSplitWidth;
  const MicroKernels<float>& kernels = *base_.kernels;
  const auto* table = tile.columns <= kernels.lanes ? kernels.one : kernels.two;
  const int64_t parts = (rows.size + kernels.rows - 1) / kernels.rows;
  for (int64_t i = 0; i < parts; ++i) {
    const Part some = part_of(rows.size, parts, i);
    MicroArgs<float> p = tile;
    move_rows(p, some.begin);
    table[some.size](p);
  }
}

}  // namespace rh::compute
