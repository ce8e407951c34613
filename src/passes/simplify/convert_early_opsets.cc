// Pattern: an operator of an opset of ai.onnx before 7.
// Replacement: the same of opset 7: the operand that `axis` aligns gets dimensions of 1 at its end; BatchNormalization, Dropout, Gemm lose
//   old attributes.
// Not: nodes that train, have subgraphs, or whose ranks are not known.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/elementwise.h"
#include "ops/nn/normalization.h"
#include "ops/registry.h"
#include "ops/schema.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kOpset = 7;  // of ai.onnx, from which on operators broadcast as numpy does and BatchNormalization says what it trains

/// Whether opset 7 has the operator as the node's own has it.
bool has_same_form(const Node& node) {
  const ops::OpSchema* schema = ops::find_schema("", node.op_type, node.opset);
  return schema && schema == ops::find_schema("", node.op_type, kOpset);
}

class Lifting : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!node.domain.empty() || node.opset >= kOpset || has_subgraph(node) || !is_only_output(graph_, node)) continue;
      if (has_same_form(node)) {
        if (node.outputs.size() == 1 && context_.admit()) lift(node, 0);
      } else if (const auto ones = trailing_ones(NodeView(graph_, node)); ones && context_.admit()) {
        lift(node, *ones);
      }
    }
    return rewrite_.take();
  }

 private:
  /// How many dimensions of size 1 the second input takes on its way to opset 7; nothing where the node must stay as it is.
  std::optional<int> trailing_ones(const NodeView& node) const {
    const std::string_view op = node.op_type();
    if (op == "Gemm") return 0;
    if (op == "Dropout") return node.flag("is_test") ? std::optional(0) : std::nullopt;
    if (op == "BatchNormalization") return ops::BatchNormalization::read(node).training ? std::nullopt : std::optional(0);
    if (node.input_count() != 2 || !node.has_input(0) || !node.has_input(1)) return std::nullopt;
    const TensorType &a = node.input_type(0).tensor(), &b = node.input_type(1).tensor();
    ops::LegacyBroadcast legacy;
    if (op == "PRelu") {
      if (!b.has_rank()) return std::nullopt;
      if (b.rank() == 1) legacy.axis = 1;
    } else if (is_broadcasting(node.node())) {
      legacy = ops::LegacyBroadcast::read(node);
    } else {
      return std::nullopt;
    }
    if (!legacy.axis) return 0;
    return a.has_rank() && b.has_rank() ? std::optional(legacy.trailing_ones(a.rank(), b.rank())) : std::nullopt;
  }

  static bool is_broadcasting(const Node& node) {
    constexpr std::string_view kFamilies[] = {"Arithmetic", "Comparison", "Logical", "Pow"};
    const OpEntry* op = find_op(node.domain, node.op_type);
    return op && std::ranges::find(kFamilies, op->attributes) != std::end(kFamilies);
  }

  void lift(const Node& node, int ones) {
    const ops::OpSchema& schema = *ops::find_schema("", node.op_type, kOpset);
    Node made;
    made.name = node.name;
    made.op_type = node.op_type;
    made.opset = kOpset;
    for (ValueId input : node.inputs) made.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    if (ones > 0) made.inputs[1] = with_ones(node, ones);
    std::ranges::copy_if(node.attributes, std::back_inserter(made.attributes),
                         [&](const Attribute& attribute) { return schema.attribute(attribute.name) != nullptr; });
    rewrite_.replace_nodes(std::move(made), node, {node.id});
  }

  /// The node's second input with so many more dimensions of size 1 at its end.
  ValueId with_ones(const Node& node, int ones) {
    const auto [at, is_new] = reshaped_.try_emplace({node.inputs[1], ones}, kNoValue);
    if (is_new) at->second = reshape(node, ones);
    return at->second;
  }

  ValueId reshape(const Node& node, int ones) {
    const GraphValue& value = graph_.value(node.inputs[1]);
    if (const Tensor* tensor = value.constant_tensor()) {
      Shape shape = tensor->shape();
      shape.resize(shape.size() + static_cast<size_t>(ones), 1);
      return rewrite_.edit().add_constant(value.name, tensor->reshaped(std::move(shape)));
    }
    Node view;
    view.op_type = "Unsqueeze";
    view.opset = kOpset;
    view.inputs = {rewrite_.current(value.id)};
    view.outputs = {rewrite_.edit().add_value(value.name + "_aligned")};
    std::vector<int64_t> axes;
    for (int i = 0; i < ones; ++i) axes.push_back(value.type.tensor().rank() + i);
    view.attributes.push_back({"axes", std::move(axes)});
    const ValueId result = view.outputs[0];
    rewrite_.edit().add_node(std::move(view), {node.id});
    return result;
  }

  std::map<std::pair<ValueId, int>, ValueId> reshaped_;
};

}  // namespace

Edit convert_early_opsets(const Graph& graph, PassContext& context) { return Lifting(graph, context).run(); }

}  // namespace rh::passes
