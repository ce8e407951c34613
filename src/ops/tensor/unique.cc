#include "ops/tensor/unique.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

Unique Unique::read(const NodeView& node) {
  if (!node.domain().empty()) return {.sorted = false, .first_positions = false, .vectors_only = true};
  return {.axis = node.has("axis") ? std::optional(node.required_int("axis")) : std::nullopt, .sorted = node.flag("sorted", true)};
}

void infer(const Unique& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const Dim count = context.fresh_symbol();
  Dim length = x.elements();
  if (op.axis) {
    std::optional<SymbolicShape> y = x.dims;
    length = Dim();
    if (y) {
      Dim& d = (*y)[context.check_axis("axis", *op.axis, x.rank())];
      length = d;
      d = count;
    }
    context.set_output(0, x.dtype, std::move(y));
  } else {
    context.set_output(0, x.dtype, SymbolicShape{count});
  }
  if (op.vectors_only && x.has_rank() && x.rank() != 1) context.node().fail("input has shape {}, expected [N]", to_string(*x.dims));
  int output = 1;
  if (op.first_positions) context.set_output(output++, DType::int64, SymbolicShape{count});
  context.set_output(output++, DType::int64, SymbolicShape{length});
  context.set_output(output, DType::int64, SymbolicShape{count});
}

}  // namespace rh::ops

RH_DEFINE_OP(Unique)
