// Pattern: element-wise operators between DequantizeLinear and QuantizeLinear whose result depends on one tensor of 8 bits.
// Replacement: ByteTable: a look-up among 256 results.
// Not: scales or other operands of more than one element; what only moves codes to another scale; what cannot be computed at load.

#include <algorithm>
#include <array>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int64_t kCodes = 256;
constexpr int kMostDepth = 64;  // of one function

/// Operators whose result's element i follows from element i of their inputs alone, whatever the others are.
bool is_elementwise(const Node& node) {
  static constexpr std::array<std::string_view, 40> kNames = {
      "Abs",       "Acos",      "Acosh", "Add",  "Asin", "Asinh",    "Atan",     "Atanh",      "Ceil", "Celu",
      "Clip",      "Cos",       "Cosh",  "Div",  "Elu",  "Erf",      "Exp",      "Floor",      "Gelu", "HardSigmoid",
      "HardSwish", "LeakyRelu", "Log",   "Mish", "Mul",  "Neg",      "Pow",      "Reciprocal", "Relu", "Round",
      "Selu",      "Sigmoid",   "Sign",  "Sin",  "Sinh", "Softplus", "Softsign", "Sqrt",       "Sub",  "Tanh"};
  return node.domain.empty() && std::ranges::find(kNames, node.op_type) != kNames.end();
}

/// Finds values that are functions of one tensor of bytes, element by element.
class Tabulator : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    if (!context_.evaluator) return rewrite_.take();
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (const ValueId source = source_of(node); source != kNoValue) sources_.emplace(node.outputs[0], source);
    }
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_op(node, "QuantizeLinear") && sources_.contains(node.outputs[0]) && is_wanted(node.outputs[0])) look_up(node);
    }
    return rewrite_.take();
  }

 private:
  bool is_byte(ValueId id) const {
    if (id == kNoValue) return false;
    const DType dtype = tensor_type(graph_, id).dtype;
    return dtype == DType::int8 || dtype == DType::uint8;
  }
  bool is_number(ValueId id) const {
    const Tensor* tensor = graph_.value(id).constant_tensor();
    return tensor && tensor->elements() == 1 && tensor->shape().rank() <= 1;
  }
  /// The bytes whose function the value is; the value itself where it is no function of others.
  ValueId source(ValueId id) const {
    const auto at = sources_.find(id);
    return at != sources_.end() ? at->second : is_byte(id) ? id : kNoValue;
  }

  /// kNoValue where the result is no function of one tensor of bytes.
  ValueId source_of(const Node& node) const {
    if (!is_only_output(graph_, node) || node.inputs.empty() || node.inputs[0] == kNoValue) return kNoValue;
    const bool quantizes = is_op(node, "QuantizeLinear"), dequantizes = is_op(node, "DequantizeLinear");
    if (quantizes || dequantizes) {
      for (size_t i = 1; i < node.inputs.size(); ++i) {
        if (node.inputs[i] != kNoValue && !is_number(node.inputs[i])) return kNoValue;
      }
      if (quantizes) return is_byte(node.outputs[0]) && sources_.contains(node.inputs[0]) ? source(node.inputs[0]) : kNoValue;
      const bool is_float = tensor_type(graph_, node.outputs[0]).dtype == DType::float32;
      return is_float && !graph_.value(node.inputs[0]).constant_tensor() ? source(node.inputs[0]) : kNoValue;
    }
    if (!is_elementwise(node) || tensor_type(graph_, node.outputs[0]).dtype != DType::float32) return kNoValue;
    ValueId found = kNoValue;
    for (ValueId id : node.inputs) {
      if (id == kNoValue || is_number(id)) continue;
      const auto at = sources_.find(id);
      if (at == sources_.end() || (found != kNoValue && found != at->second)) return kNoValue;
      found = at->second;
    }
    return found;
  }

  /// Whether something but functions of the same bytes takes the value.
  bool is_wanted(ValueId id) const {
    const GraphValue& value = graph_.value(id);
    return value.is_output || std::ranges::any_of(value.consumers, [&](NodeId user) {
             const Node& node = graph_.node(user);
             return is_op(node, "DequantizeLinear") ? is_wanted_as_floats(node, id) : true;
           });
  }
  /// Where the floats serve nothing but further functions, a table of those takes their place.
  bool is_wanted_as_floats(const Node& dequantize, ValueId id) const {
    const auto of_same = [&](ValueId made) {
      const auto at = sources_.find(made);
      return at != sources_.end() && at->second == source(id);
    };
    if (!of_same(dequantize.outputs[0])) return true;
    const GraphValue& floats = graph_.value(dequantize.outputs[0]);
    return floats.is_output || std::ranges::any_of(floats.consumers, [&](NodeId user) { return !of_same(graph_.node(user).outputs[0]); });
  }

  void look_up(const Node& node) {
    // What only moves the codes to another type or scale is left to others.
    const Node* given = graph_.producer(node.inputs[0]);
    if (!given || is_op(*given, "DequantizeLinear")) return;
    const ValueId from = source(node.outputs[0]);
    const TensorType &x = tensor_type(graph_, from), &y = tensor_type(graph_, node.outputs[0]);
    if (!x.has_rank() || x.rank() < 1 || !y.has_rank() || x.rank() != y.rank()) return;  // numbers do not broadcast it
    Tensor codes(x.dtype, Shape{kCodes});
    for (int64_t i = 0; i < kCodes; ++i) codes.data<uint8_t>()[i] = static_cast<uint8_t>(i);
    values_.clear();
    values_.emplace(from, std::move(codes));
    const Value table = evaluate(node.outputs[0]);
    if (!table.is_tensor() || !table.tensor().defined() || table.tensor().shape() != Shape{kCodes}) return;
    if (!context_.admit()) return;
    Edit& edit = rewrite_.edit();
    Node made;
    made.name = node.name;
    made.op_type = "ByteTable";
    made.domain = "roundhouse";
    made.opset = 1;
    made.inputs = {rewrite_.current(from), edit.add_constant("table", table.tensor())};
    rewrite_.replace_nodes(std::move(made), node, {given->id, node.id}, {given->id});
  }

  /// The value for all codes; empty where a node cannot be computed.
  Value evaluate(ValueId id, int depth = 0) {
    if (const auto at = values_.find(id); at != values_.end()) return at->second;
    if (const Tensor* constant = graph_.value(id).constant_tensor()) return *constant;
    const Node* node = graph_.producer(id);
    if (!node || depth > kMostDepth) return {};
    std::vector<Value> inputs;
    for (ValueId input : node->inputs) {
      inputs.push_back(input == kNoValue ? Value() : evaluate(input, depth + 1));
      if (input != kNoValue && !inputs.back().is_tensor()) return {};
    }
    Value result;
    try {
      std::vector<Value> results = context_.evaluator->evaluate(graph_, *node, inputs, size_t{1} << 16);
      if (!results.empty()) result = std::move(results[0]);
    } catch (const Error&) {
      return {};
    } catch (const std::bad_alloc&) {
      return {};  // as any other failure: the nodes stay
    }
    values_.emplace(id, result);
    return result;
  }

  std::unordered_map<ValueId, ValueId> sources_;
  std::unordered_map<ValueId, Value> values_;
};

}  // namespace

Edit convert_byte_functions_to_tables(const Graph& graph, PassContext& context) { return Tabulator(graph, context).run(); }

}  // namespace rh::passes
