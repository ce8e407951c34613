#include "onnx/value_reader.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "onnx/proto.h"
#include "onnx/tensor_reader.h"

namespace rh::onnx {

namespace {

constexpr int kMaxNesting = 32;

void check_nesting(int nesting) {
  if (nesting > kMaxNesting) fail(ErrorCode::invalid_graph, "a value is nested more than {} deep", kMaxNesting);
}

Tensor read_tensor_message(std::string_view message) { return TensorReader({.bytes = message}, nullptr).read(message); }
SparseTensor read_sparse_message(std::string_view message) { return TensorReader({.bytes = message}, nullptr).read_sparse(message); }
Value read_sequence(std::string_view message, int nesting);
Value read_map(std::string_view message, int nesting);
Value read_optional(std::string_view message, int nesting);

Value read_sequence(std::string_view message, int nesting) {
  check_nesting(nesting);
  Sequence sequence;
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::sequence::tensor_values): sequence.elements.emplace_back(read_tensor_message(content(wire))); break;
      case length_delimited(field::sequence::sparse_tensor_values):
        sequence.elements.emplace_back(read_sparse_message(content(wire)));
        break;
      case length_delimited(field::sequence::sequence_values):
        sequence.elements.push_back(read_sequence(content(wire), nesting + 1));
        break;
      case length_delimited(field::sequence::map_values): sequence.elements.push_back(read_map(content(wire), nesting + 1)); break;
      case length_delimited(field::sequence::optional_values):
        sequence.elements.push_back(read_optional(content(wire), nesting + 1));
        break;
      default: wire.skip();
    }
  }
  for (const Value& element : sequence.elements) {
    const DType dtype = element.is_tensor() ? element.tensor().dtype() : DType::undefined;
    if (&element == &sequence.elements.front()) sequence.element_dtype = dtype;
    if (dtype != sequence.element_dtype) {
      fail(ErrorCode::invalid_graph, "a sequence has elements of types {} and {}, expected one type", to_string(sequence.element_dtype),
           to_string(dtype));
    }
  }
  return sequence;
}

/// One 1-D tensor of the sequence's tensors, each of one element.
Tensor concatenate(const Sequence& values) {
  if (values.elements.empty()) return Tensor(DType::float32, {0});
  Tensor all(values.element_dtype, {static_cast<int64_t>(values.elements.size())});
  const size_t width = static_cast<size_t>(bits_of(all.dtype()) / 8);
  for (size_t i = 0; i < values.elements.size(); ++i) {
    const Value& element = values.elements[i];
    if (!element.is_tensor() || element.tensor().elements() != 1 || (width == 0 && all.dtype() != DType::string)) {
      fail(ErrorCode::not_implemented, "a map has values that are not single numbers or strings");
    }
    if (all.dtype() == DType::string) {
      all.data<std::string>()[i] = element.tensor().data<std::string>()[0];
    } else {
      std::copy_n(static_cast<const char*>(element.tensor().raw()), width, static_cast<char*>(all.raw()) + i * width);
    }
  }
  return all;
}

Value read_map(std::string_view message, int nesting) {
  check_nesting(nesting);
  std::vector<int64_t> keys;
  std::vector<std::string> string_keys;
  int64_t key_type = 0;
  Value values = Sequence{};
  Wire wire = wire_of(message);
  const auto add_key = [&](uint64_t key) { keys.push_back(static_cast<int64_t>(key)); };
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case varint(field::map::key_type): key_type = wire.get_int64(); break;
      case varint(field::map::keys): add_key(wire.get_uint64()); break;
      case length_delimited(field::map::keys): for_each_packed(content(wire), add_key); break;
      case length_delimited(field::map::string_keys): string_keys.emplace_back(content(wire)); break;
      case length_delimited(field::map::values): values = read_sequence(content(wire), nesting + 1); break;
      default: wire.skip();
    }
  }
  Map map;
  const bool text = key_type == static_cast<int>(DType::string) || !string_keys.empty();
  map.keys = text ? Tensor::from<std::string>({static_cast<int64_t>(string_keys.size())}, string_keys) : Tensor::ints(keys);
  map.values = concatenate(values.sequence());
  if (map.keys.elements() != map.values.elements()) {
    fail(ErrorCode::invalid_graph, "a map has {} keys and {} values, expected as many", map.keys.elements(), map.values.elements());
  }
  return map;
}

Value read_optional(std::string_view message, int nesting) {
  check_nesting(nesting);
  Value value = NoneValue{};
  Wire wire = wire_of(message);
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::optional::tensor_value): value = read_tensor_message(content(wire)); break;
      case length_delimited(field::optional::sparse_tensor_value): value = read_sparse_message(content(wire)); break;
      case length_delimited(field::optional::sequence_value): value = read_sequence(content(wire), nesting + 1); break;
      case length_delimited(field::optional::map_value): value = read_map(content(wire), nesting + 1); break;
      case length_delimited(field::optional::optional_value): value = read_optional(content(wire), nesting + 1); break;
      default: wire.skip();
    }
  }
  return value;
}

}  // namespace

Value read_value_message(std::string_view message, ValueType::Kind kind) {
  switch (kind) {
    case ValueType::Kind::sparse_tensor: return read_sparse_message(message);
    case ValueType::Kind::sequence: return read_sequence(message, 0);
    case ValueType::Kind::map: return read_map(message, 0);
    case ValueType::Kind::optional: return read_optional(message, 0);
    default: return read_tensor_message(message);
  }
}

}  // namespace rh::onnx
