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

void lower_attention_call(Lowering& lowering, AttentionCall call) {
  AttentionArguments& a = call.arguments;
  a.batches = call.y_at.batch;
  a.heads = call.y_at.heads;
  a.queries = call.y_at.rows;
  a.key_heads = call.k_at.heads;
  a.value_heads = call.v_at.heads;
  a.keys = call.v_at.rows;
  a.depth = call.q_at.columns;
  a.value_depth = call.v_at.columns;
  if (a.batches * a.heads * a.queries * a.value_depth == 0) return;
  set_strides(a.q_strides, call.q_at, a.batches);
  set_strides(a.k_strides, call.k_at, a.batches);
  set_strides(a.v_strides, call.v_at, a.batches);
  set_strides(a.y_strides, call.y_at, a.batches);
  if (call.q_at.rows == 1) a.q_strides[2] = 0;  // one query of many rows of a mask
  if (call.q_at.heads == 1) a.q_strides[1] = 0;
  std::copy(call.mask_strides.begin(), call.mask_strides.end(), a.mask_strides);
  std::copy(call.key_mask_strides.begin(), call.key_mask_strides.end(), a.key_mask_strides);
  const int64_t rows = rows_for(a.depth, a.value_depth);
  if (rows == 0)
    fail(ErrorCode::ep_fail, "attention with heads of {} and {} elements has no room in shared memory", a.depth, a.value_depth);
  const std::string_view type = element_name(lowering.dtype(call.y));
  const std::string_view mask = call.mask == kNoValue ? type : element_name(lowering.dtype(call.mask));
  const int64_t blocks = a.batches * a.heads * ((a.queries + rows - 1) / rows);
  const auto bytes_of_elements = [&](int64_t elements) { return elements * static_cast<int64_t>(bytes_of(lowering.dtype(call.q), 1)); };
  std::vector<Operand> operands = {{.at = offsetof(AttentionArguments, q), .value = call.q, .offset = bytes_of_elements(call.q_at.offset)},
                                   {.at = offsetof(AttentionArguments, k), .value = call.k, .offset = bytes_of_elements(call.k_at.offset)},
                                   {.at = offsetof(AttentionArguments, v), .value = call.v, .offset = bytes_of_elements(call.v_at.offset)},
                                   {offsetof(AttentionArguments, y), call.y, true}};
  if (call.mask != kNoValue) operands.push_back({offsetof(AttentionArguments, mask), call.mask});
  if (call.key_mask != kNoValue) operands.push_back({offsetof(AttentionArguments, key_mask), call.key_mask});
  lowering.launch({"attention", fmt::format("attention<{}, {}, {}>", type, mask, rows)},
                  over_blocks(blocks, kThreads, shared_bytes(rows, a.depth, a.value_depth)), a, std::move(operands));
}

}  // namespace rh::gpu
