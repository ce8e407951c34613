#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/node_view.h"

namespace rh::openvino {

constexpr int kLeastOpset = 13;  ///< whose Where, Equal and Cast take all of the types that are written otherwise

inline DType dtype_of_input(const NodeView& node, int i) {
  return node.has_input(i) && node.input_type(i).is_tensor() ? node.input_type(i).tensor().dtype : DType::undefined;
}

/// Of what is added: the graph's, whichever a node has that was inlined from a function.
inline int opset_of(const NodeView& node) {
  const auto found = node.graph().opset_imports.find("");
  return found == node.graph().opset_imports.end() ? 0 : found->second;
}

/// Puts nodes in place of one, of which the last gives what that gave.
class Replacement {
 public:
  Replacement(Graph& graph, NodeId id)
      : graph_(graph), node_(graph.node(id)), type_(graph.value(node_.outputs[0] == kNoValue ? node_.inputs[0] : node_.outputs[0]).type) {
    graph.remove_node(id);
  }

  const Node& node() const { return node_; }
  ValueId input(size_t i) const { return node_.inputs[i]; }
  DType dtype() const { return type_.tensor().dtype; }
  int opset() const { return graph_.opset_imports.at(""); }

  /// A value without a shape of its own: OpenVINO finds that itself.
  ValueId add(const char* op, std::vector<ValueId> inputs, DType type, std::vector<Attribute> attributes = {}) {
    const ValueId output = graph_.add_value("", ValueType::tensor(type, std::nullopt));
    add_node(op, std::move(inputs), {output}, std::move(attributes));
    return output;
  }
  void finish(const char* op, std::vector<ValueId> inputs, std::vector<Attribute> attributes = {}, size_t output = 0) {
    add_node(op, std::move(inputs), {node_.outputs[output]}, std::move(attributes));
  }
  /// The node itself with other inputs and attributes: what it gives in the place of each of its outputs.
  std::vector<ValueId> repeat(std::vector<ValueId> inputs, std::vector<Attribute> attributes) {
    std::vector<ValueId> given;
    for (ValueId output : node_.outputs) {
      given.push_back(output == kNoValue ? kNoValue : graph_.add_value("", ValueType::tensor(dtype(), std::nullopt)));
    }
    add_node(node_.op_type.c_str(), std::move(inputs), given, std::move(attributes));
    return given;
  }
  ValueId cast(ValueId value, DType to) { return add("Cast", {value}, to, {cast_to(to)}); }
  void finish_cast(ValueId value, DType to) { finish("Cast", {value}, {cast_to(to)}); }

  template <typename T>
  ValueId constant(T number) {
    return graph_.add_initializer("", Value(Tensor::scalar(number)));
  }
  ValueId constant(std::vector<int32_t> numbers) {
    const Shape shape{static_cast<int64_t>(numbers.size())};
    return graph_.add_initializer("", Value(Tensor::from<int32_t>(shape, numbers)));
  }
  ValueId sizes(std::vector<int64_t> numbers) {
    const Shape shape{static_cast<int64_t>(numbers.size())};
    return graph_.add_initializer("", Value(Tensor::from<int64_t>(shape, numbers)));
  }
  /// A number of another type, by way of an integer that it can hold.
  ValueId constant_of(DType type, int32_t number) { return cast(constant(number), type); }

 private:
  static Attribute cast_to(DType type) { return {"to", static_cast<int64_t>(type)}; }

  void add_node(const char* op, std::vector<ValueId> inputs, std::vector<ValueId> outputs, std::vector<Attribute> attributes) {
    Node made;
    made.op_type = op;
    made.inputs = std::move(inputs);
    made.outputs = std::move(outputs);
    made.attributes = std::move(attributes);
    made.provenance = node_.provenance;
    graph_.add_node(std::move(made));
  }

  Graph& graph_;
  const Node node_;
  const ValueType type_;
};

/// What turns a node of an operator into others.
struct Rewrite {
  std::string_view op_type;
  bool (*is_for)(const NodeView& node);
  void (*apply)(Graph& graph, NodeId id);
};

/// Those of integers, whose operators have no other.
std::span<const Rewrite> integer_rewrites();

}  // namespace rh::openvino
