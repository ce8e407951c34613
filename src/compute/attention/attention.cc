#include "compute/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/attention/attention_fip.h"
#include "compute/attention/attention_head.h"
#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm_product.h"
#include "compute/move/transpose_words.h"
#include "compute/reduce/row_math.h"

namespace rh::compute {
namespace {

constexpr int64_t kKeyBlock = 256;   // keys whose scores are made at a time
constexpr int64_t kQueryChunks = 8;  // of as many queries as the kernels take: with the keys and values a quarter of a megabyte
constexpr int64_t kRowsAtOnce = 4;   // chunks whose scores are made and used in turns
constexpr int64_t kMostChunks = std::max((kQueryChunks + kRowsAtOnce - 1) / kRowsAtOnce, kDirectRows);  // of rows at once, in a block
constexpr int64_t kLeastRows = 16;                                                                      // of a part
constexpr int64_t kUnpackedRows = 32;   // up to so many, packing values would cost more than it gives
constexpr int64_t kStrictQueries = 64;  // of a part where products by pairs are ruled out, whatever the number of threads: same bits

float* floats(ScratchSlot slot, int64_t count) {
  return static_cast<float*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 64));
}

/// A head, for some of the queries.
class Head : public AttentionHead {
 public:
  Head(const AttentionArgs& args, int64_t batch, int64_t head) : AttentionHead(args, batch, head), kernels_(micro_kernels<float>()) {}

  void run(Range queries) {
    keys_ = args_.keys_of(batch_, queries.end - 1).end;  // no earlier query sees more
    if (keys_ == 0) return clear(queries);
    const bool few = queries.size() <= kDirectRows;  // packing would cost more than it gives
    const int64_t key_block = few ? keys_ : std::min(keys_, kKeyBlock);
    const float *packed_k = nullptr, *packed_v = nullptr;
    if (!few) {
      const bool packs_values = queries.size() > kUnpackedRows || args_.value_depth % kernels_.columns != 0;
      const int64_t k_size = panels(keys_) * args_.depth;
      float* packed = floats(ScratchSlot::packed_right, k_size + (packs_values ? panels(args_.value_depth) * keys_ : 0));
      pack(k_, args_.k_strides.row, !args_.k_is_transposed, args_.depth, keys_, packed);
      for (int64_t key = 0; packs_values && key < keys_; key += key_block) {
        pack(v_ + key * args_.v_strides.row, args_.v_strides.row, false, std::min(key_block, keys_ - key), args_.value_depth,
             packed + k_size + key * panels(args_.value_depth));
      }
      packed_k = packed;
      if (packs_values) packed_v = packed + k_size;
    }
    const int64_t step = few ? kDirectRows : kQueryChunks * kernels_.rows, blocks = (queries.size() + step - 1) / step;
    const Scratch scratch(std::min(step, queries.size()), std::min(queries.size(), kRowsAtOnce * kernels_.rows), key_block);
    for (int64_t block = 0; block < blocks; ++block) {
      const Part part = part_of(queries.size(), blocks, block);
      run_block({queries.begin + part.begin, queries.begin + part.begin + part.size}, key_block, packed_k, packed_v, scratch);
    }
  }

 private:
  /// Of a row of scores, so that vectors of all rows lie alike.
  static int64_t row_stride(int64_t keys) { return (keys + 15) / 16 * 16; }

  int64_t panels(int64_t columns) const { return (columns + kernels_.columns - 1) / kernels_.columns * kernels_.columns; }

  /// Panels, which end in zeros as far as rows of scores are long.
  void pack(const float* from, int64_t row, bool transposed, int64_t k, int64_t columns, float* to) const {
    const int64_t width = kernels_.columns;
    for (int64_t column = 0; column < columns; column += width, to += width * k) {
      const int64_t live = std::min(width, columns - column);
      if (!transposed) {
        pack_panel(from + column, row, false, k, live, width, to);
        continue;
      }
      transpose_words(reinterpret_cast<const uint32_t*>(from + column * row), row, reinterpret_cast<uint32_t*>(to), width, k, live);
      const int64_t rest = std::min(width, row_stride(live)) - live;
      for (int64_t i = 0; rest > 0 && i < k; ++i) std::fill_n(to + i * width + live, rest, 0.0f);
    }
  }

  /// Of a block of queries: what is known of their weights after some of the keys, and the scores of those that are worked on.
  struct Scratch {
    Scratch(int64_t rows, int64_t rows_at_once, int64_t keys) {
      shifts = floats(ScratchSlot::row, 2 * rows + (2 + row_stride(keys)) * rows_at_once + 16);
      sums = shifts + rows;
      before = sums + rows;
      parts = before + rows_at_once;
      scores = parts + rows_at_once;
      scores += (16 - (scores - shifts) % 16) % 16;
    }
    float* shifts;          ///< by which scores are less in the exponent
    float* sums;            ///< of the weights
    float *before, *parts;  ///< shifts before some keys, sums of theirs
    float* scores;
  };

  void run_block(Range queries, int64_t key_block, const float* packed_k, const float* packed_v, const Scratch& scratch) const {
    const int64_t rows = queries.size(), at_once = kRowsAtOnce * kernels_.rows, chunks = (rows + at_once - 1) / at_once;
    for (int64_t row = 0; row < rows; ++row) start(queries.begin + row, scratch.shifts[row], scratch.sums[row]);
    const auto chunk_of = [&](int64_t chunk) {
      const Part part = part_of(rows, chunks, chunk);
      return Range{queries.begin + part.begin, queries.begin + part.begin + part.size};
    };
    Range used[kMostChunks], all{keys_, 0};
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      used[chunk] = used_by(chunk_of(chunk));
      all = {std::min(all.begin, used[chunk].begin), std::max(all.end, used[chunk].end)};
    }
    for (int64_t key = all.begin / key_block * key_block; key < all.end; key += key_block) {
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const Range some = chunk_of(chunk);
        const int64_t first = used[chunk].begin / kernels_.columns * kernels_.columns;  // at a panel
        const Range keys{std::max(key, first), std::min(key + key_block, used[chunk].end)};
        if (keys.size() <= 0) continue;
        multiply_keys(some, keys, packed_k, scratch);
        weigh(some, keys, keys.begin != first, scratch, some.begin - queries.begin);
        multiply_values(some, keys, {key, std::min(key + key_block, keys_)}, packed_v, scratch, keys.begin != first);
      }
    }
    for (int64_t row = 0; row < rows; ++row) scratch.sums[row] = finish(queries.begin + row, scratch.shifts[row], scratch.sums[row]);
    float* const y = row_of_y(queries.begin);
    scale_rows(y, args_.y_strides.row, scratch.sums, y, args_.y_strides.row, rows, args_.value_depth);
  }

  void multiply_keys(Range queries, Range keys, const float* packed, const Scratch& scratch) const {
    GemmArgs<float> args{.m = queries.size(), .n = keys.size(), .k = args_.depth, .transpose_b = !args_.k_is_transposed};
    args.alpha = scale_;
    args.lda = args_.q_strides.row;
    args.ldb = args_.k_strides.row;
    args.ldc = row_stride(keys.size());
    if (key_mask_) {
      args.epilogue.bias_kind = BiasKind::per_column;
      args.epilogue.bias = key_mask_ + keys.begin;
    }
    if (adds_mask_ && args_.mask_strides.row == 0) {
      args.epilogue.bias_kind = BiasKind::per_column;
      args.epilogue.bias = mask_of(queries.begin, keys.begin);
    } else if (adds_mask_) {
      args.epilogue.residual = mask_of(queries.begin, keys.begin);
      args.epilogue.residual_stride = args_.mask_strides.row;
    } else if (packed && !key_mask_) {
      args.n = std::min(panels(args.n), args.ldc);  // whole vectors of panels that end in zeros
    }
    const float* k = k_ + keys.begin * (args_.k_is_transposed ? 1 : args.ldb);
    const float* const panels_of_keys = packed ? packed + keys.begin * args_.depth : nullptr;
    GemmProduct<float> product(args, q_ + queries.begin * args.lda, k, panels_of_keys, scratch.scores, kernels_);
    product.thin = product.thin && !packed;  // keys that are packed are not to be laid out anew
    product.run_piece({}, 0);
  }

  /// `packed_keys`: those that the packed block has, `keys` among them.
  void multiply_values(Range queries, Range keys, Range packed_keys, const float* packed, const Scratch& scratch, bool adds) const {
    const int64_t depth = args_.value_depth, width = kernels_.columns;
    GemmArgs<float> args{.m = queries.size(), .n = depth, .k = keys.size()};
    args.beta = adds ? 1 : 0;
    args.lda = row_stride(keys.size());
    args.ldb = args_.v_strides.row;
    args.ldc = args_.y_strides.row;
    float* y = row_of_y(queries.begin);
    const float* v = v_ + keys.begin * args.ldb;
    if (!packed || keys.size() == packed_keys.size()) {
      const float* block = packed ? packed + keys.begin * panels(depth) : nullptr;
      GemmProduct<float> product(args, scratch.scores, v, block, y, kernels_);
      product.direct = !packed;
      return product.run_piece({}, 0);
    }
    for (int64_t column = 0; column < depth; column += width) {  // some of the rows of each panel of the block
      args.n = std::min(width, depth - column);
      const float* panel =
          packed + packed_keys.begin * panels(depth) + column * packed_keys.size() + (keys.begin - packed_keys.begin) * width;
      GemmProduct<float>(args, scratch.scores, v + column, panel, y + column, kernels_).run_piece({}, 0);
    }
  }

  /// Scores of some keys become weights that are yet to be divided by their sum; what was added to y before is brought to the same scale.
  void weigh(Range queries, Range keys, bool adds, const Scratch& scratch, int64_t first) const {
    const int64_t rows = queries.size();
    float *const shifts = scratch.shifts + first, *const sums = scratch.sums + first;
    std::copy_n(shifts, rows, scratch.before);
    const int64_t stride = row_stride(keys.size());
    const bool cut = cuts(queries, keys);
    if (args_.softcap != 0) cap(scratch.scores, rows * stride);
    if (cut || (mask_ && !adds_mask_)) {
      for (int64_t row = 0; row < rows; ++row) mask_scores(queries.begin + row, keys, scratch.scores + row * stride);
    }
    if (!cut) {
      exp2_rows(scratch.scores, stride, rows, keys.size(), factor_, shifts, scratch.parts);
    } else {
      for (int64_t row = 0; row < rows; ++row) {
        const Range seen = seen_of(queries.begin + row, keys);
        float* const scores = scratch.scores + row * stride + (seen.begin - keys.begin);
        exp2_rows(scores, stride, 1, seen.size(), factor_, shifts + row, scratch.parts + row);
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      const float before = scratch.before[row];
      if (shifts[row] != before && before != -std::numeric_limits<float>::infinity()) {  // else all weights were zero
        const float shrinks = std::exp2((before - shifts[row]) * factor_);
        float* const y = row_of_y(queries.begin + row);
        if (adds) scale_shift(y, shrinks, 0, y, args_.value_depth);
        sums[row] *= shrinks;
      }
      sums[row] += scratch.parts[row];
    }
  }

  /// Masks the scores of the keys that a query sees; the others' become weights of 0.
  void mask_scores(int64_t query, Range keys, float* scores) const {
    const Range seen = seen_of(query, keys);
    std::fill_n(scores, seen.begin - keys.begin, 0.0f);
    std::fill(scores + (seen.end - keys.begin), scores + keys.size(), 0.0f);
    if (seen.size() == 0 || adds_mask_) return;
    scores += seen.begin - keys.begin;
    const float* mask = mask_of(query, seen.begin);
    if (mask && args_.mask_column) {
      binary(Binary::add, scores, mask, scores, seen.size());
    } else if (mask) {
      binary_scalar(Binary::add, scores, *mask, scores, seen.size());
    }
  }

  const MicroKernels<float>& kernels_;
  int64_t keys_ = 0;
};

/// Single queries of heads that share keys and values as queries of one head, so that keys and values are read once for several.
AttentionArgs with_heads_as_queries(AttentionArgs args) {
  const int64_t group = args.heads / args.key_heads;
  args.heads = args.key_heads;
  args.queries = group;
  args.one_position = true;
  for (MatrixStrides* strides : {&args.q_strides, &args.mask_strides, &args.y_strides}) {
    strides->row = strides->head;
    strides->head *= group;
  }
  return args;
}

}  // namespace

void attention(const AttentionArgs& given, const Parallel& parallel) {
  if (given.queries <= 0 || given.value_depth <= 0 || given.heads <= 0) return given.fill_heads(parallel);
  const bool shares = given.queries == 1 && given.key_heads == given.value_heads && given.heads > given.key_heads &&
                      given.q_strides.head != 0 && !given.key_mask;
  const AttentionArgs args = shares ? with_heads_as_queries(given) : given;
  const int64_t heads = args.batch * args.heads;
  if (heads <= 0) return;
  // Whole heads where there are enough for all threads.
  const int64_t threads = parallel.threads();
  const int64_t parts = !args.by_pairs         ? pieces_of(args.queries, kStrictQueries)
                        : heads >= 2 * threads ? 1
                                               : std::min((threads + heads - 1) / heads, pieces_of(args.queries, kLeastRows));
  // A head that is the only one to read its keys and values fills them while they are on their way through the caches.
  const bool fills = args.fill_head && parts == 1 && args.heads == args.key_heads && args.heads == args.value_heads;
  if (!fills) args.fill_heads(parallel);
  const double products = static_cast<double>(args.queries) * static_cast<double>(args.keys) / static_cast<double>(parts);
  const Cost cost{.bytes = 8.0 * static_cast<double>(args.keys) * static_cast<double>(args.depth),
                  .operations = products * (0.25 * static_cast<double>(args.depth + args.value_depth) + 8)};
  const bool by_pairs = attends_by_pairs(args);
  const int64_t unit = by_pairs ? kFipQueries : args.by_pairs ? 1 : kStrictQueries;
  parallel.for_range(heads * parts, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Part units = share_of(pieces_of(args.queries, unit), parts, i % parts);
      if (units.size == 0) continue;
      if (fills) (*args.fill_head)(i / args.heads, i % args.heads);
      const int64_t batch = i / parts / args.heads, head = i / parts % args.heads;
      const Range queries{units.begin * unit, std::min((units.begin + units.size) * unit, args.queries)};
      if (by_pairs)
        attend_by_pairs(args, batch, head, queries);
      else
        Head(args, batch, head).run(queries);
    }
  });
}

}  // namespace rh::compute
