// Pattern: GatherElements or ScatterElements of indices that Expand or Tile repeats for all that lies behind one position.
// Replacement: Gather, GatherND or ScatterND of whole slices by the indices themselves.
// Not: indices that differ behind the axis; ScatterElements along another axis than the first; dimensions before the axis that are not the
//   data's.

#include <algorithm>

#include "ops/tensor/gather_elements.h"
#include "ops/tensor/scatter_elements.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kScatterOpset = 11, kBatchOpset = 12;  // of ai.onnx, from which on there are ScatterND, and GatherND with batch_dims

class SliceTaker : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    return visit_nodes([&](const Node& node) {
      if (!is_only_output(graph_, node)) return;
      if (is_op(node, "ScatterElements")) scatter(node);
      if (is_op(node, "GatherElements")) gather(node);
    });
  }

 private:
  /// The indices before an Expand or a Tile that repeats them along all dimensions behind the axis, which are those of the data. Those
  /// before it are the same everywhere. kNoValue where there is none.
  ValueId indices_of(const Node& node, size_t axis) const {
    const Node* repeat = graph_.producer(node.inputs[1]);
    if (!repeat || (!is_op(*repeat, "Expand") && !is_op(*repeat, "Tile"))) return kNoValue;
    const TensorType &data = tensor_type(graph_, node.inputs[0]), &from = tensor_type(graph_, repeat->inputs[0]),
                     &to = tensor_type(graph_, node.inputs[1]);
    if (!data.has_rank() || !from.has_rank() || !to.has_rank() || from.rank() != to.rank() || data.rank() != to.rank()) return kNoValue;
    if (axis + 1 >= static_cast<size_t>(to.rank())) return kNoValue;
    for (size_t i = 0; i < to.dims->size(); ++i) {
      const Dim &own = (*from.dims)[i], &repeated = (*to.dims)[i];
      const bool fits = i > axis ? own.is_constant(1) : own == repeated;
      if (!fits || (i != axis && !(repeated == (*data.dims)[i]))) return kNoValue;
    }
    return repeat->inputs[0];
  }

  std::optional<size_t> axis_of(const Node& node, int64_t axis) const {
    const TensorType& data = tensor_type(graph_, node.inputs[0]);
    if (!data.has_rank() || axis < -data.rank() || axis >= data.rank()) return std::nullopt;
    return static_cast<size_t>(axis < 0 ? axis + data.rank() : axis);
  }

  DType index_type(ValueId indices) const { return tensor_type(graph_, indices).dtype; }

  void scatter(const Node& node) {
    const auto axis = axis_of(node, ops::ScatterElements::read(NodeView(graph_, node)).axis);
    if (axis != 0 || node.opset < kScatterOpset) return;
    const ValueId indices = indices_of(node, 0);
    if (indices == kNoValue || index_type(indices) != DType::int64 || !context_.admit()) return;
    Node made = part_of(node, true, "ScatterND", {}, {});
    for (const Attribute& attribute : node.attributes)
      if (attribute.name == "reduction") made.attributes.push_back(attribute);
    made.inputs = {rewrite_.current(node.inputs[0]), viewed(node, indices, {-1, 1}), rewrite_.current(node.inputs[2])};
    rewrite_.replace_nodes(std::move(made), node, {node.id});
  }

  void gather(const Node& node) {
    const auto axis = axis_of(node, ops::GatherElements::read(NodeView(graph_, node)).axis);
    const ValueId indices = axis ? indices_of(node, *axis) : kNoValue;
    if (indices == kNoValue) return;
    const SymbolicShape& dims = *tensor_type(graph_, indices).dims;
    const bool is_one_batch =
        std::all_of(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(*axis), [](const Dim& dim) { return dim.is_constant(1); });
    if (!is_one_batch && (node.opset < kBatchOpset || index_type(indices) != DType::int64)) return;
    if (!context_.admit()) return;
    const auto position = static_cast<int64_t>(*axis);
    std::vector<int64_t> tuples(*axis + 2, 0);  // as many as there are, each of one index
    tuples.back() = 1;
    Node made = is_one_batch ? part_of(node, true, "Gather", {}, {{"axis", position}})
                             : part_of(node, true, "GatherND", {}, {{"batch_dims", position}});
    made.inputs = {rewrite_.current(node.inputs[0]), viewed(node, indices, is_one_batch ? std::vector<int64_t>{-1} : tuples)};
    rewrite_.replace_nodes(std::move(made), node, {node.id});
  }

  /// In another shape, where it is not theirs.
  ValueId viewed(const Node& node, ValueId indices, const std::vector<int64_t>& shape) {
    const SymbolicShape& dims = *tensor_type(graph_, indices).dims;
    if (dims.size() == shape.size() && shape.back() == 1) return rewrite_.current(indices);
    const ValueId target = rewrite_.edit().add_constant(graph_.value(node.outputs[0]).name + "_shape", Tensor::ints(shape));
    return rewrite_.add_part(part_of(node, false, "Reshape", {rewrite_.current(indices), target}), node);
  }
};

}  // namespace

Edit convert_expanded_indices_to_slices(const Graph& graph, PassContext& context) { return SliceTaker(graph, context).run(); }

}  // namespace rh::passes
