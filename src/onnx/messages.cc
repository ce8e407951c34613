#include "onnx/messages.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/error.h"

namespace rh::onnx {

namespace {

/// The message with its string field `number`, by which others refer to it.
NamedMessage named(std::string_view message, uint32_t number) {
  NamedMessage result{{}, message};
  Wire wire = wire_of(message);
  while (wire.next()) {
    if (wire.tag_and_type() == length_delimited(number)) {
      result.name = content(wire);
    } else {
      wire.skip();
    }
  }
  return result;
}

void parse_import(Imports& imports, std::string_view message) {
  std::string_view domain;
  int64_t version = 0;
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::opset::domain): domain = content(wire); break;
      case varint(field::opset::version): version = wire.get_int64(); break;
      default: wire.skip();
    }
  }
  add_import(imports, domain, version);
}

std::pair<std::string, std::string> parse_entry(std::string_view message) {
  std::pair<std::string, std::string> entry;
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::entry::key): entry.first = content(wire); break;
      case length_delimited(field::entry::value): entry.second = content(wire); break;
      default: wire.skip();
    }
  }
  return entry;
}

/// The last entry of each key, in the order in which the keys came.
Entries last_of_each_key(Entries entries) {
  std::unordered_map<std::string, size_t> places;
  Entries kept;
  for (auto& entry : entries) {
    const auto [at, is_new] = places.try_emplace(entry.first, kept.size());
    if (is_new) {
      kept.push_back(std::move(entry));
    } else {
      kept[at->second].second = std::move(entry.second);
    }
  }
  return kept;
}

}  // namespace

NodeFields NodeFields::parse(std::string_view message) {
  NodeFields node;
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::node::input): node.inputs.push_back(content(wire)); break;
      case length_delimited(field::node::output): node.outputs.push_back(content(wire)); break;
      case length_delimited(field::node::name): node.name = content(wire); break;
      case length_delimited(field::node::op_type): node.op_type = content(wire); break;
      case length_delimited(field::node::domain): node.domain = normal_domain(content(wire)); break;
      case length_delimited(field::node::overload): node.overload = content(wire); break;
      case length_delimited(field::node::attribute): node.attributes.push_back(named(content(wire), field::attribute::name)); break;
      default: wire.skip();
    }
  }
  return node;
}

namespace {

void parse_into(std::string_view message, GraphFields& graph) {
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::graph::node): graph.nodes.push_back(NodeFields::parse(content(wire))); break;
      case length_delimited(field::graph::name): graph.name = content(wire); break;
      case length_delimited(field::graph::doc_string): graph.doc_string = content(wire); break;
      case length_delimited(field::graph::initializer): graph.initializers.push_back(content(wire)); break;
      case length_delimited(field::graph::sparse_initializer): graph.sparse_initializers.push_back(content(wire)); break;
      case length_delimited(field::graph::input): graph.inputs.push_back(named(content(wire), field::value_info::name)); break;
      case length_delimited(field::graph::output): graph.outputs.push_back(named(content(wire), field::value_info::name)); break;
      case length_delimited(field::graph::value_info): graph.value_infos.push_back(named(content(wire), field::value_info::name)); break;
      default: wire.skip();
    }
  }
}

}  // namespace

GraphFields GraphFields::parse(std::string_view message) { return parse(std::span(&message, 1)); }

GraphFields GraphFields::parse(std::span<const std::string_view> parts) {
  GraphFields graph;
  for (std::string_view part : parts) parse_into(part, graph);
  return graph;
}

FunctionFields FunctionFields::parse(std::string_view message) {
  FunctionFields function;
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::function::name): function.name = content(wire); break;
      case length_delimited(field::function::domain): function.domain = normal_domain(content(wire)); break;
      case length_delimited(field::function::overload): function.overload = content(wire); break;
      case length_delimited(field::function::input): function.inputs.push_back(content(wire)); break;
      case length_delimited(field::function::output): function.outputs.push_back(content(wire)); break;
      case length_delimited(field::function::attribute): function.attributes.push_back(content(wire)); break;
      case length_delimited(field::function::attribute_proto):
        function.defaults.push_back(named(content(wire), field::attribute::name));
        break;
      case length_delimited(field::function::node): function.nodes.push_back(NodeFields::parse(content(wire))); break;
      case length_delimited(field::function::opset_import): parse_import(function.imports, content(wire)); break;
      default: wire.skip();
    }
  }
  return function;
}

ModelFields ModelFields::parse(std::string_view message) {
  ModelFields model;
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case varint(field::model::ir_version): model.ir_version = wire.get_int64(); break;
      case varint(field::model::model_version): model.model_version = wire.get_int64(); break;
      case length_delimited(field::model::producer_name): model.producer_name = content(wire); break;
      case length_delimited(field::model::producer_version): model.producer_version = content(wire); break;
      case length_delimited(field::model::domain): model.domain = content(wire); break;
      case length_delimited(field::model::doc_string): model.doc_string = content(wire); break;
      case length_delimited(field::model::graph): model.graph.push_back(content(wire)); break;
      case length_delimited(field::model::opset_import): parse_import(model.imports, content(wire)); break;
      case length_delimited(field::model::metadata_props): model.metadata.push_back(parse_entry(content(wire))); break;
      case length_delimited(field::model::functions): model.functions.push_back(FunctionFields::parse(content(wire))); break;
      default: wire.skip();
    }
  }
  model.metadata = last_of_each_key(std::move(model.metadata));
  return model;
}

std::string_view type_of_value_info(std::string_view message) {
  std::string_view type;
  Wire wire = wire_of(message);
  while (wire.next()) {
    if (wire.tag_and_type() == length_delimited(field::value_info::type)) {
      type = content(wire);
    } else {
      wire.skip();
    }
  }
  return type;
}

std::string_view normal_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

void add_import(Imports& imports, std::string_view domain, int64_t version) {
  domain = normal_domain(domain);
  if (version < 1) return;  // as if it were not there, since nodes of the domain cannot go by it
  if (version > std::numeric_limits<int>::max()) {
    fail(ErrorCode::invalid_graph, "the opset import of domain '{}' has version {}, expected a positive number", domain, version);
  }
  const auto present = std::ranges::find(imports, domain, &Imports::value_type::first);
  if (present == imports.end()) {
    imports.emplace_back(domain, static_cast<int>(version));
  } else {
    present->second = static_cast<int>(version);
  }
}

int imported_version(const Imports& imports, std::string_view domain) {
  const auto at = std::find_if(imports.begin(), imports.end(), [&](const auto& import) { return import.first == domain; });
  return at == imports.end() ? 0 : at->second;
}

}  // namespace rh::onnx
