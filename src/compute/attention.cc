#include "compute/attention.h"

#include <algorithm>
#include <cmath>

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
  Head(const AttentionArgs& args, int64_t batch, int64_t head) : args_(args), kernels_(micro_kernels<float>()) {
    const auto at = [](const float* from, const MatrixStrides& strides, int64_t b, int64_t h) {
      return from ? from + b * strides.batch + h * strides.head : nullptr;
    };
    q_ = at(args.q, args.q_strides, batch, head);
    k_ = at(args.k, args.k_strides, batch, head / (args.heads / args.key_heads));
    v_ = at(args.v, args.v_strides, batch, head / (args.heads / args.value_heads));
    mask_ = at(args.mask, args.mask_strides, batch, head);
    y_ = args.y + batch * args.y_strides.batch + head * args.y_strides.head;
  }

  void run(Range queries) const {
    const bool few = queries.size() <= kDirectRows;  // packing would cost more than it gives
    const float *packed_k = nullptr, *packed_v = nullptr;
    if (!few) {
      const int64_t k_size = panels(args_.keys) * args_.depth;
      float* packed = floats(ScratchSlot::packed_right, k_size + panels(args_.value_depth) * args_.keys);
      pack(k_, args_.k_strides.row, !args_.k_is_transposed, args_.depth, args_.keys, packed);
      pack(v_, args_.v_strides.row, false, args_.keys, args_.value_depth, packed + k_size);
      packed_k = packed;
      packed_v = packed + k_size;
    }
    const int64_t wanted = std::clamp(kScores / std::max<int64_t>(1, args_.keys), kLeastRows, std::max(kLeastRows, queries.size()));
    const int64_t step = (wanted + kernels_.rows - 1) / kernels_.rows * kernels_.rows;
    float* scores = floats(ScratchSlot::row, std::min(step, queries.size()) * args_.keys);
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
    const int64_t rows = queries.size(), keys = args_.keys;
    GemmArgs<float> first{.m = rows, .n = keys, .k = args_.depth, .transpose_b = !args_.k_is_transposed};
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
    const int64_t keys = args_.keys;
    if (mask_) {
      const float* mask = mask_ + query * args_.mask_strides.row;
      if (args_.mask_column) {
        binary(Binary::add, scores, mask, scores, keys);
      } else {
        binary_scalar(Binary::add, scores, *mask, scores, keys);
      }
    }
    softmax_rows(scores, scores, 1, keys, false);
    if (args_.nan_is_zero && std::isnan(scores[0])) std::fill_n(scores, keys, 0.0f);
  }

  const AttentionArgs& args_;
  const MicroKernels<float>& kernels_;
  const float *q_, *k_, *v_, *mask_;
  float* y_;
};

}  // namespace

void attention(const AttentionArgs& args, const Parallel& parallel) {
  if (args.queries <= 0 || args.value_depth <= 0) return;
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
