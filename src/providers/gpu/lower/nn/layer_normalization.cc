#include "ops/nn/normalization.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_layer_normalization(const NodeView& node) {
  const ops::LayerNormalization op = ops::LayerNormalization::read(node);
  if (op.stash_type != DType::float32 && op.stash_type != DType::float64) {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of {} computes in float or double, not in {}", node.op_type(),
                       to_string(op.stash_type));
  }
  const int rank = rank_of(node, 0), axis = normalize_axis(op.axis, rank);
  for (int i = 1; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    if (dtype_of_input(node, i) != dtype_of_input(node, 0)) {
      return kit::refuse(RhRefusalCode_TYPE, "its kernel of {} takes a scale and a bias of the input's type", node.op_type());
    }
    if (rank_of(node, i) != rank - axis) {
      return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} takes a scale and a bias of the normalised dimensions", node.op_type());
    }
    for (int d = 0; d < rank - axis; ++d) {
      const Dim& own = (*node.input_type(i).tensor().dims)[static_cast<size_t>(d)];
      if (!(own == (*node.input_type(0).tensor().dims)[static_cast<size_t>(axis + d)])) {
        return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} does not broadcast input {}", node.op_type(), i);
      }
    }
  }
  return require_types(node, 0, kFloats);
}

void lower_layer_normalization(const NodeView& node, Lowering& lowering) {
  const ops::LayerNormalization op = ops::LayerNormalization::read(node);
  const ValueId x = node.node().inputs[0];
  const Shape shape = lowering.shape(x);
  if (shape.elements() == 0) return;
  const int axis = normalize_axis(op.axis, shape.rank());
  NormalizationArguments arguments{};
  arguments.rows = shape.product(0, axis);
  arguments.columns = shape.product(axis, shape.rank());
  arguments.epsilon = op.epsilon;
  const bool is_double = op.stash_type == DType::float64 || lowering.dtype(x) == DType::float64;
  const DType stash = node.has_output(1) ? lowering.dtype(node.node().outputs[1]) : is_double ? DType::float64 : DType::float32;
  const unsigned threads = threads_for_row(arguments.columns);
  Launch launch{{"normalization", fmt::format("normalize<{}, {}, {}>", element_name(lowering.dtype(x)), element_name(stash), op.rms)},
                over_blocks(arguments.rows, threads, threads * sizeof(double)),
                std::vector<std::byte>(sizeof arguments),
                {},
                {node.node().id}};
  std::memcpy(launch.arguments.data(), &arguments, sizeof arguments);
  const auto reads = [&](size_t at, int i) {
    if (node.has_input(i)) launch.operands.push_back({at, node.node().inputs[static_cast<size_t>(i)]});
  };
  const auto writes = [&](size_t at, int i) {
    if (node.has_output(i)) launch.operands.push_back({at, node.node().outputs[static_cast<size_t>(i)], true});
  };
  reads(offsetof(NormalizationArguments, x), 0);
  reads(offsetof(NormalizationArguments, scale), 1);
  reads(offsetof(NormalizationArguments, bias), 2);
  writes(offsetof(NormalizationArguments, y), 0);
  writes(offsetof(NormalizationArguments, mean), 1);
  writes(offsetof(NormalizationArguments, inverse_deviation), 2);
  lowering.add(std::move(launch));
}

}  // namespace rh::gpu
