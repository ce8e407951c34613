#pragma once

#include <algorithm>
#include <cstdint>

#include "base/function_ref.h"
#include "base/thread_pool.h"

namespace rh::compute {

/// Where the matrices [rows, columns] of a tensor of four dimensions lie: elements from one to the next; columns are contiguous.
struct MatrixStrides {
  int64_t batch = 0, head = 0, row = 0;
};

/// What of the scores is wanted: q k', that after the soft cap, that with the mask, or the weights.
enum class Scores : uint8_t { none, products, capped, masked, weights };

/// Whether AMX tiles are used.
enum class TileUse : uint8_t { never, where_faster, wherever_possible };

/// How products of floats may be made.
struct AttentionWays {
  bool by_pairs = true;                   ///< two at a time (gemm_fip.h)
  TileUse tiles = TileUse::where_faster;  ///< of six products of bfloat16 parts (attention_split.h)
};

/// What a mask adds whose scores are replaced: a number that no other mask has, and so low that nothing is left of a score beside it.
inline constexpr float kReplaced = -0x1.23456p126f;

/// y = softmax(scale q k' + mask + key_mask) v for each batch and head; k' is k transposed. Heads of k and v serve as many neighbouring
/// heads of q. A query sees the keys of keys_of(); one that sees none gets zeros.
template <typename T>
struct BasicAttentionArgs {
  int64_t batch = 1, heads = 1, key_heads = 1, value_heads = 1;
  int64_t queries = 0, keys = 0;
  int64_t depth = 0;        ///< of q and k
  int64_t value_depth = 0;  ///< of v and y
  T scale = 1;
  T softcap = 0;                      ///< s: scores become s tanh(scores / s) before the mask is added; 0: they stay
  bool k_is_transposed = false;       ///< k lies as [depth, keys]
  bool nan_is_zero = false;           ///< rows of which softmax makes NaN, as of nothing but -inf, give zeros
  bool masked_rows_are_zero = false;  ///< rows whose mask is nothing but -inf give zeros
  /// Where the mask adds kReplaced the score is `masked_score`, in place of what it was; where `masked_is_zero` its weight then counts as
  /// 0.
  bool replaces_masked = false, masked_is_zero = false;
  T masked_score = 0;
  const int64_t* valid_keys = nullptr;          ///< of each batch, in [0, keys]; the last valid key is the last query's own. null: all
  int64_t past = 0;                             ///< keys before the first query's own; where valid_keys is null
  bool one_position = false;                    ///< queries are heads of one: keys are seen as by the first
  int64_t left_window = -1, right_window = -1;  ///< keys before and after a query's own that it sees; -1: all
  const T* q = nullptr;
  const T* k = nullptr;
  const T* v = nullptr;
  const T* mask = nullptr;      ///< [queries, keys] each; null: none
  const T* key_mask = nullptr;  ///< [keys] each, where softcap is 0; null: none
  const T* sinks = nullptr;     ///< a logit of each head without a key, which takes part in each softmax; null: none
  T* y = nullptr;
  MatrixStrides q_strides, k_strides, v_strides, mask_strides, key_mask_strides, y_strides;
  int64_t mask_column = 1;   ///< 0: one number a row
  int64_t masked_keys = -1;  ///< keys that the mask has a number for; those after are not seen. -1: all
  AttentionWays ways;
  Scores wanted = Scores::none;
  T* scores = nullptr;                                             ///< [batch, heads, queries, keys]
  const FunctionRef<void(int64_t, int64_t)>* fill_head = nullptr;  ///< puts the keys and values of a batch's head there; null: they are

  void fill_heads(const Parallel& parallel) const {
    if (!fill_head) return;
    const double bytes = 4.0 * sizeof(T) * static_cast<double>(keys) * static_cast<double>(depth + value_depth);
    parallel.for_range(batch * key_heads, {bytes, bytes / 16}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) (*fill_head)(i / key_heads, i % key_heads);
    });
  }

  /// The keys that a query sees, before the mask.
  Range keys_of(int64_t at_batch, int64_t query) const {
    int64_t end = valid_keys ? valid_keys[at_batch] : keys;
    const int64_t own = one_position ? (valid_keys ? end - 1 : past) : query + (valid_keys ? end - queries : past);
    if (masked_keys >= 0) end = std::min(end, masked_keys);
    if (right_window >= 0 && right_window < keys) end = std::min(end, own + right_window + 1);
    const int64_t begin = left_window >= 0 && left_window < own ? own - left_window : 0;
    return {std::min(begin, std::max<int64_t>(0, end)), std::max<int64_t>(0, end)};
  }
};
using AttentionArgs = BasicAttentionArgs<float>;

/// Scores are made for a block of queries and keys at a time and never leave the second-level cache. Scores are not given out.
void attention(const AttentionArgs& args, const Parallel& parallel);

/// The same, one query after the other as the formula says, of any float or double.
template <typename T>
void attention_reference(const BasicAttentionArgs<T>& args, const Parallel& parallel);
extern template void attention_reference(const BasicAttentionArgs<float>&, const Parallel&);
extern template void attention_reference(const BasicAttentionArgs<double>&, const Parallel&);

}  // namespace rh::compute
