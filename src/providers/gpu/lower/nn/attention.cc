#include <algorithm>

#include "providers/gpu/lower/nn/attention.h"

namespace rh::gpu {

namespace {

constexpr unsigned kThreads = 256;
constexpr size_t kMostShared = 48 << 10;
constexpr int64_t kMostColumns = 32;  // of a thread, in kernels/attention.cuh
constexpr int64_t kRowChoices[] = {32, 16, 8};

size_t shared_bytes(int64_t rows, int64_t depth, int64_t value_depth) {
  return static_cast<size_t>(rows * depth + rows * std::max(depth, value_depth) + 2 * rows * rows) * sizeof(float);
}

/// Queries of a block; 0: none fit.
int64_t rows_for(int64_t depth, int64_t value_depth) {
  for (int64_t rows : kRowChoices) {
    if (shared_bytes(rows, depth, value_depth) <= kMostShared && value_depth <= kMostColumns * kThreads / rows) return rows;
  }
  return 0;
}

void set_strides(long long (&to)[4], const Matrices& from, int64_t batches) {
  to[0] = from.batch == 1 && batches > 1 ? 0 : from.batch_stride;
  to[1] = from.head_stride;
  to[2] = from.row_stride;
  to[3] = from.column_stride;
}

int64_t bytes_of_elements(const Lowering& lowering, ValueId value, int64_t elements) {
  return elements * static_cast<int64_t>(bytes_of(lowering.dtype(value), 1));
}

void check_heads(const AttentionCall& call) {
  const Matrices &q = call.q.at, &k = call.k.at, &v = call.v.at;
  const bool fit = q.columns == k.columns && k.rows == v.rows && k.heads > 0 && v.heads > 0 && call.y_at.heads % k.heads == 0 &&
                   call.y_at.heads % v.heads == 0;
  if (fit) return;
  fail(ErrorCode::invalid_argument,
       "attention: {} queries of {} heads and {} elements, {} keys of {} and {}, and {} values of {} do not fit", q.rows, q.heads,
       q.columns, k.rows, k.heads, k.columns, v.rows, v.heads);
}

}  // namespace

Matrices matrices_of(const Shape& shape, bool length_first, int64_t part) {
  const int rank = shape.rank();
  Matrices m{.batch = shape[0], .columns = shape[rank - 1]};
  m.batch_stride = shape.product(1, rank);
  m.row_stride = m.columns;
  if (rank == 3) {
    m.rows = shape[1];
  } else if (rank == 5) {
    m.rows = shape[1];
    m.heads = shape[3];
    m.head_stride = m.columns;
    m.row_stride = shape.product(2, rank);
    m.offset = part * m.heads * m.columns;
  } else {
    m.heads = shape[length_first ? 2 : 1];
    m.rows = shape[length_first ? 1 : 2];
    m.head_stride = length_first ? m.columns : m.rows * m.columns;
    if (length_first) m.row_stride = m.heads * m.columns;
  }
  return m;
}

Matrices matrices_of_heads(const Shape& shape, int64_t heads) {
  const int64_t columns = shape[2] / heads;
  return {.batch = shape[0],
          .heads = heads,
          .rows = shape[1],
          .columns = columns,
          .batch_stride = shape[1] * shape[2],
          .head_stride = columns,
          .row_stride = shape[2]};
}

void put_heads(HeadRows& to, size_t at, const Heads& heads, int64_t batches, const Lowering& lowering, std::vector<Operand>& operands) {
  set_strides(to.strides, heads.at, batches);
  operands.push_back(
      {.at = at + offsetof(HeadRows, data), .value = heads.value, .offset = bytes_of_elements(lowering, heads.value, heads.at.offset)});
  if (heads.bias == kNoValue) return;
  operands.push_back(
      {.at = at + offsetof(HeadRows, bias), .value = heads.bias, .offset = bytes_of_elements(lowering, heads.bias, heads.first_bias)});
}

void put_sequences(SequenceRows& to, size_t at, const Sequences& sequences, std::vector<Operand>& operands) {
  to.past = sequences.past;
  to.added = sequences.added;
  to.capacity = sequences.capacity;
  to.is_first = sequences.is_first ? 1 : 0;
  if (sequences.ends != kNoValue) operands.push_back({at + offsetof(SequenceRows, ends), sequences.ends});
}

void put_turn(HeadRotation& to, size_t at, const Turn& turn, int64_t length, const Lowering& lowering, std::vector<Operand>& operands) {
  if (turn.cosines == kNoValue) return;
  const Shape angles = lowering.shape(turn.cosines);
  to.rows = angles[0];
  to.half = angles[1];
  to.length = length;
  to.interleaved = turn.interleaved ? 1 : 0;
  operands.push_back({at + offsetof(HeadRotation, cosines), turn.cosines});
  operands.push_back({at + offsetof(HeadRotation, sines), turn.sines});
  if (turn.positions != kNoValue) operands.push_back({at + offsetof(HeadRotation, positions), turn.positions});
}

void lower_attention_call(Lowering& lowering, AttentionCall call) {
  AttentionArguments& a = call.arguments;
  a.batches = call.y_at.batch;
  a.heads = call.y_at.heads;
  a.queries = call.y_at.rows;
  a.key_heads = call.k.at.heads;
  a.value_heads = call.v.at.heads;
  a.keys = call.v.at.rows;
  a.depth = call.q.at.columns;
  a.value_depth = call.v.at.columns;
  if (a.batches * a.heads * a.queries * a.value_depth == 0) return;
  check_heads(call);
  std::vector<Operand> operands = {{offsetof(AttentionArguments, y), call.y, true}};
  put_heads(a.q, offsetof(AttentionArguments, q), call.q, a.batches, lowering, operands);
  put_heads(a.k, offsetof(AttentionArguments, k), call.k, a.batches, lowering, operands);
  put_heads(a.v, offsetof(AttentionArguments, v), call.v, a.batches, lowering, operands);
  put_sequences(a.sequences, offsetof(AttentionArguments, sequences), call.sequences, operands);
  put_turn(a.turn, offsetof(AttentionArguments, turn), call.turn, a.queries, lowering, operands);
  set_strides(a.y_strides, call.y_at, a.batches);
  if (call.q.at.rows == 1) a.q.strides[2] = 0;  // one query of many rows of a mask
  if (call.q.at.heads == 1) a.q.strides[1] = 0;
  std::copy(call.mask_strides.begin(), call.mask_strides.end(), a.mask_strides);
  std::copy(call.key_mask_strides.begin(), call.key_mask_strides.end(), a.key_mask_strides);
  const int64_t rows = rows_for(a.depth, a.value_depth);
  if (rows == 0)
    fail(ErrorCode::ep_fail, "attention with heads of {} and {} elements has no room in shared memory", a.depth, a.value_depth);
  const std::string_view type = element_name(lowering.dtype(call.y));
  const std::string_view mask = call.mask == kNoValue ? type : element_name(lowering.dtype(call.mask));
  const int64_t blocks = a.batches * a.heads * ((a.queries + rows - 1) / rows);
  if (call.mask != kNoValue) {
    operands.push_back(
        {.at = offsetof(AttentionArguments, mask), .value = call.mask, .offset = bytes_of_elements(lowering, call.mask, call.first_mask)});
  }
  if (call.key_mask != kNoValue) operands.push_back({offsetof(AttentionArguments, key_mask), call.key_mask});
  if (call.ranges != kNoValue) operands.push_back({offsetof(AttentionArguments, ranges), call.ranges});
  if (call.sinks != kNoValue) operands.push_back({offsetof(AttentionArguments, sinks), call.sinks});
  lowering.launch({"attention", fmt::format("attention<{}, {}, {}>", type, mask, rows)},
                  over_blocks(blocks, kThreads, shared_bytes(rows, a.depth, a.value_depth)), a, std::move(operands));
}

}  // namespace rh::gpu
