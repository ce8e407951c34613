#include "ops/quant/matmul_nbits.h"

#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_matmul_nbits(const NodeView& node) {
  const ops::MatMulNBits op = ops::MatMulNBits::read(node);
  if (op.bits != 2 && op.bits != 4 && op.bits != 8) {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of MatMulNBits takes 2, 4 and 8 bits, not {}", op.bits);
  }
  if (node.has_input(4) && dtype_of_input(node, 4) != DType::int32) {
    return kit::refuse(RhRefusalCode_TYPE, "its kernel of MatMulNBits takes g_idx of int32");
  }
  const DType dtype = dtype_of_input(node, 0);
  if (dtype_of_input(node, 2) != dtype) return kit::refuse(RhRefusalCode_TYPE, "its kernel of MatMulNBits takes scales of the type of A");
  if (node.has_input(3) && dtype_of_input(node, 3) != dtype && dtype_of_input(node, 3) != DType::uint8) {
    return kit::refuse(RhRefusalCode_TYPE, "its kernel of MatMulNBits takes zero points of the type of A, or codes");
  }
  return require_types(node, 0, kFloats);
}

void lower_matmul_nbits(const NodeView& node, Lowering& lowering) {
  const ops::MatMulNBits op = ops::MatMulNBits::read(node);
  const ValueId a = node.node().inputs[0], y = node.node().outputs[0];
  CodesProductArguments arguments{};
  arguments.n = op.n;
  arguments.k = op.k;
  arguments.m = lowering.shape(y).elements() / std::max<int64_t>(op.n, 1);
  arguments.block = op.block_size;
  arguments.blocks = op.blocks();
  if (lowering.shape(y).elements() == 0) return;
  const DType dtype = lowering.dtype(a);
  const int zeros = !node.has_input(3) ? 0 : lowering.dtype(node.node().inputs[3]) == DType::uint8 ? 1 : 2;
  std::vector<Operand> operands = {{offsetof(CodesProductArguments, a), a},
                                   {offsetof(CodesProductArguments, codes), node.node().inputs[1]},
                                   {offsetof(CodesProductArguments, scales), node.node().inputs[2]},
                                   {offsetof(CodesProductArguments, c), y, true}};
  if (zeros != 0) operands.push_back({offsetof(CodesProductArguments, zeros), node.node().inputs[3]});
  if (node.has_input(4)) {
    if (lowering.shape(node.node().inputs[4]).elements() < op.k) node.fail("g_idx has fewer than {} elements", op.k);
    operands.push_back({offsetof(CodesProductArguments, groups), node.node().inputs[4]});
  }
  if (node.has_input(5)) operands.push_back({offsetof(CodesProductArguments, bias), node.node().inputs[5]});
  const DType plain = dtype == DType::float64 ? DType::float64 : DType::float32;  // tiles without tensor cores
  lowering.launch_open({"integer_product", fmt::format("codes_gemm<{}, {}, {}, {}", element_name(dtype), op.bits, zeros, kPlainEpilogue)},
                       tiles_of(lowering.device(), plain, arguments.m, arguments.n, 1).size, arguments, std::move(operands), y);
}

}  // namespace rh::gpu
