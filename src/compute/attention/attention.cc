#include "compute/attention/attention.h"

#include <algorithm>

#include "compute/attention/attention_blocks.h"
#include "compute/attention/attention_fip.h"
#include "compute/attention/attention_split.h"
#include "compute/gemm/gemm_product.h"
#include "compute/move/transpose_words.h"

namespace rh::compute {
namespace {

constexpr int64_t kQueryChunks = 8;     // of as many queries as the kernels take: with the keys and values a quarter of a megabyte
constexpr int64_t kRowsAtOnce = 4;      // chunks whose scores are made and used in turns
constexpr int64_t kLeastRows = 16;      // of a part
constexpr int64_t kUnpackedRows = 32;   // up to so many, packing values would cost more than it gives
constexpr int64_t kStrictQueries = 64;  // of a part where products by pairs are ruled out, whatever the number of threads: same bits

static_assert(std::max((kQueryChunks + kRowsAtOnce - 1) / kRowsAtOnce, kDirectRows) <= kMostAttentionChunks);

float* floats(ScratchSlot slot, int64_t count) {
  return static_cast<float*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 64));
}

/// A head, for some of the queries.
class Head : public BlockedHead {
 public:
  Head(const AttentionArgs& args, int64_t batch, int64_t head) : Head(args, batch, head, micro_kernels<float>()) {}

  void run(Range queries) {
    const int64_t keys = args_.keys_of(batch_, queries.end - 1).end;  // no earlier query sees more
    if (keys == 0) return clear(queries);
    const bool few = queries.size() <= kDirectRows;  // packing would cost more than it gives
    const int64_t key_block = few ? keys : std::min(keys, kAttentionKeys);
    if (!few) {
      const bool packs_values = queries.size() > kUnpackedRows || args_.value_depth % kernels_.columns != 0;
      const int64_t k_size = panels(keys) * args_.depth;
      float* packed = floats(ScratchSlot::packed_right, k_size + (packs_values ? panels(args_.value_depth) * keys : 0));
      pack(k_, args_.k_strides.row, !args_.k_is_transposed, args_.depth, keys, packed);
      for (int64_t key = 0; packs_values && key < keys; key += key_block) {
        pack(v_ + key * args_.v_strides.row, args_.v_strides.row, false, std::min(key_block, keys - key), args_.value_depth,
             packed + k_size + key * panels(args_.value_depth));
      }
      packed_k_ = packed;
      if (packs_values) packed_v_ = packed + k_size;
    }
    const int64_t step = few ? kDirectRows : kQueryChunks * kernels_.rows, blocks = (queries.size() + step - 1) / step;
    const Scratch scratch(std::min(step, queries.size()), std::min(queries.size(), kRowsAtOnce * kernels_.rows), key_block);
    for (int64_t block = 0; block < blocks; ++block) {
      const Part part = part_of(queries.size(), blocks, block);
      run_block({queries.begin + part.begin, queries.begin + part.begin + part.size}, keys, key_block, scratch);
    }
  }

 private:
  Head(const AttentionArgs& args, int64_t batch, int64_t head, const MicroKernels<float>& kernels)
      : BlockedHead(args, batch, head, kRowsAtOnce * kernels.rows, kernels.columns), kernels_(kernels) {}

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

  void multiply_keys(const Some& some, float* scores) override {
    const Range queries = some.queries, keys = some.keys;
    GemmArgs<float> args{.m = queries.size(), .n = keys.size(), .k = args_.depth, .transpose_b = !args_.k_is_transposed};
    args.alpha = scale_;
    args.lda = args_.q_strides.row;
    args.ldb = args_.k_strides.row;
    args.ldc = row_stride(keys.size());
    const ScoreMasks masks = score_masks(queries, keys);
    if (masks.column) {
      args.epilogue.bias_kind = BiasKind::per_column;
      args.epilogue.bias = masks.column;
    }
    if (masks.each) {
      args.epilogue.residual = masks.each;
      args.epilogue.residual_stride = masks.each_row;
    }
    if (packed_k_ && !masks.any()) args.n = std::min(panels(args.n), args.ldc);  // whole vectors of panels that end in zeros
    const float* k = k_ + keys.begin * (args_.k_is_transposed ? 1 : args.ldb);
    const float* const panels_of_keys = packed_k_ ? packed_k_ + keys.begin * args_.depth : nullptr;
    GemmProduct<float> product(args, q_ + queries.begin * args.lda, k, panels_of_keys, scores, kernels_);
    product.thin = product.thin && !packed_k_;  // keys that are packed are not to be laid out anew
    product.run_piece({}, 0);
  }

  void multiply_values(const Some& some, const float* weights, bool adds) override {
    const Range keys = some.keys;
    const int64_t depth = args_.value_depth, width = kernels_.columns;
    GemmArgs<float> args{.m = some.queries.size(), .n = depth, .k = keys.size()};
    args.beta = adds ? 1 : 0;
    args.lda = row_stride(keys.size());
    args.ldb = args_.v_strides.row;
    args.ldc = args_.y_strides.row;
    float* y = row_of_y(some.queries.begin);
    const float* v = v_ + keys.begin * args.ldb;
    if (!packed_v_ || keys.size() == some.in_block.size()) {
      const float* block = packed_v_ ? packed_v_ + keys.begin * panels(depth) : nullptr;
      GemmProduct<float> product(args, weights, v, block, y, kernels_);
      product.direct = !packed_v_;
      return product.run_piece({}, 0);
    }
    for (int64_t column = 0; column < depth; column += width) {  // some of the rows of each panel of the block
      args.n = std::min(width, depth - column);
      const float* panel =
          packed_v_ + some.in_block.begin * panels(depth) + column * some.in_block.size() + (keys.begin - some.in_block.begin) * width;
      GemmProduct<float>(args, weights, v + column, panel, y + column, kernels_).run_piece({}, 0);
    }
  }

  const MicroKernels<float>& kernels_;
  const float *packed_k_ = nullptr, *packed_v_ = nullptr;
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
  const int64_t parts = !args.ways.by_pairs    ? pieces_of(args.queries, kStrictQueries)
                        : heads >= 2 * threads ? 1
                                               : std::min((threads + heads - 1) / heads, pieces_of(args.queries, kLeastRows));
  // A head that is the only one to read its keys and values fills them while they are on their way through the caches.
  const bool fills = args.fill_head && parts == 1 && args.heads == args.key_heads && args.heads == args.value_heads;
  if (!fills) args.fill_heads(parallel);
  const double products = static_cast<double>(args.queries) * static_cast<double>(args.keys) / static_cast<double>(parts);
  const Cost cost{.bytes = 8.0 * static_cast<double>(args.keys) * static_cast<double>(args.depth),
                  .operations = products * (0.25 * static_cast<double>(args.depth + args.value_depth) + 8)};
  const bool by_tiles = attends_by_tiles(args, parts), by_pairs = !by_tiles && attends_by_pairs(args);
  const int64_t unit = !args.ways.by_pairs ? kStrictQueries : by_tiles ? kSplitQueries : by_pairs ? kFipQueries : 1;
  parallel.for_range(heads * parts, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Part units = share_of(pieces_of(args.queries, unit), parts, i % parts);
      if (units.size == 0) continue;
      if (fills) (*args.fill_head)(i / args.heads, i % args.heads);
      const int64_t batch = i / parts / args.heads, head = i / parts % args.heads;
      const Range queries{units.begin * unit, std::min((units.begin + units.size) * unit, args.queries)};
      if (by_tiles)
        attend_by_tiles(args, batch, head, queries);
      else if (by_pairs)
        attend_by_pairs(args, batch, head, queries);
      else
        Head(args, batch, head).run(queries);
    }
  });
}

}  // namespace rh::compute
