#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/type.h"
#include "tensor/dtype.h"

/// What the ONNX standard says of each operator in each version, as constant tables (onnx_schemas.inc, written by
/// scripts/generate_schemas.py).
namespace rh::ops {

/// A set of value types: for each form a mask whose bit n stands for the element type with TensorProto number n.
struct TypeSet {
  uint32_t tensor = 0;
  uint32_t sequence = 0;           ///< seq(tensor(T))
  uint32_t optional = 0;           ///< optional(tensor(T))
  uint32_t optional_sequence = 0;  ///< optional(seq(tensor(T)))
  uint32_t map_int64 = 0;          ///< map(int64, T)
  uint32_t map_string = 0;         ///< map(string, T)
  uint32_t sequence_map_int64 = 0;
  uint32_t sequence_map_string = 0;
  uint32_t sparse = 0;  ///< sparse_tensor(T)

  constexpr bool allows_tensor(DType dtype) const { return tensor >> static_cast<int>(dtype) & 1; }
  constexpr bool allows_sequence(DType dtype) const { return sequence >> static_cast<int>(dtype) & 1; }
};

/// Whether a value of this type may stand where the set is asked for. False for unknown types and undefined element types.
bool allows(const TypeSet& types, const ValueType& type);

/// "tensor(float), tensor(double), seq(tensor(float))": as ONNX writes types, in the order of forms and type numbers.
std::string type_list(const TypeSet& types);

enum class PortOption : uint8_t { single, optional, variadic };

/// A formal input or output.
struct Port {
  std::string_view name;
  std::string_view type;  ///< a type parameter ("T"), which ports share, or a type ("tensor(int64)")
  const TypeSet* allowed;
  PortOption option;
  bool homogeneous;   ///< variadic: all of one type
  uint8_t min_arity;  ///< variadic: least count
};

/// The numbers are those of AttributeProto.AttributeType.
enum class AttributeKind : uint8_t {
  undefined = 0,
  floating = 1,
  integer = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  floats = 6,
  integers = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};

/// The field that the attribute's kind names is set.
struct AttributeDefault {
  int64_t integer = 0;
  float floating = 0;
  std::string_view string;
  std::span<const int64_t> integers;
  std::span<const std::string_view> strings;
};

struct SchemaAttribute {
  std::string_view name;
  AttributeKind kind;
  bool required;
  const AttributeDefault* default_value;  ///< null where the standard gives none
};

struct TypeParameter {
  std::string_view name;
  const TypeSet* allowed;
};

inline constexpr int kUnbounded = 2147483647;

/// One version of one operator.
struct OpSchema {
  std::string_view domain;  ///< "" is ai.onnx
  std::string_view op_type;
  int since_version;
  bool deprecated;
  bool has_function;  ///< the standard defines it by other operators, whatever the context
  int min_inputs;
  int max_inputs;  ///< kUnbounded where the last one is variadic
  int min_outputs;
  int max_outputs;
  std::span<const Port> inputs;
  std::span<const Port> outputs;
  std::span<const SchemaAttribute> attributes;  ///< sorted by name
  std::span<const TypeParameter> type_parameters;

  /// The formal input of the actual input `index` (the last one where it is variadic); null past the end.
  const Port* input(int index) const { return port(inputs, index); }
  const Port* output(int index) const { return port(outputs, index); }
  const SchemaAttribute* attribute(std::string_view name) const;  ///< null where there is none
  const TypeParameter* type_parameter(std::string_view name) const;

 private:
  static const Port* port(std::span<const Port> ports, int index);
};

/// The newest version of the operator that `opset` of the domain has; a deprecated one is returned as such. Null where the operator is
/// unknown or younger. "ai.onnx" and "" are the same domain.
const OpSchema* find_schema(std::string_view domain, std::string_view op_type, int opset);

/// All versions of an operator, oldest first; empty where it is unknown.
std::span<const OpSchema> schema_history(std::string_view domain, std::string_view op_type);

/// Every version of every operator, sorted by domain, operator and version.
std::span<const OpSchema> all_schemas();

/// The newest opset of a domain of the standard that the tables know; 0 for other domains.
int latest_opset(std::string_view domain);

}  // namespace rh::ops
