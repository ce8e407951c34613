#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>
#include <vector>

/// The wire format of ONNX, IR version 14: field numbers by message.
namespace rh::onnx {

inline constexpr int kNewestIrVersion = 14;

namespace field {

namespace model {
enum : uint32_t {
  ir_version = 1,
  producer_name = 2,
  producer_version = 3,
  domain = 4,
  model_version = 5,
  doc_string = 6,
  graph = 7,
  opset_import = 8,
  metadata_props = 14,
  functions = 25
};
}
namespace opset {
enum : uint32_t { domain = 1, version = 2 };
}
namespace entry {
enum : uint32_t { key = 1, value = 2 };
}
namespace graph {
enum : uint32_t { node = 1, name = 2, initializer = 5, doc_string = 10, input = 11, output = 12, value_info = 13, sparse_initializer = 15 };
}
namespace value_info {
enum : uint32_t { name = 1, type = 2 };
}
namespace node {
enum : uint32_t { input = 1, output = 2, name = 3, op_type = 4, attribute = 5, domain = 7, overload = 8 };
}
namespace function {
enum : uint32_t {
  name = 1,
  input = 4,
  output = 5,
  attribute = 6,
  node = 7,
  opset_import = 9,
  domain = 10,
  attribute_proto = 11,
  overload = 13
};
}
namespace attribute {
enum : uint32_t {
  name = 1,
  f = 2,
  i = 3,
  s = 4,
  t = 5,
  g = 6,
  floats = 7,
  ints = 8,
  strings = 9,
  tensors = 10,
  graphs = 11,
  tp = 14,
  type_protos = 15,
  type = 20,
  ref_attr_name = 21,
  sparse_tensor = 22,
  sparse_tensors = 23
};
}
namespace tensor {
enum : uint32_t {
  dims = 1,
  data_type = 2,
  segment = 3,
  float_data = 4,
  int32_data = 5,
  string_data = 6,
  int64_data = 7,
  name = 8,
  raw_data = 9,
  double_data = 10,
  uint64_data = 11,
  external_data = 13,
  data_location = 14
};
}
namespace sparse_tensor {
enum : uint32_t { values = 1, indices = 2, dims = 3 };
}
namespace type {
enum : uint32_t { tensor = 1, sequence = 4, map = 5, opaque = 7, sparse_tensor = 8, optional = 9 };
}
namespace tensor_type {
enum : uint32_t { elem_type = 1, shape = 2 };
}
namespace shape {
enum : uint32_t { dim = 1 };
}
namespace dimension {
enum : uint32_t { dim_value = 1, dim_param = 2, denotation = 3 };
}
namespace element_type {  // of sequences and optionals
enum : uint32_t { elem_type = 1 };
}
namespace map_type {
enum : uint32_t { key_type = 1, value_type = 2 };
}
namespace opaque_type {
enum : uint32_t { domain = 1, name = 2 };
}
namespace sequence {
enum : uint32_t {
  name = 1,
  elem_type = 2,
  tensor_values = 3,
  sparse_tensor_values = 4,
  sequence_values = 5,
  map_values = 6,
  optional_values = 7
};
}
namespace map {
enum : uint32_t { name = 1, key_type = 2, keys = 3, string_keys = 4, values = 5 };
}
namespace optional {
enum : uint32_t {
  name = 1,
  elem_type = 2,
  tensor_value = 3,
  sparse_tensor_value = 4,
  sequence_value = 5,
  map_value = 6,
  optional_value = 7
};
}

}  // namespace field

/// AttributeProto.AttributeType.
enum class AttributeType : int {
  undefined = 0,
  real = 1,
  integer = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};
inline constexpr int kAttributeTypeCount = 15;

/// SequenceProto.DataType and OptionalProto.DataType.
enum class ElementKind : int { undefined = 0, tensor = 1, sparse_tensor = 2, sequence = 3, map = 4, optional = 5 };

using Wire = protozero::pbf_reader;

// Case labels for Wire::tag_and_type().
constexpr uint32_t varint(uint32_t number) { return protozero::tag_and_type(number, protozero::pbf_wire_type::varint); }
constexpr uint32_t fixed32(uint32_t number) { return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed32); }
constexpr uint32_t fixed64(uint32_t number) { return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed64); }
constexpr uint32_t length_delimited(uint32_t number) { return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited); }

/// The content of a length-delimited field: a string, bytes, a message or packed values. Looks into the buffer.
inline std::string_view content(Wire& wire) {
  const protozero::data_view view = wire.get_view();
  return {view.data(), view.size()};
}
inline Wire wire_of(std::string_view message) { return Wire(message.data(), message.size()); }

/// Calls each(varint as uint64_t) for the values of a packed field.
template <typename Each>
void for_each_packed(std::string_view packed, Each&& each) {
  const char* position = packed.data();
  const char* const end = position + packed.size();
  while (position != end) each(protozero::decode_varint(&position, end));
}

}  // namespace rh::onnx
