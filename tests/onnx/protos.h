#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "onnx/proto.h"
#include "tensor/tensor.h"

/// Builds the messages of models field by field, so that tests can write what the product's own writer would not.
namespace rh::onnx::test {

class Message {
 public:
  Message() = default;
  Message& number(uint32_t field, int64_t value) {
    protozero::pbf_writer(bytes_).add_int64(field, value);
    return *this;
  }
  Message& real(uint32_t field, float value) {
    protozero::pbf_writer(bytes_).add_float(field, value);
    return *this;
  }
  Message& real64(uint32_t field, double value) {
    protozero::pbf_writer(bytes_).add_double(field, value);
    return *this;
  }
  Message& text(uint32_t field, std::string_view value) {
    protozero::pbf_writer(bytes_).add_bytes(field, value.data(), value.size());
    return *this;
  }
  Message& add(uint32_t field, const Message& value) { return text(field, value.bytes_); }
  Message& numbers(uint32_t field, std::initializer_list<int64_t> values) {
    for (int64_t value : values) number(field, value);
    return *this;
  }
  Message& packed_numbers(uint32_t field, std::initializer_list<int64_t> values) {
    protozero::pbf_writer(bytes_).add_packed_int64(field, values.begin(), values.end());
    return *this;
  }
  Message& packed_reals(uint32_t field, std::initializer_list<float> values) {
    protozero::pbf_writer(bytes_).add_packed_float(field, values.begin(), values.end());
    return *this;
  }
  Message& packed_reals64(uint32_t field, std::initializer_list<double> values) {
    protozero::pbf_writer(bytes_).add_packed_double(field, values.begin(), values.end());
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline std::span<const std::byte> as_span(const std::string& bytes) { return std::as_bytes(std::span(bytes)); }
inline std::span<const std::byte> as_span(const Message& message) { return as_span(message.bytes()); }

inline Message tensor(DType dtype, std::initializer_list<int64_t> dims, std::string_view name = {}) {
  Message message;
  message.numbers(field::tensor::dims, dims).number(field::tensor::data_type, static_cast<int64_t>(dtype));
  if (!name.empty()) message.text(field::tensor::name, name);
  return message;
}
inline Message float_tensor(std::string_view name, std::initializer_list<float> values) {
  return tensor(DType::float32, {static_cast<int64_t>(values.size())}, name).packed_reals(field::tensor::float_data, values);
}

inline Message attribute(std::string_view name, AttributeType type) {
  return Message().text(field::attribute::name, name).number(field::attribute::type, static_cast<int64_t>(type));
}
inline Message int_attribute(std::string_view name, int64_t value) {
  return attribute(name, AttributeType::integer).number(field::attribute::i, value);
}
inline Message graph_attribute(std::string_view name, const Message& graph) {
  return attribute(name, AttributeType::graph).add(field::attribute::g, graph);
}
inline Message reference(std::string_view name, std::string_view referred, AttributeType type) {
  return attribute(name, type).text(field::attribute::ref_attr_name, referred);
}

using Names = std::vector<std::string>;
using Messages = std::vector<Message>;

struct NodeText {
  std::string op;  ///< "Add" or "domain::Add"
  Names inputs, outputs;
  Messages attributes = {};
  std::string name = {};
  std::string overload = {};

  operator Message() const {
    Message node;
    for (const auto& input : inputs) node.text(field::node::input, input);
    for (const auto& output : outputs) node.text(field::node::output, output);
    if (!name.empty()) node.text(field::node::name, name);
    const size_t colons = op.find("::");
    node.text(field::node::op_type, colons == std::string::npos ? op : op.substr(colons + 2));
    if (colons != std::string::npos) node.text(field::node::domain, op.substr(0, colons));
    if (!overload.empty()) node.text(field::node::overload, overload);
    for (const auto& attribute : attributes) node.add(field::node::attribute, attribute);
    return node;
  }
};

inline Message value_info(std::string_view name, DType dtype = DType::float32, const Names& dims = {"N"}) {
  Message shape;
  for (const auto& dim : dims) {
    Message one;
    if (dim.find_first_not_of("-0123456789") == std::string::npos && !dim.empty()) {
      one.number(field::dimension::dim_value, std::stoll(dim));
    } else if (!dim.empty()) {
      one.text(field::dimension::dim_param, dim);
    }
    shape.add(field::shape::dim, one);
  }
  Message tensor_type;
  tensor_type.number(field::tensor_type::elem_type, static_cast<int64_t>(dtype)).add(field::tensor_type::shape, shape);
  return Message().text(field::value_info::name, name).add(field::value_info::type, Message().add(field::type::tensor, tensor_type));
}

struct GraphText {
  Names inputs, outputs;
  std::vector<Message> nodes = {};
  Messages initializers = {};

  operator Message() const {
    Message graph;
    for (const auto& node : nodes) graph.add(field::graph::node, node);
    graph.text(field::graph::name, "g");
    for (const auto& initializer : initializers) graph.add(field::graph::initializer, initializer);
    for (const auto& input : inputs) graph.add(field::graph::input, value_info(input));
    for (const auto& output : outputs) graph.add(field::graph::output, value_info(output));
    return graph;
  }
};

inline Message opset(std::string_view domain, int64_t version) {
  return Message().text(field::opset::domain, domain).number(field::opset::version, version);
}

inline Message model(const Message& graph, int64_t ir_version = 10, const Messages& functions = {}) {
  Message message;
  message.number(field::model::ir_version, ir_version)
      .add(field::model::opset_import, opset("", 17))
      .add(field::model::opset_import, opset("local", 1));
  message.add(field::model::graph, graph);
  for (const auto& function : functions) message.add(field::model::functions, function);
  return message;
}

struct FunctionText {
  std::string name;
  Names inputs, outputs;
  std::vector<Message> nodes = {};
  Names attributes = {};
  Messages defaults = {};
  int64_t opset_version = 17;
  std::string overload = {};

  operator Message() const {
    Message function;
    function.text(field::function::name, name).text(field::function::domain, "local");
    for (const auto& input : inputs) function.text(field::function::input, input);
    for (const auto& output : outputs) function.text(field::function::output, output);
    for (const auto& attribute : attributes) function.text(field::function::attribute, attribute);
    for (const auto& attribute : defaults) function.add(field::function::attribute_proto, attribute);
    for (const auto& node : nodes) function.add(field::function::node, node);
    if (!overload.empty()) function.text(field::function::overload, overload);
    return function.add(field::function::opset_import, opset("", opset_version)).add(field::function::opset_import, opset("local", 1));
  }
};

/// Expects that body() throws an Error whose what() has every one of `parts`.
template <typename Body>
void expect_error(std::string_view what, std::initializer_list<std::string_view> parts, Body&& body) {
  try {
    body();
    ADD_FAILURE() << what << ": expected an error";
  } catch (const Error& error) {
    for (std::string_view part : parts) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
          << what << ": expected '" << part << "' in: " << error.what();
    }
  }
}

}  // namespace rh::onnx::test
