#include "ops/math/fused_elementwise.h"

#include <algorithm>
#include <limits>

#include "ops/activation/activation.h"
#include "ops/activation/fused_activation.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = FusedElementwise::Function;

constexpr int kBroadcastOpset = 7;  // of ai.onnx, from which on operators broadcast as numpy does

enum class Family : uint8_t { Arithmetic, Variadic, Comparison, Unary, Activation, Other };

struct Known {
  F function;
  std::string_view name;
  int operands;
  Family family;
};

constexpr Known kKnown[] = {
#define RH_STEP(function, name, operands, attributes) {F::function, name, operands, Family::attributes},
#include "ops/math/fused_elementwise_steps.inc"
#undef RH_STEP
    {F::clip, "Clip", 1, Family::Other},
    {F::where, "Where", 3, Family::Other},
};

const Known& known(F function) { return kKnown[static_cast<size_t>(function)]; }

const Known* find(std::string_view name) {
  const auto at = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& entry) { return entry.name == name; });
  return at == std::end(kKnown) ? nullptr : &*at;
}

/// Fills in the operands of a step; each must be a boolean exactly where the step wants one, which decides what the inputs are.
class Operands {
 public:
  Operands(const NodeView& node, std::vector<int64_t> list)
      : node_(node), list_(std::move(list)), kinds_(static_cast<size_t>(node.input_count()), Kind::open) {}

  void take(FusedElementwise::Step& step) {
    const Known& entry = known(step.function);
    for (int i = 0; i < entry.operands; ++i) {
      if (next_ == list_.size()) node_.fail("operands has {} numbers, expected more for operator {}", list_.size(), entry.name);
      const int64_t operand = list_[next_++];
      if (operand < 0 || operand >= static_cast<int64_t>(kinds_.size())) {
        node_.fail("operand {} of {} is {}, expected an input or an earlier result: 0 to {}", i, entry.name, operand, kinds_.size() - 1);
      }
      Kind& kind = kinds_[static_cast<size_t>(operand)];
      const Kind wanted = step.function == F::where && i == 0 ? Kind::boolean : Kind::number;
      if (kind != Kind::open && kind != wanted) node_.fail("operand {} of {} is a boolean, or wants one", i, entry.name);
      kind = wanted;
      step.operands[static_cast<size_t>(i)] = static_cast<int>(operand);
    }
    kinds_.push_back(FusedElementwise::gives_boolean(step.function) ? Kind::boolean : Kind::number);
  }

  void finish(const std::vector<int64_t>& rotated) const {
    for (const int64_t input : rotated) {
      const bool is_number = input >= 0 && input < node_.input_count() && kinds_[static_cast<size_t>(input)] == Kind::number;
      if (!is_number) node_.fail("rotated lists {}, expected inputs that are numbers", input);
    }
    if (next_ != list_.size()) node_.fail("operands has {} numbers, expected {}", list_.size(), next_);
    if (kinds_[0] != Kind::number) node_.fail("input 0 is not taken as a number, expected one that is");
    for (int i = 0; i < node_.input_count(); ++i) {
      if (kinds_[static_cast<size_t>(i)] == Kind::open || !node_.has_input(i)) node_.fail("input {} is not there or not taken", i);
    }
  }

 private:
  enum class Kind : uint8_t { open, number, boolean };
  const NodeView& node_;
  std::vector<int64_t> list_;
  std::vector<Kind> kinds_;  // of inputs and results
  size_t next_ = 0;
};

}  // namespace

int FusedElementwise::operand_count(Function function) { return known(function).operands; }

bool FusedElementwise::gives_boolean(Function function) { return known(function).family == Family::Comparison; }

FusedElementwise FusedElementwise::read(const NodeView& node) {
  const std::vector<std::string> names = node.strings_or("operators");
  const std::vector<float> numbers = node.floats_or("numbers", std::vector<float>(2 * names.size()));
  if (names.empty() || names.size() > kMaxSteps) node.fail("operators has {} names, expected 1 to {}", names.size(), kMaxSteps);
  if (numbers.size() != 2 * names.size())
    node.fail("numbers has {} numbers, expected two an operator: {}", numbers.size(), 2 * names.size());
  if (node.input_count() < 1 || node.input_count() > static_cast<int>(kMaxInputs)) {
    node.fail("there are {} inputs, expected 1 to {}", node.input_count(), kMaxInputs);
  }
  FusedElementwise op;
  Operands operands(node, node.required_ints("operands"));
  for (size_t i = 0; i < names.size(); ++i) {
    const Known* entry = find(names[i]);
    if (!entry) node.fail("operator '{}' is not one that can be joined", names[i]);
    Step step{entry->function, {}, numbers[2 * i], numbers[2 * i + 1]};
    operands.take(step);
    op.steps.push_back(step);
  }
  op.rotated = node.ints_or("rotated");
  op.rotates_pairs = node.flag("rotates_pairs");
  operands.finish(op.rotated);
  op.results = node.ints_or("results");
  for (const int64_t result : op.results) {
    const bool is_number =
        result >= 0 && result + 1 < static_cast<int64_t>(op.steps.size()) && !gives_boolean(op.steps[static_cast<size_t>(result)].function);
    if (!is_number) node.fail("results lists {}, expected operators before the last that give numbers", result);
  }
  if (node.output_count() > static_cast<int>(op.results.size()) + 1) {
    node.fail("there are {} outputs, expected one, and one for each of {} results", node.output_count(), op.results.size());
  }
  return op;
}

std::vector<Attribute> FusedElementwise::attributes() const {
  std::vector<std::string> names;
  std::vector<int64_t> operands;
  std::vector<float> numbers;
  bool has_numbers = false;
  for (const Step& step : steps) {
    const Known& entry = known(step.function);
    names.emplace_back(entry.name);
    operands.insert(operands.end(), step.operands.begin(), step.operands.begin() + entry.operands);
    numbers.insert(numbers.end(), {step.alpha, step.beta});
    has_numbers = has_numbers || step.alpha != 0 || step.beta != 0;
  }
  std::vector<Attribute> list{{"operators", std::move(names)}, {"operands", std::move(operands)}};
  if (has_numbers) list.push_back({"numbers", std::move(numbers)});
  if (!rotated.empty()) list.push_back({"rotated", rotated});
  if (rotates_pairs) list.push_back({"rotates_pairs", int64_t{1}});
  if (!results.empty()) list.push_back({"results", results});
  return list;
}

std::optional<FusedElementwise::Step> FusedElementwise::of(const NodeView& node) {
  const Known* entry = node.domain().empty() ? find(node.op_type()) : nullptr;
  if (!entry || (entry->operands == 2 && node.opset() < kBroadcastOpset)) return std::nullopt;
  Step step{entry->function, {}};
  if (step.function == F::clip) {
    const auto clip = FusedActivation::of(node);
    if (!clip) return std::nullopt;
    const bool is_relu = clip->function == FusedActivation::Function::relu;
    step.alpha = clip->alpha;
    step.beta = is_relu ? std::numeric_limits<float>::infinity() : clip->beta;
  }
  if (entry->family == Family::Activation) {
    const Activation single = Activation::read(node);
    if (single.function == Activation::Function::gelu_tanh) step.function = F::gelu_tanh;
    step.alpha = single.alpha;
    step.beta = single.beta;
  }
  return step;
}

void infer(const FusedElementwise& op, InferenceContext& context) {
  for (const int64_t input : op.rotated) {
    const TensorType& type = context.input_tensor(static_cast<int>(input));
    const bool is_odd = type.has_rank() && (type.rank() < 1 || (type.dims->back().is_constant() && type.dims->back().value() % 2 != 0));
    if (is_odd) context.node().fail("input {} is {}, expected an even last dimension of what is rotated", input, type.to_string());
  }
  const bool is_boolean = FusedElementwise::gives_boolean(op.steps.back().function);
  context.set_broadcast_output(0, is_boolean ? DType::boolean : context.input_dtype(0), 0, context.input_count());
  for (int i = 1; i < context.output_count(); ++i) context.set_broadcast_output(i, context.input_dtype(0), 0, context.input_count());
}

}  // namespace rh::ops

RH_DEFINE_OP(FusedElementwise)
