#pragma once

#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

/// A tensor of matrices as attention sees it, in elements.
struct Matrices {
  int64_t batch = 1, heads = 1, rows = 0, columns = 0;
  int64_t batch_stride = 0, head_stride = 0, row_stride = 0, column_stride = 1;
  int64_t offset = 0;  ///< of the first
};

/// [batch, heads, rows, columns], with rows before heads where `length_first`; [batch, rows, columns]; or one part of [batch, rows, parts,
/// heads, columns].
Matrices matrices_of(const Shape& shape, bool length_first = false, int64_t part = 0);
/// [batch, rows, heads columns].
Matrices matrices_of_heads(const Shape& shape, int64_t heads);

/// Queries, keys or values: where their matrices lie in a value, and the bias of their projection, from an element on.
struct Heads {
  ValueId value = kNoValue;
  Matrices at = {};
  ValueId bias = kNoValue;
  int64_t first_bias = 0;
};

/// By which heads turn; without cosines they do not.
struct Turn {
  ValueId cosines = kNoValue, sines = kNoValue, positions = kNoValue;
  bool interleaved = false;
};

/// Rows of each sequence before the new ones: as many of all, or, where `ends` are given and `is_first` does not hold, as the number of a
/// sequence's last row says.
struct Sequences {
  int64_t past = 0, added = 0, capacity = 0;
  ValueId ends = kNoValue;
  bool is_first = false;
};

/// softmax(scale q k' + masks) v.
struct AttentionCall {
  Heads q, k, v;
  ValueId y = kNoValue;
  Matrices y_at = {};
  ValueId mask = kNoValue, key_mask = kNoValue;
  ValueId ranges = kNoValue, sinks = kNoValue;
  int64_t first_mask = 0;                          ///< the mask's first element
  Shape mask_strides = {}, key_mask_strides = {};  ///< of batch, head, query and key
  Sequences sequences = {};
  Turn turn = {};                     ///< of queries
  AttentionArguments arguments = {};  ///< what is neither an address, a size nor a stride
};

/// Adds the launch. Sizes are those of the result and the keys. Throws Error where queries, keys and values do not fit each other.
void lower_attention_call(Lowering& lowering, AttentionCall call);

/// A cache [batch, heads, capacity, depth] of keys or values, from an element of a value on.
struct HeadCache {
  ValueId past = kNoValue, present = kNoValue;  ///< without a present the rows lie in memory of the launches
  int64_t past_capacity = 0, first_past = 0, first_present = 0;
  Sequences sequences = {};
  Turn turn = {};
  bool keeps_rest = false;  ///< what the past has behind the new rows
};

/// Adds the launch that puts the new rows behind the past ones. `heads` become the cache, of `past` and the new rows.
void append_heads(Lowering& lowering, const HeadCache& cache, Heads& heads);

/// Checks that a cache's past [batch, heads, capacity, depth] fits new heads. Throws Error naming the node.
void check_past(const NodeView& node, int input, const Shape& past, const Heads& heads);

// What launches take of these, from a place in their arguments on.
void put_heads(HeadRows& to, size_t at, const Heads& heads, int64_t batches, const Lowering& lowering, std::vector<Operand>& operands);
void put_sequences(SequenceRows& to, size_t at, const Sequences& sequences, std::vector<Operand>& operands);
void put_turn(HeadRotation& to, size_t at, const Turn& turn, int64_t length, const Lowering& lowering, std::vector<Operand>& operands);

}  // namespace rh::gpu
