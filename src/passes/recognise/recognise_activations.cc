// Pattern: an activation that is written out, of Max, Min, Clip, Exp, Erf, Tanh, Sigmoid, Softplus, arithmetic and numbers.
// Replacement: one operator: Relu, Clip, LeakyRelu, Sigmoid, HardSigmoid, HardSwish, Swish (SiLU, QuickGelu), Gelu in both forms, Mish.
// Not: numbers that are not the activation's, to the digits with which they are written; where something else takes a value in between.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/activation/activation.h"
#include "ops/activation/fused_activation.h"
#include "ops/math/clip.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/channel_affine.h"

namespace rh::passes {

namespace {

constexpr int kVariadicOpset = 8;   // from which on Max and Min do
constexpr int kMaxDepth = 8;        // of an expression of x
constexpr size_t kMaxProducts = 3;  // of one product

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// As near as numbers are that were written with few digits, or rounded to a half type.
bool is_within(double a, double b, double share) { return std::fabs(a - b) <= share * std::fabs(b); }
/// The same number, rounded to float in one way or another.
bool is_near(double a, double b) { return is_within(a, b, 1e-6); }

/// c[0] + c[1] x + c[2] x^2 + c[3] x^3.
using Polynomial = std::array<double, 4>;

/// Numbers that are written with four digits (0.7071) or three (0.0447) are the ones that are meant.
bool is_near(const Polynomial& a, const Polynomial& b) {
  constexpr double kShares[] = {0, 1e-4, 0, 5e-4};
  for (size_t i = 0; i < a.size(); ++i)
    if (b[i] == 0 ? a[i] != 0 : !is_within(a[i], b[i], kShares[i])) return false;
  return true;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial result{};
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= result.size()) return std::nullopt;
      result[i + j] += a[i] * b[j];
    }
  }
  return result;
}

std::optional<Polynomial> power(const Polynomial& base, double exponent) {
  if (exponent != 2 && exponent != 3) return std::nullopt;
  auto result = product(base, base);
  return result && exponent == 3 ? product(*result, base) : result;
}

/// The expression whose last node is `root`, as one of x; `nodes` are those that it is made of.
class Expression {
 public:
  Expression(const Graph& graph, ValueId x) : graph_(graph), x_(x) {}

  void add(const Node& node) { nodes.push_back(node.id); }

  /// The value as a polynomial of x; nothing where it is none.
  std::optional<Polynomial> polynomial(ValueId value, int depth = 0) {
    if (value == x_) return Polynomial{0, 1, 0, 0};
    if (const auto number = constant_number(graph_, value)) return Polynomial{*number, 0, 0, 0};
    const Node* node = depth < kMaxDepth ? graph_.producer(value) : nullptr;
    if (!node || !node->domain.empty() || node->opset < kBroadcastOpset || node->inputs.empty()) return std::nullopt;
    const auto a = polynomial(node->inputs[0], depth + 1);
    if (a && node->op_type == "Neg") {
      add(*node);
      return product(*a, {-1, 0, 0, 0});
    }
    if (node->inputs.size() != 2) return std::nullopt;
    const auto b = a ? polynomial(node->inputs[1], depth + 1) : std::nullopt;
    if (!b) return std::nullopt;
    add(*node);
    return combined(node->op_type, *a, *b);
  }

  bool is(ValueId value, const Polynomial& expected) {
    const auto found = polynomial(value);
    return found && is_near(*found, expected);
  }

  /// Whether the nodes can be replaced by one that gives what `root` does, which is of x's type, a floating one.
  bool is_whole(const Node& root) const {
    return is_floating(tensor_type(graph_, x_).dtype) && is_closed(graph_, nodes, root) && have_same_type(graph_, x_, root.outputs[0]);
  }

  std::vector<NodeId> nodes;

 private:
  static std::optional<Polynomial> combined(std::string_view op, const Polynomial& a, const Polynomial& b) {
    const bool b_is_number = b[1] == 0 && b[2] == 0 && b[3] == 0;
    Polynomial result = a;
    if (op == "Mul") return product(a, b);
    if (op == "Pow") return b_is_number ? power(a, b[0]) : std::nullopt;
    for (size_t i = 0; i < result.size(); ++i) {
      if (op == "Add") {
        result[i] += b[i];
      } else if (op == "Sub") {
        result[i] -= b[i];
      } else if (op == "Div" && b_is_number && b[0] != 0) {
        result[i] /= b[0];
      } else {
        return std::nullopt;
      }
    }
    return result;
  }

  const Graph& graph_;
  ValueId x_;
};

/// What a product is made of: numbers, and other factors.
struct Product {
  double scale = 1;
  std::vector<ValueId> factors;
  std::vector<NodeId> nodes;
};

/// min(max(x, low), high), NaN where x is.
struct Bounded {
  ValueId x;
  double low, high;
};

/// min(max(slope x + shift, 0), 1).
struct HardGate {
  double slope, shift;
};

/// One activation that an expression computes.
struct Found {
  std::string_view op_type;
  int opset;
  ValueId x;
  std::vector<Attribute> attributes;
};

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    // From the last one on: it takes all bounds before it.
    for (auto id = order.rbegin(); id != order.rend(); ++id) match_bounds(graph_.node(*id));
    for (NodeId id : order) {
      const Node& node = graph_.node(id);
      if (node.domain.empty() && node.opset >= kBroadcastOpset && !rewrite_.is_removed(id)) match(node);
    }
    return rewrite_.take();
  }

 private:
  void match(const Node& root) {
    if (root.op_type == "Max") match_leaky_relu(root);
    if (root.op_type == "Clip") match_hard_sigmoid(root, root, {});
    if (root.op_type == "Mul" || root.op_type == "Div") match_product(root);
    if (root.op_type == "Div" || root.op_type == "Reciprocal") match_logistic(root);
  }

  std::optional<Bounded> bounded(const Node& node) const {
    if (!node.domain.empty()) return std::nullopt;
    if (node.op_type == "Relu") return Bounded{node.inputs[0], 0, kInfinity};
    if (node.op_type == "Clip") {
      const auto clip = ops::FusedActivation::of(NodeView(graph_, node));
      if (!clip) return std::nullopt;
      if (clip->function == ops::FusedActivation::Function::relu) return Bounded{node.inputs[0], 0, kInfinity};
      return clip->alpha <= clip->beta ? std::optional(Bounded{node.inputs[0], clip->alpha, clip->beta}) : std::nullopt;
    }
    const bool is_max = node.op_type == "Max";
    if ((!is_max && node.op_type != "Min") || node.opset < kVariadicOpset || node.inputs.size() != 2) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const auto number = constant_number(graph_, node.inputs[i]);
      if (number && !std::isnan(*number)) return Bounded{node.inputs[1 - i], is_max ? *number : -kInfinity, is_max ? kInfinity : *number};
    }
    return std::nullopt;
  }

  /// Max or Min with a number, and several bounds in a row, as one Relu or Clip.
  void match_bounds(const Node& root) {
    auto found = bounded(root);
    const DType dtype = found ? tensor_type(graph_, found->x).dtype : DType::undefined;
    if ((dtype != DType::float32 && dtype != DType::float16) || rewrite_.is_removed(root.id)) return;
    std::vector<NodeId> nodes{root.id};
    for (const Node* inner; (inner = graph_.producer(found->x)) && has_one_use(graph_.value(found->x)); nodes.push_back(inner->id)) {
      const auto first = bounded(*inner);
      if (!first) break;
      found = Bounded{first->x, std::clamp(first->low, found->low, found->high), std::clamp(first->high, found->low, found->high)};
    }
    const bool is_one = nodes.size() == 1 && (root.op_type == "Relu" || root.op_type == "Clip");
    if (is_one) return;
    Expression e(graph_, found->x);
    e.nodes = nodes;
    if (found->low == 0 && found->high == kInfinity) {
      replace(root, e, {"Relu", 14, found->x, {}});
    } else {
      replace_by_clip(root, e, *found, dtype);
    }
  }

  void replace_by_clip(const Node& root, Expression& e, const Bounded& bounds, DType dtype) {
    if (!admit(root, e)) return;
    Node clip = made(root, {"Clip", 13, bounds.x, {}});
    clip.inputs.push_back(rewrite_.edit().add_constant("min", ops::clip_bound(dtype, bounds.low)));
    clip.inputs.push_back(rewrite_.edit().add_constant("max", ops::clip_bound(dtype, bounds.high)));
    rewrite_.replace_nodes(std::move(clip), root, e.nodes);
  }

  /// max(x, a x) for a between 0 and 1.
  bool match_leaky_relu(const Node& root) {
    if (root.opset < kVariadicOpset || root.inputs.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      Expression e(graph_, root.inputs[i]);
      const auto other = e.polynomial(root.inputs[1 - i]);
      if (!other || !((*other)[1] > 0 && (*other)[1] < 1) || !is_near(*other, {0, (*other)[1], 0, 0})) continue;
      return replace_with_alpha(root, e, {"LeakyRelu", 16, root.inputs[i], {}}, (*other)[1]);
    }
    return false;
  }

  void match_product(const Node& root) {
    Product product;
    collect_factors(root.outputs[0], product);
    const auto& factors = product.factors;
    if (factors.size() == 1 && !product.nodes.empty()) {
      const Node* gate = graph_.producer(factors[0]);
      if (gate && is_op(*gate, "Clip")) match_hard_sigmoid(root, *gate, product);
    }
    if (factors.size() != 2) return;
    for (size_t i = 0; i < 2; ++i) {
      const Node* gate = graph_.producer(factors[i]);
      if (gate && gate->domain.empty() && match_gate(root, *gate, factors[1 - i], product)) return;
    }
  }

  /// Factors and numbers of products of products.
  void collect_factors(ValueId value, Product& product) const {
    if (const auto number = constant_number(graph_, value)) {
      product.scale *= *number;
      return;
    }
    const Node* node = graph_.producer(value);
    const bool opens = node && node->domain.empty() && node->opset >= kBroadcastOpset && product.nodes.size() < kMaxProducts &&
                       (product.nodes.empty() || has_one_use(graph_.value(value)));
    const bool divides = opens && node->op_type == "Div";
    const double divisor = divides ? constant_number(graph_, node->inputs[1]).value_or(0) : 0;
    if (!opens || (divides ? divisor == 0 : node->op_type != "Mul")) return product.factors.push_back(value);
    product.nodes.push_back(node->id);
    collect_factors(node->inputs[0], product);
    if (divides) {
      product.scale /= divisor;
    } else {
      collect_factors(node->inputs[1], product);
    }
  }

  /// What stands behind sums and products with numbers that nothing else takes.
  ValueId behind_numbers(ValueId value) const {
    for (int depth = 0; depth < kMaxDepth && has_one_use(graph_.value(value)); ++depth) {
      const Node* node = graph_.producer(value);
      if (!node || !node->domain.empty() || node->opset < kBroadcastOpset) return value;
      const std::string_view op = node->op_type;
      if (op != "Add" && op != "Sub" && op != "Mul" && op != "Div" && op != "Neg") return value;
      if (op == "Neg" || constant_number(graph_, node->inputs[1])) {
        value = node->inputs[0];
      } else if (op != "Div" && constant_number(graph_, node->inputs[0])) {
        value = node->inputs[1];
      } else {
        return value;
      }
    }
    return value;
  }

  /// `scale` times a Clip from 0 on, of an expression of x.
  std::optional<HardGate> hard_gate(const Node& node, double scale, Expression& e) const {
    if (!is_op(node, "Clip")) return std::nullopt;
    const auto clip = ops::FusedActivation::of(NodeView(graph_, node));
    const bool fits = clip && clip->function == ops::FusedActivation::Function::clip && clip->alpha == 0;
    if (!fits || !is_near(scale * static_cast<double>(clip->beta), 1)) return std::nullopt;
    const auto inner = e.polynomial(node.inputs[0]);
    if (!inner || (*inner)[2] != 0 || (*inner)[3] != 0 || (*inner)[1] == 0) return std::nullopt;
    e.add(node);
    return HardGate{scale * (*inner)[1], scale * (*inner)[0]};
  }

  /// clip(a x + b, 0, c) / c.
  bool match_hard_sigmoid(const Node& root, const Node& gate, const Product& product) {
    const ValueId x = behind_numbers(gate.inputs[0]);
    const bool is_clip_alone = x == gate.inputs[0] && product.nodes.empty();
    if (is_clip_alone || tensor_type(graph_, x).dtype == DType::float64) return false;
    Expression e(graph_, x);
    e.nodes = product.nodes;
    const auto found = hard_gate(gate, product.scale, e);
    if (!found) return false;
    return replace(root, e,
                   {"HardSigmoid", 6, x, {{"alpha", static_cast<float>(found->slope)}, {"beta", static_cast<float>(found->shift)}}});
  }

  /// x times a function of x.
  bool match_gate(const Node& root, const Node& gate, ValueId x, const Product& product) {
    Expression e(graph_, x);
    e.nodes = product.nodes;
    if (const auto found = hard_gate(gate, product.scale, e))
      return is_near(found->slope, 1.0 / 6) && is_near(found->shift, 0.5) && replace(root, e, {"HardSwish", 14, x, {}});
    return (product.scale == 1 && match_whole_gate(root, gate, x, e)) || match_gelu(root, gate, x, product);
  }

  /// x times Sigmoid, HardSigmoid or Tanh(Softplus).
  bool match_whole_gate(const Node& root, const Node& gate, ValueId x, Expression& e) {
    if (is_op(gate, "Sigmoid")) {
      e.add(gate);
      const auto inner = e.polynomial(gate.inputs[0]);
      if (!inner || (*inner)[0] != 0 || (*inner)[2] != 0 || (*inner)[3] != 0 || !((*inner)[1] > 0)) return false;
      return replace_with_alpha(root, e, {"Swish", 24, x, {}}, (*inner)[1]);
    }
    if (is_op(gate, "HardSigmoid") && gate.inputs[0] == x) {
      e.add(gate);
      const auto op = ops::Activation::read(NodeView(graph_, gate));
      return is_near(static_cast<double>(op.alpha), 1.0 / 6) && op.beta == 0.5f && replace(root, e, {"HardSwish", 14, x, {}});
    }
    const Node* softplus = is_op(gate, "Tanh") ? graph_.producer(gate.inputs[0]) : nullptr;
    if (!softplus || !is_op(*softplus, "Softplus") || softplus->inputs[0] != x) return false;
    e.add(gate);
    e.add(*softplus);
    return replace(root, e, {"Mish", 18, x, {}});
  }

  /// The product of x, a and b + b erf(x / sqrt 2), or b + b tanh(sqrt(2 / pi) (x + 0.044715 x^3)), where a b is a half.
  bool match_gelu(const Node& root, const Node& gate, ValueId x, const Product& product) {
    const ValueId curved = behind_numbers(gate.outputs[0]);
    const Node* curve = graph_.producer(curved);
    if (!curve || (!is_op(*curve, "Erf") && !is_op(*curve, "Tanh"))) return false;
    Expression sum(graph_, curved), e(graph_, x);
    const auto outer = sum.polynomial(gate.outputs[0]);
    if (!outer || *outer != Polynomial{(*outer)[0], (*outer)[0], 0, 0} || product.scale * (*outer)[0] != 0.5) return false;
    const bool exact = curve->op_type == "Erf";
    const double slope = std::sqrt(exact ? 0.5 : 2 / 3.14159265358979323846);
    if (!e.is(curve->inputs[0], {0, slope, 0, exact ? 0 : 0.044715 * slope})) return false;
    e.add(*curve);
    e.nodes.insert(e.nodes.end(), sum.nodes.begin(), sum.nodes.end());
    e.nodes.insert(e.nodes.end(), product.nodes.begin(), product.nodes.end());
    return replace(root, e, {"Gelu", 20, x, {{"approximate", std::string(exact ? "none" : "tanh")}}});
  }

  /// 1 or x by 1 + exp(-x). Of floats alone: a half type's exp soon overflows.
  bool match_logistic(const Node& root) {
    const ValueId divisor = root.inputs.back();
    const ValueId raised = behind_numbers(divisor);
    const Node* exp = graph_.producer(raised);
    if (!exp || !is_op(*exp, "Exp") || tensor_type(graph_, raised).dtype != DType::float32) return false;
    const bool is_sigmoid = root.op_type == "Reciprocal" || constant_number(graph_, root.inputs[0]) == 1.0;
    const ValueId x = is_sigmoid ? behind_numbers(exp->inputs[0]) : root.inputs[0];
    Expression sum(graph_, raised), e(graph_, x);
    const auto inner = sum.polynomial(divisor) == Polynomial{1, 1, 0, 0} ? e.polynomial(exp->inputs[0]) : std::nullopt;
    if (!inner || !((*inner)[1] < 0) || !is_near(*inner, {0, (*inner)[1], 0, 0})) return false;
    e.add(*exp);
    e.nodes.insert(e.nodes.end(), sum.nodes.begin(), sum.nodes.end());
    if (is_sigmoid) return (*inner)[1] == -1 && replace(root, e, {"Sigmoid", 13, x, {}});
    return replace_with_alpha(root, e, {"Swish", 24, x, {}}, -(*inner)[1]);
  }

  /// Whether the expression may be replaced; its nodes are then those to replace, each once.
  bool admit(const Node& root, Expression& expression) {
    std::vector<NodeId>& nodes = expression.nodes;
    expression.add(root);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const auto is_removed = [&](NodeId id) { return rewrite_.is_removed(id); };
    return std::none_of(nodes.begin(), nodes.end(), is_removed) && expression.is_whole(root) && context_.admit();
  }

  Node made(const Node& root, Found found) const {
    Node single;
    single.name = root.name;
    single.op_type = found.op_type;
    single.opset = std::max(root.opset, found.opset);
    single.attributes = std::move(found.attributes);
    single.inputs = {rewrite_.current(found.x)};
    return single;
  }

  /// Attributes are floats, which doubles may need more digits than.
  bool replace_with_alpha(const Node& root, Expression& expression, Found found, double number) {
    const float alpha = static_cast<float>(number);
    if (tensor_type(graph_, found.x).dtype == DType::float64 && static_cast<double>(alpha) != number) return false;
    found.attributes = {{"alpha", alpha}};
    return replace(root, expression, std::move(found));
  }

  bool replace(const Node& root, Expression& expression, Found found) {
    if (!admit(root, expression)) return false;
    rewrite_.replace_nodes(made(root, std::move(found)), root, expression.nodes);
    return true;
  }
};

}  // namespace

Edit recognise_activations(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
