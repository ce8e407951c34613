#include "passes/precision/choose_types.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/infer_node.h"
#include "ops/registry.h"
#include "ops/schema.h"
#include "passes/precision/half_type.h"
#include "passes/precision/known_names.h"
#include "passes/precision/operator_table.h"

namespace rh::precision {

namespace {

constexpr int64_t kLeastTable = 1024;  // elements of a constant whose gathered rows are a reason to convert
constexpr std::string_view kAlone = "no neighbour computes in the half type";

template <size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& names) {
  return node.domain.empty() && std::ranges::find(names, node.op_type) != names.end();
}

/// Whether the node gives elements of its first input as they are.
bool only_moves(const Node& node) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
  return is_one_of(node, kNames);
}

/// Whether results are small however large what the node takes is.
bool gives_small_values(const Node& node) {
  static constexpr auto kNames = std::to_array<std::string_view>({"Softmax", "LogSoftmax", "Sigmoid", "Tanh", "HardSigmoid", "Hardmax",
                                                                  "Softsign", "Sign", "Erf", "LayerNormalization", "InstanceNormalization",
                                                                  "GroupNormalization", "RMSNormalization", "LpNormalization"});
  return is_one_of(node, kNames);
}

/// Whether constants only bound what the node gives.
bool only_bounds(const Node& node) {
  static constexpr auto kNames = std::to_array<std::string_view>({"Clip", "Max", "Min"});
  return is_one_of(node, kNames);
}

/// Whether a result may be as large as what the node takes.
bool passes_magnitudes(const Node& node) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"Abs", "Add", "Concat", "Mean", "Mul", "Neg", "Pad", "Relu", "Sub", "Sum", "Where"});
  return only_moves(node) || is_one_of(node, kNames);
}

/// Whether results are far larger than what the node takes.
bool grows(const Node& node) {
  static constexpr auto kNames = std::to_array<std::string_view>({"Cosh", "Exp", "Pow", "Sinh"});
  return is_one_of(node, kNames);
}

bool is_square(const Node& node) { return node.domain.empty() && node.op_type == "Mul" && node.inputs[0] == node.inputs[1]; }

bool holds_floats(const ValueType& type) {
  if (type.kind() == ValueType::Kind::sequence || type.kind() == ValueType::Kind::optional) return holds_floats(type.element());
  return (type.is_tensor() || type.kind() == ValueType::Kind::sparse_tensor) && type.tensor().dtype == DType::float32;
}

bool names(const std::vector<std::string>& list, const std::string& name) { return std::ranges::find(list, name) != list.end(); }

class Chooser {
 public:
  Chooser(Graph& graph, const Scopes& scopes, const FloatConversion& options)
      : main_(graph), scopes_(scopes), options_(options), half_(options.to) {}

  TypeChoice run() {
    for (ValueId id : main_.inputs()) {
      const GraphValue& input = main_.value(id);
      if (!options_.keep_inputs && is_float(main_, id) && !names(options_.keep_values, input.name)) choice_.half_values.insert(&input);
    }
    visit(main_);
    for (auto at = visited_.rbegin(); at != visited_.rend(); ++at) convert_source(*at->first, *at->second);
    return std::move(choice_);
  }

 private:
  // --- in the order of the graph
  void visit(Graph& graph) {
    for (NodeId id : graph.topological_order()) {
      Node& node = graph.mutable_node(id);
      bool has_body = false;
      Graph::for_each_subgraph(node, [&](Graph& body) {
        has_body = true;
        visit(body);
      });
      const Attribute* filling = node.op_type == "ConstantOfShape" ? node.attribute("value") : nullptr;
      if (filling && is_beyond_range(filling->get<Tensor>())) mark(graph, node, large_);
      if (has_body || is_adaptable(node) || !touches_floats(graph, node)) continue;
      visited_.emplace_back(&graph, &node);
      choose(graph, node);
    }
  }

  static bool touches_floats(const Graph& graph, const Node& node) {
    const auto holds = [&](ValueId id) { return id != kNoValue && holds_floats(graph.value(id).type); };
    return std::ranges::any_of(node.inputs, holds) || std::ranges::any_of(node.outputs, holds);
  }

  void choose(Graph& graph, const Node& node) {
    NodeChoice choice;
    choice.reason = why_kept(graph, node, choice);
    if (!choice.converts() && makes_large(graph, node)) mark(graph, node, large_);
    if (!choice.converts() && half_ == DType::float16 && makes_risky(graph, node)) mark(graph, node, risky_);
    if (is_source(graph, node)) sources_.insert(&node);
    if (choice.converts() && !gains(graph, node) && !takes_half(graph, node)) choice.reason = kAlone;
    if (choice.converts()) mark_half(graph, node, choice);
    choice_.nodes.emplace(&node, std::move(choice));
  }

  void mark_half(const Graph& graph, const Node& node, const NodeChoice& choice) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (choice.half_outputs[i]) choice_.half_values.insert(&graph.value(node.outputs[i]));
    }
  }

  bool is_half(Graph& graph, ValueId id) const {
    return id != kNoValue && choice_.half_values.contains(&scopes_.origin(graph, id).value());
  }

  bool takes_half(Graph& graph, const Node& node) const {
    return std::ranges::any_of(node.inputs, [&](ValueId id) { return is_half(graph, id); });
  }

  bool gains(Graph& graph, const Node& node) const {
    if (operator_row(node).role == Role::gains) return true;
    const bool gathers = node.domain.empty() && node.op_type.starts_with("Gather");
    const Tensor* table = gathers ? scopes_.constant(graph, node.inputs[0]) : nullptr;
    return table && table->elements() >= kLeastTable;
  }

  // --- what is computed from constants alone
  bool is_source(Graph& graph, const Node& node) const {
    return std::ranges::all_of(node.inputs, [&](ValueId id) {
      if (id == kNoValue || scopes_.constant(graph, id)) return true;
      const Node* producer = scopes_.origin(graph, id).producer();
      return producer && (sources_.contains(producer) || producer->op_type == "ConstantOfShape");
    });
  }

  /// What is computed from constants alone converts where all that takes it wants the half type.
  void convert_source(Graph& graph, const Node& node) {
    NodeChoice& choice = choice_.nodes.at(&node);
    if (choice.reason != kAlone || !sources_.contains(&node)) return;
    for (ValueId id : node.outputs) {
      if (id == kNoValue || !is_float(graph, id)) continue;
      const GraphValue& value = graph.value(id);
      if (value.is_output || value.consumers.empty() ||
          !std::ranges::all_of(value.consumers, [&](NodeId user) { return wants_half(graph.node(user), id); })) {
        return;
      }
    }
    choice.reason.clear();
    mark_half(graph, node, choice);
  }

  bool wants_half(const Node& user, ValueId id) const {
    const auto at = choice_.nodes.find(&user);
    if (at == choice_.nodes.end() || !at->second.converts()) return false;
    for (size_t i = 0; i < user.inputs.size(); ++i) {
      if (user.inputs[i] == id && !at->second.half_inputs[i]) return false;
    }
    return true;
  }

  // --- why a node stays
  std::string why_kept(Graph& graph, const Node& node, NodeChoice& choice) {
    if (std::string why = why_asked(graph, node); !why.empty()) return why;
    if (std::string why = why_typed(graph, node, choice); !why.empty()) return why;
    if (!names(options_.convert_operators, operator_name(node))) {
      if (const std::string_view why = why_lossy(NodeView(graph, node), half_); !why.empty()) return std::string(why);
      if (half_ == DType::float16 && is_square(node)) return "a square overflows from 256 on";
    }
    using Rule = std::string (Chooser::*)(Graph&, const Node&, const NodeChoice&) const;
    static constexpr Rule kRules[] = {&Chooser::why_constant, &Chooser::why_large, &Chooser::why_quantised, &Chooser::why_integers,
                                      &Chooser::why_seen};
    for (Rule rule : kRules) {
      if (std::string why = (this->*rule)(graph, node, choice); !why.empty()) return why;
    }
    return {};
  }

  std::string why_asked(const Graph& graph, const Node& node) const {
    if (names(options_.keep_nodes, node.name)) return "the options keep this node";
    if (names(options_.keep_operators, operator_name(node))) return "the options keep this operator";
    if (options_.in_region && !options_.in_region(graph, node)) return "the node is outside the region";
    return {};
  }

  /// By the schema of the node's opset; fills in which inputs and outputs change their type.
  std::string why_typed(const Graph& graph, const Node& node, NodeChoice& choice) const {
    choice.half_inputs.assign(node.inputs.size(), false);
    choice.half_outputs.assign(node.outputs.size(), false);
    const ops::OpSchema* schema = ops::find_schema(node.domain, node.op_type, node.opset);
    if (!schema || !find_op(node.domain, node.op_type)) return "no schema of the operator is known";
    std::vector<ValueType> types(node.inputs.size());
    bool any = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const ValueType& type = graph.value(node.inputs[i]).type;
      types[i] = type;
      const ops::Port* port = schema->input(static_cast<int>(i));
      if (!holds_floats(type) || !port) continue;
      if (!type.is_tensor()) return "takes a " + type.to_string() + ", which stays float32";
      if (!port->allowed->allows_tensor(half_) || !why_held(node, static_cast<int>(i)).empty()) continue;
      choice.half_inputs[i] = any = true;
      types[i].tensor().dtype = half_;
    }
    if (!any) return fmt::format("its schema of opset {} has no {} here", node.opset, to_string(half_));
    if (std::string why = why_mixed(graph, node, *schema, choice); !why.empty()) return why;
    return type_outputs(graph, node, types, choice);
  }

  /// Inputs of one type parameter change together.
  static std::string why_mixed(const Graph& graph, const Node& node, const ops::OpSchema& schema, const NodeChoice& choice) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      for (size_t k = 0; k < node.inputs.size(); ++k) {
        if (!choice.half_inputs[i] || choice.half_inputs[k] || node.inputs[k] == kNoValue || !is_float(graph, node.inputs[k])) continue;
        const std::string_view held = why_held(node, static_cast<int>(k));
        if (schema.input(static_cast<int>(i))->type == schema.input(static_cast<int>(k))->type && !held.empty()) {
          return fmt::format("input {} {}, and has the type of the others", k, held);
        }
      }
    }
    return {};
  }

  std::string type_outputs(const Graph& graph, const Node& node, const std::vector<ValueType>& types, NodeChoice& choice) const {
    std::vector<ValueType> outputs;
    try {
      outputs = infer_node(graph, node, types);
    } catch (const Error& error) {
      return "type inference refuses it in the half type: " + error.message();
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || !holds_floats(graph.value(node.outputs[i]).type)) continue;
      if (!outputs[i].is_tensor()) return "gives no tensor";
      if (outputs[i].tensor().dtype == half_) choice.half_outputs[i] = true;
      if (outputs[i].tensor().dtype == DType::undefined) return "the type of its results is not known";
    }
    return {};
  }

  std::string why_constant(Graph& graph, const Node& node, const NodeChoice& choice) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor* constant = choice.half_inputs[i] ? scopes_.constant(graph, node.inputs[i]) : nullptr;
      if (!constant) continue;
      if (std::string why = why_unfit(*constant, half_, needed_elements(node, static_cast<int>(i), *constant)); !why.empty()) return why;
    }
    return {};
  }

  std::string why_large(Graph& graph, const Node& node, const NodeChoice&) const {
    if (takes_one_of(graph, node, large_))
      return fmt::format("takes a value that a constant beyond the range of {} made", to_string(half_));
    if ((passes_magnitudes(node) || gives_small_values(node)) && takes_one_of(graph, node, risky_)) {
      return fmt::format("takes a value that may be beyond the range of {}", to_string(half_));
    }
    return {};
  }

  /// Whether a result may be beyond the type's range because of a constant that is.
  bool makes_large(Graph& graph, const Node& node) const {
    if (gives_small_values(node)) return false;
    if (takes_one_of(graph, node, large_)) return true;
    return !only_bounds(node) && std::ranges::any_of(node.inputs, [&](ValueId id) { return is_beyond_range(scopes_.constant(graph, id)); });
  }

  bool is_beyond_range(const Tensor* constant) const {
    if (!constant || constant->dtype() != DType::float32) return false;
    const double most = half_range(half_).most;
    return std::ranges::any_of(constant->span<float>(), [&](float x) { return std::fabs(x) > most && std::isfinite(x); });
  }

  /// Whether a result may be beyond the type's range because an operator made it grow. Until such a value is summed, divided or bounded.
  bool makes_risky(Graph& graph, const Node& node) const {
    return grows(node) || is_square(node) || (passes_magnitudes(node) && takes_one_of(graph, node, risky_));
  }

  bool takes_one_of(Graph& graph, const Node& node, const std::unordered_set<const GraphValue*>& values) const {
    return std::ranges::any_of(node.inputs,
                               [&](ValueId id) { return id != kNoValue && values.contains(&scopes_.origin(graph, id).value()); });
  }

  static void mark(const Graph& graph, const Node& node, std::unordered_set<const GraphValue*>& values) {
    for (ValueId id : node.outputs) {
      if (id != kNoValue) values.insert(&graph.value(id));
    }
  }

  /// What quantised operators are made of is left whole.
  std::string why_quantised(Graph& graph, const Node& node, const NodeChoice&) const {
    if (node.op_type == "DequantizeLinear") return {};
    for (ValueId id : node.inputs) {
      const Node* producer = id == kNoValue ? nullptr : scopes_.origin(graph, id).producer();
      if (!producer || producer->op_type != "DequantizeLinear") continue;
      const Origin from = scopes_.origin(graph, id);
      if (!scopes_.constant(*from.graph, producer->inputs[0])) return "takes a quantised value";
      const ops::OpSchema* schema = ops::find_schema(producer->domain, producer->op_type, producer->opset);
      if (schema && !schema->input(1)->allowed->allows_tensor(half_))
        return "takes quantised weights, which DequantizeLinear gives in float32";
    }
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const std::vector<NodeId>& users = graph.value(id).consumers;
      if (!users.empty() && std::ranges::all_of(users, [&](NodeId user) { return graph.node(user).op_type == "QuantizeLinear"; }))
        return "gives a quantised value";
    }
    return {};
  }

  /// Products of positions and the like: half types tell few whole numbers apart.
  std::string why_integers(Graph& graph, const Node& node, const NodeChoice& choice) const {
    if (operator_row(node).role != Role::gains) return {};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (choice.half_inputs[i] && holds_integers(graph, node.inputs[i])) return fmt::format("input {} holds integers", i);
    }
    return {};
  }

  bool holds_integers(Graph& graph, ValueId id) const {
    Origin at = scopes_.origin(graph, id);
    while (const Node* producer = at.producer()) {
      if (producer->op_type == "Range" && producer->domain.empty()) return true;
      if (producer->op_type == "Cast" && producer->domain.empty()) {
        const ValueType& from = at.graph->value(producer->inputs[0]).type;
        return from.is_tensor() && bits_of(from.tensor().dtype) > 8 && is_integer(from.tensor().dtype);
      }
      if (!only_moves(*producer)) return false;
      at = scopes_.origin(*at.graph, producer->inputs[0]);
    }
    return false;
  }

  /// Values that were seen beyond the type's range.
  std::string why_seen(Graph& graph, const Node& node, const NodeChoice&) const {
    if (!options_.ranges) return {};
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (ValueId id : *list) {
        if (id == kNoValue || !is_float(graph, id)) continue;
        const auto at = options_.ranges->find(graph.value(id).name);
        if (at == options_.ranges->end() || at->second.magnitude() <= half_range(half_).most) continue;
        return fmt::format("'{}' was seen with {:.4g}, beyond the {:.5g} of {}", at->first, at->second.magnitude(), half_range(half_).most,
                           to_string(half_));
      }
    }
    return {};
  }

  Graph& main_;
  const Scopes& scopes_;
  const FloatConversion& options_;
  const DType half_;
  TypeChoice choice_;
  std::vector<std::pair<Graph*, const Node*>> visited_;
  std::unordered_set<const GraphValue*> large_;  // a constant beyond the type's range made them
  std::unordered_set<const GraphValue*> risky_;  // an operator made them grow
  std::unordered_set<const Node*> sources_;      // compute from constants alone
};

}  // namespace

bool is_float(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  return type.is_tensor() && type.tensor().dtype == DType::float32;
}

bool is_adaptable(const Node& node) {
  static constexpr auto kNames = std::to_array<std::string_view>({"Cast", "Constant", "ConstantOfShape"});
  return is_one_of(node, kNames) || operator_row(node).role == Role::reads_none;
}

TypeChoice choose_types(Graph& graph, const Scopes& scopes, const FloatConversion& options) {
  return Chooser(graph, scopes, options).run();
}

}  // namespace rh::precision
