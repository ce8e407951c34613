#include "ops/default_attributes.h"

#include "ops/channels_last.h"

namespace rh::ops {

std::optional<Attribute> default_attribute(const SchemaAttribute& attribute) {
  if (!attribute.default_value) return {};
  const AttributeDefault& given = *attribute.default_value;
  std::string name(attribute.name);
  switch (attribute.kind) {
    case AttributeKind::integer: return Attribute{std::move(name), given.integer};
    case AttributeKind::floating: return Attribute{std::move(name), given.floating};
    case AttributeKind::string: return Attribute{std::move(name), std::string(given.string)};
    case AttributeKind::integers: return Attribute{std::move(name), std::vector<int64_t>(given.integers.begin(), given.integers.end())};
    case AttributeKind::strings: return Attribute{std::move(name), std::vector<std::string>(given.strings.begin(), given.strings.end())};
    default: return {};
  }
}

std::optional<Attribute> default_attribute(const Node& node, std::string_view name) {
  const OpSchema* schema = find_signature(node.domain, node.op_type, node.opset);
  const SchemaAttribute* attribute = schema ? schema->attribute(name) : nullptr;
  return attribute ? default_attribute(*attribute) : std::nullopt;
}

}  // namespace rh::ops
