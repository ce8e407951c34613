// Pattern: ScatterND that assigns to all of its data, or several in a row that assign to slices along one axis and leave nothing of the
//   data.
// Replacement: the updates; Concat of the updates.
// Not: reductions; indices that are not constant or no whole slice; slices that overlap in part.

#include <algorithm>

#include "ops/tensor/concat.h"
#include "ops/tensor/scatter_nd.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

/// Of each dimension of the data, what is assigned.
struct Interval {
  int64_t start = 0, end = 0;
};
using Box = std::vector<Interval>;

/// Assignments to slices along one axis, from left to right.
struct Pieces {
  size_t axis = 0;
  std::vector<std::pair<Interval, ValueId>> list;

  /// False where a part of the slice is assigned already. One of which all is, is left out.
  bool add(const Interval& slice, ValueId value) {
    const auto at = std::ranges::lower_bound(list, slice.start, {}, [](const auto& piece) { return piece.first.end - 1; });
    if (at != list.end() && at->first.start <= slice.start && slice.end <= at->first.end) return true;
    if (at != list.end() && at->first.start < slice.end) return false;
    list.insert(at, {slice, value});
    return true;
  }
  bool cover(int64_t size) const {
    int64_t end = 0;
    for (const auto& [slice, value] : list) {
      if (slice.start != end) return false;
      end = slice.end;
    }
    return end == size;
  }
};

class Finder : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (is_op(node, "ScatterND") && is_only_output(graph_, node) && !done_.contains(*id)) visit(node);
    }
    return rewrite_.take();
  }

 private:
  void visit(const Node& last) {
    const TensorType& type = tensor_type(graph_, last.inputs[0]);
    Pieces pieces;
    std::vector<NodeId> visited;
    for (const Node* node = &last; node && is_op(*node, "ScatterND"); node = graph_.producer(node->inputs[0])) {
      const auto box = box_of(*node);
      if (!box) return;
      visited.push_back(node->id);
      std::vector<size_t> axes;
      for (size_t i = 0; i < box->size(); ++i)
        if ((*box)[i].end - (*box)[i].start != (*type.dims)[i].value()) axes.push_back(i);
      if (axes.empty()) {
        if (node == &last) replace(last, node->inputs[2]);
        return;
      }
      if (node == &last) pieces.axis = axes[0];
      if (axes.size() > 1 || axes[0] != pieces.axis || !pieces.add((*box)[pieces.axis], node->inputs[2])) return;
      if (!pieces.cover((*type.dims)[pieces.axis].value())) continue;
      if (context_.admit()) join(last, pieces);
      break;
    }
    done_.insert(visited.begin(), visited.end());
  }

  void replace(const Node& node, ValueId by) {
    const ValueId value = rewrite_.current(by);
    if (rewrite_.can_replace(node.outputs[0], value) && context_.admit()) rewrite_.replace_node(node, value);
  }

  void join(const Node& last, const Pieces& pieces) {
    Node made;
    made.name = last.name;
    made.op_type = "Concat";
    made.opset = last.opset;
    made.attributes = {{"axis", static_cast<int64_t>(pieces.axis)}};
    for (const auto& [slice, value] : pieces.list) made.inputs.push_back(rewrite_.current(value));
    rewrite_.replace_nodes(std::move(made), last, {last.id});
  }

  /// What the node assigns of its data; nothing where its indices are not those of a slice.
  std::optional<Box> box_of(const Node& node) const {
    const TensorType& data = tensor_type(graph_, node.inputs[0]);
    const TensorType& indices = tensor_type(graph_, node.inputs[1]);
    if (!data.is_static() || !indices.is_static() || indices.dtype != DType::int64) return std::nullopt;
    if (ops::ScatterND::read(NodeView(graph_, node)).reduction != ops::ScatterReduction::none) return std::nullopt;
    Shape grid = indices.shape();
    const Shape shape = data.shape();
    if (grid.empty() || shape.elements() == 0 || grid.elements() == 0 || grid.back() != grid.rank() - 1 || grid.back() > shape.rank())
      return std::nullopt;
    grid.pop_back();
    if (!has_shape(node.inputs[2], grid, shape)) return std::nullopt;
    Box box;
    for (int k = 0; k < shape.rank(); ++k) {
      auto start = k < grid.rank() ? start_of(node.inputs[1], grid, k) : std::optional<int64_t>(0);
      if (!start) return std::nullopt;
      if (*start < 0) *start += shape[k];
      const int64_t end = *start + (k < grid.rank() ? grid[k] : shape[k]);
      if (*start < 0 || end > shape[k]) return std::nullopt;
      box.push_back({*start, end});
    }
    return box;
  }

  /// Whether the updates are known to have the grid's dimensions and those of the slices: others are an error, which has to stay.
  bool has_shape(ValueId updates, const Shape& grid, const Shape& data) const {
    const TensorType& type = tensor_type(graph_, updates);
    Shape expected = grid;
    for (int k = grid.rank(); k < data.rank(); ++k) expected.push_back(data[k]);
    return type.is_static() && type.shape() == expected;
  }

  /// The first of the indices of dimension k, where they go up by one along dimension k of the grid and stay along all others.
  std::optional<int64_t> start_of(ValueId indices, const Shape& grid, int k) const {
    const int64_t tuple = grid.rank();
    if (const Tensor* all = graph_.value(indices).constant_tensor()) return start_of(all->data<int64_t>() + k, tuple, grid, grid, k);
    const Node* concat = graph_.producer(indices);
    if (!concat || !is_op(*concat, "Concat") || static_cast<int64_t>(concat->inputs.size()) != tuple) return std::nullopt;
    const int64_t axis = ops::Concat::read(NodeView(graph_, *concat)).axis;
    if (axis != -1 && axis != tuple) return std::nullopt;
    ValueId column = concat->inputs[static_cast<size_t>(k)];
    const Node* view = graph_.producer(column);
    if (view && is_view(*view)) column = view->inputs[0];
    const TensorType& type = tensor_type(graph_, column);
    if (!type.is_static() || type.dtype != DType::int64) return std::nullopt;
    Shape shape = type.shape();
    if (shape.rank() == grid.rank() + 1 && shape.back() == 1) shape.pop_back();
    if (!(shape == grid)) return std::nullopt;
    const Node* expand = graph_.producer(column);
    const bool is_expanded = expand && is_op(*expand, "Expand");
    const Tensor* values = graph_.value(is_expanded ? expand->inputs[0] : column).constant_tensor();
    if (!values || values->dtype() != DType::int64) return std::nullopt;
    // As it is broadcast to the column.
    Shape own = values->shape();
    if (type.shape().rank() > grid.rank() && !own.empty()) own.pop_back();
    if (own.rank() > grid.rank()) return std::nullopt;
    while (own.rank() < grid.rank()) own.insert(0, 1);
    return own.elements() == values->elements() ? start_of(values->data<int64_t>(), 1, own, grid, k) : std::nullopt;
  }

  /// The same of values of shape `own`, which is broadcast to the grid, `step` apart.
  static std::optional<int64_t> start_of(const int64_t* values, int64_t step, const Shape& own, const Shape& grid, int k) {
    if (own[k] != grid[k]) return std::nullopt;
    const int64_t inner = own.product(k + 1, own.rank());
    for (int64_t i = 0; i < own.elements(); ++i)
      if (values[i * step] != values[0] + i / inner % own[k]) return std::nullopt;
    return values[0];
  }

  std::unordered_set<NodeId> done_;
};

}  // namespace

Edit convert_scattered_slices_to_concat(const Graph& graph, PassContext& context) { return Finder(graph, context).run(); }

}  // namespace rh::passes
