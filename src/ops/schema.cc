#include "ops/schema.h"

#include <algorithm>
#include <tuple>

namespace rh::ops {
namespace {

#include "ops/onnx_schemas.inc"

std::string_view canonical(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

void append(std::string& text, uint32_t mask, std::string_view before, std::string_view after) {
  for (int number = 1; number < kDTypeCount; ++number) {
    if (!(mask >> number & 1)) continue;
    if (!text.empty()) text += ", ";
    text += before;
    text += to_string(static_cast<DType>(number));
    text += after;
  }
}

bool has(uint32_t mask, DType dtype) { return mask >> static_cast<int>(dtype) & 1; }

/// The element type of a tensor, undefined for other kinds.
DType element_of(const ValueType& type) { return type.is_tensor() ? type.tensor().dtype : DType::undefined; }

bool is_map(const ValueType& type) { return type.kind() == ValueType::Kind::map; }

bool is_sequence(const ValueType& type) { return type.kind() == ValueType::Kind::sequence; }

bool allows_map(uint32_t by_int64, uint32_t by_string, const ValueType& map) {
  return has(map.key() == DType::int64 ? by_int64 : map.key() == DType::string ? by_string : 0, element_of(map.element()));
}

template <typename Row>
const Row* find_named(std::span<const Row> rows, std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

bool allows(const TypeSet& types, const ValueType& type) {
  switch (type.kind()) {
    case ValueType::Kind::tensor: return has(types.tensor, type.tensor().dtype);
    case ValueType::Kind::sequence:
      if (is_map(type.element())) return allows_map(types.sequence_map_int64, types.sequence_map_string, type.element());
      return has(types.sequence, element_of(type.element()));
    case ValueType::Kind::optional:
      if (is_sequence(type.element())) return has(types.optional_sequence, element_of(type.element().element()));
      return has(types.optional, element_of(type.element()));
    case ValueType::Kind::sparse_tensor: return has(types.sparse, type.tensor().dtype);
    case ValueType::Kind::map: return allows_map(types.map_int64, types.map_string, type);
    default: return false;
  }
}

std::string type_list(const TypeSet& types) {
  std::string text;
  append(text, types.tensor, "tensor(", ")");
  append(text, types.sequence, "seq(tensor(", "))");
  append(text, types.optional, "optional(tensor(", "))");
  append(text, types.optional_sequence, "optional(seq(tensor(", ")))");
  append(text, types.map_int64, "map(int64, ", ")");
  append(text, types.map_string, "map(string, ", ")");
  append(text, types.sequence_map_int64, "seq(map(int64, ", "))");
  append(text, types.sequence_map_string, "seq(map(string, ", "))");
  append(text, types.sparse, "sparse_tensor(", ")");
  return text;
}

const SchemaAttribute* OpSchema::attribute(std::string_view name) const { return find_named(attributes, name); }

const TypeParameter* OpSchema::type_parameter(std::string_view name) const { return find_named(type_parameters, name); }

const Port* OpSchema::port(std::span<const Port> ports, int index) {
  if (index < 0 || ports.empty()) return nullptr;
  const auto position = static_cast<size_t>(index);
  if (position < ports.size()) return &ports[position];
  return ports.back().option == PortOption::variadic ? &ports.back() : nullptr;
}

std::span<const OpSchema> all_schemas() { return kSchemas; }

std::span<const OpSchema> schema_history(std::string_view domain, std::string_view op_type) {
  struct Before {
    using Key = std::pair<std::string_view, std::string_view>;
    bool operator()(const OpSchema& schema, const Key& key) const {
      return std::tie(schema.domain, schema.op_type) < std::tie(key.first, key.second);
    }
    bool operator()(const Key& key, const OpSchema& schema) const {
      return std::tie(key.first, key.second) < std::tie(schema.domain, schema.op_type);
    }
  };
  const auto [first, last] = std::equal_range(std::begin(kSchemas), std::end(kSchemas), Before::Key(canonical(domain), op_type), Before());
  return {first, last};
}

const OpSchema* find_schema(std::string_view domain, std::string_view op_type, int opset) {
  const OpSchema* found = nullptr;
  for (const OpSchema& schema : schema_history(domain, op_type)) {
    if (schema.since_version <= opset) found = &schema;
  }
  return found;
}

int latest_opset(std::string_view domain) {
  for (const DomainRow& row : kDomains) {
    if (row.domain == canonical(domain)) return row.latest_opset;
  }
  return 0;
}

}  // namespace rh::ops
