#include "compute/attention/attention_fip.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "compute/attention/attention_head.h"
#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm_fip.h"
#include "compute/gemm/gemm_product.h"
#include "compute/move/bring_near.h"
#include "compute/move/transpose_words.h"
#include "compute/reduce/row_math.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

static_assert(kFipQueries == kFipWidth && kExp2Columns == kFipWidth && kExp2Rows == kFipGroup);
constexpr int64_t kKeyBlock = 240;     // keys whose scores are made at a time: whole groups and tiles
constexpr int64_t kFold = 120;         // products that are added up before they join a longer sum
constexpr int64_t kLeastKeys = 480;    // seen by a query: with fewer, scaling and laying out takes what pairs save
constexpr int64_t kMostKeys = 8192;    // all of a head's are laid out
constexpr int64_t kLeastQueries = 64;  // that keys and values are laid out for
constexpr int64_t kLeastDepth = 32;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Columns of a panel: what its pairs have too much, inverse scales, and whether all columns can be paired.
struct PanelColumns {
  float sums[kFipWidth];
  float inverse[kFipWidth];
  bool paired;
};

/// Weights of some keys, columns of a panel, and their sums.
struct Weights {
  const float* panel;
  PanelColumns columns;
  float totals[kFipWidth];
};

class FipHead : public AttentionHead {
 public:
  FipHead(const AttentionArgs& args, int64_t batch, int64_t head)
      : AttentionHead(args, batch, head), kernels_(*fip_kernels()), plain_(micro_kernels_for_width<float>(kFipWidth)) {}

  void run(Range queries) {
    keys_ = args_.keys_of(batch_, queries.end - 1).end;  // no earlier query sees more
    if (keys_ == 0) return clear(queries);
    block_ = std::min(kKeyBlock, pieces_of(keys_, kFipGroup) * kFipGroup);
    lay_out();
    for (int64_t query = queries.begin; query < queries.end; query += kFipQueries)
      attend({query, std::min(query + kFipQueries, queries.end)});
  }

 private:
  int64_t value_tiles() const { return args_.value_depth / kFipRows; }

  void lay_out() {
    const int64_t depth = args_.depth, blocks = pieces_of(keys_, block_);
    keys_of_tiles_.rows = fip_tile(depth);
    values_of_block_.rows = fip_tile(block_);
    const int64_t key_floats = pieces_of(keys_, kFipRows) * keys_of_tiles_.stride();
    const int64_t value_floats = blocks * value_tiles() * values_of_block_.stride();
    const int64_t panel_floats = (pieces_of(depth, kFipGroup) + 1) * kFipGroup * kFipWidth;
    const int64_t score_floats = (block_ + 2 * kFipRows) * kFipWidth;
    const int64_t most = std::max(depth, block_) + kFipWidth;
    float* memory = scratch_floats(ScratchSlot::packed_right, key_floats + value_floats + 2 * panel_floats + 3 * score_floats +
                                                                  args_.value_depth * kFipWidth + most + 64);
    const auto take = [&memory](int64_t count) {
      float* const taken = memory;
      memory += (count + 15) / 16 * 16;
      return taken;
    };
    keys_of_tiles_.memory = take(key_floats);
    values_of_block_.memory = take(value_floats);
    queries_ = take(panel_floats);
    turned_ = take(panel_floats);
    scores_ = take(score_floats);
    weights_ = take(score_floats);
    mask_columns_ = take(score_floats);
    y_columns_ = take(args_.value_depth * kFipWidth);
    ones_ = take(most);
    std::fill_n(ones_, most, 1.0f);
    for (int64_t key = 0; key < keys_; key += kFipRows) lay_out_keys(key);
    for (int64_t block = 0; block < blocks; ++block) lay_out_values(block);
  }

  void lay_out_keys(int64_t key) const {
    const int64_t tile = key / kFipRows, rows = std::min(kFipRows, keys_ - key), depth = args_.depth;
    const float* from = k_ + key * (args_.k_is_transposed ? 1 : args_.k_strides.row);
    int64_t a_row = args_.k_strides.row;
    if (args_.k_is_transposed) {
      transpose_words(reinterpret_cast<const uint32_t*>(from), a_row, reinterpret_cast<uint32_t*>(turned_), depth, rows, depth);
      from = turned_;
      a_row = depth;
    }
    const int64_t next = std::min(kFipRows, keys_ - key - rows), row_bytes = depth * static_cast<int64_t>(sizeof(float));
    if (!args_.k_is_transposed) bring_near(from + rows * a_row, next, row_bytes, a_row * static_cast<int64_t>(sizeof(float)));
    const FipTiles& to = keys_of_tiles_;
    to.pairs(tile) = kernels_.scale_left[rows]({.a = from,
                                                .a_row = a_row,
                                                .rows = rows,
                                                .k = depth,
                                                .scale = ones_,
                                                .to = to.at(tile),
                                                .inverse_scale = to.inverse(tile),
                                                .sums = to.sums(tile)});
  }

  Range keys_of_block(int64_t block) const { return {block * block_, std::min((block + 1) * block_, keys_)}; }

  /// Values of a block of keys, a panel's columns at a time: these are rows of tiles.
  void lay_out_values(int64_t block) {
    const Range keys = keys_of_block(block);
    for (int64_t column = 0; column < args_.value_depth; column += kFipWidth) {
      float tiles[4 * fip_tile(kKeyBlock)], sums[2 * kFipWidth], inverse[kFipWidth];
      const uint32_t pairs = kernels_.scale_panel({.b = v_ + keys.begin * args_.v_strides.row + column,
                                                   .b_row = args_.v_strides.row,
                                                   .columns = kFipWidth,
                                                   .k = keys.size(),
                                                   .scale = ones_,
                                                   .to = nullptr,
                                                   .tiles = tiles,
                                                   .sums = sums,
                                                   .inverse_scale = inverse,
                                                   .squares = nullptr});
      const int64_t steps = pieces_of(keys.size(), kFipGroup) * kFipGroup;
      for (int64_t i = 0; i < kFipWidth / kFipRows; ++i) {
        const int64_t tile = block * value_tiles() + column / kFipRows + i;
        const FipTiles& to = values_of_block_;
        std::copy_n(tiles + i * fip_tile(keys.size()), steps * kFipRows, to.at(tile));
        for (int64_t row = 0; row < kFipRows; ++row) {
          for (int64_t j = 0; j < 2; ++j) to.sums(tile)[2 * row + j] = sums[j * kFipWidth + i * kFipRows + row];
          to.inverse(tile)[row] = inverse[i * kFipRows + row];
        }
        to.pairs(tile) = pairs >> (i * kFipRows);
      }
    }
  }

  /// A panel of columns, [k, kFipWidth], scaled.
  PanelColumns scale_panel(const float* from, int64_t k, const float* squares, int64_t columns, float* to) const {
    PanelColumns made;
    float sums[2 * kFipWidth];
    const uint32_t pairs = kernels_.scale_panel({.b = from,
                                                 .b_row = kFipWidth,
                                                 .columns = columns,
                                                 .k = k,
                                                 .scale = ones_,
                                                 .to = to,
                                                 .tiles = nullptr,
                                                 .sums = sums,
                                                 .inverse_scale = made.inverse,
                                                 .squares = squares});
    made.paired = pairs == ~0u;
    for (int64_t j = 0; j < kFipWidth; ++j) made.sums[j] = sums[j < kFipWidth / 2 ? j : kFipWidth + j];
    return made;
  }

  /// All keys of up to kFipQueries queries.
  void attend(Range queries) {
    float shifts[kFipWidth], sums[kFipWidth], scales[kFipWidth];
    std::fill_n(scales, kFipWidth, 1.0f);
    std::fill_n(shifts, kFipWidth, 0.0f);
    std::fill_n(sums, kFipWidth, 0.0f);
    for (int64_t i = 0; i < queries.size(); ++i) start(queries.begin + i, shifts[i], sums[i]);
    transpose_queries(queries);
    const PanelColumns panel = scale_panel(turned_, args_.depth, nullptr, queries.size(), queries_);
    const Range seen = used_by(queries);
    bool adds = false;
    for (int64_t block = seen.begin / block_; block * block_ < seen.end; ++block) {
      const Range all = keys_of_block(block), keys{all.begin, std::min(all.end, seen.end)};
      multiply_keys(queries, keys, panel);
      float before[kFipWidth];
      std::copy_n(shifts, kFipWidth, before);
      const Weights weights = weigh(keys.size(), queries.size(), shifts, scales);
      rescale(before, shifts, sums, adds);
      for (int64_t i = 0; i < kFipWidth; ++i) sums[i] += weights.totals[i];
      multiply_values(block, keys, weights, adds);
      adds = true;
    }
    write(queries, shifts, sums, adds);
  }

  void transpose_queries(Range queries) const {
    const float* const from = q_ + queries.begin * args_.q_strides.row;
    transpose_words(reinterpret_cast<const uint32_t*>(from), args_.q_strides.row, reinterpret_cast<uint32_t*>(turned_), kFipWidth,
                    args_.depth, queries.size());
    for (int64_t i = 0; queries.size() < kFipWidth && i < args_.depth; ++i)
      std::fill(turned_ + i * kFipWidth + queries.size(), turned_ + (i + 1) * kFipWidth, 0.0f);
  }

  static MicroArgs<float> tile_of(float* c, int64_t k) {
    MicroArgs<float> p{};
    p.k = pieces_of(k, kFipGroup) * kFipGroup;
    p.fold = kFold;
    p.a_row = 1;
    p.a_k = kFipRows;
    p.b_k = kFipWidth;
    p.c = c;
    p.c_row = kFipWidth;
    p.columns = kFipWidth;
    return p;
  }

  /// What the pairs of so many rows of a tile have too much.
  static void sum_pairs(const float* tile, int64_t k, float* sums) {
    float first[kFipRows] = {}, second[kFipRows] = {};
    for (const float *at = tile, *end = tile + k * kFipRows; at < end; at += kFipGroup * kFipRows) {
      for (int64_t i = 0; i < kFipRows; ++i) {
        const auto product = [=](int64_t row) { return at[row * kFipRows + i] * at[(row + 1) * kFipRows + i]; };
        first[i] += product(0) - product(2);
        second[i] += product(4) - product(2);
      }
    }
    for (int64_t i = 0; i < kFipRows; ++i) {
      sums[2 * i] = first[i];
      sums[2 * i + 1] = second[i];
    }
  }

  /// A tile of rows times a panel; args go on to the next tile's rows of c. `whole`: its k is that of the tile.
  void multiply(FipArgs& args, const FipTiles& tiles, int64_t tile, int64_t rows, bool paired, bool whole) const {
    args.tile.a = tiles.at(tile);
    float fewer[2 * kFipRows];
    if (!whole) sum_pairs(args.tile.a, args.tile.k, fewer);
    args.left_sums = whole ? tiles.sums(tile) : fewer;
    args.left_inverse = tiles.inverse(tile);
    float plain[kFipRows * kFipWidth];
    multiply_fip_tile(kernels_, plain_, args, rows, paired ? tiles.pairs(tile) : 0, plain);
    move_rows(args.tile, rows);
  }

  /// Scores of keys, [keys, kFipWidth], with what masks add.
  void multiply_keys(Range queries, Range keys, const PanelColumns& panel) const {
    FipArgs args{};
    args.tile = tile_of(scores_, args_.depth);
    args.tile.b = queries_;
    args.tile.alpha = scale_;
    if (key_mask_) args.tile.row_bias = key_mask_ + keys.begin;
    if (adds_mask_ && args_.mask_strides.row == 0) {
      args.tile.row_bias = mask_of(queries.begin, keys.begin);
    } else if (adds_mask_) {
      transpose_words(reinterpret_cast<const uint32_t*>(mask_of(queries.begin, keys.begin)), args_.mask_strides.row,
                      reinterpret_cast<uint32_t*>(mask_columns_), kFipWidth, keys.size(), queries.size());
      args.tile.residual = mask_columns_;
      args.tile.residual_row = kFipWidth;
      args.tile.residual_scale = 1;
    }
    args.right_sums = panel.sums;
    args.right_inverse = panel.inverse;
    for (int64_t key = keys.begin; key < keys.end; key += kFipRows)
      multiply(args, keys_of_tiles_, key / kFipRows, std::min(kFipRows, keys.end - key), panel.paired, true);
    if (args_.softcap != 0) cap(scores_, keys.size() * kFipWidth);
    if (!cuts(queries, keys)) return;
    for (int64_t i = 0; i < queries.size(); ++i) {
      const Range seen = seen_of(queries.begin + i, keys);
      for (int64_t key = keys.begin; key < seen.begin; ++key) scores_[(key - keys.begin) * kFipWidth + i] = -kInfinity;
      for (int64_t key = seen.end; key < keys.end; ++key) scores_[(key - keys.begin) * kFipWidth + i] = -kInfinity;
    }
  }

  /// Scores become weights. `scales`, powers of two, are a guess of what brings the root mean squares of columns near 1, and become the
  /// next one; where they do not, the panel is scaled again.
  Weights weigh(int64_t keys, int64_t queries, float* shifts, float* scales) const {
    constexpr int kMostApart = 1, kMostExponent = 60;
    Weights made;
    float squares[kFipWidth], pairs[2 * kFipWidth], inverse[kFipWidth], next[kFipWidth];
    exp2_columns({scores_, keys, factor_, shifts, scales, made.totals, squares, pairs});
    const float one_by_keys = 1 / static_cast<float>(keys);
    int most = 0;
    for (int64_t i = 0; i < kFipWidth; ++i) {
      const int apart =
          (static_cast<int>(std::bit_cast<uint32_t>(squares[i] * one_by_keys) >> 23) - 126) >> 1;  // from the nearest power of two
      most = std::max(most, std::abs(apart));
      const int exponent = static_cast<int>(std::bit_cast<uint32_t>(scales[i]) >> 23) - 127;
      const int better = squares[i] == 0 ? exponent : std::clamp(exponent - apart, -kMostExponent, kMostExponent);
      next[i] = std::bit_cast<float>(static_cast<uint32_t>(127 + better) << 23);
      inverse[i] = std::bit_cast<float>(static_cast<uint32_t>(127 - exponent) << 23);
      made.totals[i] *= inverse[i];
    }
    const bool near = most <= kMostApart;
    if (near) {
      made.panel = scores_;
      made.columns.paired = true;
      for (int64_t i = 0; i < kFipWidth; ++i) {
        made.columns.sums[i] = pairs[i < kFipWidth / 2 ? i : kFipWidth + i];
        made.columns.inverse[i] = inverse[i];
      }
    } else {
      made.panel = weights_;
      made.columns = scale_panel(scores_, keys, squares, queries, weights_);
      for (int64_t i = 0; i < kFipWidth; ++i) made.columns.inverse[i] *= inverse[i];
    }
    std::copy_n(next, kFipWidth, scales);
    return made;
  }

  /// Brings what was added up before to new shifts.
  void rescale(const float* before, const float* shifts, float* sums, bool adds) const {
    float shrinks[kFipWidth];
    bool any = false;
    for (int64_t i = 0; i < kFipWidth; ++i) {
      const bool moved = shifts[i] != before[i] && before[i] != -kInfinity;  // else all weights were zero
      shrinks[i] = moved ? std::exp2((before[i] - shifts[i]) * factor_) : 1.0f;
      sums[i] *= shrinks[i];
      any |= moved;
    }
    if (any && adds) scale_columns(y_columns_, shrinks);
  }

  void scale_columns(float* rows, const float* by) const {
    for (int64_t row = 0; row < args_.value_depth; ++row)
      binary(Binary::mul, rows + row * kFipWidth, by, rows + row * kFipWidth, kFipWidth);
  }

  void multiply_values(int64_t block, Range keys, const Weights& weights, bool adds) const {
    const bool whole = keys.end == keys_of_block(block).end;
    FipArgs args{};
    args.tile = tile_of(y_columns_, keys.size());
    args.tile.b = weights.panel;
    args.tile.beta = adds ? 1.0f : 0.0f;
    args.right_sums = weights.columns.sums;
    args.right_inverse = weights.columns.inverse;
    for (int64_t tile = 0; tile < value_tiles(); ++tile)
      multiply(args, values_of_block_, block * value_tiles() + tile, kFipRows, weights.columns.paired, whole);
  }

  void write(Range queries, const float* shifts, float* sums, bool has_weights) {
    if (!has_weights) return clear(queries);
    float inverse[kFipWidth];
    for (int64_t i = 0; i < kFipWidth; ++i) inverse[i] = sums[i] != 0 && !std::isnan(sums[i]) ? 1 / sums[i] : 1.0f;
    scale_columns(y_columns_, inverse);
    transpose_words(reinterpret_cast<const uint32_t*>(y_columns_), kFipWidth, reinterpret_cast<uint32_t*>(row_of_y(queries.begin)),
                    args_.y_strides.row, queries.size(), args_.value_depth);
    for (int64_t i = 0; i < queries.size(); ++i) finish(queries.begin + i, shifts[i], sums[i]);
  }

  const FipKernels& kernels_;
  const MicroKernels<float>& plain_;
  int64_t keys_ = 0, block_ = 0;
  FipTiles keys_of_tiles_, values_of_block_;
  float *queries_ = nullptr, *turned_ = nullptr;  ///< a panel scaled, and before that
  float *scores_ = nullptr, *weights_ = nullptr, *mask_columns_ = nullptr, *y_columns_ = nullptr;
  float* ones_ = nullptr;
};

}  // namespace

bool can_attend_by_pairs(const AttentionArgs& args) {
  const bool adds_mask = args.mask_column == 1 && args.softcap == 0 && !(args.key_mask && args.mask_strides.row == 0);
  return fip_kernels() && args.depth > 0 && args.value_depth % kFipWidth == 0 && (!args.mask || adds_mask);
}

bool attends_by_pairs(const AttentionArgs& args) {
  return args.ways.by_pairs && args.queries >= kLeastQueries && args.depth >= kLeastDepth && args.keys <= kMostKeys &&
         args.keys_of(0, args.queries / 2).size() >= kLeastKeys && can_attend_by_pairs(args);
}

void attend_by_pairs(const AttentionArgs& args, int64_t batch, int64_t head, Range queries) { FipHead(args, batch, head).run(queries); }

}  // namespace rh::compute
