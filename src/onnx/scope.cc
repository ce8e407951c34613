#include "onnx/scope.h"

#include <algorithm>

#include "base/known_words.h"
#include "ops/schema.h"

namespace rh::onnx {

Scope subgraph_scope(Graph& graph, Scope& outer) {
  for (const auto& [domain, version] : outer.imports) graph.opset_imports[std::string(domain)] = version;
  return {.graph = graph,
          .imports = outer.imports,
          .outer = &outer,
          .call = outer.call,
          .prefix = outer.prefix,
          .callers = outer.callers,
          .depth = outer.depth + 1};
}

ValueId add_initializer(std::string_view name, Value value, Scope& scope) {
  if (const auto known = scope.names.find(name); known != scope.names.end()) {  // the last one counts, as in other fields of a message
    scope.graph.set_initializer(known->second, std::move(value));
    return known->second;
  }
  const ValueId id = scope.graph.add_initializer(scope.prefix + std::string(name), std::move(value));
  scope.names.emplace(name, id);
  return id;
}

void add_input(std::string_view name, ValueType type, int64_t ir_version, Scope& scope) {
  constexpr int64_t kFirstOverridable = 4;
  if (name.empty()) fail(ErrorCode::invalid_graph, "an input of graph '{}' has no name", scope.graph.name);
  const auto known = scope.names.find(name);
  if (known == scope.names.end()) {
    scope.names.emplace(name, scope.graph.add_input(scope.prefix + std::string(name), std::move(type)));
    return;
  }
  const ValueId id = known->second;
  if (scope.graph.value(id).is_input)
    fail(ErrorCode::fail, "{} definition-site for ({}): input '{}' is given more than once", words::kTwice, name, name);
  if (ir_version < kFirstOverridable) return;
  merge(type, scope.graph.value(id).type, fmt::format("input '{}', which has an initializer,", name));
  if (!type.is_unknown() && type.tensor().has_rank()) scope.graph.set_type(id, std::move(type));
  scope.graph.make_input(id);
}

std::optional<ValueId> lookup(std::string_view name, Scope& scope) {
  if (const auto at = scope.names.find(name); at != scope.names.end()) return at->second;
  if (!scope.outer) return std::nullopt;
  const auto found = lookup(name, *scope.outer);
  if (!found) return std::nullopt;
  ValueId id = *found;
  if (id != kNoValue) {
    const GraphValue& value = scope.outer->graph.value(id);
    id = scope.graph.add_outer(value.name, id, value.type);
  }
  scope.names.emplace(name, id);
  return id;
}

std::vector<ValueId> lookup_all(const std::vector<std::string_view>& names, const char* what, Scope& scope) {
  std::vector<ValueId> ids;
  ids.reserve(names.size());
  for (std::string_view name : names) {
    if (name.empty()) {
      ids.push_back(kNoValue);
      continue;
    }
    const auto id = lookup(name, scope);
    if (!id) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} {} is '{}', which nothing gives: expected the name of an input, an initializer or a node's output", what,
                              ids.size(), name),
                  tensor_where(name));
    }
    ids.push_back(*id);
  }
  return ids;
}

void add_output(std::string_view name, Scope& scope) {
  const auto id = name.empty() ? std::nullopt : lookup(name, scope);
  if (!id || *id == kNoValue) {
    throw Error(ErrorCode::fail,
                fmt::format("output '{}' of graph '{}' is given by nothing, expected an input, an initializer or a node's output", name,
                            scope.graph.name),
                tensor_where(name));
  }
  scope.graph.add_output(*id);
}

void check_names(const std::vector<Attribute>& attributes) {
  std::vector<std::string_view> names;
  names.reserve(attributes.size());
  for (const Attribute& attribute : attributes) names.push_back(attribute.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) fail(ErrorCode::invalid_graph, "attribute '{}' is given more than once", *twice);
}

void check_ir_version(int64_t version) {
  if (version > kNewestIrVersion)  // one below 1 counts as the first
    fail(ErrorCode::fail, "Unsupported model IR version: {}, expected 1 to {}", version, kNewestIrVersion);
}

void check_import(std::string_view domain, int version) {
  const int latest = ops::latest_opset(domain);
  if (latest != 0 && version > latest) {
    fail(ErrorCode::fail, "the model imports opset {} of domain '{}', the newest supported one is {}: convert the model to an older opset",
         version, domain.empty() ? "ai.onnx" : domain, latest);
  }
}

int known_version(std::string_view domain, int version) {
  const int latest = ops::latest_opset(domain);
  return latest != 0 ? std::min(version, latest) : version;
}

Where tensor_where(std::string_view name) { return {.file = {}, .node = {}, .op = {}, .tensor = std::string(name)}; }

std::string operator_text(std::string_view domain, std::string_view op_type, int opset) {
  std::string text = domain.empty() ? std::string() : std::string(domain) + "::";
  text += op_type;
  return opset == 0 ? text : text + "(" + std::to_string(opset) + ")";
}

}  // namespace rh::onnx
