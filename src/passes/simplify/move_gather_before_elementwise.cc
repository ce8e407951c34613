// Pattern: Gather of rows of a table that element-wise operators or DequantizeLinear make of constants, too large to be folded.
// Replacement: Gather of the rows of the constants, then the operators on these rows.
// Not: where as many rows are taken as there are; scales along the rows or in blocks; types that Gather has not.

#include <algorithm>

#include "ops/quant/dequantize_linear.h"
#include "ops/tensor/gather.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kMostDepth = 4;  // operators in a row

class Tables : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    return visit_nodes([&](const Node& node) {
      if (!is_op(node, "Gather") || !is_only_output(graph_, node)) return;
      const Node* giver = graph_.producer(node.inputs[0]);
      if (!giver || !takes_rows(node) || !is_computed(node.inputs[0], *rows_of(node.inputs[0]), 0) || !context_.admit()) return;
      Node made = on_rows(node, *giver);
      made.name = node.name;
      rewrite_.replace_nodes(std::move(made), node, {node.id});
    });
  }

 private:
  /// The first dimension of a value of known shape, of two dimensions or more.
  std::optional<int64_t> rows_of(ValueId id) const {
    const TensorType& type = tensor_type(graph_, id);
    if (!type.is_static() || type.rank() < 2 || type.shape()[0] < 2) return std::nullopt;
    return type.shape()[0];
  }

  /// Whether whole rows are taken, no more than there are as far as that is known.
  bool takes_rows(const Node& gather) const {
    const TensorType &table = tensor_type(graph_, gather.inputs[0]), &indices = tensor_type(graph_, gather.inputs[1]);
    if (!rows_of(gather.inputs[0]) || !indices.has_rank() || indices.rank() < 1) return false;
    const int64_t axis = ops::Gather::read(NodeView(graph_, gather)).axis;
    return (axis == 0 || axis == -table.rank()) && (!indices.is_static() || indices.shape().elements() < table.shape()[0]);
  }

  /// Dimensions that are broadcast count from the last one.
  static bool scales_rows(const Node& node) { return scales_elements(node) && (node.opset >= kBroadcastOpset || node.op_type == "Cast"); }

  /// Gather has no types newer than bfloat16, which are parts of bytes and floats of 8 bits.
  static bool may_be_gathered(DType dtype) { return dtype <= DType::bfloat16; }

  /// One scale for all, or one for each place of a dimension behind the first, which is then counted from the end.
  bool scales_columns(const Node& node) const {
    if (!is_op(node, "DequantizeLinear")) return false;
    const TensorType& scale = tensor_type(graph_, node.inputs[1]);
    const ops::DequantizeLinear op = ops::DequantizeLinear::read(NodeView(graph_, node));
    const TensorType& x = tensor_type(graph_, node.inputs[0]);
    if (!scale.is_static() || !x.has_rank() || op.block_size != 0) return false;
    const int64_t rank = x.rank(), axis = op.axis < 0 ? op.axis + rank : op.axis;
    return scale.rank() == 0 || (scale.rank() == 1 && (scale.shape()[0] == 1 || axis > 0));
  }

  /// Whether the value has these rows and operators that work element by element make it of constants.
  bool is_computed(ValueId id, int64_t rows, int depth) const {
    const Node* node = graph_.producer(id);
    if (!node || depth == kMostDepth || rows_of(id) != rows || !is_only_output(graph_, *node)) return false;
    const bool dequantises = scales_columns(*node);
    if (!dequantises && !scales_rows(*node)) return false;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      const ValueId input = node->inputs[i];
      if (input == kNoValue) continue;
      if (const Tensor* constant = graph_.value(input).constant_tensor()) {
        if (!may_be_gathered(constant->dtype())) return false;
        continue;
      }
      if ((dequantises && i > 0) || !is_computed(input, rows, depth + 1)) return false;
    }
    return true;
  }

  /// The operator on the rows that the Gather takes, without outputs yet.
  Node on_rows(const Node& gather, const Node& giver) {
    const int64_t rank = tensor_type(graph_, giver.outputs[0]).rank(), rows = *rows_of(giver.outputs[0]);
    const bool dequantises = is_op(giver, "DequantizeLinear");
    Node made = part_of(gather, false, giver.op_type, {}, giver.attributes);
    made.opset = giver.opset;
    for (size_t i = 0; i < giver.inputs.size(); ++i) {
      const ValueId input = giver.inputs[i];
      const bool has_rows =
          input != kNoValue && (!dequantises || i == 0) && rows_of(input) == rows && tensor_type(graph_, input).rank() == rank;
      made.inputs.push_back(has_rows ? rows_taken(gather, input) : input == kNoValue ? kNoValue : rewrite_.current(input));
    }
    if (dequantises && tensor_type(graph_, giver.inputs[1]).shape().elements() > 1) count_axis_from_end(made, rank);
    return made;
  }

  ValueId rows_taken(const Node& gather, ValueId table) {
    if (!graph_.value(table).constant_tensor()) return rewrite_.add_part(on_rows(gather, *graph_.producer(table)), gather);
    return rewrite_.add_part(part_of(gather, false, "Gather", {rewrite_.current(table), rewrite_.current(gather.inputs[1])}), gather);
  }

  static void count_axis_from_end(Node& node, int64_t rank) {
    const auto axis = std::ranges::find(node.attributes, "axis", &Attribute::name);
    const int64_t given = axis == node.attributes.end() ? 1 : *axis->get<int64_t>();
    if (axis != node.attributes.end()) node.attributes.erase(axis);
    node.attributes.push_back({"axis", given < 0 ? given : given - rank});
  }
};

}  // namespace

Edit move_gather_before_elementwise(const Graph& graph, PassContext& context) { return Tables(graph, context).run(); }

}  // namespace rh::passes
