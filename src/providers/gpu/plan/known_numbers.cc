#include "providers/gpu/plan/known_numbers.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "providers/kit/regions/host_values.h"

namespace rh::gpu {

namespace {

struct Function {
  std::string_view op_type;
  double (*of)(double a, double b);
};
constexpr Function kFunctions[] = {
    {"Abs", [](double a, double) { return std::abs(a); }},
    {"Add", [](double a, double b) { return a + b; }},
    {"And", [](double a, double b) { return static_cast<double>(a != 0 && b != 0); }},
    {"Cast", [](double a, double) { return a; }},
    {"Equal", [](double a, double b) { return static_cast<double>(a == b); }},
    {"Greater", [](double a, double b) { return static_cast<double>(a > b); }},
    {"GreaterOrEqual", [](double a, double b) { return static_cast<double>(a >= b); }},
    {"Identity", [](double a, double) { return a; }},
    {"Less", [](double a, double b) { return static_cast<double>(a < b); }},
    {"LessOrEqual", [](double a, double b) { return static_cast<double>(a <= b); }},
    {"Mul", [](double a, double b) { return a * b; }},
    {"Neg", [](double a, double) { return -a; }},
    {"Not", [](double a, double) { return static_cast<double>(a == 0); }},
    {"Or", [](double a, double b) { return static_cast<double>(a != 0 || b != 0); }},
    {"Reshape", [](double a, double) { return a; }},
    {"Squeeze", [](double a, double) { return a; }},
    {"Sub", [](double a, double b) { return a - b; }},
    {"Unsqueeze", [](double a, double) { return a; }},
};
/// What inference follows of whole numbers, beside these.
constexpr std::string_view kOfSizes[] = {"Concat", "Gather", "Shape", "Size", "Slice"};
/// Of which the first input alone counts.
constexpr std::string_view kViews[] = {"Reshape", "Squeeze", "Unsqueeze"};

const Function* function_of(const Node& node) {
  const auto* at = std::ranges::find(kFunctions, node.op_type, &Function::op_type);
  return node.domain.empty() && at != std::end(kFunctions) ? at : nullptr;
}

size_t operands_of(const Node& node) {
  const bool is_view = std::ranges::find(kViews, std::string_view(node.op_type)) != std::end(kViews);
  return is_view ? 1 : std::min<size_t>(node.inputs.size(), 2);
}

/// Arithmetic in the value's type.
std::optional<double> rounded(double number, DType dtype) {
  if (dtype == DType::float32) return static_cast<double>(static_cast<float>(number));
  if (dtype == DType::float64) return number;
  if (dtype == DType::boolean) return static_cast<double>(number != 0);
  return is_integer(dtype) ? std::optional(std::trunc(number)) : std::nullopt;
}

bool is_one_number(const ValueType& type) {
  if (!type.is_tensor() || !rounded(0, type.tensor().dtype)) return false;
  return type.tensor().has_rank() && std::ranges::all_of(*type.tensor().dims, [](const Dim& dim) { return dim.is_constant(1); });
}

}  // namespace

bool follows_on_host(const Graph& graph, ValueId id) {
  const GraphValue& value = graph.value(id);
  if (value.outer != kNoValue) return false;
  if (value.is_constant() || value.producer == kNoNode) return true;
  const Node& node = graph.node(value.producer);
  if (node.domain.empty() && std::ranges::find(kOfSizes, std::string_view(node.op_type)) != std::end(kOfSizes)) {
    return is_integer(value.type.tensor().dtype);
  }
  if (!kit::is_host_arithmetic(graph, node)) return true;  // a region ends there, and the host reads the value
  if (!function_of(node) || !is_one_number(value.type)) return false;
  const auto first = node.inputs.begin();
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(operands_of(node)),
                     [&](ValueId input) { return follows_on_host(graph, input); });
}

std::optional<double> number_of(const Graph& graph, ValueId id, const KnownContents& contents) {
  const GraphValue& value = graph.value(id);
  if (const Tensor* tensor = value.constant_tensor()) {
    return tensor->elements() == 1 ? std::optional(element_as_double(tensor->view(), 0)) : std::nullopt;
  }
  if (const auto known = contents.find(id); known != contents.end()) {
    const bool is_number = known->second.size() == 1 && known->second[0].is_constant();
    if (is_number) return static_cast<double>(known->second[0].value());
  }
  const Node* node = graph.producer(id);
  const Function* function = node ? function_of(*node) : nullptr;
  if (!function || !is_one_number(value.type)) return std::nullopt;
  double operands[2] = {};
  for (size_t i = 0; i < operands_of(*node); ++i) {
    const std::optional<double> operand = number_of(graph, node->inputs[i], contents);
    if (!operand) return std::nullopt;
    operands[i] = *operand;
  }
  return rounded(function->of(operands[0], operands[1]), value.type.tensor().dtype);
}

}  // namespace rh::gpu
