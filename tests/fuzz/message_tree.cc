#include "fuzz/message_tree.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "onnx/proto.h"

namespace rh::fuzz {

namespace {

namespace field = onnx::field;

/// The kinds refer to each other, so they are made empty and filled together.
struct Kinds {
  MessageKind model{"model", {}}, graph{"graph", {}}, node{"node", {}}, attribute{"attribute", {}}, tensor{"tensor", {}},
      sparse{"sparse tensor", {}}, value_info{"value info", {}}, type{"type", {}}, tensor_type{"tensor type", {}},
      element_type{"element type", {}}, map_type{"map type", {}}, shape{"shape", {}}, dimension{"dimension", {}}, function{"function", {}},
      opset{"opset", {}}, entry{"entry", {}};

  Kinds() {
    using K = FieldKind;
    model.fields = {{field::model::ir_version, K::integer},
                    {field::model::graph, K::message, &graph},
                    {field::model::opset_import, K::message, &opset},
                    {field::model::functions, K::message, &function},
                    {field::model::metadata_props, K::message, &entry},
                    {kInputField, K::message, &tensor}};
    graph.fields = {{field::graph::node, K::message, &node},
                    {field::graph::name, K::text},
                    {field::graph::initializer, K::message, &tensor},
                    {field::graph::input, K::message, &value_info},
                    {field::graph::output, K::message, &value_info},
                    {field::graph::value_info, K::message, &value_info},
                    {field::graph::sparse_initializer, K::message, &sparse}};
    node.fields = {{field::node::input, K::name},      {field::node::output, K::name}, {field::node::name, K::text},
                   {field::node::op_type, K::op_type}, {field::node::domain, K::text}, {field::node::attribute, K::message, &attribute},
                   {field::node::overload, K::text}};
    attribute.fields = {{field::attribute::name, K::text},
                        {field::attribute::f, K::real},
                        {field::attribute::i, K::integer},
                        {field::attribute::s, K::text},
                        {field::attribute::t, K::message, &tensor},
                        {field::attribute::g, K::message, &graph},
                        {field::attribute::floats, K::bytes},
                        {field::attribute::ints, K::integers},
                        {field::attribute::strings, K::text},
                        {field::attribute::tensors, K::message, &tensor},
                        {field::attribute::graphs, K::message, &graph},
                        {field::attribute::tp, K::message, &type},
                        {field::attribute::type_protos, K::message, &type},
                        {field::attribute::type, K::integer},
                        {field::attribute::ref_attr_name, K::text},
                        {field::attribute::sparse_tensor, K::message, &sparse},
                        {field::attribute::sparse_tensors, K::message, &sparse}};
    tensor.fields = {{field::tensor::dims, K::integers},
                     {field::tensor::data_type, K::integer},
                     {field::tensor::float_data, K::bytes},
                     {field::tensor::int32_data, K::integers},
                     {field::tensor::string_data, K::text},
                     {field::tensor::int64_data, K::integers},
                     {field::tensor::name, K::name},
                     {field::tensor::raw_data, K::bytes},
                     {field::tensor::double_data, K::bytes},
                     {field::tensor::uint64_data, K::integers},
                     {field::tensor::external_data, K::message, &entry},
                     {field::tensor::data_location, K::integer}};
    sparse.fields = {{field::sparse_tensor::values, K::message, &tensor},
                     {field::sparse_tensor::indices, K::message, &tensor},
                     {field::sparse_tensor::dims, K::integers}};
    value_info.fields = {{field::value_info::name, K::name}, {field::value_info::type, K::message, &type}};
    type.fields = {{field::type::tensor, K::message, &tensor_type},
                   {field::type::sequence, K::message, &element_type},
                   {field::type::optional, K::message, &element_type},
                   {field::type::map, K::message, &map_type},
                   {field::type::sparse_tensor, K::message, &tensor_type}};
    tensor_type.fields = {{field::tensor_type::elem_type, K::integer}, {field::tensor_type::shape, K::message, &shape}};
    element_type.fields = {{field::element_type::elem_type, K::message, &type}};
    map_type.fields = {{field::map_type::key_type, K::integer}, {field::map_type::value_type, K::message, &type}};
    shape.fields = {{field::shape::dim, K::message, &dimension}};
    dimension.fields = {{field::dimension::dim_value, K::integer}, {field::dimension::dim_param, K::text}};
    function.fields = {{field::function::name, K::op_type},        {field::function::input, K::name},
                       {field::function::output, K::name},         {field::function::attribute, K::text},
                       {field::function::node, K::message, &node}, {field::function::opset_import, K::message, &opset},
                       {field::function::domain, K::text},         {field::function::attribute_proto, K::message, &attribute}};
    opset.fields = {{field::opset::domain, K::text}, {field::opset::version, K::integer}};
    entry.fields = {{field::entry::key, K::text}, {field::entry::value, K::text}};
  }
};

const Kinds& kinds() {
  static const Kinds& all = *new Kinds;
  return all;
}

const FieldSchema* schema_of(const MessageKind& kind, uint32_t number) {
  for (const FieldSchema& field : kind.fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

void read_content(Field& field, int depth) {
  if (field.kind() == FieldKind::message) {
    if (auto inner = parse(field.bytes, *field.schema->message, depth + 1)) {
      field.message = std::make_unique<Message>(std::move(*inner));
      field.bytes.clear();
    }
  } else if (field.kind() == FieldKind::integers) {
    try {
      onnx::for_each_packed(field.bytes, [&](uint64_t value) { field.integers.push_back(value); });
      field.bytes.clear();
    } catch (const protozero::exception&) {
      field.integers.clear();
    }
  }
}

}  // namespace

const MessageKind& model_kind() { return kinds().model; }
const MessageKind& tensor_kind() { return kinds().tensor; }

Field::Field(const Field& other)
    : number(other.number),
      wire(other.wire),
      schema(other.schema),
      value(other.value),
      bytes(other.bytes),
      integers(other.integers),
      message(other.message ? std::make_unique<Message>(*other.message) : nullptr) {}

Field* Message::find(uint32_t number) {
  for (Field& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

std::optional<Message> parse(std::string_view bytes, const MessageKind& kind, int depth) {
  if (depth > 40) return std::nullopt;
  Message message{&kind, {}};
  try {
    protozero::pbf_reader reader(bytes.data(), bytes.size());
    while (reader.next()) {
      Field field;
      field.number = reader.tag();
      field.wire = static_cast<uint32_t>(reader.wire_type());
      field.schema = schema_of(kind, field.number);
      switch (reader.wire_type()) {
        case protozero::pbf_wire_type::varint: field.value = reader.get_uint64(); break;
        case protozero::pbf_wire_type::fixed64: field.value = reader.get_fixed64(); break;
        case protozero::pbf_wire_type::fixed32: field.value = reader.get_fixed32(); break;
        default: field.bytes = reader.get_string(); read_content(field, depth);
      }
      message.fields.push_back(std::move(field));
    }
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return message;
}

std::string serialize(const Message& message) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const Field& field : message.fields) {
    switch (field.wire) {
      case 0: writer.add_uint64(field.number, field.value); break;
      case 1: writer.add_fixed64(field.number, field.value); break;
      case 5: writer.add_fixed32(field.number, static_cast<uint32_t>(field.value)); break;
      default:
        if (field.message) {
          writer.add_message(field.number, serialize(*field.message));
        } else if (!field.integers.empty()) {
          writer.add_packed_uint64(field.number, field.integers.begin(), field.integers.end());
        } else {
          writer.add_bytes(field.number, field.bytes);
        }
    }
  }
  return bytes;
}

}  // namespace rh::fuzz
