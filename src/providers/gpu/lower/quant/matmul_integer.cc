#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_matmul_integer(const NodeView& node) {
  for (int i : {2, 3}) {
    if (node.has_input(i) && rank_of(node, i) > 1) {
      return kit::refuse(RhRefusalCode_SHAPE, "its kernel of MatMulInteger takes zero points of one dimension");
    }
  }
  if (kit::Support refusal = require_types(node, 0, {DType::int8, DType::uint8})) return refusal;
  return require_types(node, 1, {DType::int8, DType::uint8});
}

void lower_matmul_integer(const NodeView& node, Lowering& lowering) {
  const Product product = product_of(lowering, node.node().inputs[0], node.node().inputs[1], node.node().outputs[0]);
  if (product.m * product.n * product.batch.elements() == 0) return;
  IntegerProductArguments arguments{};
  arguments.product = arguments_of(product);
  const auto is_list = [&](int i) {
    return node.has_input(i) && lowering.shape(node.node().inputs[static_cast<size_t>(i)]).elements() > 1;
  };
  arguments.a_zero_step = is_list(2) ? 1 : 0;
  arguments.b_zero_step = is_list(3) ? 1 : 0;
  std::vector<Operand> operands = {{offsetof(GemmArguments, a), product.a}, {offsetof(GemmArguments, b), product.b}};
  operands.push_back({offsetof(GemmArguments, c), product.c, true});
  if (node.has_input(2)) operands.push_back({offsetof(IntegerProductArguments, a_zero), node.node().inputs[2]});
  if (node.has_input(3)) operands.push_back({offsetof(IntegerProductArguments, b_zero), node.node().inputs[3]});
  const LaunchSize size = tiles_of(lowering.device(), DType::float32, product.m, product.n, product.batch.elements()).size;
  lowering.launch({"integer_product",
                   fmt::format("integer_gemm<{}, {}>", element_name(lowering.dtype(product.a)), element_name(lowering.dtype(product.b)))},
                  size, arguments, std::move(operands));
}

}  // namespace rh::gpu
