#include <algorithm>
#include <cstring>

#include "onnx/graph_reader.h"
#include "onnx/located.h"
#include "onnx/type_reader.h"

namespace rh::onnx {

namespace {

constexpr const char* kTypeNames[kAttributeTypeCount] = {"UNDEFINED",      "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
                                                         "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
                                                         "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

struct AttributeFields {
  std::string_view name, referred;
  int64_t type = 0;
  float f = 0;
  int64_t i = 0;
  std::string_view s, tensor, graph, sparse_tensor, type_proto;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings, tensors, graphs, sparse_tensors, type_protos;
  uint32_t present = 0;  ///< a bit for each AttributeType that has a value

  static AttributeFields parse(std::string_view message);
  AttributeType checked_type() const;

 private:
  void mark(AttributeType kind) { present |= 1u << static_cast<int>(kind); }
  bool parse_list(Wire& wire);
};

void append_packed_floats(std::string_view packed, std::vector<float>& floats) {
  if (packed.size() % sizeof(float) != 0)
    fail(ErrorCode::invalid_graph, "floats has {} bytes, expected a multiple of {}", packed.size(), sizeof(float));
  const size_t old = floats.size();
  floats.resize(old + packed.size() / sizeof(float));
  if (!packed.empty()) std::memcpy(floats.data() + old, packed.data(), packed.size());
}

bool AttributeFields::parse_list(Wire& wire) {
  switch (wire.tag_and_type()) {
    case fixed32(field::attribute::floats): floats.push_back(wire.get_float()); break;
    case length_delimited(field::attribute::floats): append_packed_floats(content(wire), floats); break;
    case varint(field::attribute::ints): ints.push_back(wire.get_int64()); break;
    case length_delimited(field::attribute::ints):
      for_each_packed(content(wire), [&](uint64_t value) { ints.push_back(static_cast<int64_t>(value)); });
      break;
    case length_delimited(field::attribute::strings): strings.push_back(content(wire)); break;
    case length_delimited(field::attribute::tensors): tensors.push_back(content(wire)); break;
    case length_delimited(field::attribute::graphs): graphs.push_back(content(wire)); break;
    case length_delimited(field::attribute::sparse_tensors): sparse_tensors.push_back(content(wire)); break;
    case length_delimited(field::attribute::type_protos): type_protos.push_back(content(wire)); break;
    default: return false;
  }
  return true;
}

AttributeFields AttributeFields::parse(std::string_view message) {
  AttributeFields fields;
  Wire wire = wire_of(message);
  const auto take = [&](AttributeType kind, std::string_view& field) {
    field = content(wire);
    fields.mark(kind);
  };
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::attribute::name): fields.name = content(wire); break;
      case length_delimited(field::attribute::ref_attr_name): fields.referred = content(wire); break;
      case varint(field::attribute::type): fields.type = wire.get_int64(); break;
      case fixed32(field::attribute::f):
        fields.f = wire.get_float();
        fields.mark(AttributeType::real);
        break;
      case varint(field::attribute::i):
        fields.i = wire.get_int64();
        fields.mark(AttributeType::integer);
        break;
      case length_delimited(field::attribute::s): take(AttributeType::string, fields.s); break;
      case length_delimited(field::attribute::t): take(AttributeType::tensor, fields.tensor); break;
      case length_delimited(field::attribute::g): take(AttributeType::graph, fields.graph); break;
      case length_delimited(field::attribute::sparse_tensor): take(AttributeType::sparse_tensor, fields.sparse_tensor); break;
      case length_delimited(field::attribute::tp): take(AttributeType::type, fields.type_proto); break;
      default:
        if (!fields.parse_list(wire)) wire.skip();
    }
  }
  if (!fields.floats.empty()) fields.mark(AttributeType::reals);
  if (!fields.ints.empty()) fields.mark(AttributeType::integers);
  if (!fields.strings.empty()) fields.mark(AttributeType::strings);
  if (!fields.tensors.empty()) fields.mark(AttributeType::tensors);
  if (!fields.graphs.empty()) fields.mark(AttributeType::graphs);
  if (!fields.sparse_tensors.empty()) fields.mark(AttributeType::sparse_tensors);
  if (!fields.type_protos.empty()) fields.mark(AttributeType::types);
  return fields;
}

/// The type it declares, or the only one that has a value. Scalars and lists may have none: writers leave out zeros and empty lists.
AttributeType AttributeFields::checked_type() const {
  if (type < 0 || type >= kAttributeTypeCount) {
    fail(ErrorCode::invalid_graph, "attribute '{}' has type {}, expected a number from 1 to {} (AttributeProto.AttributeType)", name, type,
         kAttributeTypeCount - 1);
  }
  const auto present_type = [&] {
    int kind = 0;
    while (kind < kAttributeTypeCount && !(present & (1u << kind))) ++kind;
    return kind;
  };
  if (type == 0) {
    if (present == 0 || (present & (present - 1)) != 0) {
      fail(ErrorCode::invalid_graph, "attribute '{}' has no type and {}, expected a type", name,
           present == 0 ? "no value" : "values of several types");
    }
    return static_cast<AttributeType>(present_type());
  }
  const AttributeType declared = static_cast<AttributeType>(type);
  if (present & (1u << type)) return declared;
  if (present != 0) {
    fail(ErrorCode::invalid_graph, "attribute '{}' has type {} but a value of type {}", name, kTypeNames[type], kTypeNames[present_type()]);
  }
  const bool needs_value = declared == AttributeType::tensor || declared == AttributeType::graph ||
                           declared == AttributeType::sparse_tensor || declared == AttributeType::type;
  if (needs_value) fail(ErrorCode::invalid_graph, "attribute '{}' of type {} has no value", name, kTypeNames[type]);
  return declared;
}

template <typename T, typename Convert>
std::vector<T> convert_all(const std::vector<std::string_view>& messages, Convert&& convert) {
  std::vector<T> values;
  values.reserve(messages.size());
  for (std::string_view message : messages) values.push_back(convert(message));
  return values;
}

}  // namespace

std::vector<Attribute> GraphReader::read_attributes(const NodeFields& fields, Scope& scope) {
  std::vector<Attribute> attributes;
  attributes.reserve(fields.attributes.size());
  const bool is_constant = fields.op_type == "Constant" && fields.domain.empty();
  for (const NamedMessage& attribute : fields.attributes) {
    // Of a Constant, ONNX Runtime looks at the first attribute alone.
    if (is_constant && std::ranges::find(attributes, attribute.name, &Attribute::name) != attributes.end()) continue;
    if (auto value = read_attribute(attribute.message, scope)) attributes.push_back(std::move(*value));
  }
  check_names(attributes);
  return attributes;
}

std::optional<Attribute> GraphReader::read_attribute(std::string_view message, Scope& scope) {
  const AttributeFields fields = AttributeFields::parse(message);
  if (fields.name.empty()) fail(ErrorCode::invalid_graph, "an attribute has no name");
  if (!fields.referred.empty() && scope.call) return read_reference(fields.name, fields.referred, scope);
  const auto tensor = [&](std::string_view part) { return tensors_.read(part); };
  const auto sparse = [&](std::string_view part) { return tensors_.read_sparse(part); };
  const auto graph = [&](std::string_view part) { return read_subgraph(part, scope); };
  const auto text = [](std::string_view part) { return std::string(part); };
  Attribute attribute{std::string(fields.name), {}};
  switch (fields.checked_type()) {
    case AttributeType::undefined: break;
    case AttributeType::real: attribute.value = fields.f; break;
    case AttributeType::integer: attribute.value = fields.i; break;
    case AttributeType::string: attribute.value = std::string(fields.s); break;
    case AttributeType::tensor: attribute.value = tensor(fields.tensor); break;
    case AttributeType::graph: attribute.value = graph(fields.graph); break;
    case AttributeType::sparse_tensor: attribute.value = sparse(fields.sparse_tensor); break;
    case AttributeType::type: attribute.value = read_type(fields.type_proto); break;
    case AttributeType::reals: attribute.value = fields.floats; break;
    case AttributeType::integers: attribute.value = fields.ints; break;
    case AttributeType::strings: attribute.value = convert_all<std::string>(fields.strings, text); break;
    case AttributeType::tensors: attribute.value = convert_all<Tensor>(fields.tensors, tensor); break;
    case AttributeType::graphs: attribute.value = convert_all<std::shared_ptr<Graph>>(fields.graphs, graph); break;
    case AttributeType::sparse_tensors: attribute.value = convert_all<SparseTensor>(fields.sparse_tensors, sparse); break;
    case AttributeType::types: attribute.value = convert_all<ValueType>(fields.type_protos, read_type); break;
  }
  return attribute;
}

}  // namespace rh::onnx
