#include "ops/reduction/top_k.h"

#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

TopK TopK::read(const NodeView& node) {
  TopK op{.axis = node.int_or("axis", -1), .largest = node.flag("largest", true), .sorted = node.flag("sorted", true)};
  if (node.opset() < 10) op.k = node.required_int("k");
  return op;
}

void infer(const TopK& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  std::optional<SymbolicShape> dims = x.dims;
  if (dims) {
    const int axis = context.check_axis("axis", op.axis, x.rank());
    Dim k = op.k ? Dim(*op.k) : Dim();
    if (const auto contents = context.input_contents(1); contents && contents->size() == 1) k = (*contents)[0];
    const Dim& length = (*dims)[axis];
    if (k.is_constant() && length.is_constant() && (k.value() < 0 || k.value() > length.value())) {
      constexpr auto kText = "k is {}, expected 0 to {}, the size of dimension {}";
      if (k.value() < 0) fail_when_run(context.node(), kText, k.value(), length.value(), axis);
      context.node().fail(kText, k.value(), length.value(), axis);
    }
    (*dims)[axis] = k.is_unknown() ? context.fresh_symbol() : k;
  }
  context.set_output(0, x.dtype, dims);
  context.set_output(1, DType::int64, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(TopK)
