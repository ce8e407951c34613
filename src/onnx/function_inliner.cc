#include <algorithm>

#include "onnx/graph_reader.h"

namespace rh::onnx {

namespace {

std::string function_text(const FunctionFields& function) {
  std::string text =
      function.domain.empty() ? std::string(function.name) : std::string(function.domain) + "::" + std::string(function.name);
  return function.overload.empty() ? text : text + " (overload " + std::string(function.overload) + ")";
}

void check_not_recursive(const FunctionFields& function, const Scope& caller) {
  for (const FunctionCall* call = caller.call; call; call = call->caller.call) {
    if (&call->function == &function)
      fail(ErrorCode::invalid_graph, "model-local function '{}' calls itself, expected no recursion", function_text(function));
  }
}

void check_counts(const FunctionFields& function, const NodeFields& fields) {
  if (fields.inputs.size() > function.inputs.size() || fields.outputs.size() > function.outputs.size()) {
    fail(ErrorCode::invalid_graph, "the call of model-local function '{}' has {} inputs and {} outputs, expected at most {} and {}",
         function_text(function), fields.inputs.size(), fields.outputs.size(), function.inputs.size(), function.outputs.size());
  }
}

}  // namespace

void GraphReader::inline_call(const FunctionFields& function, const NodeFields& fields, Provenance provenance, Scope& caller,
                              int32_t index) {
  check_not_recursive(function, caller);
  check_counts(function, fields);
  if (caller.depth >= limits_.depth)
    fail(ErrorCode::invalid_graph, "subgraphs and function calls are nested more than {} deep", limits_.depth);
  Graph& graph = caller.graph;
  for (const auto& [domain, version] : function.imports) graph.opset_imports.emplace(std::string(domain), version);

  const FunctionCall call{function, fields, caller};
  const std::string call_name = fields.name.empty() ? std::string(fields.op_type) + "_" + std::to_string(index) : std::string(fields.name);
  Scope scope{.graph = graph,
              .imports = function.imports,
              .call = &call,
              .prefix = caller.prefix + call_name + "/",
              .callers = std::move(provenance),
              .depth = caller.depth + 1};
  const std::vector<ValueId> inputs = lookup_all(fields.inputs, "input", caller);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    if (!scope.names.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : kNoValue).second) {
      fail(ErrorCode::invalid_graph, "model-local function '{}' has two inputs named '{}'", function_text(function), function.inputs[i]);
    }
  }
  const std::vector<ValueId> outputs = lookup_all(fields.outputs, "output", caller);
  std::vector<std::pair<ValueId, ValueId>> passed_through;
  bind_outputs(function, outputs, scope, passed_through);
  declare_outputs(function.nodes, scope, {});
  int32_t body_index = 0;
  for (const NodeFields& node : function.nodes) read_node(node, body_index++, scope);

  for (const auto& [from, to] : passed_through) {
    if (from == kNoValue)
      fail(ErrorCode::invalid_graph, "model-local function '{}' gives out an input that its call leaves out", function_text(function));
    Node identity;
    identity.name = scope.prefix + "pass_through";
    identity.op_type = "Identity";
    identity.opset = imported_version(function.imports, "");
    identity.inputs = {from};
    identity.outputs = {to};
    identity.provenance = scope.callers;
    graph.add_node(std::move(identity));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != kNoValue && graph.value(outputs[i]).producer == kNoNode) {
      fail(ErrorCode::invalid_graph, "output '{}' of model-local function '{}' is given by no node of its body", function.outputs[i],
           function_text(function));
    }
  }
}

void GraphReader::bind_outputs(const FunctionFields& function, const std::vector<ValueId>& actual, Scope& scope,
                               std::vector<std::pair<ValueId, ValueId>>& passed_through) {
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == kNoValue) continue;
    const auto [formal, is_new] = scope.names.emplace(function.outputs[i], actual[i]);
    if (!is_new) passed_through.emplace_back(formal->second, actual[i]);
  }
}

std::optional<Attribute> GraphReader::read_reference(std::string_view name, std::string_view referred, Scope& scope) {
  const FunctionCall& call = *scope.call;
  const auto find = [&](const std::vector<NamedMessage>& list) {
    return std::find_if(list.begin(), list.end(), [&](const NamedMessage& attribute) { return attribute.name == referred; });
  };
  std::optional<Attribute> attribute;
  const auto given = find(call.node.attributes);
  const auto fallback = find(call.function.defaults);
  if (given != call.node.attributes.end()) {
    std::deque<Scope> bridges;
    attribute = read_attribute(given->message, bridge(scope, call, bridges));
  } else if (fallback != call.function.defaults.end()) {
    attribute = read_attribute(fallback->message, scope);
  } else if (std::find(call.function.attributes.begin(), call.function.attributes.end(), referred) == call.function.attributes.end()) {
    fail(ErrorCode::invalid_graph, "attribute '{}' refers to '{}', which model-local function '{}' does not have", name, referred,
         function_text(call.function));
  }
  if (attribute) attribute->name = name;
  return attribute;
}

/// The scope in which an attribute of the call is read when a graph at `holder`, perhaps a subgraph of the function's body, refers to it:
/// the names are the caller's, carried through the graphs between.
Scope& GraphReader::bridge(Scope& holder, const FunctionCall& call, std::deque<Scope>& storage) {
  if (!holder.outer) return call.caller;
  Scope& outer = bridge(*holder.outer, call, storage);
  storage.push_back(Scope{.graph = holder.graph,
                          .imports = call.caller.imports,
                          .outer = &outer,
                          .call = call.caller.call,
                          .prefix = holder.prefix,
                          .callers = holder.callers,
                          .depth = holder.depth});
  return storage.back();
}

}  // namespace rh::onnx
