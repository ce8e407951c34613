#include "compute/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/gemm_product.h"
#include "compute/row_math.h"
#include "compute/vector_math.h"

namespace rh::compute {
namespace {

constexpr int64_t kScores = 1 << 16;  // of a block of queries: 256 KiB
constexpr int64_t kLeastRows = 16;    // of a block

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
    const bool few = queries.size() <= kDirectRows;      // packing would cost more than it gives
    const float *packed_k = nullptr, *packed_v = nullptr;
    if (!few) {
      const int64_t k_size = panels(keys_) * args_.depth;
      float* packed = floats(ScratchSlot::packed_right, k_size + panels(args_.value_depth) * keys_);
      pack(k_, args_.k_strides.row, !args_.k_is_transposed, args_.depth, keys_, packed);
      pack(v_, args_.v_strides.row, false, keys_, args_.value_depth, packed + k_size);
      packed_k = packed;
      packed_v = packed + k_size;
    }
    const int64_t wanted = std::clamp(kScores / std::max<int64_t>(1, keys_), kLeastRows, std::max(kLeastRows, queries.size()));
    const int64_t step = few ? kDirectRows : (wanted + kernels_.rows - 1) / kernels_.rows * kernels_.rows;
    float* scores = floats(ScratchSlot::row, std::min(step, queries.size()) * keys_);
    for (int64_t query = queries.begin; query < queries.end; query += step) {
      run_block({query, std::min(query + step, queries.end)}, packed_k, packed_v, scores);
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

  void run_block(Range queries, const float* packed_k, const float* packed_v, float* scores) const {
    const int64_t rows = queries.size(), keys = keys_;
    GemmArgs<float> first{
        .m = rows, .n = args_.keys_of(batch_, queries.end - 1).end, .k = args_.depth, .transpose_b = !args_.k_is_transposed};
    first.ldc = keys;
    first.alpha = args_.scale;
    first.lda = args_.q_strides.row;
    first.ldb = args_.k_strides.row;
    GemmProduct<float>(first, q_ + queries.begin * first.lda, k_, packed_k, scores, kernels_).run_piece({}, 0);
    for (int64_t row = 0; keys > 0 && row < rows; ++row) weigh(queries.begin + row, scores + row * keys);
    GemmArgs<float> second{.m = rows, .n = args_.value_depth, .k = keys};
    second.ldb = args_.v_strides.row;
    second.ldc = args_.y_strides.row;
    GemmProduct<float>(second, scores, v_, packed_v, y_ + queries.begin * second.ldc, kernels_).run_piece({}, 0);
  }

  void weigh(int64_t query, float* scores) const {
    const Range seen = args_.keys_of(batch_, query);
    std::fill_n(scores, seen.begin, 0.0f);
    std::fill(scores + seen.end, scores + keys_, 0.0f);
    if (seen.size() == 0) return;
    scores += seen.begin;
    if (args_.softcap != 0) cap(scores, seen.size());
    const float* mask = mask_ ? mask_ + query * args_.mask_strides.row + seen.begin * args_.mask_column : nullptr;
    if (mask && args_.mask_column) {
      binary(Binary::add, scores, mask, scores, seen.size());
    } else if (mask) {
      binary_scalar(Binary::add, scores, *mask, scores, seen.size());
    }
    float largest = 0;
    if (args_.sinks) reduce_rows(Reduction::max, scores, &largest, 1, seen.size());
    softmax_rows(scores, scores, 1, seen.size(), false);
    if (args_.sinks) add_sink(args_.sinks[args_.one_position ? head_ * args_.queries + query : head_], scores, seen.size(), largest);
    if (std::isnan(scores[0]) && (args_.nan_is_zero || is_masked(mask, seen.size()))) std::fill_n(scores, seen.size(), 0.0f);
  }

  /// The largest weight is 1 over the sum of exp(score - largest), to which the sink adds its own.
  static void add_sink(float sink, float* weights, int64_t count, float largest) {
    float most = 0;
    reduce_rows(Reduction::max, weights, &most, 1, count);
    scale_shift(weights, 1 / (1 + std::exp(sink - largest) * most), 0, weights, count);
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
