#include "onnx/attribute_writer.h"

#include "onnx/proto.h"
#include "onnx/type_reader.h"

namespace rh::onnx {

namespace {

namespace number = field::attribute;

/// Writes the value fields, one overload for each form of Attribute::Payload.
struct PayloadWriter {
  WireWriter& message;
  const Attribute& attribute;
  ExternalSink* sink;
  FunctionRef<void(WireWriter&, const Graph&)> write_graph;

  void type(AttributeType kind) const { message.add_enum(number::type, static_cast<int32_t>(kind)); }

  void add(uint32_t field, const Tensor& tensor) const {
    WireWriter part(message, field);
    write_tensor_fields(part, tensor, {}, sink);
  }
  void add(uint32_t field, const SparseTensor& sparse) const {
    WireWriter part(message, field);
    write_sparse_fields(part, sparse, {}, sink);
  }
  void add(uint32_t field, const std::shared_ptr<Graph>& graph) const {
    WireWriter part(message, field);
    write_graph(part, *graph);
  }
  void add(uint32_t field, const ValueType& value) const { message.add_message(field, write_type(value)); }
  void add(uint32_t field, const std::string& value) const { message.add_bytes(field, value); }
  void add(uint32_t field, int64_t value) const { message.add_int64(field, value); }
  void add(uint32_t field, float value) const { message.add_float(field, value); }

  template <typename T>
  void one(AttributeType kind, uint32_t field, const T& value) const {
    add(field, value);
    type(kind);
  }
  template <typename T>
  void many(AttributeType kind, uint32_t field, const std::vector<T>& values) const {
    for (const T& value : values) add(field, value);
    type(kind);
  }

  void operator()(std::monostate) const { fail(ErrorCode::invalid_graph, "attribute '{}' has no value", attribute.name); }
  void operator()(const AttributeReference& reference) const {
    fail(ErrorCode::invalid_graph, "attribute '{}' refers to '{}' of a function, expected a value", attribute.name, reference.name);
  }
  void operator()(int64_t value) const { one(AttributeType::integer, number::i, value); }
  void operator()(float value) const { one(AttributeType::real, number::f, value); }
  void operator()(const std::string& value) const { one(AttributeType::string, number::s, value); }
  void operator()(const Tensor& value) const { one(AttributeType::tensor, number::t, value); }
  void operator()(const SparseTensor& value) const { one(AttributeType::sparse_tensor, number::sparse_tensor, value); }
  void operator()(const std::shared_ptr<Graph>& value) const { one(AttributeType::graph, number::g, value); }
  void operator()(const ValueType& value) const { one(AttributeType::type, number::tp, value); }
  void operator()(const std::vector<int64_t>& values) const { many(AttributeType::integers, number::ints, values); }
  void operator()(const std::vector<float>& values) const { many(AttributeType::reals, number::floats, values); }
  void operator()(const std::vector<std::string>& values) const { many(AttributeType::strings, number::strings, values); }
  void operator()(const std::vector<Tensor>& values) const { many(AttributeType::tensors, number::tensors, values); }
  void operator()(const std::vector<SparseTensor>& values) const { many(AttributeType::sparse_tensors, number::sparse_tensors, values); }
  void operator()(const std::vector<std::shared_ptr<Graph>>& values) const { many(AttributeType::graphs, number::graphs, values); }
  void operator()(const std::vector<ValueType>& values) const { many(AttributeType::types, number::type_protos, values); }
};

}  // namespace

void write_attribute_fields(WireWriter& message, const Attribute& attribute, ExternalSink* sink,
                            FunctionRef<void(WireWriter&, const Graph&)> write_graph) {
  message.add_string(number::name, attribute.name);
  std::visit(PayloadWriter{message, attribute, sink, write_graph}, attribute.value);
}

}  // namespace rh::onnx
