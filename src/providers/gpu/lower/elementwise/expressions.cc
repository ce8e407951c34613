#include "providers/gpu/lower/elementwise/expressions.h"

#include <algorithm>
#include <iterator>

#include "ops/activation/activation.h"
#include "ops/math/clip.h"
#include "ops/math/mod.h"
#include "ops/tensor/cast.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

namespace {

Expression activation(const NodeView& node) {
  using Function = ops::Activation::Function;
  const ops::Activation op = ops::Activation::read(node);
  const auto text = [&]() -> std::string_view {
    switch (op.function) {
      case Function::relu: return "f_max($0, (@)0)";
      case Function::leaky_relu: return "$0 >= (@)0 ? $0 : #0 * $0";
      case Function::elu: return "$0 >= (@)0 ? $0 : #0 * m_expm1($0)";
      case Function::selu: return "#1 * ($0 > (@)0 ? $0 : #0 * m_expm1($0))";
      case Function::celu: return "f_max($0, (@)0) + f_min((@)0, #0 * m_expm1($0 / #0))";
      case Function::hard_sigmoid: return "f_clip(#0 * $0 + #1, (@)0, (@)1)";
      case Function::hard_swish: return "$0 * f_clip($0 / (@)6 + (@)0.5, (@)0, (@)1)";
      case Function::softplus: return "f_softplus($0)";
      case Function::softsign: return "$0 / ((@)1 + f_abs($0))";
      case Function::thresholded_relu: return "$0 > #0 ? $0 : (@)0";
      case Function::gelu: return "f_gelu($0)";
      case Function::gelu_tanh: return "f_gelu_tanh($0)";
      case Function::mish: return "$0 * m_tanh(f_softplus($0))";
      case Function::swish: return "$0 * f_sigmoid(#0 * $0)";
      case Function::shrink: return "$0 < -#0 ? $0 + #1 : $0 > #0 ? $0 - #1 : (@)0";
      case Function::parametric_softplus: return "#0 * f_softplus(#1 * $0)";
      case Function::scaled_tanh: return "#0 * m_tanh(#1 * $0)";
    }
    return "$0";
  }();
  return {std::string(text), {node.node().inputs[0]}, {op.alpha, op.beta}};
}

Expression cast(const NodeView& node) {
  const DType to = node.graph().value(node.node().outputs[0]).type.tensor().dtype;
  return {fmt::format("f_cast<{}>($0)", element_name(to)), {node.node().inputs[0]}};
}

// Bounds of attributes are the float's that they were written as.
Expression clip(const NodeView& node) {
  const ops::Clip op = ops::Clip::read(node);
  Expression made{"$0", {node.node().inputs[0]}};
  const auto bound = [&](const char* compare, int input, std::optional<float> given) {
    std::string value;
    if (op.bounds_are_inputs) {
      if (!node.has_input(input)) return;
      value = fmt::format("${}", made.operands.size());
      made.operands.push_back(node.node().inputs[static_cast<size_t>(input)]);
    } else if (given) {
      value = fmt::format("#{}", made.parameters.size());
      made.parameters.push_back(*given);
    } else {
      return;
    }
    made.text = fmt::format("f_bound_{}({}, {})", compare, made.text, value);
  };
  bound("below", 1, op.min);
  bound("above", 2, op.max);
  for (size_t i = 1; i < made.operands.size(); ++i) made.shapes.resize(i + 1);
  return made;
}

/// All operands, joined from left to right.
Expression joined(const NodeView& node, std::string_view begin, std::string_view between, std::string_view end) {
  Expression made{"$0", node.node().inputs};
  for (size_t i = 1; i < made.operands.size(); ++i) made.text = fmt::format("{}{}{}${}{}", begin, made.text, between, i, end);
  return made;
}

Expression mean(const NodeView& node) {
  Expression made = joined(node, "", " + ", "");
  made.text = fmt::format("({}) / #0", made.text);
  made.parameters.push_back(static_cast<double>(made.operands.size()));
  return made;
}

Expression mod(const NodeView& node) { return {ops::Mod::read(node).fmod ? "f_fmod($0, $1)" : "f_mod($0, $1)", node.node().inputs}; }

Expression is_inf(const NodeView& node) {
  const bool above = node.flag("detect_positive", true), below = node.flag("detect_negative", true);
  return {above && below ? "f_abs($0) == (@)infinity()"
          : above        ? "$0 == (@)infinity()"
          : below        ? "$0 == -(@)infinity()"
                         : "$0 != $0 && false",
          {node.node().inputs[0]}};
}

Expression fast_gelu(const NodeView& node) {
  if (!node.has_input(1)) return {"f_gelu_tanh($0)", {node.node().inputs[0]}};
  return {"f_gelu_tanh($0 + $1)", {node.node().inputs[0], node.node().inputs[1]}};
}

struct Maker {
  std::string_view op_type;
  Expression (*make)(const NodeView&);
};
constexpr Maker kMakers[] = {
    {"Cast", cast},
    {"CastLike", cast},
    {"Clip", clip},
    {"FastGelu", fast_gelu},
    {"IsInf", is_inf},
    {"Max", [](const NodeView& node) { return joined(node, "f_max(", ", ", ")"); }},
    {"Mean", mean},
    {"Min", [](const NodeView& node) { return joined(node, "f_min(", ", ", ")"); }},
    {"Mod", mod},
    {"Pow", [](const NodeView& node) { return Expression{"f_power($0, $1)", node.node().inputs}; }},
    {"Sum", [](const NodeView& node) { return joined(node, "", " + ", ""); }},
    {"Where", [](const NodeView& node) { return Expression{"$0 ? $1 : $2", node.node().inputs, {}, 1}; }},
};

}  // namespace

Expression expression_of(const NodeView& node, std::string_view text) {
  if (!text.empty()) return {std::string(text), node.node().inputs};
  const auto* maker = std::ranges::find(kMakers, node.op_type(), &Maker::op_type);
  return maker == std::end(kMakers) ? activation(node) : maker->make(node);
}

}  // namespace rh::gpu
