#include "onnx/nchwc_blocks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "base/cpu_features.h"
#include "graph/edit.h"
#include "onnx/nchwc_regions.h"

namespace rh::onnx {

namespace {

/// What ONNX Runtime would take on this processor.
int own_block() { return cpu_features().avx512 || cpu_features().neon ? 16 : 8; }

/// Replaces the operators of one graph.
class Undoing {
 public:
  Undoing(Graph& graph, const NchwcRegions& regions, int block) : graph_(graph), regions_(regions), block_(block), edit_(graph) {
    const auto import = graph.opset_imports.find("");
    if (import == graph.opset_imports.end()) {
      fail(ErrorCode::invalid_graph, "the model has operators of {} and no opset import of ai.onnx, expected one: add it to the model",
           kNchwcDomain);
    }
    opset_ = import->second;
    for (const NchwcConv& conv : regions.convs()) convs_.emplace(conv.node, &conv);
  }

  void run() {
    std::vector<ValueId> in_blocks;
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      for (ValueId output : node.outputs) {
        if (regions_.is_in_blocks(output)) in_blocks.push_back(output);
      }
      if (is_nchwc(node)) {
        replace(NodeView(graph_, node));
      } else if (regions_.is_reshape_of_blocks(node)) {
        finish(node, add(node, true, "Identity", {current(node.inputs[0])}));
      }
    }
    std::move(edit_).apply(graph_);
    for (ValueId id : in_blocks) graph_.set_type(id, ValueType::tensor(DType::float32));  // declared with all that is stored
  }

 private:
  void replace(const NodeView& node) {
    const std::string_view op = node.op_type();
    const ValueId input = current(node.node().inputs[0]);
    if (op == "Conv") return finish(node.node(), convolution(node, input));
    if (op == "ReorderInput") return finish(node.node(), reordered_input(node, input));
    if (op == "ReorderOutput") return finish(node.node(), reordered_output(node, input));
    if (op == "Upsample") return finish(node.node(), upsampled(node, input));
    finish(node.node(), add(node.node(), true, op, {input}, node.node().attributes));
  }

  ValueId convolution(const NodeView& node, ValueId input) {
    const NchwcConv& conv = *convs_.at(node.node().id);
    const int64_t outputs = regions_.count(node.node().outputs[0]);
    const int64_t inputs = conv.weights.inputs_in_blocks && conv.group == 1 ? regions_.count(node.node().inputs[0]) : conv.weights.inputs();
    std::vector<ValueId> operands = {input, weights(conv, node.node().inputs[1], outputs, inputs)};
    if (node.has_input(2)) operands.push_back(bias(conv, node.node().inputs[2], outputs));
    std::vector<Attribute> attributes;
    for (const Attribute& attribute : node.node().attributes) {
      if (attribute.name != "group" && !attribute.name.starts_with("activation")) attributes.push_back(attribute);
    }
    attributes.push_back({"group", conv.is_depthwise ? outputs : conv.group});
    ValueId result = add(node.node(), true, "Conv", std::move(operands), std::move(attributes));
    if (node.has_input(3)) result = add(node.node(), false, "Add", {result, current(node.node().inputs[3])});
    return activated(node, result);
  }

  ValueId weights(const NchwcConv& conv, ValueId id, int64_t outputs, int64_t inputs) {
    const auto [at, is_new] = weights_.try_emplace({id, conv.weights.inputs_in_blocks, outputs, inputs}, kNoValue);
    if (is_new) at->second = edit_.add_constant(graph_.value(id).name, plain_weights(conv.weights, block_, outputs, inputs));
    return at->second;
  }

  ValueId bias(const NchwcConv& conv, ValueId id, int64_t outputs) {
    if (!conv.bias || conv.bias->shape()[0] == outputs) return id;
    const auto [at, is_new] = biases_.try_emplace({id, outputs}, kNoValue);
    if (is_new) at->second = edit_.add_constant(graph_.value(id).name, conv.bias->part(0, {outputs}));
    return at->second;
  }

  ValueId activated(const NodeView& node, ValueId x) {
    const std::string function = node.string_or("activation", "");
    const std::vector<float> numbers = node.floats_or("activation_params");
    const auto take = [&](size_t count) {
      if (numbers.size() < count)
        node.fail("activation_params has {} numbers, expected {} for the activation {}", numbers.size(), count, function);
    };
    if (function.empty()) return x;
    if (function == "Relu" || function == "Sigmoid" || function == "Tanh") return add(node.node(), false, function, {x});
    if (function == "LeakyRelu") {
      take(1);
      return add(node.node(), false, function, {x}, {{"alpha", numbers[0]}});
    }
    if (function == "HardSigmoid") {
      take(2);
      return add(node.node(), false, function, {x}, {{"alpha", numbers[0]}, {"beta", numbers[1]}});
    }
    if (function == "Clip") {
      take(2);
      if (opset_ < 11) return add(node.node(), false, function, {x}, {{"min", numbers[0]}, {"max", numbers[1]}});
      return add(node.node(), false, function,
                 {x, constant("min", Tensor::scalar(numbers[0])), constant("max", Tensor::scalar(numbers[1]))});
    }
    if (function == "HardSwish") {
      if (opset_ >= 14) return add(node.node(), false, function, {x});
      const ValueId gate = add(node.node(), false, "HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
      return add(node.node(), false, "Mul", {x, gate});
    }
    throw Error(
        ErrorCode::not_implemented,
        fmt::format("the activation '{}' is not known, expected Clip, HardSigmoid, HardSwish, LeakyRelu, Relu, Sigmoid or Tanh: save "
                    "the model with graph_optimization_level ORT_ENABLE_EXTENDED",
                    function),
        node.node().where());
  }

  ValueId reordered_input(const NodeView& node, ValueId x) {
    const int64_t count = regions_.count(node.node().outputs[0]);
    const auto given = NchwcRegions::given_channels(node);
    if (node.flag("channels_last")) x = transposed(node, x, {0, 3, 1, 2});
    if (count == 0 || given == count) return same(node, x);
    return given && *given < count ? padded(node, x, count - *given) : sliced(node, x, count);
  }

  ValueId reordered_output(const NodeView& node, ValueId x) {
    const int64_t channels = node.required_int("channels");
    if (regions_.count(node.node().inputs[0]) != channels) x = sliced(node, x, channels);
    if (node.flag("channels_last")) x = transposed(node, x, {0, 2, 3, 1});
    return same(node, x);
  }

  ValueId upsampled(const NodeView& node, ValueId x) {
    constexpr int64_t kLargest = 1 << 24;  // of whole numbers that float has all of
    const std::vector<int64_t> scales = node.required_ints("scales");
    const auto is_scale = [](int64_t scale) { return scale >= 1 && scale <= kLargest; };
    if (scales.size() != 4 || scales[0] != 1 || scales[1] != 1 || !is_scale(scales[2]) || !is_scale(scales[3]))
      node.fail("scales are {}, expected [1, 1, height, width] of 1 to {}", to_string(scales), kLargest);
    const std::vector<float> factors(scales.begin(), scales.end());
    const std::string mode = node.string_or("mode", "nearest"), place = node.string_or("coordinate_transformation_mode", "asymmetric");
    const bool is_nearest = mode == "nearest";
    if ((!is_nearest && mode != "linear") || ((is_nearest || opset_ < 11) && place != "asymmetric")) {
      node.fail("mode is {} and coordinate_transformation_mode {}, expected nearest and asymmetric, or linear{}", mode, place,
                opset_ < 11 ? " and asymmetric before opset 11" : "");
    }
    std::vector<Attribute> attributes = {{"mode", mode}};
    if (opset_ < 9) {
      attributes.push_back({"scales", factors});
      return add(node.node(), true, "Upsample", {x}, std::move(attributes));
    }
    const ValueId operand = constant("scales", Tensor::from<float>({4}, factors));
    if (opset_ == 9) return add(node.node(), true, "Upsample", {x, operand}, std::move(attributes));
    if (opset_ == 10) return add(node.node(), true, "Resize", {x, operand}, std::move(attributes));
    attributes.push_back({"coordinate_transformation_mode", place});
    if (is_nearest) attributes.push_back({"nearest_mode", std::string("floor")});
    const ValueId roi = opset_ < 13 ? constant("roi", Tensor(DType::float32, {0})) : kNoValue;
    return add(node.node(), true, "Resize", {x, roi, operand}, std::move(attributes));
  }

  ValueId transposed(const NodeView& node, ValueId x, std::vector<int64_t> order) {
    return add(node.node(), false, "Transpose", {x}, {{"perm", std::move(order)}});
  }

  ValueId sliced(const NodeView& node, ValueId x, int64_t channels) {
    using Ints = std::vector<int64_t>;
    if (opset_ < 10) return add(node.node(), false, "Slice", {x}, {{"starts", Ints{0}}, {"ends", Ints{channels}}, {"axes", Ints{1}}});
    const auto number = [&](const char* name, int64_t value) { return constant(name, Tensor::ints({&value, 1})); };
    return add(node.node(), false, "Slice", {x, number("starts", 0), number("ends", channels), number("axes", 1)});
  }

  ValueId padded(const NodeView& node, ValueId x, int64_t channels) {
    const std::vector<int64_t> pads = {0, 0, 0, 0, 0, channels, 0, 0};
    if (opset_ < 11) return add(node.node(), false, "Pad", {x}, {{opset_ < 2 ? "paddings" : "pads", pads}});
    return add(node.node(), false, "Pad", {x, constant("pads", Tensor::ints(pads))});
  }

  /// `x`, or an Identity of it where no other node stands for this one.
  ValueId same(const NodeView& node, ValueId x) {
    return x == current(node.node().inputs[0]) ? add(node.node(), true, "Identity", {x}) : x;
  }

  ValueId constant(const char* name, Tensor value) { return edit_.add_constant(name, std::move(value)); }

  /// One of the nodes that stand for `whole`; the main one has its name.
  ValueId add(const Node& whole, bool is_main, std::string_view op_type, std::vector<ValueId> inputs,
              std::vector<Attribute> attributes = {}) {
    Node part;
    if (!whole.name.empty()) part.name = is_main ? whole.name : fmt::format("{}/{}", whole.name, op_type);
    part.op_type = op_type;
    part.opset = opset_;
    part.inputs = std::move(inputs);
    part.attributes = std::move(attributes);
    const ValueId result = edit_.add_value(graph_.value(whole.outputs[0]).name);
    part.outputs = {result};
    edit_.add_node(std::move(part), {whole.id});
    return result;
  }

  void finish(const Node& node, ValueId result) {
    edit_.replace(node.outputs[0], result);
    edit_.remove_node(node.id);
    current_[node.outputs[0]] = result;
  }

  ValueId current(ValueId id) const {
    const auto at = current_.find(id);
    return at == current_.end() ? id : at->second;
  }

  Graph& graph_;
  const NchwcRegions& regions_;
  const int block_;
  int opset_ = 0;
  Edit edit_;
  std::unordered_map<NodeId, const NchwcConv*> convs_;
  std::unordered_map<ValueId, ValueId> current_;
  std::map<std::tuple<ValueId, bool, int64_t, int64_t>, ValueId> weights_;
  std::map<std::pair<ValueId, int64_t>, ValueId> biases_;
};

/// Graphs with such operators, inner ones first.
void collect(Graph& graph, std::vector<Graph*>& found) {
  bool has_any = false;
  for (NodeId id : graph.nodes()) {
    has_any |= is_nchwc(graph.node(id));
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) { collect(subgraph, found); });
  }
  if (has_any) found.push_back(&graph);
}

int block_of(const std::vector<std::unique_ptr<NchwcRegions>>& all, const BlockSizeVotes& votes) {
  if (votes.block()) return *votes.block();
  BlockSizeEvidence evidence;
  for (const auto& regions : all) {
    for (const NchwcConv& conv : regions->convs()) evidence.add(conv.weights);
  }
  return evidence.block().value_or(own_block());
}

}  // namespace

void undo_nchwc_blocks(Graph& graph) {
  std::vector<Graph*> graphs;
  collect(graph, graphs);
  if (graphs.empty()) return;
  BlockSizeVotes votes;
  std::vector<std::unique_ptr<NchwcRegions>> all;
  for (const Graph* one : graphs) all.push_back(std::make_unique<NchwcRegions>(*one, votes));
  const int block = block_of(all, votes);
  for (size_t i = 0; i < graphs.size(); ++i) {
    all[i]->count_channels(block);
    Undoing(*graphs[i], *all[i], block).run();
  }
  drop_unused(graph);  // constants in blocks
}

}  // namespace rh::onnx
