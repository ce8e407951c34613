#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace rh::compute {

/// Where the matrices [rows, columns] of a tensor of four dimensions lie: elements from one to the next; columns are contiguous.
struct MatrixStrides {
  int64_t batch = 0, head = 0, row = 0;
};

/// y = softmax(scale q k' + mask) v for each batch and head; k' is k transposed. Heads of k and v serve as many neighbouring heads of q.
struct AttentionArgs {
  int64_t batch = 1, heads = 1, key_heads = 1, value_heads = 1;
  int64_t queries = 0, keys = 0;
  int64_t depth = 0;        ///< of q and k
  int64_t value_depth = 0;  ///< of v and y
  float scale = 1;
  bool k_is_transposed = false;  ///< k lies as [depth, keys]
  bool nan_is_zero = false;      ///< rows of which softmax makes NaN, as of nothing but -inf, give zeros
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  const float* mask = nullptr;  ///< [queries, keys] each; null: none
  float* y = nullptr;
  MatrixStrides q_strides, k_strides, v_strides, mask_strides, y_strides;
  int64_t mask_column = 1;  ///< 0: one number a row
};

/// Scores are made a block of queries at a time and never leave the second-level cache.
void attention(const AttentionArgs& args, const Parallel& parallel);

}  // namespace rh::compute
