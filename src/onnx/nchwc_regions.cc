#include "onnx/nchwc_regions.h"

#include <fmt/ranges.h>
#include <algorithm>

namespace rh::onnx {

namespace {

constexpr int kBlocks[] = {8, 16};
constexpr std::string_view kRemedy = "save the model with graph_optimization_level ORT_ENABLE_EXTENDED";

/// Element-wise operators of one value, of the standard and of com.microsoft.
constexpr std::string_view kUnary[] = {"Abs",      "Celu",     "Clip",        "Elu",       "Erf",      "Exp",
                                       "FastGelu", "Gelu",     "HardSigmoid", "HardSwish", "Identity", "LeakyRelu",
                                       "Mish",     "Neg",      "QuickGelu",   "Relu",      "Selu",     "Sigmoid",
                                       "Softplus", "Softsign", "Sqrt",        "Swish",     "Tanh",     "ThresholdedRelu"};
/// Of several.
constexpr std::string_view kElementwise[] = {"Add", "Div", "Max", "Min", "Mul", "Sub", "Sum"};
constexpr std::string_view kPools[] = {"AveragePool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool", "Upsample"};

template <size_t N>
bool is_among(std::string_view name, const std::string_view (&names)[N]) {
  return std::ranges::find(names, name) != std::end(names);
}

int64_t rounded_up(int64_t channels, int64_t multiple) { return (channels + multiple - 1) / multiple * multiple; }

}  // namespace

void BlockSizeVotes::vote(int block, const NodeView& node) {
  if (block_ && *block_ != block) {
    node.fail("the channels are in blocks of {} here, but in blocks of {} at node '{}': {}", block, *block_, node_, kRemedy);
  }
  if (!block_) node_ = node.node().display_name();
  block_ = block;
}

NchwcRegions::NchwcRegions(const Graph& graph, BlockSizeVotes& votes)
    : graph_(graph),
      votes_(votes),
      channels_(static_cast<size_t>(graph.value_count()), -1),
      is_split_(static_cast<size_t>(graph.value_count()), false) {
  for (NodeId id : graph.topological_order()) look_at(graph.node(id));
  for (ValueId id : graph.outputs()) {
    if (!is_in_blocks(id)) continue;
    NodeView(graph, *graph.producer(id))
        .fail("the output '{}' of the graph has its channels in blocks, expected a ReorderOutput before it: {}", graph.value(id).name,
              kRemedy);
  }
  count_concats();
  vote_by_reorders();
}

void NchwcRegions::look_at(const Node& node) {
  const NodeView view(graph_, node);
  if (is_nchwc(node)) return look_at_nchwc(view);
  for (ValueId id : node.implicit_inputs) {
    if (is_in_blocks(id)) view.fail("a subgraph takes '{}', whose channels are in blocks: {}", graph_.value(id).name, kRemedy);
  }
  if (std::ranges::none_of(node.inputs, [&](ValueId id) { return is_in_blocks(id); })) return;
  require_output(view);
  const bool is_known = node.domain.empty() || node.domain == "com.microsoft";
  if (is_known && node.op_type == "Reshape") {
    look_at_reshape(view);
  } else if (is_known && node.op_type == "Concat") {
    look_at_concat(view);
  } else if (is_known && (is_among(node.op_type, kUnary) || is_among(node.op_type, kElementwise))) {
    look_at_elements(view);
  } else {
    view.fail(
        "the operator takes a value whose channels are in blocks, expected that of element-wise operators, Concat and those of {}: {}",
        kNchwcDomain, kRemedy);
  }
}

void NchwcRegions::look_at_nchwc(const NodeView& node) {
  require_output(node);
  const std::string_view op = node.op_type();
  if (op == "Conv") return look_at_conv(node);
  if (node.input_count() != 1 || !node.has_input(0)) node.fail("the node has {} inputs, expected 1: {}", node.input_count(), kRemedy);
  const ValueId input = node.node().inputs[0];
  if (op == "ReorderInput") {
    if (is_in_blocks(input)) node.fail("the channels of '{}' are in blocks already: {}", graph_.value(input).name, kRemedy);
    begin(node);
    reorders_.push_back(node.node().id);
  } else if (op == "ReorderOutput") {
    require_blocks(node, 0);
    if (node.required_int("channels") < 1) node.fail("channels is {}, expected at least 1: {}", node.required_int("channels"), kRemedy);
    reorders_.push_back(node.node().id);
  } else if (is_among(op, kPools)) {
    require_blocks(node, 0);
    begin(node);
    join(node.node().outputs[0], input, node);
  } else {
    node.fail("{} has no such operator, expected Conv, ReorderInput, ReorderOutput, {}: {}", kNchwcDomain, fmt::join(kPools, ", "),
              kRemedy);
  }
}

void NchwcRegions::look_at_conv(const NodeView& node) {
  if (node.input_count() < 2 || node.input_count() > 4 || !node.has_input(0) || !node.has_input(1))
    node.fail("the node has {} inputs, expected 2 to 4, the first two given: {}", node.input_count(), kRemedy);
  const ValueId input = node.node().inputs[0], output = node.node().outputs[0];
  NchwcConv conv{.node = node.node().id};
  look_at_weights(node, conv);
  begin(node);
  set_stored(output, conv.weights.outputs(), node);
  const int64_t outputs = conv.weights.outputs(), inputs = conv.weights.inputs();
  if (!is_in_blocks(input)) {
    if (conv.group != 1 || inputs >= kBlocks[1]) {
      node.fail("the node takes {} groups of {} channels that are not in blocks, expected one of fewer than 16, or a ReorderInput: {}",
                conv.group, inputs, kRemedy);
    }
    if (inputs >= kBlocks[0]) votes_.vote(kBlocks[1], node);
  } else {
    require_blocks(node, 0);
    conv.is_depthwise = conv.group > 1 && inputs == 1 && conv.group == outputs;
    conv.weights.inputs_in_blocks = !conv.is_depthwise;
    if (conv.is_depthwise) {
      join(output, input, node);
    } else {
      for (const int64_t channels : {inputs, outputs / conv.group}) {
        if (channels % kBlocks[0] != 0)
          node.fail("a group has {} channels, expected a multiple of the block size, which is 8 or 16: {}", channels, kRemedy);
        if (channels % kBlocks[1] != 0) votes_.vote(kBlocks[0], node);
      }
      set_stored(input, inputs * conv.group, node);
      for (ValueId grouped : {input, output}) all_channels_[static_cast<size_t>(root(grouped))].all |= conv.group > 1;
    }
  }
  if (node.has_input(3)) {
    require_blocks(node, 3);
    join(output, node.node().inputs[3], node);
  }
  if (node.has_input(2) && !conv.bias) all_channels_[static_cast<size_t>(root(output))].all = true;
  convs_.push_back(std::move(conv));
}

void NchwcRegions::look_at_weights(const NodeView& node, NchwcConv& conv) {
  const std::string& name = graph_.value(node.node().inputs[1]).name;
  const Tensor* weights = node.constant_input(1);
  if (!weights) node.fail("the weights '{}' are not constant, expected an initializer of the same graph: {}", name, kRemedy);
  const Shape& shape = weights->shape();
  if (weights->dtype() != DType::float32 || shape.rank() != 4 || std::ranges::any_of(shape, [](int64_t dim) { return dim < 1; })) {
    node.fail("the weights '{}' are {}{}, expected float of 4 dimensions that are not 0: {}", name, to_string(weights->dtype()),
              shape.to_string(), kRemedy);
  }
  conv.weights.tensor = *weights;
  conv.group = node.int_or("group", 1);
  if (conv.group < 1 || conv.group > shape[0] || shape[0] % conv.group != 0)
    node.fail("group is {}, expected a divisor of the {} output channels of the weights: {}", conv.group, shape[0], kRemedy);
  conv.bias = node.has_input(2) ? node.constant_input(2) : nullptr;
  if (conv.bias && (conv.bias->dtype() != DType::float32 || conv.bias->shape() != Shape{shape[0]})) {
    node.fail("the bias '{}' is {}{}, expected float[{}], a value for each output channel of the weights: {}",
              graph_.value(node.node().inputs[2]).name, to_string(conv.bias->dtype()), conv.bias->shape().to_string(), shape[0], kRemedy);
  }
}

// ONNX Runtime broadcasts values in blocks as [N, C / block, H, W, block]; from 1.32 on it says how many channels there are.
void NchwcRegions::look_at_reshape(const NodeView& node) {
  require_input(node);
  const ValueId input = node.node().inputs[0], output = node.node().outputs[0];
  const Tensor* shape = node.constant_input(1);
  const std::vector<int64_t> wanted = shape && shape->dtype() == DType::int64
                                          ? std::vector(shape->span<int64_t>().begin(), shape->span<int64_t>().end())
                                          : std::vector<int64_t>();
  const bool joins = is_split_[static_cast<size_t>(input)];
  const int64_t count = wanted.size() > 1 ? wanted[1] : 0;
  std::vector<int64_t> expected = {0, count, 0, 0};
  if (!joins) expected.push_back(wanted.size() == 5 && wanted[4] == kBlocks[0] ? kBlocks[0] : kBlocks[1]);
  if (wanted != expected || (count < 1 && count != -1) || count > INT32_MAX) {
    node.fail(
        "the channels of '{}' are in blocks, expected that they are reshaped to [0, -1, 0, 0, 8 or 16], or their number in place of -1, "
        "and back "
        "alone: {}",
        graph_.value(input).name, kRemedy);
  }
  if (!joins) votes_.vote(static_cast<int>(wanted[4]), node);
  if (count > 0) set_stored(input, joins ? count : count * wanted[4], node);
  begin(node);
  join(output, input, node);
  is_split_[static_cast<size_t>(output)] = !joins;
}

void NchwcRegions::look_at_concat(const NodeView& node) {
  const int64_t axis = node.int_or("axis", 1);
  if (axis != 1 && axis != -3) node.fail("values whose channels are in blocks are joined along axis {}, expected 1: {}", axis, kRemedy);
  for (int i = 0; i < node.input_count(); ++i) {
    require_blocks(node, i);
    all_channels_[static_cast<size_t>(root(node.node().inputs[static_cast<size_t>(i)]))].all = true;
  }
  begin(node);
  all_channels_[static_cast<size_t>(root(node.node().outputs[0]))].all = true;
  concats_.push_back(node.node().id);
}

void NchwcRegions::look_at_elements(const NodeView& node) {
  const std::vector<ValueId>& inputs = node.node().inputs;
  const size_t taken = node.op_type() == "Clip" ? 1 : inputs.size();
  if (is_among(node.op_type(), kUnary) && taken != 1) node.fail("the node has {} inputs, expected 1: {}", taken, kRemedy);
  begin(node);
  const ValueId output = node.node().outputs[0];
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_in_blocks(inputs[i]) != (i < taken)) {
      node.fail("input {} has its channels {} blocks and another input {}, expected that all values have: {}", i,
                i < taken ? "not in" : "in", i < taken ? "has" : "has not", kRemedy);
    }
    if (i >= taken) continue;
    if (i == 0) is_split_[static_cast<size_t>(output)] = is_split_[static_cast<size_t>(inputs[0])];
    if (is_split_[static_cast<size_t>(inputs[i])] != is_split_[static_cast<size_t>(output)])
      node.fail("inputs 0 and {} have their channels in blocks of other dimensions, expected the same: {}", i, kRemedy);
    join(output, inputs[i], node);
  }
}

std::optional<int64_t> NchwcRegions::given_channels(const NodeView& node) {
  const ValueType& type = node.input_type(0);
  if (!type.is_tensor() || !type.tensor().has_rank()) return std::nullopt;
  if (type.tensor().rank() != 4) node.fail("the input has shape {}, expected 4 dimensions: {}", to_string(*type.tensor().dims), kRemedy);
  const Dim& channels = (*type.tensor().dims)[node.flag("channels_last") ? 3 : 1];
  return channels.is_constant() ? std::optional(channels.value()) : std::nullopt;
}

// Channels are stored up to the next multiple of the block size, which tells it where these differ.
void NchwcRegions::vote_by_reorders() {
  for (NodeId id : reorders_) {
    const NodeView node(graph_, graph_.node(id));
    const bool gives = node.op_type() == "ReorderOutput";
    const auto channels = gives ? std::optional(node.required_int("channels")) : given_channels(node);
    const int64_t stored = all_channels_[static_cast<size_t>(root(gives ? node.node().inputs[0] : node.node().outputs[0]))].stored;
    if (!channels || stored == 0) continue;
    std::vector<int> fitting;
    for (const int block : kBlocks) {
      if (*channels > stored - block && *channels <= stored && stored % block == 0) fitting.push_back(block);
    }
    if (fitting.empty()) {
      node.fail("{} channels are stored as {}, expected the next multiple of the block size, which is 8 or 16: {}", *channels, stored,
                kRemedy);
    }
    if (fitting.size() == 1) votes_.vote(fitting[0], node);
  }
}

void NchwcRegions::count_concats() {
  for (NodeId id : concats_) {
    const Node& node = graph_.node(id);
    int64_t sum = 0;
    for (ValueId input : node.inputs) {
      const int64_t stored = all_channels_[static_cast<size_t>(root(input))].stored;
      if (stored == 0) {
        sum = 0;
        break;
      }
      sum += stored;
    }
    if (sum != 0) set_stored(node.outputs[0], sum, NodeView(graph_, node));
  }
}

void NchwcRegions::count_channels(int block) {
  for (NodeId id : reorders_) {
    const NodeView node(graph_, graph_.node(id));
    const bool gives = node.op_type() == "ReorderOutput";
    const auto channels = gives ? std::optional(node.required_int("channels")) : given_channels(node);
    if (!channels) continue;
    const ValueId value = gives ? node.node().inputs[0] : node.node().outputs[0];
    if (*channels > INT32_MAX) node.fail("there are {} channels, expected at most {}: {}", *channels, INT32_MAX, kRemedy);
    set_stored(value, rounded_up(*channels, block), node);
    int64_t& needed = all_channels_[static_cast<size_t>(root(value))].needed;
    needed = std::max(needed, *channels);
  }
  count_concats();
  // ONNX Runtime has blocks between operators only where channels are a multiple of 4.
  for (const NchwcConv& conv : convs_) {
    if (!conv.weights.inputs_in_blocks) continue;
    Channels& input = all_channels_[static_cast<size_t>(root(graph_.node(conv.node).inputs[0]))];
    input.needed = std::max(input.needed, std::min(rounded_up(std::max<int64_t>(used_inputs(conv.weights, block), 1), 4), input.stored));
  }
}

int64_t NchwcRegions::count(ValueId value) const {
  const Channels& channels = all_channels_[static_cast<size_t>(root(value))];
  return channels.all || channels.needed == 0 ? channels.stored : channels.needed;
}

int NchwcRegions::root(ValueId value) const {
  int at = channels_[static_cast<size_t>(value)];
  while (all_channels_[static_cast<size_t>(at)].parent != at) {
    int& parent = all_channels_[static_cast<size_t>(at)].parent;
    at = parent = all_channels_[static_cast<size_t>(parent)].parent;
  }
  return at;
}

void NchwcRegions::begin(const NodeView& node) {
  const int next = static_cast<int>(all_channels_.size());
  all_channels_.push_back({.parent = next});
  channels_[static_cast<size_t>(node.node().outputs[0])] = next;
}

void NchwcRegions::join(ValueId a, ValueId b, const NodeView& node) {
  const int from = root(b), to = root(a);
  if (from == to) return;
  const Channels other = all_channels_[static_cast<size_t>(from)];
  if (other.stored != 0) set_stored(a, other.stored, node);
  Channels& joined = all_channels_[static_cast<size_t>(to)];
  joined.all |= other.all;
  joined.needed = std::max(joined.needed, other.needed);
  all_channels_[static_cast<size_t>(from)].parent = to;
}

void NchwcRegions::set_stored(ValueId value, int64_t stored, const NodeView& node) {
  if (stored < 1 || stored > INT32_MAX || stored % kBlocks[0] != 0) {
    node.fail("{} channels are stored, expected a multiple of the block size, which is 8 or 16, of at most 31 bits: {}", stored, kRemedy);
  }
  if (stored % kBlocks[1] != 0) votes_.vote(kBlocks[0], node);
  int64_t& known = all_channels_[static_cast<size_t>(root(value))].stored;
  if (known != 0 && known != stored)
    node.fail("'{}' has {} channels in blocks at this node and {} at others, expected one number: {}", graph_.value(value).name, stored,
              known, kRemedy);
  known = stored;
}

void NchwcRegions::require_blocks(const NodeView& node, int input) const {
  const ValueId id = node.has_input(input) ? node.node().inputs[static_cast<size_t>(input)] : kNoValue;
  if (is_in_blocks(id) && !is_split_[static_cast<size_t>(id)]) return;
  node.fail("input {} is not [N, C, H, W] with channels in blocks, expected a value of another operator of {}: {}", input, kNchwcDomain,
            kRemedy);
}

void NchwcRegions::require_input(const NodeView& node) const {
  if (!node.has_input(0) || !is_in_blocks(node.node().inputs[0]))
    node.fail("input 0 does not have its channels in blocks, as another input does: {}", kRemedy);
}

void NchwcRegions::require_output(const NodeView& node) const {
  if (!node.has_output(0)) node.fail("the node has no output, expected one: {}", kRemedy);
  for (int i = 1; i < node.output_count(); ++i) {
    if (node.has_output(i)) node.fail("the node has {} outputs, expected 1: {}", node.output_count(), kRemedy);
  }
}

}  // namespace rh::onnx
