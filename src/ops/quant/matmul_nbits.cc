#include "ops/quant/matmul_nbits.h"

#include "ops/registry.h"

namespace rh::ops {

MatMulNBits MatMulNBits::read(const NodeView& node) {
  const MatMulNBits op{.k = node.required_int("K"),
                       .n = node.required_int("N"),
                       .bits = node.int_or("bits", 4),
                       .block_size = node.required_int("block_size")};
  constexpr int64_t kLargest = int64_t{1} << 31;
  if (op.k < 1 || op.k > kLargest || op.n < 1 || op.n > kLargest) node.fail("K is {} and N {}, expected 1 to {}", op.k, op.n, kLargest);
  if (op.bits != 2 && op.bits != 4 && op.bits != 8) node.fail("bits is {}, expected 2, 4 or 8", op.bits);
  const bool is_power = op.block_size > 0 && (op.block_size & (op.block_size - 1)) == 0;
  if (!is_power || op.block_size < 16 || op.block_size > kLargest)
    node.fail("block_size is {}, expected a power of two from 16 on", op.block_size);
  if (node.int_or("weight_prepacked", 0) != 0)
    node.fail("weight_prepacked is {}, expected 0: the weights in their own order", node.int_or("weight_prepacked", 0));
  return op;
}

void infer(const MatMulNBits& op, InferenceContext& context) {
  const TensorType& a = context.input_tensor(0);
  if (!a.has_rank()) return context.set_output(0, a.dtype);
  if (a.rank() < 1) context.node().fail("A is a scalar, expected at least one dimension");
  SymbolicShape dims = *a.dims;
  if (dims.back().is_constant() && dims.back().value() != op.k) {
    context.node().fail("A has shape {}, expected {} (K) as its last dimension", to_string(dims), op.k);
  }
  dims.back() = Dim(op.n);
  context.set_output(0, a.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(MatMulNBits)
