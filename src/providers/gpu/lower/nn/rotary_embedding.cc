#include "ops/nn/rotary_embedding.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_rotary_embedding(const NodeView& node) {
  const ops::RotaryEmbedding op = ops::RotaryEmbedding::read(node);
  if (op.scale != 1 || !op.sections.empty()) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of RotaryEmbedding does not scale");
  if (dtype_of_input(node, op.cosines()) != dtype_of_input(node, 0)) {
    return kit::refuse(RhRefusalCode_TYPE, "its kernel of RotaryEmbedding takes angles of the input's type");
  }
  return require_types(node, 0, {DType::float32, DType::float16, DType::bfloat16});
}

void lower_rotary_embedding(const NodeView& node, Lowering& lowering) {
  const ops::RotaryEmbedding op = ops::RotaryEmbedding::read(node);
  const auto input = [&](int i) { return node.node().inputs[static_cast<size_t>(i)]; };
  const ValueId x = input(0), y = node.node().outputs[0], cosines = input(op.cosines());
  const Shape shape = lowering.shape(x), angles = lowering.shape(cosines);
  if (shape.elements() == 0) return;
  const bool has_heads = shape.rank() == 4;
  RotaryArguments arguments{};
  arguments.batches = shape[0];
  arguments.length = shape[has_heads ? 2 : 1];
  const int64_t width = has_heads ? shape[3] : shape[2];
  const int64_t implied = op.is_contrib && op.rotary_depth == 0 ? width / (2 * angles[angles.rank() - 1]) : 1;
  arguments.heads = has_heads ? shape[1] : op.heads > 0 ? op.heads : implied;
  arguments.depth = has_heads ? width : width / arguments.heads;
  arguments.rotary = op.rotary_depth == 0 ? arguments.depth : op.rotary_depth;
  arguments.batch_stride = shape.product(1, shape.rank());
  arguments.head_stride = has_heads ? arguments.length * arguments.depth : arguments.depth;
  arguments.row_stride = has_heads ? arguments.depth : width;
  arguments.interleaved = op.interleaved ? 1 : 0;
  std::vector<Operand> operands = {{offsetof(RotaryArguments, x), x},
                                   {offsetof(RotaryArguments, cosines), cosines},
                                   {offsetof(RotaryArguments, sines), input(op.sines())},
                                   {offsetof(RotaryArguments, y), y, true}};
  std::string_view position = "long long";
  if (node.has_input(op.positions())) {
    const ValueId positions = input(op.positions());
    operands.push_back({offsetof(RotaryArguments, positions), positions});
    arguments.one_position = lowering.shape(positions).elements() == 1 && arguments.batches * arguments.length > 1 ? 1 : 0;
    position = element_name(lowering.dtype(positions));
  }
  lowering.launch({"rotary_embedding", fmt::format("rotary_embedding<{}, {}>", element_name(lowering.dtype(x)), position)},
                  over_elements(shape.elements()), arguments, std::move(operands));
}

}  // namespace rh::gpu
