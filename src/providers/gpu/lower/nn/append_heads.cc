#include "providers/gpu/lower/nn/attention.h"

namespace rh::gpu {

void check_past(const NodeView& node, int input, const Shape& past, const Heads& heads) {
  const Matrices& at = heads.at;
  if (past.rank() == 4 && past == Shape{at.batch, at.heads, past[2], at.columns}) return;
  node.fail("input {} has shape {}, expected [{}, {}, length, {}]", input, past.to_string(), at.batch, at.heads, at.columns);
}

void append_heads(Lowering& lowering, const HeadCache& cache, Heads& heads) {
  const Matrices& at = heads.at;
  const int64_t capacity = cache.sequences.capacity;
  const Shape shape{at.batch, at.heads, capacity, at.columns};
  const DType dtype = lowering.dtype(heads.value);
  const ValueId present = cache.present == kNoValue ? lowering.scratch(dtype, shape) : cache.present;
  const int64_t element = static_cast<int64_t>(bytes_of(dtype, 1));
  AppendArguments a{};
  a.batches = at.batch;
  a.heads = at.heads;
  a.depth = at.columns;
  a.past_capacity = cache.past == kNoValue ? 0 : cache.past_capacity;
  a.keeps_rest = cache.keeps_rest ? 1 : 0;
  std::vector<Operand> operands = {
      {.at = offsetof(AppendArguments, to), .value = present, .is_written = true, .offset = cache.first_present * element}};
  if (cache.past != kNoValue) {
    operands.push_back({.at = offsetof(AppendArguments, past), .value = cache.past, .offset = cache.first_past * element});
  }
  put_heads(a.rows, offsetof(AppendArguments, rows), heads, at.batch, lowering, operands);
  put_sequences(a.sequences, offsetof(AppendArguments, sequences), cache.sequences, operands);
  put_turn(a.turn, offsetof(AppendArguments, turn), cache.turn, cache.sequences.added, lowering, operands);
  if (shape.elements() > 0) {
    lowering.launch({"append_heads", fmt::format("append_heads<{}>", element_name(dtype))}, over_elements(shape.elements()), a,
                    std::move(operands));
  }
  heads = {.value = present,
           .at = {.batch = at.batch,
                  .heads = at.heads,
                  .rows = cache.sequences.past + cache.sequences.added,
                  .columns = at.columns,
                  .batch_stride = shape.product(1, 4),
                  .head_stride = shape.product(2, 4),
                  .row_stride = at.columns,
                  .offset = cache.first_present}};
}

}  // namespace rh::gpu
