#include "ops/ints_operand.h"

namespace rh::ops {

IntsOperand IntsOperand::from_input(const NodeView& node, int input) {
  IntsOperand operand{std::nullopt, input};
  if (const Tensor* constant = node.constant_input(input); constant && is_integer(constant->dtype())) {
    operand.values.emplace();
    for (int64_t i = 0; i < constant->elements(); ++i) operand.values->push_back(element_as_int(constant->view(), i));
  }
  return operand;
}

std::optional<SymbolicShape> IntsOperand::contents(const InferenceContext& context) const {
  if (values) return SymbolicShape(values->begin(), values->end());
  return input >= 0 ? context.input_contents(input) : std::nullopt;
}

std::optional<std::vector<int64_t>> IntsOperand::ints(const InferenceContext& context) const {
  if (values) return values;
  return input >= 0 && context.has_input(input) ? context.input_ints(input) : std::nullopt;
}

}  // namespace rh::ops
