#include "base/error.h"
#include "onnx/proto.h"
#include "onnx/tensor_writer.h"
#include "onnx/type_reader.h"

namespace rh::onnx {

namespace {

/// Symbols that no model named say nothing outside of the process.
bool has_generated_symbol(const Dim& dim) {
  bool found = false;
  dim.for_each_symbol([&](std::string_view name) { found |= is_generated_symbol(name); });
  return found;
}

void write_tensor_type(WireWriter& message, const TensorType& type) {
  message.add_int32(field::tensor_type::elem_type, static_cast<int32_t>(type.dtype));
  if (!type.dims) return;
  // Written apart, for a nested WireWriter leaves an empty message out, which here means a scalar or an unknown dimension.
  std::string shape_bytes, dim_bytes;
  WireWriter shape(shape_bytes);
  for (const Dim& dim : *type.dims) {
    dim_bytes.clear();
    WireWriter one(dim_bytes);
    if (dim.is_constant()) {
      one.add_int64(field::dimension::dim_value, dim.value());
    } else if (!dim.is_unknown() && !has_generated_symbol(dim)) {
      one.add_string(field::dimension::dim_param, dim.symbol_name().empty() ? dim.to_string() : std::string(dim.symbol_name()));
    }
    shape.add_message(field::shape::dim, dim_bytes);
  }
  message.add_message(field::tensor_type::shape, shape_bytes);
}

void write_fields(WireWriter& message, const ValueType& type) {
  switch (type.kind()) {
    case ValueType::Kind::unknown: break;
    case ValueType::Kind::tensor: {
      WireWriter tensor(message, field::type::tensor);
      write_tensor_type(tensor, type.tensor());
      break;
    }
    case ValueType::Kind::sparse_tensor: {
      WireWriter tensor(message, field::type::sparse_tensor);
      write_tensor_type(tensor, type.tensor());
      break;
    }
    case ValueType::Kind::sequence:
    case ValueType::Kind::optional: {
      WireWriter container(message, type.kind() == ValueType::Kind::sequence ? field::type::sequence : field::type::optional);
      WireWriter element(container, field::element_type::elem_type);
      write_fields(element, type.element());
      break;
    }
    case ValueType::Kind::map: {
      WireWriter map(message, field::type::map);
      map.add_int32(field::map_type::key_type, static_cast<int32_t>(type.key()));
      WireWriter value(map, field::map_type::value_type);
      write_fields(value, type.element());
      break;
    }
    case ValueType::Kind::opaque: {
      WireWriter opaque(message, field::type::opaque);
      const std::string& full = type.opaque_name();
      const size_t colons = full.find("::");
      opaque.add_string(field::opaque_type::domain, full.substr(0, colons));
      opaque.add_string(field::opaque_type::name, full.substr(colons + 2));
      break;
    }
  }
}

}  // namespace

std::string write_type(const ValueType& type) {
  std::string bytes;
  WireWriter message(bytes);
  write_fields(message, type);
  return bytes;
}

}  // namespace rh::onnx
