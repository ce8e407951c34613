// Pattern: BatchNormalization of the rows of [1, rows, D, 1] by the mean and variance of its own input, between Reshapes, with scale and
//   bias behind.
// Replacement: LayerNormalization over the last dimension.
// Not: other types than float32; a BatchNormalization that scales or shifts by itself; shapes that differ at both ends.

#include <algorithm>

#include "ops/nn/normalization.h"
#include "ops/reduction/reduce.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/channel_affine.h"

namespace rh::passes {

namespace {

constexpr int kLayerOpset = 17;

/// BatchNormalization of [1, rows, D, 1], made of [..., D] by Reshape and reshaped back, and what follows.
struct Found {
  ValueId x = kNoValue;  // [..., D]
  int64_t size = 0;      // D
  double epsilon = 0;
  ValueId scale = kNoValue, bias = kNoValue;
  const Node* last = nullptr;
  std::vector<NodeId> nodes;
};

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_op(node, "BatchNormalization") || node.inputs.size() != 5) continue;
      const auto found = match(node);
      if (found && context_.admit()) replace(*found);
    }
    return rewrite_.take();
  }

 private:
  std::optional<Found> match(const Node& node) const {
    const TensorType& rows = tensor_type(graph_, node.inputs[0]);
    if (rows.dtype != DType::float32 || !rows.has_rank() || rows.rank() != 4) return std::nullopt;
    const SymbolicShape& dims = *rows.dims;
    if (!dims[0].is_constant(1) || !dims[3].is_constant(1) || !dims[2].is_constant() || dims[2].value() < 1) return std::nullopt;
    const auto op = ops::BatchNormalization::read(NodeView(graph_, node));
    if (op.training || !holds(node.inputs[1], 1) || !holds(node.inputs[2], 0)) return std::nullopt;
    Found f{.size = dims[2].value(), .epsilon = static_cast<double>(op.epsilon)};
    const bool is_matched =
        is_mean(node.inputs[3], node.inputs[0]) && is_variance(node.inputs[4], node.inputs[0], f.size) && match_reshapes(node, f);
    if (!is_matched) return std::nullopt;
    match_parameters(f);
    return f;
  }

  /// Whether all elements are this number, of a constant or of one that is expanded.
  bool holds(ValueId value, double number) const {
    const Node* expand = graph_.producer(value);
    if (expand && is_op(*expand, "Expand")) return constant_number(graph_, expand->inputs[0]) == number;
    const Tensor* constant = value == kNoValue ? nullptr : graph_.value(value).constant_tensor();
    for (int64_t i = 0; constant && i < constant->elements(); ++i)
      if (element_as_double(constant->view(), i) != number) return false;
    return constant != nullptr;
  }

  /// The node that gives these elements, perhaps in another shape.
  const Node* maker(ValueId value) const {
    const Node* node = graph_.producer(value);
    return node && is_view(*node) ? graph_.producer(node->inputs[0]) : node;
  }

  /// Whether the node reduces all dimensions of [1, rows, D, 1] but the rows.
  bool is_over_rows(const Node* node, std::string_view op_type) const {
    if (!node || !is_op(*node, op_type)) return false;
    const NodeView view(graph_, *node);
    const ops::Reduce op = ops::Reduce::read(view);
    std::vector<int64_t> axes = op.axes.value_or(std::vector<int64_t>());
    if (op.axes_are_input) {
      const Tensor* given = view.constant_input(1);
      if (!given || given->dtype() != DType::int64) return false;
      axes.assign(given->data<int64_t>(), given->data<int64_t>() + given->elements());
    }
    const TensorType& type = tensor_type(graph_, node->inputs[0]);
    if (axes.empty() || !type.has_rank() || type.rank() != 4) return false;
    const auto reduced = op.reduced(axes, 4);
    return reduced[0] && !reduced[1] && reduced[2] && reduced[3];
  }

  bool is_mean(ValueId value, ValueId rows) const {
    const Node* mean = maker(value);
    return is_over_rows(mean, "ReduceMean") && mean->inputs[0] == rows;
  }

  /// The sum of the squares of the rows less their means, divided by the size of a row.
  bool is_variance(ValueId value, ValueId rows, int64_t size) const {
    const Node* quotient = maker(value);
    if (!quotient || !is_op(*quotient, "Div") || constant_number(graph_, quotient->inputs[1]) != static_cast<double>(size)) return false;
    const Node* sum = maker(quotient->inputs[0]);
    if (!is_over_rows(sum, "ReduceSumSquare")) return false;
    const Node* difference = graph_.producer(sum->inputs[0]);
    if (!difference || !is_op(*difference, "Sub") || difference->inputs[0] != rows) return false;
    const TensorType& mean = tensor_type(graph_, difference->inputs[1]);
    return mean.has_rank() && mean.rank() == 4 && is_mean(difference->inputs[1], rows);
  }

  bool match_reshapes(const Node& node, Found& f) const {
    const Node *before = graph_.producer(node.inputs[0]), *after = only_user(graph_, node);
    if (!before || !after || !is_op(*before, "Reshape") || !is_op(*after, "Reshape") || after->inputs[0] != node.outputs[0]) return false;
    if (!is_only_output(graph_, *after)) return false;
    f.x = before->inputs[0];
    f.last = after;
    f.nodes = {node.id, after->id};
    return has_shape_of_x(after->outputs[0], f);
  }

  /// Whether the value, of as many elements as x, has its shape. A dimension that differs in name alone is the same one.
  bool has_shape_of_x(ValueId value, const Found& f) const {
    const TensorType &x = tensor_type(graph_, f.x), &y = tensor_type(graph_, value);
    if (!x.has_rank() || !y.has_rank() || x.rank() != y.rank() || x.rank() < 2) return false;
    if (!x.dims->back().is_constant(f.size) || !y.dims->back().is_constant(f.size)) return false;
    int different = 0;
    bool may_be_empty = false;
    for (size_t i = 0; i < x.dims->size(); ++i) {
      const Dim& dim = (*x.dims)[i];
      if (dim != (*y.dims)[i]) {
        ++different;
      } else {
        may_be_empty |= !dim.is_constant() || dim.value() < 1;
      }
    }
    return different == 0 || (different == 1 && !may_be_empty);
  }

  /// A scale and then a bias of each element of a row.
  void match_parameters(Found& f) const {
    f.scale = take_parameter(f, "Mul");
    f.bias = take_parameter(f, "Add");
  }

  ValueId take_parameter(Found& f, std::string_view op_type) const {
    const Node* node = only_user(graph_, *f.last);
    if (!node || !is_op(*node, op_type) || node->opset < kBroadcastOpset || !is_only_output(graph_, *node)) return kNoValue;
    const ValueId parameter = other_input(*node, f.last->outputs[0]);
    const TensorType& type = tensor_type(graph_, parameter);
    const bool fits = type.dtype == DType::float32 && type.has_rank() && type.rank() == 1 && type.dims->back().is_constant(f.size);
    if (!fits || parameter == f.last->outputs[0]) return kNoValue;
    f.last = node;
    f.nodes.push_back(node->id);
    return parameter;
  }

  void replace(const Found& f) {
    Node fused;
    fused.name = f.last->name;
    fused.op_type = "LayerNormalization";
    fused.opset = std::max(f.last->opset, kLayerOpset);
    fused.attributes = {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(f.epsilon)}};
    ValueId scale = rewrite_.current(f.scale);
    if (f.scale == kNoValue) {
      const std::vector<double> ones(static_cast<size_t>(f.size), 1.0);
      scale = rewrite_.edit().add_constant(graph_.value(f.last->outputs[0]).name + "_scale", *channel_parameters(DType::float32, ones));
    }
    fused.inputs = {rewrite_.current(f.x), scale};
    if (f.bias != kNoValue) fused.inputs.push_back(rewrite_.current(f.bias));
    rewrite_.replace_nodes(std::move(fused), *f.last, f.nodes);
  }
};

}  // namespace

Edit recognise_batch_statistics(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
