#include <algorithm>
#include <array>
#include <cmath>

#include "ops/activation/activation.h"
#include "ops/activation/fused_activation.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBroadcastOpset = 7;  // of ai.onnx, from which on arithmetic broadcasts as numpy does
constexpr int kMaxDepth = 8;        // of an expression of x

// As near as numbers are that were written with few digits, or rounded to a half type.
bool is_near(double a, double b) { return std::fabs(a - b) <= 1e-3 * std::fabs(b); }

/// c[0] + c[1] x + c[2] x^2 + c[3] x^3.
using Polynomial = std::array<double, 4>;

bool is_near(const Polynomial& a, const Polynomial& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (b[i] == 0 ? a[i] != 0 : !is_near(a[i], b[i])) return false;
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
    if (!node || !node->domain.empty() || node->opset < kBroadcastOpset || node->inputs.size() != 2) return std::nullopt;
    const auto a = polynomial(node->inputs[0], depth + 1);
    const auto b = a ? polynomial(node->inputs[1], depth + 1) : std::nullopt;
    if (!b) return std::nullopt;
    add(*node);
    return combined(node->op_type, *a, *b);
  }

  bool is(ValueId value, const Polynomial& expected) {
    const auto found = polynomial(value);
    return found && is_near(*found, expected);
  }

  /// Whether the nodes can be replaced by one that gives what `root` does, which is of x's type.
  bool is_whole(const Node& root) const { return is_closed(graph_, nodes, root) && have_same_type(graph_, x_, root.outputs[0]); }

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

/// One activation that an expression computes.
struct Found {
  std::string_view op_type;
  int opset;
  ValueId x;
  std::vector<Attribute> attributes;
};

class Matcher {
 public:
  Matcher(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!node.domain.empty() || node.opset < kBroadcastOpset || node.inputs.size() != 2) continue;
      if (node.op_type == "Mul" || node.op_type == "Div") match(node);
    }
    return rewrite_.take();
  }

 private:
  void match(const Node& root) {
    if (!match_clip(root)) match_factors(root);
  }

  /// clip(x + 3, 0, 6) / 6 or x clip(x + 3, 0, 6) / 6, the division last.
  bool match_clip(const Node& root) {
    const ValueId divided = sixth_of(root);
    const Node* inner = graph_.producer(divided);
    if (!inner) return false;
    if (const auto x = hard_gate(*inner)) {
      Expression e(graph_, *x);
      e.add(*inner);
      e.add(*graph_.producer(inner->inputs[0]));
      return replace(root, e, {"HardSigmoid", 6, *x, {{"alpha", 1.0f / 6}, {"beta", 0.5f}}});
    }
    if (!is_op(*inner, "Mul") || inner->opset < kBroadcastOpset) return false;
    for (size_t i = 0; i < 2; ++i) {
      const Node* gate = graph_.producer(inner->inputs[i]);
      const auto x = gate ? hard_gate(*gate) : std::nullopt;
      if (!x || *x != inner->inputs[1 - i]) continue;
      Expression e(graph_, *x);
      e.add(*inner);
      e.add(*gate);
      e.add(*graph_.producer(gate->inputs[0]));
      return replace(root, e, {"HardSwish", 14, *x, {}});
    }
    return false;
  }

  /// What the node divides by 6.
  ValueId sixth_of(const Node& node) const {
    for (size_t i = 0; i < 2; ++i) {
      const auto number = constant_number(graph_, node.inputs[i]);
      if (number && (node.op_type == "Mul" ? is_near(*number, 1.0 / 6) : i == 1 && *number == 6)) return node.inputs[1 - i];
    }
    return kNoValue;
  }

  /// x of clip(x + 3, 0, 6).
  std::optional<ValueId> hard_gate(const Node& node) const {
    if (!is_op(node, "Clip")) return std::nullopt;
    const auto clip = ops::FusedActivation::of(NodeView(graph_, node));
    const Node* sum = graph_.producer(node.inputs[0]);
    if (!clip || clip->alpha != 0 || clip->beta != 6 || !sum || !is_op(*sum, "Add") || sum->opset < kBroadcastOpset) return std::nullopt;
    for (size_t i = 0; i < 2; ++i)
      if (constant_number(graph_, sum->inputs[i]) == 3.0) return sum->inputs[1 - i];
    return std::nullopt;
  }

  /// x times a function of x, and perhaps a half.
  bool match_factors(const Node& root) {
    if (root.op_type != "Mul") return false;
    for (size_t i = 0; i < 2; ++i) {
      const Node* gate = graph_.producer(root.inputs[i]);
      if (!gate || !gate->domain.empty()) continue;
      const ValueId x = root.inputs[1 - i];
      if (match_gate(root, *gate, x) || match_gelu(root)) return true;
    }
    return false;
  }

  /// x times Sigmoid, HardSigmoid or Tanh(Softplus).
  bool match_gate(const Node& root, const Node& gate, ValueId x) {
    Expression e(graph_, x);
    e.add(gate);
    if (gate.op_type == "Sigmoid") {
      const auto inner = e.polynomial(gate.inputs[0]);
      if (!inner || (*inner)[0] != 0 || (*inner)[2] != 0 || (*inner)[3] != 0 || !((*inner)[1] > 0)) return false;
      return replace(root, e, {"Swish", 24, x, {{"alpha", static_cast<float>((*inner)[1])}}});
    }
    if (gate.op_type == "HardSigmoid" && gate.inputs[0] == x) {
      const auto op = ops::Activation::read(NodeView(graph_, gate));
      return is_near(static_cast<double>(op.alpha), 1.0 / 6) && op.beta == 0.5f && replace(root, e, {"HardSwish", 14, x, {}});
    }
    const Node* softplus = gate.op_type == "Tanh" ? graph_.producer(gate.inputs[0]) : nullptr;
    if (!softplus || !is_op(*softplus, "Softplus") || softplus->inputs[0] != x) return false;
    e.add(*softplus);
    return replace(root, e, {"Mish", 18, x, {}});
  }

  /// The product of x, 0.5 and 1 + erf(x / sqrt 2), or 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)), in any order.
  bool match_gelu(const Node& root) {
    std::vector<ValueId> factors;
    std::vector<NodeId> products;
    collect_factors(root.outputs[0], factors, products);
    const Node* sum = nullptr;
    ValueId x = kNoValue;
    bool halved = false;
    for (ValueId factor : factors) {
      const Node* node = graph_.producer(factor);
      if (constant_number(graph_, factor) == 0.5) {
        halved = true;
      } else if (!sum && node && curve_of(*node)) {
        sum = node;
      } else {
        x = factor;
      }
    }
    if (factors.size() != 3 || !halved || !sum || x == kNoValue) return false;
    const Node& curve = *curve_of(*sum);
    Expression e(graph_, x);
    e.nodes = products;
    e.add(*sum);
    e.add(curve);
    const bool exact = curve.op_type == "Erf";
    const double slope = std::sqrt(exact ? 0.5 : 2 / 3.14159265358979323846);
    if (!e.is(curve.inputs[0], {0, slope, 0, exact ? 0 : 0.044715 * slope})) return false;
    return replace(root, e, {"Gelu", 20, x, {{"approximate", std::string(exact ? "none" : "tanh")}}});
  }

  /// Erf or Tanh, of 1 + that.
  const Node* curve_of(const Node& sum) const {
    if (!is_op(sum, "Add") || sum.opset < kBroadcastOpset) return nullptr;
    for (size_t i = 0; i < 2; ++i) {
      const Node* curve = graph_.producer(sum.inputs[i]);
      if (curve && (is_op(*curve, "Erf") || is_op(*curve, "Tanh")) && constant_number(graph_, sum.inputs[1 - i]) == 1.0) return curve;
    }
    return nullptr;
  }

  /// Factors of products of products, no more than Gelu has.
  void collect_factors(ValueId value, std::vector<ValueId>& factors, std::vector<NodeId>& products) const {
    const Node* node = graph_.producer(value);
    const bool opens = node && is_op(*node, "Mul") && node->opset >= kBroadcastOpset && products.size() < 2 &&
                       (products.empty() || has_one_use(graph_.value(value)));
    if (!opens) return factors.push_back(value);
    products.push_back(node->id);
    for (ValueId input : node->inputs) collect_factors(input, factors, products);
  }

  bool replace(const Node& root, Expression& expression, Found found) {
    std::vector<NodeId>& nodes = expression.nodes;
    if (std::find(nodes.begin(), nodes.end(), root.id) == nodes.end()) expression.add(root);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const auto is_removed = [&](NodeId id) { return rewrite_.is_removed(id); };
    if (std::any_of(nodes.begin(), nodes.end(), is_removed) || !expression.is_whole(root) || !context_.admit()) return false;
    Node single;
    single.name = root.name;
    single.op_type = found.op_type;
    single.opset = std::max(root.opset, found.opset);
    single.attributes = std::move(found.attributes);
    single.inputs = {rewrite_.current(found.x)};
    rewrite_.replace_nodes(std::move(single), root, nodes);
    return true;
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

/// Activations that are written out become one operator: HardSigmoid, HardSwish, Swish (SiLU, QuickGelu), Gelu in both forms, Mish.
Edit activation_forms(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
