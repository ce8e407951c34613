#include "base/error.h"
#include "onnx/proto.h"
#include "onnx/tensor_writer.h"
#include "onnx/writer.h"

namespace rh::onnx {

namespace {

ElementKind kind_of(const Value& value) {
  if (value.is_tensor()) return ElementKind::tensor;
  if (value.is_sparse()) return ElementKind::sparse_tensor;
  if (value.is_sequence()) return ElementKind::sequence;
  if (value.is_map()) return ElementKind::map;
  if (value.is_none()) return ElementKind::optional;
  fail(ErrorCode::invalid_argument, "cannot write an empty value");
}

void write_fields(WireWriter& message, const Value& value);

void write_member(WireWriter& message, uint32_t number, const Value& value) {
  WireWriter member(message, number);
  write_fields(member, value);
}

/// The members of SequenceProto and OptionalProto have the same numbers.
uint32_t member_number(ElementKind kind) { return field::sequence::tensor_values + static_cast<uint32_t>(kind) - 1; }

void write_sequence(WireWriter& message, const Sequence& sequence) {
  const ElementKind kind = sequence.elements.empty() ? ElementKind::tensor : kind_of(sequence.elements.front());
  message.add_enum(field::sequence::elem_type, static_cast<int32_t>(kind));
  for (const Value& element : sequence.elements) {
    if (kind_of(element) != kind) fail(ErrorCode::invalid_argument, "cannot write a sequence whose elements are of different kinds");
    write_member(message, member_number(kind), element);
  }
}

void write_map(WireWriter& message, const Map& map) {
  message.add_int32(field::map::key_type, static_cast<int32_t>(map.keys.dtype()));
  if (map.keys.dtype() == DType::string) {
    for (const std::string& key : map.keys.span<std::string>()) message.add_bytes(field::map::string_keys, key);
  } else if (map.keys.dtype() == DType::int64) {
    for (int64_t key : map.keys.span<int64_t>()) message.add_int64(field::map::keys, key);
  } else {
    fail(ErrorCode::not_implemented, "cannot write a map with keys of type {}, expected int64 or string", to_string(map.keys.dtype()));
  }
  Sequence values{map.values.dtype(), {}};
  const size_t width = static_cast<size_t>(bits_of(map.values.dtype()) / 8);
  for (int64_t i = 0; i < map.values.elements(); ++i) {
    Tensor one(map.values.dtype(), {});
    if (one.dtype() == DType::string) {
      *one.data<std::string>() = map.values.data<std::string>()[i];
    } else {
      std::copy_n(static_cast<const char*>(map.values.raw()) + static_cast<size_t>(i) * width, width, static_cast<char*>(one.raw()));
    }
    values.elements.emplace_back(std::move(one));
  }
  WireWriter sequence(message, field::map::values);
  write_sequence(sequence, values);
}

void write_fields(WireWriter& message, const Value& value) {
  switch (kind_of(value)) {
    case ElementKind::tensor: return write_tensor_fields(message, value.tensor(), {}, nullptr);
    case ElementKind::sparse_tensor: return write_sparse_fields(message, value.sparse(), {}, nullptr);
    case ElementKind::sequence: return write_sequence(message, value.sequence());
    case ElementKind::map: return write_map(message, value.map());
    default: return message.add_enum(field::optional::elem_type, 0);
  }
}

}  // namespace

std::string write_value(const Value& value, const ValueType& type) {
  std::string bytes;
  WireWriter message(bytes);
  if (type.kind() == ValueType::Kind::optional && !value.is_none()) {
    message.add_enum(field::optional::elem_type, static_cast<int32_t>(kind_of(value)));
    write_member(message, member_number(kind_of(value)), value);
  } else {
    write_fields(message, value);
  }
  return bytes;
}

}  // namespace rh::onnx
