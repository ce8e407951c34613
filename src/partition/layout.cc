#include "partition/layout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ops/channels_last.h"
#include "partition/resize_layout.h"

namespace rh {

namespace {

// Of which each element of the output depends on the elements at the same place of the inputs alone.
constexpr std::string_view kElementwise[] = {
    "Abs",
    "Add",
    "Ceil",
    "Clip",
    "Div",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Log",
    "Max",
    "Min",
    "Mish",
    "Mul",
    "Neg",
    "Pow",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Sub",
    "Sum",
    "Tanh",
    "ThresholdedRelu",
};

constexpr int kBroadcastingSince = 7;
constexpr size_t kInputsOfConv = 3;

/// Whether the node of the model takes and gives them so already.
bool has_channels_last(const Node& node) {
  const Attribute* attribute = node.attribute("channels_last");
  const int64_t* flag = attribute ? attribute->get<int64_t>() : nullptr;
  return flag && *flag == 1;
}

bool contains(std::span<const std::string_view> names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

std::optional<size_t> rank_of(const Graph& graph, ValueId id) {
  if (id == kNoValue || !graph.value(id).type.is_tensor() || !graph.value(id).type.tensor().has_rank()) return std::nullopt;
  return graph.value(id).type.tensor().dims->size();
}

/// Axes in their new order: 0, 2, 3, ..., 1 and back.
std::vector<int64_t> to_last(size_t rank) {
  std::vector<int64_t> axes{0};
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  axes.push_back(1);
  return axes;
}
std::vector<int64_t> to_first(size_t rank) {
  std::vector<int64_t> axes{0, static_cast<int64_t>(rank) - 1};
  for (size_t i = 1; i + 1 < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

ValueType permuted(const ValueType& type, const std::vector<int64_t>& axes) {
  ValueType result = type;
  for (size_t i = 0; i < axes.size(); ++i) (*result.tensor().dims)[i] = (*type.tensor().dims)[static_cast<size_t>(axes[i])];
  return result;
}

class Converter {
 public:
  Converter(Graph& graph, std::span<const NodeId> movable) : graph_(graph), movable_(movable.begin(), movable.end()) {}

  void convert(NodeId id) {
    if (!has_channels_last(graph_.node(id))) {
      if (graph_.node(id).op_type == "Resize") resize_follow(graph_, id, to_last(*rank_of(graph_, graph_.node(id).inputs[0])));
      graph_.set_input(id, 0, channels_last(graph_.node(id).inputs[0]));
      give_channels_last(id);
    }
    Node& node = graph_.mutable_node(id);
    if (!node.domain.empty()) node.opset = standard_opset();
    node.domain = ops::kChannelsLastDomain;
    if (node.op_type == "FusedConv") node.op_type = "Conv";
    if (node.attribute("channels_last")) graph_.set_attribute(id, {"channels_last", int64_t{1}});
  }

  /// Transposes that nobody needs go.
  void finish() {
    for (auto at = back_.begin(); at != back_.end(); ++at) {
      const Node& node = graph_.node(at->second.node);
      const GraphValue& output = graph_.value(node.outputs[0]);
      if (output.consumers.empty() && !output.is_output) graph_.remove_node(at->second.node);
    }
  }

 private:
  struct Back {
    ValueId last;  ///< the value before the Transpose
    NodeId node;
  };

  /// The value with its channels last: made so by what gives it, or by a Transpose.
  ValueId channels_last(ValueId id) {
    if (const auto made = forth_.find(id); made != forth_.end()) return made->second;
    const ValueId known = without_transpose(id);
    if (known != kNoValue) return known;
    const std::vector<int64_t> axes = to_last(*rank_of(graph_, id));
    const ValueId last =
        graph_.add_value(graph_.fresh_name(graph_.value(id).name + "_channels_last"), permuted(graph_.value(id).type, axes));
    add_transpose(id, last, axes);
    return forth_[id] = last;
  }

  /// kNoValue where it takes a Transpose. Element-wise nodes in between are moved.
  ValueId without_transpose(ValueId id) {
    if (const auto made = back_.find(id); made != back_.end()) return made->second.last;
    const Node* producer = graph_.producer(id);
    if (!producer || !can_move(*producer)) return kNoValue;
    const NodeId node = producer->id;
    std::vector<std::pair<size_t, ValueId>> inputs;
    for (size_t i = 0; i < producer->inputs.size(); ++i) {
      const ValueId input = producer->inputs[i];
      if (input == kNoValue || is_single(input)) continue;
      const ValueId last = without_transpose(input);
      if (last == kNoValue) return kNoValue;
      inputs.emplace_back(i, last);
    }
    if (inputs.empty()) return kNoValue;
    for (const auto& [i, last] : inputs) graph_.set_input(node, i, last);
    return give_channels_last(node);
  }

  bool can_move(const Node& node) const {
    if (!movable_.contains(node.id) || !node.domain.empty() || node.opset < kBroadcastingSince) return false;
    if (!contains(kElementwise, node.op_type) || node.outputs.size() != 1) return false;
    const auto rank = rank_of(graph_, node.outputs[0]);
    return rank && *rank >= 3 && std::ranges::all_of(node.inputs, [&](ValueId input) {
             return input == kNoValue || is_single(input) || rank_of(graph_, input) == rank;
           });
  }

  bool is_single(ValueId id) const {
    const Tensor* constant = graph_.value(id).constant_tensor();
    return constant && constant->elements() == 1;
  }

  /// The node's first output has its channels last from here on; those who take it get it by way of a Transpose. The new value.
  ValueId give_channels_last(NodeId id) {
    const ValueId last = graph_.node(id).outputs[0];
    const ValueType type = graph_.value(last).type;
    const size_t rank = type.tensor().dims->size();
    const ValueId first = graph_.add_value(graph_.fresh_name(graph_.value(last).name + "_channels_first"), type);
    graph_.replace_uses(last, first);
    graph_.set_type(last, permuted(type, to_last(rank)));
    if (graph_.value(first).name.ends_with("_channels_first")) graph_.pass_name(last, first);
    graph_.rename(last, graph_.value(first).name + "_channels_last");
    back_[first] = {last, add_transpose(last, first, to_first(rank))};
    return last;
  }

  NodeId add_transpose(ValueId from, ValueId to, std::vector<int64_t> axes) {
    Node node;
    node.name = graph_.fresh_name("layout_" + graph_.value(to).name);
    node.op_type = "Transpose";
    node.opset = standard_opset();
    node.inputs = {from};
    node.outputs = {to};
    node.attributes.push_back({"perm", std::move(axes)});
    return graph_.add_node(std::move(node));
  }

  int standard_opset() const {
    const auto import = graph_.opset_imports.find("");
    return import == graph_.opset_imports.end() ? 13 : import->second;
  }

  Graph& graph_;
  std::unordered_set<NodeId> movable_;
  std::map<ValueId, ValueId> forth_;  // by value: the same with channels last
  std::map<ValueId, Back> back_;      // by value: where it comes from
};

}  // namespace

bool can_be_channels_last(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.outputs.empty() || node.domain == ops::kChannelsLastDomain) return false;
  const auto in = rank_of(graph, node.inputs[0]), out = rank_of(graph, node.outputs[0]);
  if (!in || !out || *in < 3 || *out < 3) return false;
  if (node.op_type == "FusedConv" && node.inputs.size() > kInputsOfConv) return false;
  if (node.op_type == "Resize" && node.domain.empty() && !resize_can_follow(graph, node)) return false;
  return std::all_of(node.outputs.begin() + 1, node.outputs.end(),
                     [&](ValueId id) { return id == kNoValue || (graph.value(id).consumers.empty() && !graph.value(id).is_output); });
}

void make_channels_last(Graph& graph, std::span<const NodeId> nodes, std::span<const NodeId> movable) {
  const std::unordered_set<NodeId> wanted(nodes.begin(), nodes.end());
  Converter converter(graph, movable);
  for (NodeId id : graph.topological_order()) {
    if (wanted.contains(id)) converter.convert(id);
  }
  converter.finish();
}

}  // namespace rh
