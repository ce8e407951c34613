#pragma once

#include <cstdint>
#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace rh::test {

/// A dimension of a declared shape: a number or a name.
struct DimText {
  DimText(int64_t number) : value(number) {}
  DimText(const char* symbol) : name(symbol) {}
  int64_t value = 0;
  std::string name;
};

/// An attribute as a message: a number, a text, numbers, or texts.
struct AttributeBytes {
  AttributeBytes(const char* name, float value) : AttributeBytes(name, 1) { writer.add_float(2, value); }
  AttributeBytes(const char* name, int64_t value) : AttributeBytes(name, 2) { writer.add_int64(3, value); }
  AttributeBytes(const char* name, const char* value) : AttributeBytes(name, 3) { writer.add_string(4, value); }
  AttributeBytes(const char* name, const std::vector<float>& values) : AttributeBytes(name, 6) {
    writer.add_packed_float(7, values.begin(), values.end());
  }
  AttributeBytes(const char* name, const std::vector<int64_t>& values) : AttributeBytes(name, 7) {
    writer.add_packed_int64(8, values.begin(), values.end());
  }
  AttributeBytes(const char* name, const std::vector<std::string>& values) : AttributeBytes(name, 8) {
    for (const std::string& value : values) writer.add_string(9, value);
  }
  /// A tensor of floats, 1-D.
  static AttributeBytes tensor(const char* name, const std::vector<float>& values) {
    AttributeBytes made(name, 4);
    std::string bytes;
    protozero::pbf_writer tensor(bytes);
    tensor.add_int64(1, static_cast<int64_t>(values.size()));
    tensor.add_int32(2, 1);
    tensor.add_packed_float(4, values.begin(), values.end());
    made.writer.add_message(5, bytes);
    return made;
  }
  AttributeBytes(const AttributeBytes& other) : text(other.text) {}

  std::string text;

 private:
  AttributeBytes(const char* name, int kind) {
    writer.add_string(1, name);
    writer.add_int32(20, kind);
  }
  protozero::pbf_writer writer{text};
};

/// Messages of the ONNX format, written field by field.
class ModelBytes {
 public:
  using Ints = std::vector<std::pair<std::string, std::vector<int64_t>>>;
  ModelBytes& node(const std::string& op, std::initializer_list<std::string> inputs, std::initializer_list<std::string> outputs,
                   const Ints& attributes = {}) {
    std::string bytes;
    protozero::pbf_writer node(bytes);
    for (const std::string& input : inputs) node.add_string(1, input);
    for (const std::string& output : outputs) node.add_string(2, output);
    node.add_string(3, outputs.begin()[0] + "_node");
    node.add_string(4, op);
    for (const auto& [name, values] : attributes) {
      std::string text;
      protozero::pbf_writer attribute(text);
      attribute.add_string(1, name);
      attribute.add_packed_int64(8, values.begin(), values.end());
      attribute.add_int32(20, 7);
      node.add_message(5, text);
    }
    return field(1, bytes);
  }
  /// Of a domain of its own.
  ModelBytes& custom(const std::string& op, const std::string& domain, std::initializer_list<std::string> inputs,
                     std::initializer_list<std::string> outputs, std::initializer_list<AttributeBytes> attributes = {}) {
    std::string bytes;
    protozero::pbf_writer node(bytes);
    for (const std::string& input : inputs) node.add_string(1, input);
    for (const std::string& output : outputs) node.add_string(2, output);
    node.add_string(3, outputs.begin()[0] + "_node");
    node.add_string(4, op);
    for (const AttributeBytes& attribute : attributes) node.add_message(5, attribute.text);
    node.add_string(7, domain);
    return field(1, bytes);
  }
  ModelBytes& import(const std::string& domain, int version) {
    std::string bytes;
    protozero::pbf_writer(bytes).add_string(1, domain);
    protozero::pbf_writer(bytes).add_int64(2, version);
    imports_.push_back(bytes);
    return *this;
  }
  /// Of one dimension unless others are given.
  ModelBytes& initializer(const std::string& name, const std::vector<float>& values, std::vector<int64_t> dims = {}) {
    std::string bytes;
    protozero::pbf_writer tensor(bytes);
    if (dims.empty()) dims = {static_cast<int64_t>(values.size())};
    for (int64_t dim : dims) tensor.add_int64(1, dim);
    tensor.add_int32(2, 1);
    tensor.add_packed_float(4, values.begin(), values.end());
    tensor.add_string(8, name);
    return field(5, bytes);
  }
  /// Floats in an external file, from `offset` on.
  ModelBytes& external_initializer(const std::string& name, const std::vector<int64_t>& dims, const std::string& file, size_t offset) {
    std::string bytes;
    protozero::pbf_writer tensor(bytes);
    for (const int64_t dim : dims) tensor.add_int64(1, dim);
    tensor.add_int32(2, 1);
    tensor.add_string(8, name);
    for (const auto& [key, value] : {std::pair<std::string, std::string>("location", file), {"offset", std::to_string(offset)}}) {
      std::string entry;
      protozero::pbf_writer(entry).add_string(1, key);
      protozero::pbf_writer(entry).add_string(2, value);
      tensor.add_message(13, entry);
    }
    tensor.add_int32(14, 1);
    return field(5, bytes);
  }
  ModelBytes& input(const std::string& name, int type, const std::vector<DimText>& dims) { return field(11, value_info(name, type, dims)); }
  ModelBytes& output(const std::string& name, int type, const std::vector<DimText>& dims) {
    return field(12, value_info(name, type, dims));
  }

  std::string model(int opset = 17) const {
    std::string bytes, graph = graph_, import;
    protozero::pbf_writer(graph).add_string(2, "graph");
    protozero::pbf_writer(graph).add_string(10, "about the graph");
    protozero::pbf_writer(import).add_int64(2, opset);
    protozero::pbf_writer model(bytes);
    model.add_int64(1, 8);
    model.add_string(2, "producer");
    model.add_string(4, "example.domain");
    model.add_int64(5, 7);
    model.add_string(6, "about the model");
    model.add_message(7, graph);
    model.add_message(8, import);
    for (const std::string& other : imports_) model.add_message(8, other);
    for (const auto& [key, value] : {std::pair("b", "2"), std::pair("a", "1")}) {
      std::string pair;
      protozero::pbf_writer(pair).add_string(1, key);
      protozero::pbf_writer(pair).add_string(2, value);
      model.add_message(14, pair);
    }
    return bytes;
  }

 private:
  ModelBytes& field(protozero::pbf_tag_type tag, const std::string& bytes) {
    protozero::pbf_writer(graph_).add_message(tag, bytes);
    return *this;
  }
  static std::string value_info(const std::string& name, int type, const std::vector<DimText>& dims) {
    std::string shape, tensor, kind, info;
    for (const DimText& dim : dims) {
      std::string bytes;
      if (dim.name.empty()) {
        protozero::pbf_writer(bytes).add_int64(1, dim.value);
      } else {
        protozero::pbf_writer(bytes).add_string(2, dim.name);
      }
      protozero::pbf_writer(shape).add_message(1, bytes);
    }
    protozero::pbf_writer tensor_writer(tensor);
    tensor_writer.add_int32(1, type);
    tensor_writer.add_message(2, shape);
    protozero::pbf_writer(kind).add_message(1, tensor);
    protozero::pbf_writer(info).add_string(1, name);
    protozero::pbf_writer(info).add_message(2, kind);
    return info;
  }

  std::string graph_;
  std::vector<std::string> imports_;
};

/// y = x + w, z = Relu(y); x and y are float [N, 3], w is an initializer that may be given as an input.
inline std::string add_relu_model() {
  return ModelBytes()
      .node("Add", {"x", "w"}, {"y"})
      .node("Relu", {"y"}, {"z"})
      .initializer("w", {1, 2, 3})
      .input("x", 1, {"N", 3})
      .input("w", 1, {3})
      .output("y", 1, {"N", 3})
      .output("z", 1, {"N", 3})
      .model();
}

}  // namespace rh::test
