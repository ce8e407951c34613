// Pattern: SequenceAt, SequenceLength, ConcatFromSequence of a sequence whose elements the graph tells; OptionalGetElement,
//   OptionalHasElement likewise.
// Replacement: the elements themselves, Concat, Split or Slice of what SplitToSequence takes apart, constants.
// Not: positions that come with the run; where a run would report an error; long sequences; optionals that may be empty.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ops/sequence/concat_from_sequence.h"
#include "ops/sequence/sequence_empty.h"
#include "ops/sequence/split_to_sequence.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

/// What a sequence holds at one place: a value of the graph, or a part of what a SplitToSequence takes apart.
struct Element {
  ValueId value = kNoValue;
  NodeId split = kNoNode;  ///< where there is no value
  size_t part = 0;
};

struct KnownSequence {
  DType dtype = DType::undefined;
  std::vector<Element> elements;
};

/// A SplitToSequence whose parts are known.
struct Parts {
  ValueId whole = kNoValue;
  int axis = 0;
  bool keep_dims = true;
  std::vector<int64_t> bounds;  ///< one more than there are parts
  std::set<size_t> wanted;      ///< by the nodes that are replaced, each for itself
  std::vector<ValueId> values;  ///< empty until they are made
};

/// Longer ones stay: a node with so many outputs or inputs is no gain.
constexpr size_t kMostElements = 1024;

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    std::vector<NodeId> takers;
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!node.domain.empty() || node.outputs.empty() || node.outputs[0] == kNoValue) continue;
      if (node.op_type.starts_with("Optional")) {
        follow_optional(node);
      } else if (!follow(node) && want(node)) {
        takers.push_back(id);
      }
    }
    for (NodeId id : takers) replace(graph_.node(id));
    return rewrite_.take();
  }

 private:
  // --- sequences and what they hold

  bool follow(const Node& node) {
    if (is_op(node, "SequenceConstruct")) return note(node, constructed(node));
    if (is_op(node, "SequenceEmpty")) return note(node, KnownSequence{ops::SequenceEmpty::read(NodeView(graph_, node)).dtype, {}});
    if (is_op(node, "SequenceInsert")) return note(node, inserted(node));
    if (is_op(node, "SequenceErase")) return note(node, erased(node));
    if (is_op(node, "SplitToSequence")) return note(node, split(node));
    return false;
  }

  bool note(const Node& node, std::optional<KnownSequence> sequence) {
    if (sequence && sequence->elements.size() <= kMostElements) known_.emplace(node.outputs[0], std::move(*sequence));
    return true;
  }

  const KnownSequence* sequence(ValueId id) const {
    const auto at = known_.find(rewrite_.current(id));
    return at == known_.end() ? nullptr : &at->second;
  }

  std::optional<KnownSequence> constructed(const Node& node) const {
    KnownSequence result;
    for (ValueId input : node.inputs) {
      const DType dtype = tensor_type(graph_, input).dtype;
      if (result.elements.empty()) result.dtype = dtype;
      if (dtype == DType::undefined || dtype != result.dtype) return std::nullopt;
      result.elements.push_back({.value = input});
    }
    return result;
  }

  std::optional<KnownSequence> inserted(const Node& node) const {
    const KnownSequence* before = sequence(node.inputs[0]);
    if (!before || before->elements.size() >= kMostElements || tensor_type(graph_, node.inputs[1]).dtype != before->dtype) {
      return std::nullopt;
    }
    const auto at = position(node, 2, before->elements.size(), before->elements.size() + 1);
    if (!at) return std::nullopt;
    KnownSequence result = *before;
    result.elements.insert(result.elements.begin() + static_cast<ptrdiff_t>(*at), Element{.value = node.inputs[1]});
    return result;
  }

  std::optional<KnownSequence> erased(const Node& node) const {
    const KnownSequence* before = sequence(node.inputs[0]);
    if (!before || before->elements.empty()) return std::nullopt;
    const auto at = position(node, 1, before->elements.size() - 1, before->elements.size());
    if (!at) return std::nullopt;
    KnownSequence result = *before;
    result.elements.erase(result.elements.begin() + static_cast<ptrdiff_t>(*at));
    return result;
  }

  std::optional<KnownSequence> split(const Node& node) {
    const NodeView view(graph_, node);
    const TensorType& x = tensor_type(graph_, node.inputs[0]);
    const ops::SplitToSequence op = ops::SplitToSequence::read(view);
    if (x.dtype == DType::undefined || !x.has_rank() || op.axis < -x.rank() || op.axis >= x.rank()) return std::nullopt;
    Parts parts{.whole = node.inputs[0],
                .axis = static_cast<int>(op.axis < 0 ? op.axis + x.rank() : op.axis),
                .keep_dims = op.keep_dims || view.has_input(1),
                .bounds = {0},
                .wanted = {},
                .values = {}};
    const Dim& size = (*x.dims)[static_cast<size_t>(parts.axis)];
    if (!size.is_constant() || !find_bounds(view, size.value(), parts.bounds)) return std::nullopt;
    KnownSequence result{x.dtype, {}};
    for (size_t i = 0; i + 1 < parts.bounds.size(); ++i) result.elements.push_back({.value = kNoValue, .split = node.id, .part = i});
    parts_.emplace(node.id, std::move(parts));
    return result;
  }

  static bool find_bounds(const NodeView& split, int64_t size, std::vector<int64_t>& bounds) {
    const Tensor* given = split.has_input(1) ? split.constant_input(1) : nullptr;
    if (split.has_input(1) && (!given || !is_integer(given->dtype()) || given->shape().rank() > 1)) return false;
    if (given && given->shape().rank() == 1) {
      for (int64_t i = 0; i < given->elements() && bounds.size() <= kMostElements + 1; ++i) {
        const int64_t part = element_as_int(given->view(), i);
        if (part < 0 || part > size - bounds.back()) return false;
        bounds.push_back(bounds.back() + part);
      }
    } else {
      const int64_t each = given ? element_as_int(given->view(), 0) : 1;
      if (each < 1) return false;
      while (bounds.back() < size && bounds.size() <= kMostElements + 1) {
        bounds.push_back(bounds.back() + std::min(each, size - bounds.back()));
      }
    }
    return bounds.back() == size;
  }

  /// The constant position that input i gives, `otherwise` where it is left out, counted from the front; nothing where it is not known, or
  /// an error at run time. Negative ones count from `size`, those from `count` on do not exist.
  std::optional<size_t> position(const Node& node, int i, size_t otherwise, size_t count) const {
    const NodeView view(graph_, node);
    if (!view.has_input(i)) return otherwise;
    const Tensor* given = view.constant_input(i);
    if (!given || !is_integer(given->dtype()) || given->elements() != 1) return std::nullopt;
    const bool inserts = is_op(node, "SequenceInsert");
    const int64_t size = static_cast<int64_t>(count) - (inserts ? 1 : 0);
    int64_t at = element_as_int(given->view(), 0);
    if (at < 0) at += size;
    return at >= 0 && at < static_cast<int64_t>(count) ? std::optional(static_cast<size_t>(at)) : std::nullopt;
  }

  // --- optionals

  void follow_optional(const Node& node) {
    const ValueId x = node.inputs.empty() ? kNoValue : node.inputs[0];
    const Node* maker = x == kNoValue ? nullptr : graph_.producer(x);
    const bool is_made = maker && is_op(*maker, "Optional");
    const ValueId held = is_made ? (maker->inputs.empty() ? kNoValue : maker->inputs[0]) : x;
    if (!is_only_output(graph_, node)) return;
    if (is_op(node, "OptionalGetElement")) {
      // An empty one is an error, which a run reports.
      if (held != kNoValue && is_there(held) && context_.admit()) give(node, rewrite_.current(held));
    } else if (is_op(node, "OptionalHasElement")) {
      const bool is_known = held == kNoValue || is_there(held);
      if (is_known && context_.admit()) give(node, constant(node, Tensor::scalar<bool>(held != kNoValue)));
    }
  }

  /// Whether the value is a tensor or a sequence, and no optional that may be empty.
  bool is_there(ValueId id) const {
    const ValueType& type = graph_.value(id).type;
    return type.is_tensor() || type.kind() == ValueType::Kind::sequence;
  }

  // --- what takes elements

  /// Whether the node can be replaced; the parts that it takes are noted.
  bool want(const Node& node) {
    if (!is_only_output(graph_, node)) return false;
    if (is_op(node, "SequenceLength")) return sequence(node.inputs[0]) != nullptr;
    if (is_op(node, "SequenceAt")) {
      if (const Element* element = taken(node)) {
        want(*element);
        return true;
      }
      return is_slice_of_unknown(node);
    }
    if (!is_op(node, "ConcatFromSequence") || !is_fit(node)) return false;
    for (const auto& [first, last] : joined_runs(node)) {
      if (first + 1 == last) want(sequence(node.inputs[0])->elements[first]);
    }
    return true;
  }

  void want(const Element& element) {
    if (element.value == kNoValue) parts_.at(element.split).wanted.insert(element.part);
  }

  void replace(const Node& node) {
    if (!context_.admit()) return;
    if (is_op(node, "SequenceLength")) {
      return give(node, constant(node, Tensor::scalar<int64_t>(static_cast<int64_t>(sequence(node.inputs[0])->elements.size()))));
    }
    if (is_op(node, "ConcatFromSequence")) return join(node);
    const Element* element = taken(node);
    give(node, element ? value_of(node, *element) : slice_of_unknown(node));
  }

  const Element* taken(const Node& node) const {
    const KnownSequence* from = sequence(node.inputs[0]);
    const auto at = from && node.inputs.size() > 1 ? position(node, 1, 0, from->elements.size()) : std::nullopt;
    return at ? &from->elements[*at] : nullptr;
  }

  /// Of single slices any can be named though it is not known how many there are; one that does not exist is an error as before.
  bool is_slice_of_unknown(const Node& node) const {
    const Node* split = graph_.producer(node.inputs[0]);
    const NodeView view(graph_, node);
    const Tensor* at = view.constant_input(1);
    if (!split || !is_op(*split, "SplitToSequence") || known_.contains(split->outputs[0]) || !at || at->elements() != 1) return false;
    const NodeView split_view(graph_, *split);
    const Tensor* given = split_view.constant_input(1);
    const bool is_each = !split_view.has_input(1) ||
                         (given && given->shape().rank() == 0 && is_integer(given->dtype()) && element_as_int(given->view(), 0) == 1);
    const TensorType& x = tensor_type(graph_, split->inputs[0]);
    const int64_t axis = ops::SplitToSequence::read(split_view).axis;
    if (!is_each || x.dtype == DType::undefined || !x.has_rank() || axis < -x.rank() || axis >= x.rank()) return false;
    return !(*x.dims)[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)].is_constant();
  }

  ValueId slice_of_unknown(const Node& node) {
    const Node& split = *graph_.producer(node.inputs[0]);
    const ops::SplitToSequence op = ops::SplitToSequence::read(NodeView(graph_, split));
    const bool keeps = op.keep_dims || NodeView(graph_, split).has_input(1);
    const int64_t at = element_as_int(NodeView(graph_, node).constant_input(1)->view(), 0);
    const ValueId index = constant(node, keeps ? Tensor::ints({&at, 1}) : Tensor::scalar(at));
    return add(node, "Gather", {rewrite_.current(split.inputs[0]), index}, {{"axis", op.axis}});
  }

  // --- joining

  TensorType type_of(const Element& element) const {
    if (element.value != kNoValue) return tensor_type(graph_, element.value);
    const Parts& parts = parts_.at(element.split);
    TensorType type = tensor_type(graph_, parts.whole);
    const auto at = type.dims->begin() + parts.axis;
    if (parts.keep_dims) {
      *at = Dim(parts.bounds[element.part + 1] - parts.bounds[element.part]);
    } else {
      type.dims->erase(at);
    }
    return type;
  }

  /// Whether nothing is known that makes joining the elements an error, which a run reports.
  bool is_fit(const Node& node) const {
    const KnownSequence* from = sequence(node.inputs[0]);
    if (!from || from->elements.empty()) return false;
    const ops::ConcatFromSequence op = ops::ConcatFromSequence::read(NodeView(graph_, node));
    const TensorType first = type_of(from->elements[0]);
    if (!first.has_rank()) return false;
    const int64_t rank = first.rank() + (op.new_axis ? 1 : 0), axis = op.axis < 0 ? op.axis + rank : op.axis;
    if (axis < 0 || axis >= rank) return false;
    return std::ranges::all_of(from->elements, [&](const Element& element) {
      const TensorType type = type_of(element);
      if (!type.has_rank() || type.rank() != first.rank()) return false;
      for (int k = 0; k < first.rank(); ++k) {
        const Dim &a = (*type.dims)[static_cast<size_t>(k)], &b = (*first.dims)[static_cast<size_t>(k)];
        if ((op.new_axis || k != axis) && a.is_constant() && b.is_constant() && a.value() != b.value()) return false;
      }
      return true;
    });
  }

  /// The elements by runs [first, last): parts that follow each other along the axis on which they are joined again are one.
  std::vector<std::pair<size_t, size_t>> joined_runs(const Node& node) const {
    const std::vector<Element>& elements = sequence(node.inputs[0])->elements;
    const ops::ConcatFromSequence op = ops::ConcatFromSequence::read(NodeView(graph_, node));
    const int64_t rank = type_of(elements[0]).rank() + (op.new_axis ? 1 : 0), axis = op.axis < 0 ? op.axis + rank : op.axis;
    std::vector<std::pair<size_t, size_t>> runs;
    for (size_t i = 0; i < elements.size(); ++i) {
      const Element& element = elements[i];
      bool follows = i > 0 && element.value == kNoValue && elements[i - 1].value == kNoValue && elements[i - 1].split == element.split &&
                     elements[i - 1].part + 1 == element.part;
      if (follows) {
        const Parts& parts = parts_.at(element.split);
        follows = parts.axis == axis && parts.keep_dims != op.new_axis;
      }
      if (follows) {
        runs.back().second = i + 1;
      } else {
        runs.emplace_back(i, i + 1);
      }
    }
    return runs;
  }

  void join(const Node& node) {
    const std::vector<Element>& elements = sequence(node.inputs[0])->elements;
    const ops::ConcatFromSequence op = ops::ConcatFromSequence::read(NodeView(graph_, node));
    std::vector<ValueId> values;
    for (const auto& [first, last] : joined_runs(node)) {
      if (last - first > 1) {
        const Parts& parts = parts_.at(elements[first].split);
        values.push_back(slice(node, parts, parts.bounds[elements[first].part], parts.bounds[elements[last - 1].part + 1]));
      } else {
        const ValueId value = value_of(node, elements[first]);
        values.push_back(op.new_axis ? add_axis(node, "Unsqueeze", value, op.axis) : value);
      }
    }
    if (values.size() == 1) return give(node, values[0]);
    rewrite_.replace_nodes(part_of(node, true, "Concat", std::move(values), {{"axis", op.axis}}), node, {node.id});
  }

  // --- elements as values

  ValueId value_of(const Node& taker, const Element& element) {
    if (element.value != kNoValue) return rewrite_.current(element.value);
    Parts& parts = parts_.at(element.split);
    if (parts.values.empty()) parts.values.resize(parts.bounds.size() - 1, kNoValue);
    ValueId& value = parts.values[element.part];
    if (value != kNoValue) return value;
    const Node& node = graph_.node(element.split);
    if (parts.wanted.size() > 1) {
      split_all(node, parts);
      return value;
    }
    value = slice(taker, parts, parts.bounds[element.part], parts.bounds[element.part + 1]);
    if (!parts.keep_dims) value = add_axis(taker, "Squeeze", value, parts.axis);
    return value;
  }

  /// One node gives all parts.
  void split_all(const Node& node, Parts& parts) {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i + 1 < parts.bounds.size(); ++i) sizes.push_back(parts.bounds[i + 1] - parts.bounds[i]);
    Node all = part_of(node, false, "Split", {rewrite_.current(parts.whole)}, {{"axis", static_cast<int64_t>(parts.axis)}});
    if (node.opset < kOpsetOfAxesAsInput) {
      all.attributes.push_back({"split", sizes});
    } else {
      all.inputs.push_back(constant(node, Tensor::ints(sizes)));
    }
    for (ValueId& value : parts.values) all.outputs.push_back(value = rewrite_.edit().add_value(graph_.value(node.outputs[0]).name));
    rewrite_.edit().add_node(std::move(all), {node.id});
    if (parts.keep_dims) return;
    for (size_t part : parts.wanted) parts.values[part] = add_axis(node, "Squeeze", parts.values[part], parts.axis);
  }

  ValueId slice(const Node& node, const Parts& parts, int64_t begin, int64_t end) {
    const ValueId whole = rewrite_.current(parts.whole);
    if (begin == 0 && end == parts.bounds.back()) return whole;
    const int64_t axis = parts.axis;
    return add(node, "Slice",
               {whole, constant(node, Tensor::ints({&begin, 1})), constant(node, Tensor::ints({&end, 1})),
                constant(node, Tensor::ints({&axis, 1}))},
               {});
  }

  /// Squeeze or Unsqueeze of one dimension.
  ValueId add_axis(const Node& node, const char* op_type, ValueId value, int64_t axis) {
    if (node.opset < kOpsetOfAxesAsInput) return add(node, op_type, {value}, {{"axes", std::vector<int64_t>{axis}}});
    return add(node, op_type, {value, constant(node, Tensor::ints({&axis, 1}))}, {});
  }

  // --- building

  ValueId constant(const Node& node, Tensor tensor) {
    return rewrite_.edit().add_constant(graph_.value(node.outputs[0]).name, std::move(tensor));
  }

  ValueId add(const Node& node, const char* op_type, std::vector<ValueId> inputs, std::vector<Attribute> attributes) {
    return rewrite_.add_part(part_of(node, false, op_type, std::move(inputs), std::move(attributes)), node);
  }

  /// Replaces the node by the value, or by a copy under its name where a graph output needs one.
  void give(const Node& node, ValueId value) {
    if (!rewrite_.can_replace(node.outputs[0], value)) value = add(node, "Identity", {value}, {});
    rewrite_.replace_node(node, value);
  }

  static constexpr int kOpsetOfAxesAsInput = 13;

  std::map<ValueId, KnownSequence> known_;
  std::map<NodeId, Parts> parts_;
};

}  // namespace

Edit eliminate_known_sequences(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
