#include "ops/tensor/split.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

SymbolicShape part_sizes(const Split& op, const InferenceContext& context, const Dim& size) {
  const int parts = context.output_count();
  if (op.sizes.is_given(context)) {
    const auto sizes = op.sizes.contents(context);
    if (!sizes) return unknown_dims(parts);
    if (static_cast<int>(sizes->size()) != parts) context.node().fail("split has {} sizes for {} outputs", sizes->size(), parts);
    Dim total(0);
    for (const Dim& d : *sizes) {
      if (d.is_constant() && d.value() < 0) context.node().fail("split has size {}, expected none below 0", d.value());
      total = total + d;
    }
    if (total.is_constant() && size.is_constant() && total.value() != size.value()) {
      context.node().fail("the sizes of split add up to {}, but the dimension is {}", total.value(), size.value());
    }
    return *sizes;
  }
  const EqualParts equal = equal_parts(size, parts, op.uneven);
  if (size.is_constant() && (equal.last.value() < 0 || (!op.uneven && size.value() % parts != 0))) {
    return unknown_dims(parts);  // an error where it runs: functions of the standard hold it in a branch that such sizes do not take
  }
  SymbolicShape sizes(static_cast<size_t>(parts), equal.each);
  sizes.back() = equal.last;
  return sizes;
}

void infer_contents(InferenceContext& context, const SymbolicShape& sizes) {
  const auto contents = context.input_contents(0);
  if (!contents) return;
  size_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].is_constant() || begin + sizes[i].value() > contents->size()) return;
    const size_t end = begin + sizes[i].value();
    context.set_output_contents(static_cast<int>(i), SymbolicShape(contents->begin() + begin, contents->begin() + end));
    begin = end;
  }
}

}  // namespace

EqualParts equal_parts(const Dim& size, int parts, bool uneven) {
  const Dim each = Dim::apply(uneven ? Dim::Function::ceil_div : Dim::Function::floor_div, size, Dim(parts));
  return {each, uneven ? size - each * Dim(parts - 1) : each};
}

Split Split::read(const NodeView& node) {
  const bool input = node.opset() >= 13 || (node.opset() == 1 && !node.has("split"));
  return {.axis = node.int_or("axis", 0),
          .sizes = input ? IntsOperand::from_input(node, 1) : IntsOperand::from_attribute(node, "split"),
          .uneven = node.opset() >= 18};
}

void infer(const Split& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (context.node().has("num_outputs") && context.node().required_int("num_outputs") != context.output_count()) {
    context.node().fail("num_outputs is {}, but the node has {} outputs", context.node().required_int("num_outputs"),
                        context.output_count());
  }
  const int axis = x.has_rank() ? context.check_axis("axis", op.axis, x.rank()) : 0;
  const SymbolicShape sizes = part_sizes(op, context, x.has_rank() ? (*x.dims)[axis] : Dim());
  for (int i = 0; i < context.output_count(); ++i) {
    std::optional<SymbolicShape> y = x.dims;
    if (y) (*y)[axis] = sizes[i];
    context.set_output(i, x.dtype, std::move(y));
  }
  if (x.has_rank() && x.rank() == 1) infer_contents(context, sizes);
}

}  // namespace rh::ops

RH_DEFINE_OP(Split)
