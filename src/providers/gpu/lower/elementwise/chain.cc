#include "providers/gpu/lower/elementwise/chain.h"

#include <algorithm>
#include <array>

#include "providers/gpu/lower/elementwise/elementwise.h"
#include "providers/gpu/plan/lowering.h"
#include "providers/gpu/plan/strides.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::gpu {

namespace {

constexpr size_t kMostSteps = 32;

std::string compute_name(DType dtype) { return fmt::format("compute_t<{}>", element_name(dtype)); }

/// The text of a step with its operands' and parameters' names.
std::string text_of(const Chain::Step& step) {
  std::string text;
  for (size_t at = 0; at < step.text.size(); ++at) {
    const char c = step.text[at];
    if (c == '@') {
      text += compute_name(step.typed_by);
    } else if (c == '$') {
      const int operand = step.operands[static_cast<size_t>(step.text[++at] - '0')];
      text += operand >= 0 ? fmt::format("x{}", operand) : fmt::format("v{}", ~operand);
    } else if (c == '#') {
      text += fmt::format("({})a.parameters[{}]", compute_name(step.typed_by), step.first_parameter + (step.text[++at] - '0'));
    } else {
      text += c;
    }
  }
  return text;
}

/// Which element of an input goes with element i.
std::string place_of(const Chain::Input& input, const Shape& shape, size_t number) {
  if (input.shape.elements() == 1) return "0";
  if (input.shape.elements() == shape.elements()) return "i";
  return fmt::format("place_of(i, a.rank, a.sizes, a.strides[{}])", number);
}

/// The statements that compute a chain's result of element i. `given` is an input that stands in x<number> already; -1: none is.
std::string body_of(const Chain& chain, const Shape& shape, const Lowering& lowering, int given) {
  std::string body;
  for (size_t i = 0; i < chain.inputs.size(); ++i) {
    if (static_cast<int>(i) == given) continue;
    const std::string_view type = element_name(lowering.dtype(chain.inputs[i].value));
    body += fmt::format("    const compute_t<{}> x{} = load<{}>(a.in[{}], {});\n", type, i, type, i, place_of(chain.inputs[i], shape, i));
  }
  for (size_t i = 0; i < chain.steps.size(); ++i) {
    const std::string type = compute_name(chain.steps[i].result);
    body += fmt::format("    const {} v{} = ({})({});\n", type, i, type, text_of(chain.steps[i]));
  }
  return body + fmt::format("    store<{}>(a.out[0], i, v{});\n", element_name(chain.steps.back().result), chain.steps.size() - 1);
}

std::string name_of(std::string_view what, const std::string& body) {
  constexpr size_t kDigits = 12;
  return fmt::format("{}_{}", what, kit::hash_of(body).substr(0, kDigits));
}

Kernel kernel_of(const std::string& body) {
  const std::string name = name_of("elements", body);
  return {"elementwise", name,
          fmt::format("__device__ inline void {}(const ElementwiseArguments& a) {{\n  for (long long i = first_element(); i < a.n; i += "
                      "element_step()) {{\n{}  }}\n}}\n",
                      name, body)};
}

/// A kernel that gives its results to the chain, as its input of this number, in place of storing them.
Kernel with_epilogue(Kernel kernel, const std::string& body, int given) {
  const std::string name = name_of("Epilogue", fmt::format("{} {}", given, body));
  kernel.call.replace(kernel.call.size() - kPlainEpilogue.size(), kPlainEpilogue.size(), fmt::format("rh::{}>", name));
  kernel.definition = fmt::format(
      "struct {} {{\n  template <class T, class V>\n  __device__ static void put(void*, const void* more, long long i, V x{}) {{\n    "
      "const "
      "ElementwiseArguments& a = *static_cast<const ElementwiseArguments*>(more);\n{}  }}\n}};\n",
      name, given, body);
  kernel.also = "elementwise";
  return kernel;
}

/// The chain's input that a launch makes which can compute the chain as well; -1: none.
int open_input(const Chain& chain, const Shape& shape, Lowering& lowering, std::optional<Launch>& open) {
  for (size_t i = 0; i < chain.inputs.size(); ++i) {
    const Chain::Input& input = chain.inputs[i];
    if (input.shape.elements() != shape.elements() || lowering.root(input.value).value != input.value) continue;
    open = lowering.take_open(input.value);
    if (open) return static_cast<int>(i);
  }
  return -1;
}

void launch(const Chain& chain, ValueId result, Lowering& lowering) {
  const Shape shape = lowering.shape(result);
  if (shape.elements() == 0) return;
  std::optional<Launch> open;
  const int given = open_input(chain, shape, lowering, open);
  const size_t before = open ? behind(open->arguments.size()) : 0;
  ElementwiseArguments arguments{};
  std::vector<Shape> strides;
  std::vector<Operand> operands;
  for (size_t i = 0; i < chain.inputs.size(); ++i) {
    strides.push_back(broadcast_strides(chain.inputs[i].shape, shape));
    if (static_cast<int>(i) == given) continue;
    operands.push_back({before + offsetof(ElementwiseArguments, in) + i * sizeof(void*), chain.inputs[i].value});
  }
  operands.push_back({before + offsetof(ElementwiseArguments, out), result, true});
  const StridedDims dims = collapse(shape, strides);
  arguments.n = shape.elements();
  arguments.rank = dims.rank();
  fill(arguments.sizes, dims.sizes);
  for (size_t i = 0; i < strides.size(); ++i) fill(arguments.strides[i], dims.strides[i]);
  std::ranges::copy(chain.parameters, arguments.parameters);
  const std::string body = body_of(chain, shape, lowering, given);
  if (!open) open = Launch{kernel_of(body), over_elements(arguments.n), {}, {}, {}};
  if (given >= 0) {
    open->kernel = with_epilogue(std::move(open->kernel), body, given);
    std::erase_if(open->operands, [](const Operand& operand) { return operand.is_written; });
  }
  open->arguments.resize(before + sizeof arguments);
  std::memcpy(open->arguments.data() + before, &arguments, sizeof arguments);
  open->operands.insert(open->operands.end(), operands.begin(), operands.end());
  open->nodes.insert(open->nodes.end(), chain.nodes.begin(), chain.nodes.end());
  lowering.add(std::move(*open));
}

/// The input's number, of a new one where it is none yet.
int add_input(Chain& chain, const Chain::Input& input) {
  const auto at = std::ranges::find(chain.inputs, input);
  if (at != chain.inputs.end()) return static_cast<int>(at - chain.inputs.begin());
  chain.inputs.push_back(input);
  return static_cast<int>(chain.inputs.size()) - 1;
}

/// The steps of another chain, of which the last gives its result: that step's number.
int append(Chain& chain, const Chain& other) {
  std::vector<int> inputs;
  for (const Chain::Input& input : other.inputs) inputs.push_back(add_input(chain, input));
  const int steps = static_cast<int>(chain.steps.size()), parameters = static_cast<int>(chain.parameters.size());
  for (Chain::Step step : other.steps) {
    for (int& operand : step.operands) operand = operand >= 0 ? inputs[static_cast<size_t>(operand)] : ~(~operand + steps);
    step.first_parameter += parameters;
    chain.steps.push_back(std::move(step));
  }
  chain.parameters.insert(chain.parameters.end(), other.parameters.begin(), other.parameters.end());
  chain.nodes.insert(chain.nodes.end(), other.nodes.begin(), other.nodes.end());
  return static_cast<int>(chain.steps.size()) - 1;
}

bool has_room(const Chain& a, const Chain& b, const Expression& expression) {
  return a.inputs.size() + b.inputs.size() + expression.operands.size() <= kMostOperands + 1 &&
         a.parameters.size() + b.parameters.size() + expression.parameters.size() <= kMostParameters &&
         a.steps.size() + b.steps.size() + 1 <= kMostSteps;
}

/// Whether one later node of elements of the same shape takes the value, and nobody else.
bool is_passed_on(ValueId value, const Lowering& lowering) {
  const GraphValue& entry = lowering.graph().value(value);
  if (entry.is_output || entry.consumers.size() != 1) return false;
  const Node& next = lowering.graph().node(entry.consumers[0]);
  if (!is_elementwise(next.domain, next.op_type)) return false;
  const GraphValue& result = lowering.graph().value(next.outputs[0]);
  return result.type.is_tensor() && result.type.tensor().has_rank() && result.type.tensor().is_static() &&
         lowering.shape(next.outputs[0]) == lowering.shape(value) && !lowering.is_host(next.outputs[0]);
}

}  // namespace

void lower_expression(const Node& node, Lowering& lowering, const Expression& expression) {
  const ValueId result = node.outputs[0];
  Chain chain;
  Chain::Step step;
  for (size_t i = 0; i < expression.operands.size(); ++i) {
    const ValueId operand = expression.operands[i];
    const auto waiting = lowering.pending().find(operand);
    if (waiting == lowering.pending().end()) continue;
    const Chain before = std::move(waiting->second);
    lowering.pending().erase(waiting);
    if (has_room(chain, before, expression)) {
      step.operands.resize(expression.operands.size(), INT32_MAX);
      const int last = append(chain, before);
      for (size_t j = i; j < expression.operands.size(); ++j) {
        if (expression.operands[j] == operand) step.operands[j] = ~last;
      }
    } else {
      launch(before, operand, lowering);
    }
  }
  step.operands.resize(expression.operands.size(), INT32_MAX);
  for (size_t i = 0; i < expression.operands.size(); ++i) {
    if (step.operands[i] != INT32_MAX) continue;
    const bool is_shaped = i < expression.shapes.size() && expression.shapes[i];
    const ValueId operand = expression.operands[i];
    step.operands[i] = add_input(chain, {operand, is_shaped ? *expression.shapes[i] : lowering.shape(operand)});
  }
  step.text = expression.text;
  step.first_parameter = static_cast<int>(chain.parameters.size());
  step.typed_by = lowering.dtype(expression.operands[expression.typed_by]);
  step.result = lowering.dtype(result);
  chain.parameters.insert(chain.parameters.end(), expression.parameters.begin(), expression.parameters.end());
  chain.steps.push_back(std::move(step));
  chain.nodes.push_back(node.id);
  if (is_passed_on(result, lowering)) {
    lowering.pending().emplace(result, std::move(chain));
  } else {
    launch(chain, result, lowering);
  }
}

}  // namespace rh::gpu
