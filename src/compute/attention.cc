#include "compute/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/gemm_product.h"
#include "compute/row_math.h"
#include "compute/vector_math.h"

namespace rh::compute {
namespace {

constexpr int64_t kKeyBlock = 256;   // keys whose scores are made at a time
constexpr int64_t kQueryChunks = 8;  // of as many queries as the kernels take: with the keys and values a quarter of a megabyte
constexpr int64_t kLeastRows = 16;   // of a part

float* floats(ScratchSlot slot, int64_t count) {
  return static_cast<float*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 64));
}

/// One head of one batch, for some of the queries.
class Head {
 public:
  Head(const AttentionArgs& args, int64_t batch, int64_t head) : args_(args), batch_(batch), head_(head), kernels_(micro_kernels<float>()) {
    const auto at = [](const float* from, const MatrixStrides& strides, int64_t b, int64_t h) {
      return from ? from + b * strides.batch + h * strides.head : nullptr;
    };
    q_ = at(args.q, args.q_strides, batch, head);
    k_ = at(args.k, args.k_strides, batch, head / (args.heads / args.key_heads));
    v_ = at(args.v, args.v_strides, batch, head / (args.heads / args.value_heads));
    mask_ = at(args.mask, args.mask_strides, batch, head);
    y_ = args.y + batch * args.y_strides.batch + head * args.y_strides.head;
  }

  void run(Range queries) {
    keys_ = args_.keys_of(batch_, queries.end - 1).end;  // no earlier query sees more
    if (keys_ == 0) return clear(queries);
    const bool few = queries.size() <= kDirectRows;  // packing would cost more than it gives
    const int64_t key_block = few ? keys_ : std::min(keys_, kKeyBlock);
    const float *packed_k = nullptr, *packed_v = nullptr;
    if (!few) {
      const int64_t k_size = panels(keys_) * args_.depth;
      float* packed = floats(ScratchSlot::packed_right, k_size + panels(args_.value_depth) * keys_);
      pack(k_, args_.k_strides.row, !args_.k_is_transposed, args_.depth, keys_, packed);
      for (int64_t key = 0; key < keys_; key += key_block) {
        pack(v_ + key * args_.v_strides.row, args_.v_strides.row, false, std::min(key_block, keys_ - key), args_.value_depth,
             packed + k_size + key * panels(args_.value_depth));
      }
      packed_k = packed;
      packed_v = packed + k_size;
    }
    const int64_t step = few ? kDirectRows : kQueryChunks * kernels_.rows, blocks = (queries.size() + step - 1) / step;
    float* scores = floats(ScratchSlot::row, std::min(step, queries.size()) * (key_block + 2));
    for (int64_t block = 0; block < blocks; ++block) {
      const Part part = part_of(queries.size(), blocks, block);
      run_block({queries.begin + part.begin, queries.begin + part.begin + part.size}, key_block, packed_k, packed_v, scores);
    }
  }

 private:
  int64_t panels(int64_t columns) const { return (columns + kernels_.columns - 1) / kernels_.columns * kernels_.columns; }

  void pack(const float* from, int64_t row, bool transposed, int64_t k, int64_t columns, float* to) const {
    for (int64_t column = 0; column < columns; column += kernels_.columns, to += kernels_.columns * k) {
      pack_panel(transposed ? from + column * row : from + column, row, transposed, k, std::min(kernels_.columns, columns - column),
                 kernels_.columns, to);
    }
  }

  /// What is known of a row of weights after some of the keys: their largest score, and the sum of the weights before the division by it.
  struct Row {
    float largest, sum;
  };

  void clear(Range queries) const {
    for (int64_t query = queries.begin; query < queries.end; ++query) std::fill_n(row_of_y(query), args_.value_depth, 0.0f);
  }

  float* row_of_y(int64_t query) const { return y_ + query * args_.y_strides.row; }

  void run_block(Range queries, int64_t key_block, const float* packed_k, const float* packed_v, float* scores) const {
    const int64_t rows = queries.size(), end = args_.keys_of(batch_, queries.end - 1).end;
    const int64_t begin = args_.keys_of(batch_, queries.begin).begin / key_block * key_block;
    if (begin >= end) return clear(queries);
    Row* state = reinterpret_cast<Row*>(scores + rows * key_block);
    for (int64_t row = 0; row < rows; ++row) state[row] = start(queries.begin + row);
    for (int64_t key = begin; key < end; key += key_block) {
      const Range keys{key, std::min(key + key_block, end)};
      multiply_keys(queries, keys, packed_k, scores);
      for (int64_t row = 0; row < rows; ++row) weigh(queries.begin + row, keys, key != begin, scores + row * keys.size(), state[row]);
      multiply_values(queries, keys, std::min(key_block, keys_ - key), packed_v, scores, key != begin);
    }
    for (int64_t row = 0; row < rows; ++row) finish(queries.begin + row, state[row]);
  }

  void multiply_keys(Range queries, Range keys, const float* packed, float* scores) const {
    GemmArgs<float> args{.m = queries.size(), .n = keys.size(), .k = args_.depth, .transpose_b = !args_.k_is_transposed};
    args.alpha = args_.scale;
    args.lda = args_.q_strides.row;
    args.ldb = args_.k_strides.row;
    const float* k = k_ + keys.begin * (args_.k_is_transposed ? 1 : args.ldb);
    GemmProduct<float>(args, q_ + queries.begin * args.lda, k, packed ? packed + keys.begin * args_.depth : nullptr, scores, kernels_)
        .run_piece({}, 0);
  }

  /// `packed_keys`: those that the packed block has.
  void multiply_values(Range queries, Range keys, int64_t packed_keys, const float* packed, const float* weights, bool adds) const {
    const int64_t depth = args_.value_depth, width = kernels_.columns;
    GemmArgs<float> args{.m = queries.size(), .n = depth, .k = keys.size()};
    args.beta = adds ? 1 : 0;
    args.ldb = args_.v_strides.row;
    args.ldc = args_.y_strides.row;
    float* y = row_of_y(queries.begin);
    const float* v = v_ + keys.begin * args.ldb;
    if (!packed || keys.size() == packed_keys) {
      const float* block = packed ? packed + keys.begin * panels(depth) : nullptr;
      return GemmProduct<float>(args, weights, v, block, y, kernels_).run_piece({}, 0);
    }
    for (int64_t column = 0; column < depth; column += width) {  // each panel of the block ends before its last keys
      args.n = std::min(width, depth - column);
      const float* panel = packed + keys.begin * panels(depth) + column * packed_keys;
      GemmProduct<float>(args, weights, v + column, panel, y + column, kernels_).run_piece({}, 0);
    }
  }

  Row start(int64_t query) const {
    if (!args_.sinks) return {-std::numeric_limits<float>::infinity(), 0};
    const float sink = args_.sinks[args_.one_position ? head_ * args_.queries + query : head_];
    return {sink, sink == -std::numeric_limits<float>::infinity() ? 0.0f : 1.0f};
  }

  const float* mask_of(int64_t query, int64_t key) const {
    return mask_ ? mask_ + query * args_.mask_strides.row + key * args_.mask_column : nullptr;
  }

  /// Scores of some keys become weights that are yet to be divided by their sum; what was added to y before is brought to the same scale.
  void weigh(int64_t query, Range keys, bool adds, float* scores, Row& row) const {
    Range seen = args_.keys_of(batch_, query);
    seen = {std::clamp(seen.begin, keys.begin, keys.end), std::clamp(seen.end, keys.begin, keys.end)};
    if (seen.size() <= 0) return std::fill_n(scores, keys.size(), 0.0f), void();
    std::fill_n(scores, seen.begin - keys.begin, 0.0f);
    std::fill(scores + (seen.end - keys.begin), scores + keys.size(), 0.0f);
    scores += seen.begin - keys.begin;
    if (args_.softcap != 0) cap(scores, seen.size());
    const float* mask = mask_of(query, seen.begin);
    if (mask && args_.mask_column) {
      binary(Binary::add, scores, mask, scores, seen.size());
    } else if (mask) {
      binary_scalar(Binary::add, scores, *mask, scores, seen.size());
    }
    const float before = row.largest, sum = exp_row(scores, row.largest, scores, seen.size());
    if (row.largest != before) {
      const float shrinks = std::exp(before - row.largest);
      if (adds) scale_shift(row_of_y(query), shrinks, 0, row_of_y(query), args_.value_depth);
      row.sum *= shrinks;
    }
    row.sum += sum;
  }

  void finish(int64_t query, const Row& row) const {
    float* y = row_of_y(query);
    const Range seen = args_.keys_of(batch_, query);
    if (seen.size() <= 0) return;
    if (row.sum == 0 || std::isnan(row.sum)) {
      const bool is_zero = args_.nan_is_zero || is_masked(mask_of(query, seen.begin), seen.size());
      return std::fill_n(y, args_.value_depth, is_zero ? 0.0f : std::numeric_limits<float>::quiet_NaN()), void();
    }
    scale_shift(y, 1 / row.sum, 0, y, args_.value_depth);
  }

  void cap(float* scores, int64_t count) const {
    scale_shift(scores, 1 / args_.softcap, 0, scores, count);
    unary(Unary::tanh, scores, scores, count);
    scale_shift(scores, args_.softcap, 0, scores, count);
  }

  bool is_masked(const float* mask, int64_t count) const {
    if (!args_.masked_rows_are_zero || !mask) return false;
    const auto is_least = [](float value) { return value == -std::numeric_limits<float>::infinity(); };
    return args_.mask_column ? std::all_of(mask, mask + count, is_least) : is_least(*mask);
  }

  const AttentionArgs& args_;
  int64_t batch_, head_, keys_ = 0;
  const MicroKernels<float>& kernels_;
  const float *q_, *k_, *v_, *mask_;
  float* y_;
};

}  // namespace

namespace {

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
  if (given.queries <= 0 || given.value_depth <= 0 || given.heads <= 0) return;
  const bool shares = given.queries == 1 && given.key_heads == given.value_heads && given.heads > given.key_heads;
  const AttentionArgs args = shares ? with_heads_as_queries(given) : given;
  const int64_t heads = args.batch * args.heads;
  if (heads <= 0) return;
  // Whole heads where there are enough for all threads.
  const int64_t threads = parallel.threads();
  const int64_t parts = heads >= 2 * threads ? 1 : std::min((threads + heads - 1) / heads, (args.queries + kLeastRows - 1) / kLeastRows);
  const double products = static_cast<double>(args.queries) * static_cast<double>(args.keys) / static_cast<double>(parts);
  const Cost cost{.bytes = 8.0 * static_cast<double>(args.keys) * static_cast<double>(args.depth),
                  .operations = products * (0.25 * static_cast<double>(args.depth + args.value_depth) + 8)};
  parallel.for_range(heads * parts, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Part rows = part_of(args.queries, parts, i % parts);
      if (rows.size == 0) continue;
      Head(args, i / parts / args.heads, i / parts % args.heads).run({rows.begin, rows.begin + rows.size});
    }
  });
}

}  // namespace rh::compute
