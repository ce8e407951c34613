#include "ops/reduction/top_k.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

namespace {

constexpr size_t kCandidateBytes = 16;  // of a thread, in shared memory

}  // namespace

kit::Support supports_top_k(const NodeView& node) {
  if (rank_of(node, 0) == 0) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of TopK takes no scalars");
  if (dtype_of_input(node, 0) == DType::boolean) return kit::refuse(RhRefusalCode_TYPE, "its kernel of TopK takes no booleans");
  return {};
}

void lower_top_k(const NodeView& node, Lowering& lowering) {
  const ops::TopK op = ops::TopK::read(node);
  const ValueId x = node.node().inputs[0];
  const Shape in = lowering.shape(x);
  const ValueId known = node.node().outputs[node.has_output(0) ? 0 : 1];
  const int axis = normalize_axis(op.axis, in.rank());
  LineArguments arguments{};
  arguments.count = lowering.shape(known)[axis];
  if (in.elements() == 0 || arguments.count == 0) return;
  arguments.size = in[axis];
  arguments.step = in.product(axis + 1, in.rank());
  arguments.lines = in.elements() / arguments.size;
  const unsigned threads = threads_for_row(arguments.size);
  const Kernel kernel{"select", fmt::format("top_k<{}, {}>", element_name(lowering.dtype(x)), op.largest)};
  std::vector<Operand> operands = {{offsetof(LineArguments, x), x}};
  if (node.has_output(0)) operands.push_back({offsetof(LineArguments, y), node.node().outputs[0], true});
  if (node.has_output(1)) operands.push_back({offsetof(LineArguments, indices), node.node().outputs[1], true});
  lowering.launch(kernel, over_blocks(arguments.lines, threads, threads * kCandidateBytes), arguments, std::move(operands));
}

}  // namespace rh::gpu
