#include "ops/nn/skip_layer_normalization.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_skip_layer_normalization(const NodeView& node) {
  return require_types(node, 0, {DType::float32, DType::float16, DType::bfloat16});
}

void lower_skip_layer_normalization(const NodeView& node, Lowering& lowering) {
  using Arguments = SkipNormalizationArguments;
  const ops::SkipLayerNormalization op = ops::SkipLayerNormalization::read(node);
  const ValueId x = node.node().inputs[0];
  const Shape shape = lowering.shape(x);
  if (shape.elements() == 0) return;
  Arguments arguments{};
  arguments.columns = shape[shape.rank() - 1];
  arguments.rows = shape.elements() / arguments.columns;
  arguments.skip_rows = lowering.shape(node.node().inputs[1]).elements() / arguments.columns;
  arguments.epsilon = op.epsilon;
  std::vector<Operand> operands;
  const auto reads = [&](size_t at, int i) {
    if (node.has_input(i)) operands.push_back({at, node.node().inputs[static_cast<size_t>(i)]});
  };
  const auto writes = [&](size_t at, int i) {
    if (node.has_output(i)) operands.push_back({at, node.node().outputs[static_cast<size_t>(i)], true});
  };
  reads(offsetof(Arguments, x), 0);
  reads(offsetof(Arguments, skip), 1);
  reads(offsetof(Arguments, scale), 2);
  reads(offsetof(Arguments, beta), op.beta());
  reads(offsetof(Arguments, bias), op.bias());
  writes(offsetof(Arguments, y), 0);
  writes(offsetof(Arguments, mean), 1);
  writes(offsetof(Arguments, inverse_deviation), 2);
  writes(offsetof(Arguments, sum), 3);
  const unsigned threads = threads_for_row(arguments.columns);
  lowering.launch({"skip_normalization", fmt::format("skip_normalize<{}, {}>", element_name(lowering.dtype(x)), op.rms)},
                  over_blocks(arguments.rows, threads, threads * sizeof(double)), arguments, std::move(operands));
}

}  // namespace rh::gpu
