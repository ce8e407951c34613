#include "providers/kit/regions/host_values.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

namespace {

constexpr uint64_t bits(std::initializer_list<int> places) {
  uint64_t set = 0;
  for (const int place : places) set |= uint64_t{1} << place;
  return set;
}

/// In every version of the operator; inputs that a version lacks are none of the node's.
const std::map<std::string_view, uint64_t> kSteering = {
    {"AffineGrid", bits({1})},
    {"BlackmanWindow", bits({0})},
    {"CenterCropPad", bits({1})},
    {"Col2Im", bits({1, 2})},
    {"ConstantOfShape", bits({0})},
    {"CumSum", bits({1})},
    {"DFT", bits({1, 2})},
    {"Dropout", bits({1, 2})},
    {"Expand", bits({1})},
    {"HammingWindow", bits({0})},
    {"HannWindow", bits({0})},
    {"If", bits({0})},
    {"Loop", bits({0, 1})},
    {"MaxUnpool", bits({2})},
    {"MelWeightMatrix", bits({0, 1, 2, 3, 4})},
    {"NonMaxSuppression", bits({2})},
    {"OneHot", bits({1})},
    {"Pad", bits({1, 3})},
    {"Range", bits({0, 1, 2})},
    {"ReduceL1", bits({1})},
    {"ReduceL2", bits({1})},
    {"ReduceLogSum", bits({1})},
    {"ReduceLogSumExp", bits({1})},
    {"ReduceMax", bits({1})},
    {"ReduceMean", bits({1})},
    {"ReduceMin", bits({1})},
    {"ReduceProd", bits({1})},
    {"ReduceSum", bits({1})},
    {"ReduceSumSquare", bits({1})},
    {"Reshape", bits({1})},
    {"Resize", bits({1, 2, 3})},
    {"STFT", bits({1, 3})},
    {"Slice", bits({1, 2, 3, 4})},
    {"Split", bits({1})},
    {"SplitToSequence", bits({1})},
    {"Squeeze", bits({1})},
    {"Tile", bits({1})},
    {"TopK", bits({1})},
    {"Trilu", bits({1})},
    {"Unsqueeze", bits({1})},
    {"Upsample", bits({1})},
};

/// What models compute sizes with.
constexpr std::string_view kArithmetic[] = {"Abs",
                                            "Add",
                                            "And",
                                            "Cast",
                                            "Ceil",
                                            "Concat",
                                            "Div",
                                            "Equal",
                                            "Expand",
                                            "Floor",
                                            "Gather",
                                            "Greater",
                                            "GreaterOrEqual",
                                            "Identity",
                                            "Less",
                                            "LessOrEqual",
                                            "Max",
                                            "Min",
                                            "Mod",
                                            "Mul",
                                            "Neg",
                                            "Not",
                                            "Or",
                                            "Range",
                                            "ReduceMax",
                                            "ReduceMin",
                                            "ReduceProd",
                                            "ReduceSum",
                                            "Reshape",
                                            "Slice",
                                            "Sqrt",
                                            "Squeeze",
                                            "Sub",
                                            "Unsqueeze",
                                            "Where"};

bool is_small(const ValueType& type) {
  return type.is_tensor() && type.tensor().has_rank() && type.tensor().rank() <= 1 && type.tensor().dtype != DType::string;
}

bool is_of_shapes(const Node& node) { return node.domain.empty() && (node.op_type == "Shape" || node.op_type == "Size"); }

}  // namespace

bool is_host_arithmetic(const Graph& graph, const Node& node) {
  const auto fits = [&](ValueId id) { return id == kNoValue || graph.value(id).is_constant() || is_small(graph.value(id).type); };
  return node.domain.empty() && std::ranges::find(kArithmetic, std::string_view(node.op_type)) != std::end(kArithmetic) &&
         std::ranges::all_of(node.inputs, fits) && std::ranges::all_of(node.outputs, fits);
}

uint64_t steering_inputs(const NodeView& node) {
  const auto row = node.domain().empty() ? kSteering.find(node.op_type()) : kSteering.end();
  return row == kSteering.end() ? 0 : row->second;
}

// Those of its bodies too, where they are values of this graph, or arithmetic on such.
void HostValues::for_each_steering_value(const Graph& graph, const Node& node, FunctionRef<void(ValueId)> visit) const {
  const uint64_t wanted = provider_.host_inputs(NodeView(graph, node));
  for (size_t i = 0; i < node.inputs.size() && i < 64; ++i) {
    if ((wanted >> i & 1) != 0 && node.inputs[i] != kNoValue) visit(node.inputs[i]);
  }
  Graph::for_each_subgraph(node, [&](const Graph& body) {
    std::vector<bool> seen(static_cast<size_t>(body.value_count()), false);
    const auto find_outer = [&](auto& self, ValueId id) -> void {
      if (id == kNoValue || seen[static_cast<size_t>(id)]) return;
      seen[static_cast<size_t>(id)] = true;
      const GraphValue& value = body.value(id);
      if (value.is_constant()) return;
      if (value.outer != kNoValue) return visit(value.outer);
      if (value.producer == kNoNode || !is_host_arithmetic(body, body.node(value.producer))) return;
      for (ValueId input : body.node(value.producer).inputs) self(self, input);
    };
    for (NodeId id : body.nodes()) {
      for_each_steering_value(body, body.node(id), [&](ValueId value) { find_outer(find_outer, value); });
    }
  });
}

void HostValues::follow(ValueId id, NodeId consumer, const std::vector<bool>& is_inside, std::vector<bool>& seen,
                        FunctionRef<void(ValueId)> on_outside, FunctionRef<void(NodeId, NodeId)> on_border) const {
  const GraphValue& value = graph_.value(id);
  if (value.is_constant()) return;
  const NodeId producer = value.producer;
  if (producer == kNoNode || !is_inside[static_cast<size_t>(producer)]) return on_outside(id);
  const Node& node = graph_.node(producer);
  if (is_of_shapes(node)) return;
  if (!is_host_arithmetic(graph_, node)) return on_border(producer, consumer);
  if (seen[static_cast<size_t>(id)]) return;
  seen[static_cast<size_t>(id)] = true;
  for (ValueId input : node.inputs) {
    if (input != kNoValue) follow(input, producer, is_inside, seen, on_outside, on_border);
  }
}

HostValues::Borders HostValues::borders(const std::vector<bool>& is_inside) const {
  Borders found;
  std::vector<bool> seen(static_cast<size_t>(graph_.value_count()), false);
  for (NodeId id : graph_.nodes()) {
    if (!is_inside[static_cast<size_t>(id)]) continue;
    for_each_steering_value(graph_, graph_.node(id), [&](ValueId value) {
      follow(value, id, is_inside, seen, [](ValueId) {}, [&](NodeId from, NodeId to) { found.emplace(from, to); });
    });
  }
  return found;
}

std::vector<ValueId> HostValues::inputs_of(std::span<const NodeId> region) const {
  std::vector<bool> is_inside(static_cast<size_t>(graph_.node_slots()), false), seen(static_cast<size_t>(graph_.value_count()), false);
  for (NodeId id : region) is_inside[static_cast<size_t>(id)] = true;
  std::set<ValueId> found;
  for (NodeId id : region) {
    for_each_steering_value(graph_, graph_.node(id), [&](ValueId value) {
      follow(value, id, is_inside, seen, [&](ValueId outside) { found.insert(outside); }, [](NodeId, NodeId) {});
    });
  }
  return {found.begin(), found.end()};
}

}  // namespace rh::kit
