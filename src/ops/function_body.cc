#include "ops/function_body.h"

#include <algorithm>

namespace rh::ops {

namespace {

/// Adds the nodes of one body.
class Builder {
 public:
  Builder(Graph& graph, Node call) : graph_(graph), call_(std::move(call)) { graph.remove_node(call_.id); }

  ValueId input(size_t index) const { return call_.inputs[index]; }
  const ValueType& type(size_t index) const { return graph_.value(call_.inputs[index]).type; }
  const Attribute* attribute(std::string_view name) const { return call_.attribute(name); }

  ValueId constant(const char* hint, Tensor value) { return graph_.add_initializer(graph_.fresh_name(hint), Value(std::move(value))); }
  /// A value inside of the body.
  ValueId add(const char* op, std::vector<ValueId> inputs, ValueType type, std::vector<Attribute> attributes = {}) {
    const ValueId output = graph_.add_value(graph_.fresh_name(op), std::move(type));
    add_node(op, std::move(inputs), output, std::move(attributes));
    return output;
  }
  /// What the call gave.
  void finish(const char* op, std::vector<ValueId> inputs, std::vector<Attribute> attributes = {}) {
    add_node(op, std::move(inputs), call_.outputs[0], std::move(attributes));
  }
  std::vector<NodeId> take() { return std::move(nodes_); }

 private:
  void add_node(const char* op, std::vector<ValueId> inputs, ValueId output, std::vector<Attribute> attributes) {
    Node node;
    node.op_type = op;
    node.opset = call_.opset;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attributes = std::move(attributes);
    node.provenance = call_.provenance;
    if (!call_.provenance.empty()) {
      node.provenance.push_back(std::make_shared<const OriginalNode>(
          OriginalNode{"", op, static_cast<int32_t>(nodes_.size()), "", call_.opset, call_.provenance.back()}));
    }
    nodes_.push_back(graph_.add_node(std::move(node)));
  }

  Graph& graph_;
  const Node call_;
  std::vector<NodeId> nodes_;
};

ValueType scalar_of(DType dtype) { return ValueType::tensor(dtype, SymbolicShape()); }

void build_hard_swish(Builder& body) {
  const ValueId gate = body.add("HardSigmoid", {body.input(0)}, body.type(0), {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
  body.finish("Mul", {body.input(0), gate});
}

void build_mish(Builder& body) {
  const ValueId softplus = body.add("Softplus", {body.input(0)}, body.type(0));
  body.finish("Mul", {body.input(0), body.add("Tanh", {softplus}, body.type(0))});
}

void build_swish(Builder& body) {
  const DType dtype = body.type(0).tensor().dtype;
  const Attribute* given = body.attribute("alpha");
  const float* alpha = given ? given->get<float>() : nullptr;
  const ValueId factor = body.constant("Alpha", Tensor::scalar(alpha ? *alpha : 1.0f));
  const ValueId cast = body.add("Cast", {factor}, scalar_of(dtype), {{"to", static_cast<int64_t>(dtype)}});
  const ValueId scaled = body.add("Mul", {cast, body.input(0)}, body.type(0));
  body.finish("Mul", {body.input(0), body.add("Sigmoid", {scaled}, body.type(0))});
}

void build_cast_like(Builder& body) {
  std::vector<Attribute> attributes{{"to", static_cast<int64_t>(body.type(1).tensor().dtype)}};
  for (const char* name : {"saturate", "round_mode"}) {
    if (const Attribute* given = body.attribute(name)) attributes.push_back(*given);
  }
  body.finish("Cast", {body.input(0)}, std::move(attributes));
}

struct Function {
  std::string_view op_type;
  size_t inputs;
  void (*build)(Builder& body);
};

constexpr Function kFunctions[] = {
    {"HardSwish", 1, build_hard_swish}, {"Mish", 1, build_mish}, {"Swish", 1, build_swish}, {"CastLike", 2, build_cast_like}};

const Function* function_of(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.outputs.size() != 1 || node.outputs[0] == kNoValue) return nullptr;
  const auto row = std::ranges::find(kFunctions, node.op_type, &Function::op_type);
  if (row == std::end(kFunctions) || node.inputs.size() != row->inputs) return nullptr;
  const auto is_typed = [&](ValueId id) {
    return id != kNoValue && graph.value(id).type.is_tensor() && graph.value(id).type.tensor().dtype != DType::undefined;
  };
  return std::ranges::all_of(node.inputs, is_typed) ? row : nullptr;
}

}  // namespace

bool runs_as_function(const Graph& graph, const Node& node) { return function_of(graph, node) != nullptr; }

std::vector<NodeId> expand_function(Graph& graph, NodeId id) {
  const Function* function = function_of(graph, graph.node(id));
  if (!function) return {};
  Builder body(graph, graph.node(id));
  function->build(body);
  return body.take();
}

}  // namespace rh::ops
