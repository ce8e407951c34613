// Pattern: integers that follow from shapes and are the same in every run; the target of a Reshape of which but one dimension changes.
// Replacement: a constant; for the target a constant with 0 (as the input has it) and -1 (the rest).
// Not: contents that inference does not know; targets with two unknown dimensions, or a -1 beside a size of 0.

#include <algorithm>

#include "ops/tensor/reshape.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

// The constant that the value always is; undefined where contents do not tell.
Tensor known_constant(const TensorType& type, const SymbolicShape& contents) {
  if (!type.is_static() || type.rank() > 1 || type.shape().elements() != static_cast<int64_t>(contents.size())) return {};
  if (!std::all_of(contents.begin(), contents.end(), [](const Dim& d) { return d.is_constant(); })) return {};
  Tensor tensor(type.dtype, type.shape());
  for (size_t i = 0; i < contents.size(); ++i) {
    const int64_t value = contents[i].value();
    if (type.dtype == DType::int64) {
      tensor.data<int64_t>()[i] = value;
    } else if (type.dtype == DType::int32 && value == static_cast<int32_t>(value)) {
      tensor.data<int32_t>()[i] = static_cast<int32_t>(value);
    } else {
      return {};
    }
  }
  return tensor;
}

// Shape and Size of static shapes, also where contents are not tracked (subgraphs).
Tensor static_shape(const NodeView& node) {
  const bool is_shape = is_op(node.node(), "Shape"), is_size = is_op(node.node(), "Size");
  if ((!is_shape && !is_size) || node.has("start") || node.has("end") || !node.has_input(0)) return {};
  const TensorType& type = node.input_type(0).tensor();
  if (!node.input_type(0).is_tensor() || !type.is_static()) return {};
  return is_shape ? Tensor::ints(type.shape()) : Tensor::scalar<int64_t>(type.shape().elements());
}

// A constant that asks of Reshape what `wanted` does: 0 copies the input's dimension, one -1 is worked out. Nothing where there is none
// that holds for empty tensors too.
std::optional<std::vector<int64_t>> constant_target(const SymbolicShape& wanted, const SymbolicShape& input, bool allow_zero) {
  std::vector<int64_t> target;
  int inferred = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].is_constant()) {
      target.push_back(wanted[i].value());
    } else if (!allow_zero && i < input.size() && wanted[i] == input[i]) {
      target.push_back(0);
    } else {
      target.push_back(-1);
      ++inferred;
    }
  }
  // A -1 of ours wants the product of all others, so none may be 0; one of the model beside a size of 0 was refused before, too.
  if (std::count(target.begin(), target.end(), -1) > 1) return std::nullopt;
  if (inferred == 1 && std::count(target.begin(), target.end(), 0) > 0) return std::nullopt;
  return target;
}

void simplify_reshape(const Graph& graph, const Node& node, const KnownContents& contents, PassContext& context, Rewrite& rewrite) {
  if (!is_op(node, "Reshape") || node.inputs.size() != 2 || node.inputs[1] == kNoValue || graph.value(node.inputs[1]).is_constant()) return;
  const Node* producer = graph.producer(node.inputs[1]);
  if (context.for_tools && (!producer || !is_op(*producer, "Concat"))) return;
  const auto wanted = contents.find(node.inputs[1]);
  const TensorType& x = tensor_type(graph, node.inputs[0]);
  if (wanted == contents.end() || !x.has_rank()) return;
  const auto target = constant_target(wanted->second, *x.dims, ops::Reshape::read(NodeView(graph, node)).allow_zero);
  if (!target || !context.admit()) return;
  rewrite.edit().set_input(node.id, 1, rewrite.edit().add_constant(graph.value(node.inputs[1]).name, Tensor::ints(*target)));
}

}  // namespace

Edit fold_shape_arithmetic(const Graph& graph, PassContext& context) {
  const KnownContents nothing;
  const KnownContents& contents = context.contents ? *context.contents : nothing;
  Rewrite rewrite(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (node.outputs.empty() || node.outputs[0] == kNoValue) continue;
    const ValueId output = node.outputs[0];
    const auto known = contents.find(output);
    const bool is_known = known != contents.end() && (!context.for_tools || is_op(node, "Shape"));
    Tensor constant = is_known ? known_constant(tensor_type(graph, output), known->second) : static_shape(NodeView(graph, node));
    if (!constant.defined()) {
      simplify_reshape(graph, node, contents, context, rewrite);
    } else if (is_only_output(graph, node) && context.admit()) {
      rewrite.replace_node(node, rewrite.edit().add_constant(graph.value(output).name, std::move(constant)));
    }
  }
  return rewrite.take();
}

}  // namespace rh::passes
