#include "ops/quant/block_size.h"

namespace rh::ops {

constexpr int64_t kLargest = int64_t{1} << 31;

int64_t checked_block_size(const NodeView& node, int64_t block_size) {
  const bool is_power = block_size > 0 && (block_size & (block_size - 1)) == 0;
  if (!is_power || block_size < 16 || block_size > kLargest) node.fail("block_size is {}, expected a power of two from 16 on", block_size);
  return block_size;
}

void check_weight_sizes(const NodeView& node, int64_t k, int64_t n) {
  if (k < 1 || k > kLargest || n < 1 || n > kLargest) node.fail("K is {} and N {}, expected 1 to {}", k, n, kLargest);
}

void infer_product(InferenceContext& context, const char* name, int64_t columns, int64_t y_columns) {
  const TensorType& a = context.input_tensor(0);
  if (!a.has_rank()) return context.set_output(0, a.dtype);
  if (a.rank() < 1) context.node().fail("A is a scalar, expected at least one dimension");
  SymbolicShape dims = *a.dims;
  if (dims.back().is_constant() && dims.back().value() != columns) {
    context.node().fail("A has shape {}, expected {} ({}) as its last dimension", to_string(dims), columns, name);
  }
  dims.back() = Dim(y_columns);
  context.set_output(0, a.dtype, std::move(dims));
}

}  // namespace rh::ops
