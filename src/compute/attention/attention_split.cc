#include "compute/attention/attention_split.h"

#include <algorithm>

#include "base/cancellation.h"
#include "compute/attention/attention_blocks.h"
#include "compute/attention/attention_fip.h"
#include "compute/gemm/amx.h"
#include "compute/gemm/gemm_split.h"
#include "compute/gemm/gemm_variants.h"
#include "compute/move/transpose_words.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

static_assert(kSplitQueries == kSplitWidth && kAttentionKeys == kBlockK);
constexpr int64_t kQueryChunks = kMostAttentionChunks;  // that pass a block of keys and values one after the other
constexpr int64_t kMostKeys = 8192;                     // all of a head's are split

// Attention by tiles was not measured on a processor with AMX: what tiles cost is that of products of whole matrices (GemmCosts), whose
// sums and operands go to memory further away, so that it is taken only where the estimate is a tenth below multiply-add's at least. The
// others are from a Zen 5: six heads of 1500 queries and keys, twelve of 128, four of 1024 of depth 128. All are in products by packed
// multiply-add at its best.
constexpr double kLeastGain = 0.1;
constexpr double kSoftmax = 14;                      // of a score
constexpr double kPlainly = 1.09, kPlainlyByM = 16;  // of a product by multiply-add, and x 1/queries: packing keys and values

class SplitHead final : public BlockedHead {
 public:
  SplitHead(const AttentionArgs& args, int64_t batch, int64_t head)
      : BlockedHead(args, batch, head, kSplitQueries, kSplitWidth), kernels_(micro_kernels_for_width<float>(kSplitWidth)) {}

  void run(Range queries) {
    first_key_ = args_.keys_of(batch_, queries.begin).begin / kAttentionKeys * kAttentionKeys;  // no later query sees an earlier one
    keys_ = args_.keys_of(batch_, queries.end - 1).end;                                         // no earlier query sees more
    if (keys_ == 0) return clear(queries);
    split_keys_and_values();
    const int64_t blocks = pieces_of(queries.size(), kQueryChunks * kSplitQueries);
    const Scratch scratch(std::min(queries.size(), kQueryChunks * kSplitQueries), std::min(queries.size(), kSplitQueries),
                          std::min(keys_, kAttentionKeys));
    for (int64_t block = 0; block < blocks; ++block) {
      const Part part = part_of(queries.size(), blocks, block);
      const Range some{queries.begin + part.begin, queries.begin + part.begin + part.size};
      split_queries(some);
      run_block(some, keys_, kAttentionKeys, scratch);
    }
  }

 private:
  /// Rows of a left operand in parts.
  struct Left {
    Magnitudes magnitudes;
    const void* steps;
  };

  int64_t depth_bytes() const { return split_steps(args_.depth) * kSplitStepBytes; }

  /// All memory of the head; nothing that runs inside uses the same.
  void take_memory(int64_t key_panels, int64_t value_panels) {
    const size_t key_bytes = static_cast<size_t>(key_panels * depth_bytes());
    const size_t value_bytes = static_cast<size_t>(value_panels) * kSplitBlockBytes;
    const size_t query_bytes = static_cast<size_t>(kQueryChunks * depth_bytes());
    const size_t panels = static_cast<size_t>(key_panels + value_panels);
    constexpr size_t kFloats = static_cast<size_t>(kSplitBlockValues + kSplitWidth * kSplitWidth);
    char* memory = static_cast<char*>(thread_scratch(ScratchSlot::split, key_bytes + value_bytes + query_bytes + kSplitBlockBytes +
                                                                             kFloats * sizeof(float) + panels * sizeof(SplitBlock)));
    const auto take = [&memory](size_t bytes) {
      char* const taken = memory;
      memory += bytes;
      return taken;
    };
    key_steps_ = take(key_bytes);
    value_steps_ = take(value_bytes);
    query_steps_ = take(query_bytes);
    weight_steps_ = take(kSplitBlockBytes);
    panel_ = reinterpret_cast<float*>(take(static_cast<size_t>(kSplitBlockValues) * sizeof(float)));
    sums_ = reinterpret_cast<float*>(take(static_cast<size_t>(kSplitWidth * kSplitWidth) * sizeof(float)));
    key_panels_ = reinterpret_cast<SplitBlock*>(take(static_cast<size_t>(key_panels) * sizeof(SplitBlock)));
    value_panels_ = reinterpret_cast<SplitBlock*>(take(static_cast<size_t>(value_panels) * sizeof(SplitBlock)));
  }

  void split_keys_and_values() {
    const int64_t keys = keys_ - first_key_, key_panels = pieces_of(keys, kSplitWidth), blocks = pieces_of(keys, kAttentionKeys);
    panels_of_block_ = pieces_of(args_.value_depth, kSplitWidth);
    take_memory(key_panels, blocks * panels_of_block_);
    for (int64_t panel = 0; panel < key_panels; ++panel)
      key_panels_[panel] = split_keys(first_key_ + panel * kSplitWidth, key_steps_ + panel * depth_bytes());
    for (int64_t i = 0; i < blocks * panels_of_block_; ++i) {
      value_panels_[i] = split_values(first_key_ + i / panels_of_block_ * kAttentionKeys, i % panels_of_block_ * kSplitWidth,
                                      value_steps_ + static_cast<size_t>(i) * kSplitBlockBytes);
    }
  }

  /// The parts of [k, 32], or where they cannot be split the values as they are, which take less memory.
  static SplitBlock split_panel(const float* from, int64_t row, int64_t k, char* to) {
    SplitBlock block{kAmxKernels.split_right(from, row, k, to), to, nullptr};
    if (fits_split(block.magnitudes, {})) return block;
    float* const values = reinterpret_cast<float*>(to);
    for (int64_t i = 0; i < k; ++i) std::copy_n(from + i * row, kSplitWidth, values + i * kSplitWidth);
    block.values = values;
    return block;
  }

  /// Fewer than 32 columns, filled up with zeros.
  const float* fill_up(const float* from, int64_t row, int64_t k, int64_t columns) const {
    for (int64_t i = 0; i < k; ++i) {
      float* const to = panel_ + i * kSplitWidth;
      std::fill(std::copy_n(from + i * row, columns, to), to + kSplitWidth, 0.0f);
    }
    return panel_;
  }

  SplitBlock split_keys(int64_t key, char* to) const {
    const int64_t live = std::min(kSplitWidth, keys_ - key), row = args_.k_strides.row, depth = args_.depth;
    if (args_.k_is_transposed && live == kSplitWidth) return split_panel(k_ + key, row, depth, to);
    if (args_.k_is_transposed) return split_panel(fill_up(k_ + key, row, depth, live), kSplitWidth, depth, to);
    transpose_words(reinterpret_cast<const uint32_t*>(k_ + key * row), row, reinterpret_cast<uint32_t*>(panel_), kSplitWidth, depth, live);
    for (int64_t i = 0; live < kSplitWidth && i < depth; ++i)
      std::fill(panel_ + i * kSplitWidth + live, panel_ + (i + 1) * kSplitWidth, 0.0f);
    return split_panel(panel_, kSplitWidth, depth, to);
  }

  SplitBlock split_values(int64_t key, int64_t column, char* to) const {
    const int64_t rows = std::min(kAttentionKeys, keys_ - key), live = std::min(kSplitWidth, args_.value_depth - column);
    const int64_t row = args_.v_strides.row;
    const float* const from = v_ + key * row + column;
    if (live == kSplitWidth) return split_panel(from, row, rows, to);
    return split_panel(fill_up(from, row, rows, live), kSplitWidth, rows, to);
  }

  void split_queries(Range queries) {
    for (int64_t chunk = 0; chunk < chunks_of(queries); ++chunk) {
      const Range some = chunk_of(queries, chunk);
      const int64_t row = args_.q_strides.row;
      char* const to = query_steps_ + chunk * depth_bytes();
      queries_[chunk] = {kAmxKernels.split_left(q_ + some.begin * row, row, some.size(), args_.depth, to), to};
    }
  }

  /// `tile` has all but B.
  void multiply(const Left& left, const SplitBlock& right, MicroArgs<float> tile, int64_t rows) {
    if (fits_split(left.magnitudes, right.magnitudes)) {
      tiles_.set_rows(rows);
      kAmxKernels.multiply_six(split_steps(tile.k), left.steps, right.steps, rows, sums_, {});
      kAmxKernels.finish(tile, rows, sums_);
      return;
    }
    if (!right.values) kAmxKernels.join_right(right.steps, tile.k, panel_);
    tile.b = right.values ? right.values : panel_;
    tile.b_k = kSplitWidth;
    multiply_add(kernels_, tile, rows);
  }

  static MicroArgs<float> tile_of(const float* a, int64_t a_row, int64_t k) {
    MicroArgs<float> tile{};
    tile.k = k;
    tile.a = a;
    tile.a_row = a_row;
    tile.a_k = 1;
    tile.fold = kBlockK;
    return tile;
  }

  void multiply_keys(const Some& some, float* scores) override {
    throw_if_cancelled();
    const Range keys = some.keys;
    const int64_t stride = row_stride(keys.size()), rows = some.queries.size();
    const ScoreMasks masks = score_masks(some.queries, keys);
    const int64_t columns = masks.any() ? keys.size() : stride;  // whole vectors of panels that end in zeros
    MicroArgs<float> tile = tile_of(q_ + some.queries.begin * args_.q_strides.row, args_.q_strides.row, args_.depth);
    tile.alpha = scale_;
    tile.c_row = stride;
    tile.residual_row = masks.each_row;
    tile.residual_scale = 1;
    for (int64_t column = 0; column < columns; column += kSplitWidth) {
      tile.columns = std::min(kSplitWidth, columns - column);
      tile.c = scores + column;
      if (masks.column) tile.column_bias = masks.column + column;
      if (masks.each) tile.residual = masks.each + column;
      multiply(queries_[some.chunk], key_panels_[(keys.begin + column - first_key_) / kSplitWidth], tile, rows);
    }
  }

  void multiply_values(const Some& some, const float* weights, bool adds) override {
    const int64_t keys = some.keys.size(), stride = row_stride(keys), rows = some.queries.size();
    const int64_t from = some.keys.begin - some.in_block.begin;
    const Left left{kAmxKernels.split_left(weights, stride, rows, keys, weight_steps_), weight_steps_};
    MicroArgs<float> tile = tile_of(weights, stride, keys);
    tile.beta = adds ? 1.0f : 0.0f;
    tile.c_row = args_.y_strides.row;
    for (int64_t panel = 0; panel < panels_of_block_; ++panel) {
      SplitBlock right = value_panels_[(some.in_block.begin - first_key_) / kAttentionKeys * panels_of_block_ + panel];
      right.steps = static_cast<const char*>(right.steps) + from / kSplitStep * kSplitStepBytes;
      if (right.values) right.values += from * kSplitWidth;
      tile.columns = std::min(kSplitWidth, args_.value_depth - panel * kSplitWidth);
      tile.c = row_of_y(some.queries.begin) + panel * kSplitWidth;
      multiply(left, right, tile, rows);
    }
  }

  const MicroKernels<float>& kernels_;
  TileScope tiles_;
  int64_t first_key_ = 0, keys_ = 0, panels_of_block_ = 0;
  char *key_steps_ = nullptr, *value_steps_ = nullptr, *query_steps_ = nullptr, *weight_steps_ = nullptr;
  float *panel_ = nullptr, *sums_ = nullptr;
  SplitBlock *key_panels_ = nullptr, *value_panels_ = nullptr;  ///< those of a block of keys after each other
  Left queries_[kQueryChunks] = {};
};

/// What a product of two values costs by tiles, beside multiply-add: of [m, k] times [k, n], which is split for them.
double cost_of(int64_t m, int64_t n, int64_t k) {
  return amx_cost_of({.m = m, .n = n, .k = k}) * static_cast<double>(pieces_of(n, kSplitWidth) * kSplitWidth) / static_cast<double>(n);
}

}  // namespace

bool can_attend_by_tiles(const AttentionArgs& args) {
  return args.depth > 0 && args.depth <= kBlockK && args.value_depth > 0 && amx_usable();
}

bool attends_by_tiles(const AttentionArgs& args, int64_t parts) {
  if (args.ways.tiles == TileUse::never || !can_attend_by_tiles(args)) return false;
  if (args.ways.tiles == TileUse::wherever_possible) return true;
  const int64_t queries = pieces_of(args.queries, parts), keys = args.keys_of(0, args.queries / 2).size();
  if (queries <= 0 || keys <= 0 || args.keys > kMostKeys || attends_by_pairs(args)) return false;
  const double depth = static_cast<double>(args.depth), value_depth = static_cast<double>(args.value_depth);
  const double by_tiles = depth * cost_of(queries, keys, args.depth) + value_depth * cost_of(queries, args.value_depth, keys);
  const double plainly = (depth + value_depth) * (kPlainly + kPlainlyByM / static_cast<double>(queries));
  return by_tiles + kSoftmax <= (1 - kLeastGain) * (plainly + kSoftmax);
}

void attend_by_tiles(const AttentionArgs& args, int64_t batch, int64_t head, Range queries) { SplitHead(args, batch, head).run(queries); }

}  // namespace rh::compute
