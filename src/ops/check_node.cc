#include "ops/check_node.h"

#include <algorithm>

#include "base/known_words.h"
#include "base/nearest.h"
#include "ops/schema.h"

namespace rh {

namespace {

using ops::AttributeKind;
using ops::OpSchema;
using ops::Port;
using ops::PortOption;

constexpr std::string_view kKindNames[] = {"nothing", "a float",         "an integer",     "a string", "a tensor",
                                           "a graph", "floats",          "integers",       "strings",  "tensors",
                                           "graphs",  "a sparse tensor", "sparse tensors", "a type",   "types"};

AttributeKind kind_of(const Attribute& attribute) {
  static constexpr AttributeKind kKinds[] = {
      AttributeKind::undefined,      AttributeKind::integer,       AttributeKind::floating, AttributeKind::string,
      AttributeKind::tensor,         AttributeKind::sparse_tensor, AttributeKind::graph,    AttributeKind::type,
      AttributeKind::integers,       AttributeKind::floats,        AttributeKind::strings,  AttributeKind::tensors,
      AttributeKind::sparse_tensors, AttributeKind::graphs,        AttributeKind::types,    AttributeKind::undefined};
  static_assert(std::size(kKinds) == std::variant_size_v<Attribute::Payload>);
  return kKinds[attribute.value.index()];
}

std::string_view name_of(AttributeKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

void check_count(const NodeView& node, const char* what, int found, int least, int most) {
  if (found >= least && found <= most) return;
  if (least == most) node.fail_schema("the node has {} {}, expected {}", found, what, least);
  if (most == ops::kUnbounded) node.fail_schema("the node has {} {}, expected at least {}", found, what, least);
  node.fail_schema("the node has {} {}, expected {} to {}", found, what, least, most);
}

std::string nearest_attribute(std::string_view name, const OpSchema& schema) {
  if (schema.attributes.empty()) return ", which has none";
  std::string list;
  std::vector<std::string_view> names;
  for (const ops::SchemaAttribute& known : schema.attributes) {
    names.push_back(known.name);
    list += (list.empty() ? "" : ", ") + std::string(known.name);
  }
  const std::string_view best = nearest(name, names);
  return ", expected one of: " + list + (best.empty() ? std::string() : "; the nearest is '" + std::string(best) + "'");
}

/// Whether ONNX Runtime takes attributes of any name: of a Constant, whose first one is its value and behind which onnxsim leaves marks,
/// and of LayerNormalization, whose first exporters wrote others.
bool takes_any_name(const NodeView& node) {
  return node.domain().empty() && (node.op_type() == "LayerNormalization" || node.op_type() == "Constant");
}

/// Whether the kind of an attribute says what its name does: of the value of a Constant.
bool may_be_any_value(const NodeView& node, const Attribute& attribute) {
  return node.op_type() == "Constant" && node.domain().empty() && &attribute == &node.node().attributes.front();
}

void check_attributes(const NodeView& node, const OpSchema& schema, const OpSchema& newest) {
  for (const Attribute& attribute : node.node().attributes) {
    const ops::SchemaAttribute* known = schema.attribute(attribute.name);
    if (!known) known = newest.attribute(attribute.name);
    if (!known && takes_any_name(node)) continue;
    if (!known) node.fail_schema("attribute '{}' is not one of this operator{}", attribute.name, nearest_attribute(attribute.name, schema));
    const AttributeKind kind = kind_of(attribute);
    if (kind != known->kind && kind != AttributeKind::undefined && !may_be_any_value(node, attribute)) {
      node.fail_schema("attribute '{}' is {}, expected {}", attribute.name, name_of(kind), name_of(known->kind));
    }
  }
  for (const ops::SchemaAttribute& known : schema.attributes) {
    if (known.required && !node.has(known.name))
      node.fail_schema("attribute '{}' is missing, expected {}", known.name, name_of(known.kind));
  }
}

/// The type that each type parameter was first seen with.
struct Bindings {
  struct One {
    std::string_view parameter;
    const ValueType* type;
    int input;
  };
  std::vector<One> list;

  void bind(const NodeView& node, const Port& port, int input, const ValueType& type) {
    if (port.type.find('(') != std::string_view::npos || (port.option == PortOption::variadic && !port.homogeneous)) return;
    const auto at = std::find_if(list.begin(), list.end(), [&](const One& one) { return one.parameter == port.type; });
    if (at == list.end()) {
      list.push_back({port.type, &type, input});
    } else if (onnx_type_string(*at->type) != onnx_type_string(type)) {
      node.fail("inputs {} and {} are {} and {}, expected the same type", at->input, input, onnx_type_string(*at->type),
                onnx_type_string(type));
    }
  }
};

bool is_typed(const ValueType& type) {
  if (type.kind() == ValueType::Kind::sequence || type.kind() == ValueType::Kind::optional) return is_typed(type.element());
  const bool tensor = type.is_tensor() || type.kind() == ValueType::Kind::sparse_tensor;
  return !type.is_unknown() && !(tensor && type.tensor().dtype == DType::undefined);
}

void check_types(const NodeView& node, const OpSchema& schema, const OpSchema& newest) {
  Bindings bindings;
  // First versions that were replaced give types to inputs that models never used that way: sizes of Split, repeats of Tile.
  const bool first_of_many = schema.since_version == 1 && &schema != &newest;
  for (int i = 0; i < node.input_count(); ++i) {
    const Port* port = schema.input(i);
    if (!node.has_input(i)) {
      if (port && port->option != PortOption::optional) node.fail_schema("input {} ({}) is left out, expected a value", i, port->name);
      continue;
    }
    const ValueType& type = node.input_type(i);
    if (!port || !is_typed(type) || first_of_many) continue;
    const Port* newer = newest.input(i);
    if (!ops::allows(*port->allowed, type) && !(newer && ops::allows(*newer->allowed, type))) {
      const std::string found = onnx_type_string(type);
      const std::string& value = node.graph().value(node.node().inputs[static_cast<size_t>(i)]).name;
      const std::string known = fmt::format(words::kPortType, found, value, node.op_type(), node.node().name);
      node.fail_schema("{}: input {} ({}) is {}, expected one of {}", known, i, port->name, found, ops::type_list(*port->allowed));
    }
    bindings.bind(node, *port, i, type);
  }
}

}  // namespace

void check_node(const NodeView& node) {
  const auto history = ops::schema_history(node.domain(), node.op_type());
  if (history.empty()) return;
  // Operators that were in use before the standard had them (LayerNormalization) are taken at older opsets as their first version.
  const OpSchema* schema = ops::find_schema(node.domain(), node.op_type(), node.opset());
  if (!schema) schema = &history.front();
  check_count(node, "inputs", node.input_count(), schema->min_inputs, schema->max_inputs);
  check_count(node, "outputs", node.output_count(), schema->min_outputs, schema->max_outputs);
  const OpSchema& newest = *ops::find_schema(node.domain(), node.op_type(), ops::latest_opset(node.domain()));
  check_attributes(node, *schema, newest);
  check_types(node, *schema, newest);
}

}  // namespace rh
