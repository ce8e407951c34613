#include "ops/tensor/reshape.h"

#include <algorithm>

#include "ops/dim_rules.h"
#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

// The size that makes `target` (without place `open`) hold as many elements as x. Equal dimensions cancel before anything is multiplied, so
// that most quotients stay simple.
Dim remaining_size(const InferenceContext& context, const SymbolicShape& x, const SymbolicShape& target, size_t open) {
  SymbolicShape above = x, below;
  for (size_t i = 0; i < target.size(); ++i) {
    if (i == open) continue;
    const auto same = std::find(above.begin(), above.end(), target[i]);
    if (same != above.end()) {
      above.erase(same);
    } else {
      below.push_back(target[i]);
    }
  }
  const Dim total = product(above, 0, above.size()), divisor = product(below, 0, below.size());
  if (divisor.is_constant(0)) return {};
  if (total.is_constant() && divisor.is_constant() && total.value() % divisor.value() != 0) {
    fail_when_run(context.node(), "shape {} does not fit the {} elements of input {}", to_string(target), total.value(), to_string(x));
  }
  return Dim::apply(Dim::Function::floor_div, total, divisor);
}

void check_total(const InferenceContext& context, const SymbolicShape& x, const SymbolicShape& y) {
  const Dim from = product(x, 0, x.size()), to = product(y, 0, y.size());
  if (from.is_constant() && to.is_constant() && from.value() != to.value()) {
    fail_when_run(context.node(), "shape {} holds {} elements, but input {} has {}", to_string(y), to.value(), to_string(x), from.value());
  }
}

SymbolicShape result_dims(const Reshape& op, const InferenceContext& context, const TensorType& x, const SymbolicShape& target) {
  SymbolicShape y = target;
  int open = -1;
  bool has_unknown = false;
  for (int i = 0; i < static_cast<int>(y.size()); ++i) {
    if (y[i].is_constant(-1)) {
      if (open >= 0) context.node().fail("shape {} has -1 more than once", to_string(target));
      open = i;
      y[i] = Dim();
    } else if (y[i].is_constant(0) && !op.allow_zero) {
      if (x.has_rank() && i >= x.rank()) {
        context.node().fail("shape {} copies dimension {}, but the input has rank {}", to_string(target), i, x.rank());
      }
      y[i] = x.has_rank() ? (*x.dims)[i] : Dim();
    } else if (y[i].is_constant() && y[i].value() < 0) {
      context.node().fail("shape {} has {}, expected -1, 0 or a size", to_string(target), y[i].value());
    }
    if (y[i].is_unknown() && open != i) has_unknown = true;
  }
  if (!x.has_rank()) return y;
  if (open >= 0 && !has_unknown) y[open] = remaining_size(context, *x.dims, y, open);
  check_total(context, *x.dims, y);
  return y;
}

}  // namespace

Reshape Reshape::read(const NodeView& node) {
  return {.shape = node.opset() < 5 ? IntsOperand::from_attribute(node, "shape") : IntsOperand::from_input(node, 1),
          .allow_zero = node.flag("allowzero")};
}

void infer(const Reshape& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const auto target = op.shape.contents(context);
  if (!target) return context.set_output(0, x.dtype);
  SymbolicShape y = result_dims(op, context, x, *target);
  const bool small = y.size() <= 1;
  context.set_output(0, x.dtype, std::move(y));
  if (small) keep_contents(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Reshape)
