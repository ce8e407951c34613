#include "passes/precision/convert_floats.h"

#include <algorithm>
#include <map>

#include "graph/check.h"
#include "graph/edit.h"
#include "ops/inference.h"
#include "ops/schema.h"
#include "passes/precision/choose_types.h"
#include "passes/precision/half_type.h"
#include "passes/precision/known_names.h"

namespace rh::precision {

namespace {

constexpr int kCastOpset = 21;  // for graphs that import no operator of the standard

/// Carries a choice out.
class Converter {
 public:
  Converter(Graph& graph, const Scopes& scopes, const TypeChoice& choice, const FloatConversion& options, Report& report)
      : main_(graph), scopes_(scopes), choice_(choice), options_(options), half_(options.to), report_(report) {}

  void run() {
    convert(main_);
    give_types(main_);
    drop_unused(main_);
    remove_idle_nodes(main_);
    drop_unused(main_);
    for (const auto& [place, name] : half_constants_) {
      if (place.graph->find_value(name) == kNoValue) place.graph->rename(place.id, name);
    }
  }

 private:
  void convert(Graph& graph) {
    const std::vector<NodeId> order = graph.topological_order();
    for (NodeId id : order) {
      bool has_body = false;
      Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& body) {
        has_body = true;
        convert(body);
      });
      convert_node(graph, graph.node(id));
    }
    convert_outputs(graph);
    for (NodeId id : order) {
      bool has_body = false;
      Graph::for_each_subgraph(graph.node(id), [&](const Graph&) { has_body = true; });
      if (has_body) graph.refresh_implicit_inputs(id);
    }
  }

  void convert_node(Graph& graph, const Node& node) {
    const auto at = choice_.nodes.find(&node);
    if (at == choice_.nodes.end() && is_adaptable(node)) return;
    const NodeChoice* choice = at == choice_.nodes.end() ? nullptr : &at->second;
    if (choice) report(node, *choice);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue || !is_float(graph, id)) continue;
      const bool wants_half = choice && choice->converts() && choice->half_inputs[i];
      if (const ValueId given = as(graph, id, wants_half); given != id) graph.set_input(node.id, i, given);
    }
  }

  void report(const Node& node, const NodeChoice& choice) {
    if (choice.converts()) {
      report_.converted.push_back(node.display_name());
    } else {
      report_.kept.push_back({node.display_name(), node.op_text(), choice.reason});
    }
  }

  void convert_outputs(Graph& graph) {
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const ValueId id = graph.outputs()[i];
      if (!is_float(graph, id)) continue;
      const std::string& name = graph.value(id).name;
      const bool keeps =
          &graph != &main_ || options_.keep_outputs || std::ranges::find(options_.keep_values, name) != options_.keep_values.end();
      const ValueId given = as(graph, id, !keeps);
      if (given == id || (&graph == &main_ && !pass_output_name(graph, id, given))) continue;
      graph.set_output(i, given);
    }
  }

  /// Gives `to` the name of the output `from`; false where either has to keep its own.
  bool pass_output_name(Graph& graph, ValueId from, ValueId to) {
    if (const auto at = renamed_.find(to); at != renamed_.end()) return at->second == from;
    if (graph.value(from).is_input || graph.value(to).is_input || graph.value(to).is_output) return false;
    graph.pass_name(from, to);
    renamed_.emplace(to, from);
    return true;
  }

  bool is_half(Graph& graph, ValueId id) const { return choice_.half_values.contains(&scopes_.origin(graph, id).value()); }

  /// What has the float value's elements in the half type, or in float32.
  ValueId as(Graph& graph, ValueId id, bool wants_half) {
    if (is_half(graph, id) == wants_half) return id;
    if (const auto at = made_.find({&graph, id}); at != made_.end()) return at->second;
    const ValueId outer = graph.value(id).outer;
    ValueId result = kNoValue;
    if (outer != kNoValue) {
      Graph& parent = *scopes_.parent(graph);
      result = capture(graph, parent, as(parent, outer, wants_half));
    } else if (const Tensor* constant = wants_half ? scopes_.constant(graph, id) : nullptr) {
      result = graph.add_initializer(graph.value(id).name, to_half(*constant, half_));
      half_constants_.emplace_back(Origin{&graph, result}, graph.value(id).name);
      ++report_.constants;
    } else {
      result = given_by_source(graph, id, wants_half);
    }
    made_.emplace(std::pair(&graph, id), result);
    return result;
  }

  static ValueId capture(Graph& body, const Graph& parent, ValueId outer) {
    for (ValueId id = 0; id < body.value_count(); ++id) {
      if (body.value(id).outer == outer) return id;
    }
    const GraphValue& value = parent.value(outer);
    return body.add_outer(value.name, outer, value.type);
  }

  /// From the source of a Cast, or with the same size as a filling; else by a Cast of the value.
  ValueId given_by_source(Graph& graph, ValueId id, bool wants_half) {
    const Node* producer = graph.producer(id);
    const bool is_standard = producer && producer->domain.empty();
    if (wants_half && is_standard && producer->op_type == "ConstantOfShape") {
      if (const ValueId filling = half_filling(graph, *producer); filling != kNoValue) return filling;
    }
    if (wants_half && is_standard && producer->op_type == "Cast") {
      const ValueId source = producer->inputs[0];
      const ValueType& type = graph.value(source).type;
      if (type.is_tensor() && type.tensor().dtype == half_) return source;
      if (is_float(graph, source)) return as(graph, source, true);
      return cast(graph, source, graph.value(id), half_);
    }
    return cast(graph, id, graph.value(id), wants_half ? half_ : DType::float32);
  }

  ValueId half_filling(Graph& graph, const Node& filling) {
    const Attribute* value = filling.attribute("value");
    const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
    if (!tensor || !why_unfit(*tensor, half_, Needed::largest).empty()) return kNoValue;
    Node made;
    made.name = node_name(filling.display_name(), half_);
    made.op_type = filling.op_type;
    made.opset = filling.opset;
    made.inputs = filling.inputs;
    made.attributes = {{"value", to_half(*tensor, half_)}};
    return add(graph, std::move(made), graph.value(filling.outputs[0]), half_, &filling);
  }

  /// A Cast of `from`, for what stands for `value`.
  ValueId cast(Graph& graph, ValueId from, const GraphValue& value, DType to) {
    Node made;
    made.name = node_name(value.name, to);
    made.op_type = "Cast";
    made.inputs = {from};
    made.attributes = {{"to", static_cast<int64_t>(to)}};
    return add(graph, std::move(made), value, to, graph.producer(value.id));
  }

  static std::string node_name(const std::string& name, DType to) { return fmt::format("{}_as_{}", name, to_string(to)); }

  ValueId add(Graph& graph, Node made, const GraphValue& value, DType dtype, const Node* stands_for) {
    ValueType type = value.type;
    type.tensor().dtype = dtype;
    const std::string name = value.name;
    const auto provenance = stands_for ? stands_for->provenance : std::vector<std::shared_ptr<const OriginalNode>>{};
    const ValueId output = graph.add_value(name, std::move(type));
    made.outputs = {output};
    const NodeId id = graph.add_node(std::move(made));
    graph.add_provenance(id, provenance);
    ++report_.added_nodes;
    return output;
  }

  // --- once all nodes take what they want
  void give_types(Graph& graph) {
    for (ValueId id = 0; id < graph.value_count(); ++id) {
      if (graph.value(id).name.empty() || !is_float(graph, id) || !is_half(graph, id)) continue;
      if (!graph.value(id).initializer.empty() && graph.value(id).outer == kNoValue) {  // of an input that may be left out
        graph.set_initializer(id, to_half(graph.value(id).initializer.tensor(), half_));
        continue;
      }
      ValueType type = graph.value(id).type;
      type.tensor().dtype = half_;
      graph.set_type(id, std::move(type));
    }
    for (NodeId id : graph.nodes()) Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& body) { give_types(body); });
  }

  /// Casts to the type that a value has already, and what gives float32 that nothing takes any more.
  void remove_idle_nodes(Graph& graph) {
    std::vector<NodeId> order = graph.topological_order();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      Graph::for_each_subgraph(graph.mutable_node(*at), [&](Graph& body) { remove_idle_nodes(body); });
      const Node& node = graph.node(*at);
      if (!is_adaptable(node)) continue;
      if (node.op_type == "Cast") bypass(graph, node);
      if (is_idle(graph, node)) graph.remove_node(*at);
    }
  }

  void bypass(Graph& graph, const Node& cast) {
    const ValueId from = cast.inputs[0], to = cast.outputs[0];
    if (from == kNoValue || to == kNoValue) return;
    const ValueType &a = graph.value(from).type, &b = graph.value(to).type;
    const bool equal = a.is_tensor() && b.is_tensor() && a.tensor().dtype == half_ && b.tensor().dtype == half_;
    if (equal && !graph.value(to).is_output) graph.replace_uses(to, from);
  }

  static bool is_idle(const Graph& graph, const Node& node) {
    return std::ranges::all_of(
        node.outputs, [&](ValueId id) { return id == kNoValue || (graph.value(id).consumers.empty() && !graph.value(id).is_output); });
  }

  Graph& main_;
  const Scopes& scopes_;
  const TypeChoice& choice_;
  const FloatConversion& options_;
  const DType half_;
  Report& report_;
  std::map<std::pair<const Graph*, ValueId>, ValueId> made_;
  std::vector<std::pair<Origin, std::string>> half_constants_;  // and the names of those that they stand for
  std::unordered_map<ValueId, ValueId> renamed_;                // in the main graph: what has the name of an output, and which
};

void check_options(const Graph& graph, const FloatConversion& options) {
  if (options.to != DType::float16 && options.to != DType::bfloat16) {
    fail(ErrorCode::invalid_argument, "precision: the type is {}, expected float16 or bfloat16", to_string(options.to));
  }
  const KnownNames known(graph);
  known.check_nodes(options.keep_nodes);
  known.check_operators(options.keep_operators);
  known.check_operators(options.convert_operators);
  known.check_ends(options.keep_values);
}

void import_standard(Graph& graph, int opset) {
  graph.opset_imports.try_emplace("", opset);
  for (NodeId id : graph.nodes()) Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& body) { import_standard(body, opset); });
}

/// Casts have the opset that the graph imports.
void check_casts(Graph& graph, DType half) {
  import_standard(graph, kCastOpset);
  const int opset = graph.opset_imports.at("");
  const ops::OpSchema* cast = ops::find_schema("", "Cast", opset);
  const bool names_by_number = cast && cast->attribute("to")->kind == ops::AttributeKind::integer;
  if (names_by_number && cast->output(0)->allowed->allows_tensor(half)) return;
  fail(ErrorCode::invalid_argument,
       "precision: the Cast of opset {} does not give {}, expected opset {} or newer: convert the model to that first", opset,
       to_string(half), half == DType::bfloat16 ? 13 : 6);
}

}  // namespace

Report convert_floats(Graph& graph, const FloatConversion& options) {
  check_options(graph, options);
  check_casts(graph, options.to);
  const Scopes scopes(graph);
  Report report;
  const TypeChoice choice = choose_types(graph, scopes, options);
  Converter(graph, scopes, choice, options, report).run();
  infer_types(graph);
  check(graph);
  return report;
}

}  // namespace rh::precision
