#include "onnx/type_reader.h"

#include "base/error.h"
#include "onnx/proto.h"

namespace rh::onnx {

namespace {

constexpr int kMaxNesting = 32;
constexpr size_t kMaxRank = 64;

Dim read_dim(std::string_view bytes) {
  Dim dim;
  Wire wire = wire_of(bytes);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case varint(field::dimension::dim_value): {
        const int64_t value = wire.get_int64();
        dim = value < 0 ? Dim() : Dim(value);
        break;
      }
      case length_delimited(field::dimension::dim_param): {
        const std::string_view name = content(wire);
        dim = name.empty() ? Dim() : Dim::symbol(std::string(name));
        break;
      }
      default: wire.skip();
    }
  }
  return dim;
}

SymbolicShape read_shape(std::string_view bytes) {
  SymbolicShape dims;
  Wire wire = wire_of(bytes);
  while (wire.next()) {
    if (wire.tag_and_type() == length_delimited(field::shape::dim)) {
      if (dims.size() == kMaxRank) fail(ErrorCode::invalid_graph, "a type has more than {} dimensions", kMaxRank);
      dims.push_back(read_dim(content(wire)));
    } else {
      wire.skip();
    }
  }
  return dims;
}

TensorType read_tensor_type(std::string_view bytes) {
  TensorType type;
  Wire wire = wire_of(bytes);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case varint(field::tensor_type::elem_type): type.dtype = checked_dtype(wire.get_int64()); break;
      case length_delimited(field::tensor_type::shape): type.dims = read_shape(content(wire)); break;
      default: wire.skip();
    }
  }
  return type;
}

ValueType read_nested(std::string_view bytes, int nesting);

ValueType read_element(std::string_view bytes, int nesting) {
  ValueType element;
  Wire wire = wire_of(bytes);
  while (wire.next()) {
    if (wire.tag_and_type() == length_delimited(field::element_type::elem_type)) {
      element = read_nested(content(wire), nesting);
    } else {
      wire.skip();
    }
  }
  return element;
}

ValueType read_map(std::string_view bytes, int nesting) {
  DType key = DType::undefined;
  ValueType value;
  Wire wire = wire_of(bytes);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case varint(field::map_type::key_type): key = checked_dtype(wire.get_int64()); break;
      case length_delimited(field::map_type::value_type): value = read_nested(content(wire), nesting); break;
      default: wire.skip();
    }
  }
  return ValueType::map_of(key, std::move(value));
}

ValueType read_opaque(std::string_view bytes) {
  std::string domain, name;
  Wire wire = wire_of(bytes);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::opaque_type::domain): domain = content(wire); break;
      case length_delimited(field::opaque_type::name): name = content(wire); break;
      default: wire.skip();
    }
  }
  return ValueType::opaque(std::move(domain), std::move(name));
}

ValueType read_nested(std::string_view bytes, int nesting) {
  if (nesting > kMaxNesting) fail(ErrorCode::invalid_graph, "a type is nested more than {} deep", kMaxNesting);
  ValueType type;
  Wire wire = wire_of(bytes);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::type::tensor): type = read_tensor_type(content(wire)); break;
      case length_delimited(field::type::sparse_tensor): type = ValueType::sparse(read_tensor_type(content(wire))); break;
      case length_delimited(field::type::sequence): type = ValueType::sequence_of(read_element(content(wire), nesting + 1)); break;
      case length_delimited(field::type::optional): type = ValueType::optional_of(read_element(content(wire), nesting + 1)); break;
      case length_delimited(field::type::map): type = read_map(content(wire), nesting + 1); break;
      case length_delimited(field::type::opaque): type = read_opaque(content(wire)); break;
      default: wire.skip();
    }
  }
  return type;
}

}  // namespace

DType checked_dtype(int64_t number) {
  if (number == 0) return DType::undefined;
  if (number < 0 || number >= kDTypeCount) {
    fail(ErrorCode::invalid_graph, "a type has element type {}, expected a number from 1 to {} (TensorProto.DataType)", number,
         kDTypeCount - 1);
  }
  return static_cast<DType>(number);
}

bool has_known_rank(std::string_view bytes) {
  size_t rank = 0;
  const auto inside = [](std::string_view message, uint32_t number, const auto& visit) {
    Wire inner = wire_of(message);
    while (inner.next()) inner.tag_and_type() == length_delimited(number) ? visit(content(inner)) : inner.skip();
  };
  inside(bytes, field::type::tensor, [&](std::string_view tensor) {
    inside(tensor, field::tensor_type::shape, [&](std::string_view shape) {
      rank = 0;  // the last one counts
      inside(shape, field::shape::dim, [&](std::string_view) { ++rank; });
    });
  });
  return rank <= kMaxRank;
}

ValueType read_type(std::string_view bytes) { return read_nested(bytes, 0); }

}  // namespace rh::onnx
