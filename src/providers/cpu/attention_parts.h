#pragma once

#include <limits>
#include <span>

#include "compute/attention/attention.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Where the matrices of [batch, length, heads depth] lie, with `row` elements from one token to the next.
inline compute::MatrixStrides token_strides(int64_t length, int64_t depth, int64_t row) { return {length * row, depth, row}; }
/// Of a contiguous [batch, heads, length, depth].
inline compute::MatrixStrides head_strides(int64_t heads, int64_t length, int64_t depth) {
  return {heads * length * depth, length * depth, depth};
}

/// Keys or values that follow those of a cache: `from` has `length` rows a head.
struct NewRows {
  const void* from = nullptr;
  compute::MatrixStrides strides;
  int64_t length = 0;
};

/// What is to fill `to` [batch, heads, capacity, depth]: of each batch the first rows are those of `past` (null: none), as many as
/// `past_lengths` says, then come the new rows; the rest is 0, or `past`'s where it is kept or `past` lies where `to` does. Lengths are in
/// range: the caller checked them.
struct AppendedRows {
  DType dtype = DType::float32;
  Shape shape;  ///< of `to`
  void* to = nullptr;
  const void* past = nullptr;
  int64_t past_capacity = 0;
  std::span<const int64_t> past_lengths;
  NewRows rows;
  bool keeps_rest = false;  ///< `past` has the same capacity

  MutableView view() const { return {dtype, shape, to}; }
  void fill_head(int64_t batch, int64_t head) const;
};

/// Fills all heads.
void append_rows(const Parallel& parallel, const AppendedRows& appended);

/// The masks of the attention operators of com.microsoft.
struct AttentionMasks {
  const char* op_type;
  int mask = -1;  ///< int32 [B] ends, [2B] ends and starts, [3B + 2] ends first, [B, T], [B, S, T] or [B, 1, M, M]: 0 where a key is hidden
  int bias = -1;  ///< [B or 1, N or 1, S, T], added
  float hidden = -10000;  ///< what is added to scores of hidden keys
};

/// Sets the mask of `args`, whose sizes stand, from the inputs. Throws Error{invalid_argument} where a shape does not fit.
void set_masks(RunContext& context, const AttentionMasks& masks, compute::AttentionArgs& args);

/// A dimension of an input as the model declares it, counted from the end where `axis` is below 0; -1 where that is no number.
int64_t declared_size(const KernelInfo& info, int input, int axis);

/// How products of attention may be made: by precision, and by the variant that is asked for ("amx": by tiles wherever that is possible,
/// "gemm": never).
compute::AttentionWays attention_ways(const KernelInfo& info);
/// In which way attention of float is computed: "amx" by tiles, "fip" by products by pairs, "blocked" without; "blocked_or_amx" or
/// "blocked_or_fip" where sizes that are below 0, for not known yet, decide.
KernelVariant attention_variant(compute::AttentionArgs args);
/// The way of attention_reference().
inline KernelVariant plain_attention() { return {.problem = "", .variant = "plain", .variants = {}}; }

/// One length for all of a batch, in memory of the run.
std::span<const int64_t> equal_lengths(RunContext& context, int64_t batch, int64_t length);

/// The output that scores go to, which of them, and what stands for those of keys that a query does not see.
struct ScoresOutput {
  int output = -1;  ///< -1: none
  compute::Scores wanted = compute::Scores::masked;
  float hidden = std::numeric_limits<float>::lowest();
};

/// Attention into output 0 [batch, queries, heads value_depth], and its scores, of which none is below the least float.
void attend(RunContext& context, compute::AttentionArgs& args, const ScoresOutput& scores_output = {});

}  // namespace rh::cpu
