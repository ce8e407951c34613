// Pattern: regions of convolutions and what lies between them.
// Replacement: BlockedConv and operators on blocks of 16 channels, between BlockChannels and UnblockChannels.
// Not: where blocks, the reordering at the borders counted, take longer than planes.

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

#include "ops/nn/block_channels.h"
#include "ops/nn/conv.h"
#include "ops/nn/expand_depthwise.h"
#include "ops/nn/likely_sizes.h"
#include "ops/nn/normalization.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "tensor/extent.h"

namespace rh::passes {

namespace {

using ops::kChannelBlock;

/// What convolutions cost on one thread, as measured with AVX-512; elsewhere they are taken to be in proportion.
struct Costs {
  double product = 0.0077;           ///< nanoseconds, of a multiply-add that a processor works out at its best
  double winograd = 0.45;            ///< of the products of 3x3 convolutions
  double few_pixels = 6;             ///< x products/pixels of a plane: single pixels between planes
  double gathered = 1.05;            ///< x products: kernels of more than a pixel, between planes
  double dilated = 0.6;              ///< the same with a dilation, which leaves out what lies beyond the image
  double image = 1.25;               ///< the same of a few channels
  double blocked_image = 1.05;       ///< from planes to blocks
  double parts = 1.25;               ///< x products that are left of kernels taken apart (parts_share)
  double parts_by_channels = 4;      ///< x 1/output channels: transformations
  double parts_by_products = 18;     ///< x 1/products of a sum
  double depthwise = 0.014;          ///< nanoseconds a product between planes
  double depthwise_strided = 0.04;   ///< the same with a stride
  double blocked_depthwise = 0.008;  ///< between blocks
  double blocked_strided = 0.018;
  double blocked_dilated = 0.02;  ///< through a copy with its padding
  double grouped = 2;             ///< x products: groups of several channels between planes
  double blocked_groups = 1.15;   ///< of whole blocks
  double blocked_lanes = 1.3;     ///< of parts of a block
  double turned = 0.1;            ///< nanoseconds a value that ExpandDepthwise gives in planes
  double turned_planes = 12;      ///< nanoseconds a channel of it
  double reorder = 0.3;           ///< nanoseconds a value
};
constexpr Costs kCosts;
constexpr int64_t kLeastPartsChannels = 32, kLeastPixels = 16;
constexpr double kLeastPartsProducts = 256, kLeastPartsProductsOfAnAxis = 96;
constexpr int64_t kMostImageChannels = 4;
constexpr int64_t kLeastWinogradChannels = 16, kMostExpandTaps = 7;
// Channels of a group from which on it takes as long as a convolution of its own; by Winograd's algorithm.
constexpr int64_t kLeastGroupAlone = 48, kLeastWinogradGroup = 32;
constexpr int kBatchOpset = 9;   // of ai.onnx, from which on each channel of BatchNormalization has one pair of parameters
constexpr int kBatchInputs = 5;  // without a sum

/// What single pixels between planes of some size cost, x products: some of a vector of pixels are none. Few pixels are products of a
/// vector and a matrix.
double plane_pixels(int64_t size) { return size <= kLeastPixels ? 1 : 1 + kCosts.few_pixels / static_cast<double>(size); }

/// A value [N, C, H, W], N of any size; H and W those of images of usual size where they are left open.
struct Planes {
  int64_t channels = 0, size = 0;

  bool known() const { return channels > 0; }
  int64_t padded() const { return (channels + kChannelBlock - 1) / kChannelBlock * kChannelBlock; }
  double values() const { return static_cast<double>(channels * size); }
};

/// The products of kernels that are taken apart into products which outputs share (compute/conv/parts/conv_parts.h), as share of the plain
/// ones: a part of up to three taps takes one product more than it has taps, for two outputs. 1 where none are shared.
double parts_share(const ops::Window& window, const Shape& weights) {
  constexpr int64_t kMostTaps = 16, kMostStride = 8;
  double share = 1;
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto of_axis = [&](const ops::Sizes& sizes) { return axis < sizes.size() ? sizes[axis] : 1; };
    const int64_t taps = weights[axis + 2], stride = of_axis(window.strides);
    if (taps > kMostTaps || stride > kMostStride || of_axis(window.dilations) != 1) return 1;
    int64_t products = 0;
    for (int64_t phase = 0; phase < std::min(stride, taps); ++phase) {
      const int64_t of_phase = (taps - phase + stride - 1) / stride;
      products += of_phase + (of_phase + 2) / 3;
    }
    if (products < 2 * taps) share *= static_cast<double>(products) / static_cast<double>(2 * taps);
  }
  return share;
}

/// Of a kernel of two dimensions.
bool along_an_axis(const Shape& weights) { return weights[2] == 1 || weights[3] == 1; }

/// A node that can work on blocks of channels.
struct Candidate {
  NodeId id = kNoNode;
  std::vector<size_t> inputs;  ///< that are to lie in blocks
  double saved = 0;            ///< nanoseconds, by working so
  bool is_image = false;       ///< reads planes where none of the other candidates gives its input
  bool stays = false;          ///< in planes: reordering its inputs and output costs less
};

class Planner : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    for (NodeId id : order) {
      const Node& node = graph_.node(id);
      if (auto found = candidate(node)) {
        found->id = id;
        index_.emplace(id, candidates_.size());
        candidates_.push_back(std::move(*found));
      }
    }
    leave_out_dear_ones();
    for (const std::vector<size_t>& region : regions()) {
      if (gain(region) > 0 && context_.admit()) rewrite(region);
    }
    return rewrite_.take();
  }

 private:
  static bool is_conv(const Node& node) { return is_op(node, "Conv") || is_fused_conv(node); }
  /// Operators of our own that have an attribute for blocks.
  static bool has_blocked_form(const Node& node) {
    return is_own(node, "SqueezeExcite") || is_own(node, "ExpandDepthwise") || is_own(node, "FusedBatchNormalization");
  }

  std::optional<Candidate> candidate(const Node& node) const {
    if (is_conv(node)) return convolution(node);
    if (is_own(node, "ExpandDepthwise")) return expansion(node);
    if (is_op(node, "BatchNormalization") || is_own(node, "FusedBatchNormalization")) return normalization(node);
    return is_own(node, "SqueezeExcite") ? scaled(node) : elementwise(node);
  }

  Planes planes_of(ValueId id) const {
    const TensorType& type = tensor_type(graph_, id);
    if (type.dtype != DType::float32 || !type.has_rank() || type.rank() != 4) return {};
    const SymbolicShape& dims = *type.dims;
    const int64_t channels = dims[1].is_constant() ? dims[1].value() : 0;
    const auto height = ops::likely_size(dims[2]), width = ops::likely_size(dims[3]);
    const bool known = channels > 0 && height && width && Shape{channels, *height, *width}.elements() <= kMostElements;
    return known ? Planes{channels, *height * *width} : Planes{};
  }

  static bool all_one(const ops::Sizes& sizes) {
    return std::ranges::all_of(sizes, [](int64_t size) { return size == 1; });
  }

  bool is_constant(const Node& node, size_t input) const {
    return input >= node.inputs.size() || node.inputs[input] == kNoValue || graph_.value(node.inputs[input]).constant_tensor();
  }

  /// Whether BlockedConv takes groups of so many channels: whole blocks, or 4 or 8 channels under a kernel that slides over planes.
  static bool has_blocked_groups(const ops::Conv& op, int64_t in, int64_t out, const Shape& weights) {
    const int64_t from = in / op.group, to = out / op.group;
    if (from % kChannelBlock == 0 && to % kChannelBlock == 0) return true;
    const auto is_pair = [](const ops::Sizes& sizes) { return sizes.empty() || (sizes[0] == sizes[1] && sizes[0] <= 2); };
    return from == to && (from == 4 || from == 8) && weights[2] == 3 && weights[3] == 3 && is_pair(op.window.strides) &&
           all_one(op.window.dilations);
  }

  std::optional<Candidate> convolution(const Node& node) const {
    const Planes x = planes_of(node.inputs[0]), y = planes_of(node.outputs[0]);
    const Tensor* weights = NodeView(graph_, node).constant_input(1);
    if (!x.known() || !y.known() || !weights || weights->shape().rank() != 4 || !is_constant(node, 2)) return std::nullopt;
    const ops::Conv op = ops::Conv::read(NodeView(graph_, node));
    const bool depthwise = op.group > 1 && op.group == x.channels && x.channels == y.channels;
    if (op.group > 1 && !depthwise && !has_blocked_groups(op, x.channels, y.channels, weights->shape())) return std::nullopt;
    const int64_t taps = weights->shape()[2] * weights->shape()[3];
    const bool strided = !all_one(op.window.strides);
    const double products = y.values() * static_cast<double>(taps * weights->shape()[1]);
    Candidate found{.id = kNoNode, .inputs = {0}, .saved = 0, .is_image = op.group == 1 && x.channels <= kMostImageChannels};
    if (depthwise) {
      const double filled = static_cast<double>(x.padded()) / static_cast<double>(x.channels);
      const double planes = strided ? kCosts.depthwise_strided : kCosts.depthwise;
      const double blocked = !all_one(op.window.dilations) ? kCosts.blocked_dilated
                             : strided                     ? kCosts.blocked_strided
                                                           : kCosts.blocked_depthwise;
      found.saved = products * (planes - blocked * filled);
    } else if (op.group > 1 && x.channels / op.group < (taps == 9 && !strided ? kLeastWinogradGroup : kLeastGroupAlone)) {
      const double blocked = x.channels / op.group % kChannelBlock == 0 ? kCosts.blocked_groups : kCosts.blocked_lanes;
      found.saved = products * kCosts.product * (kCosts.grouped - blocked);
    } else {
      const bool dilated = taps > 1 && !all_one(op.window.dilations);
      const bool winograd =
          taps == 9 && weights->shape()[2] == 3 && !strided && !dilated && std::min(x.channels, y.channels) >= kLeastWinogradChannels;
      double planes = winograd         ? kCosts.winograd
                      : dilated        ? kCosts.dilated
                      : found.is_image ? kCosts.image
                      : taps > 1       ? kCosts.gathered
                                       : plane_pixels(y.size);
      const double summands = static_cast<double>(taps * weights->shape()[1]);
      if (const double share = parts_share(op.window, weights->shape());
          share < 1 && !winograd && y.channels >= kLeastPartsChannels &&
          summands >= (along_an_axis(weights->shape()) ? kLeastPartsProductsOfAnAxis : kLeastPartsProducts)) {
        const double transforms = kCosts.parts_by_channels / static_cast<double>(y.channels) + kCosts.parts_by_products / summands;
        planes = std::min(planes, kCosts.parts * share + transforms);
      }
      const double filled = static_cast<double>(y.padded()) / static_cast<double>(y.channels);
      const double blocked = found.is_image ? kCosts.blocked_image : static_cast<double>(x.padded()) / static_cast<double>(x.channels);
      found.saved = products * kCosts.product * (planes - blocked * filled);
    }
    if (node.inputs.size() > 3 && node.inputs[3] != kNoValue) found.inputs.push_back(3);
    return found;
  }

  std::optional<Candidate> expansion(const Node& node) const {
    const Planes x = planes_of(node.inputs[0]), y = planes_of(node.outputs[0]);
    const ops::ExpandDepthwise op = ops::ExpandDepthwise::read(NodeView(graph_, node));
    if (!x.known() || !y.known() || op.window.kernel.size() != 2 || op.window.kernel[1] > kMostExpandTaps || !all_one(op.window.dilations))
      return std::nullopt;
    const double products = x.values() * static_cast<double>(y.channels),
                 filled = static_cast<double>(y.padded()) / static_cast<double>(y.channels);
    const double turned = kCosts.turned * y.values() + kCosts.turned_planes * static_cast<double>(y.channels);
    return Candidate{.id = kNoNode, .inputs = {0}, .saved = turned - kCosts.product * products * (filled - 1)};
  }

  std::optional<Candidate> scaled(const Node& node) const {
    if (!planes_of(node.inputs[0]).known()) return std::nullopt;
    return Candidate{.id = kNoNode, .inputs = {0}};
  }

  /// By constants, without a slope of each channel.
  std::optional<Candidate> normalization(const Node& node) const {
    const NodeView view(graph_, node);
    if (!planes_of(node.inputs[0]).known() || node.opset < (node.domain.empty() ? kBatchOpset : 1)) return std::nullopt;
    const auto op = ops::BatchNormalization::read(view);
    for (int i = 1; i < kBatchInputs; ++i)
      if (!view.constant_input(i)) return std::nullopt;
    if (op.training || op.activation.function == ops::FusedActivation::Function::prelu || !is_only_output(graph_, node))
      return std::nullopt;
    Candidate found{.inputs = {0}};
    if (node.inputs.size() > kBatchInputs && node.inputs[kBatchInputs] != kNoValue) found.inputs.push_back(kBatchInputs);
    return found;
  }

  /// Values of one shape, and numbers.
  std::optional<Candidate> elementwise(const Node& node) const {
    static constexpr std::array<std::string_view, 16> kOperators = {"Abs",  "Add",         "Clip",      "Div",       "Elu", "Exp",
                                                                    "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mul", "Neg",
                                                                    "Relu", "Sigmoid",     "Sub",       "Tanh"};
    const bool is_known = node.domain.empty() && std::ranges::find(kOperators, node.op_type) != kOperators.end();
    const bool is_fused = is_own(node, "FusedElementwise") && !node.attribute("rotated");
    if ((!is_known && !is_fused) || node.outputs.size() != 1) return std::nullopt;
    if (!planes_of(node.outputs[0]).known()) return std::nullopt;
    Candidate found;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue) continue;
      const Tensor* constant = graph_.value(id).constant_tensor();
      if (constant && constant->elements() == 1) continue;
      if (constant || !have_same_type(graph_, id, node.outputs[0])) return std::nullopt;
      found.inputs.push_back(i);
    }
    return found.inputs.empty() ? std::nullopt : std::optional(found);
  }

  /// Candidates that give each other their inputs.
  std::vector<std::vector<size_t>> regions() const {
    std::vector<size_t> parent(candidates_.size());
    std::iota(parent.begin(), parent.end(), size_t{0});
    const auto root = [&](size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    for (size_t i = 0; i < candidates_.size(); ++i) {
      for (size_t input : candidates_[i].inputs) {
        const auto giver = candidates_[i].stays ? std::nullopt : giver_of(i, input);
        if (giver) parent[root(i)] = root(*giver);
      }
    }
    std::map<size_t, std::vector<size_t>> found;
    for (size_t i = 0; i < candidates_.size(); ++i)
      if (!candidates_[i].stays) found[root(i)].push_back(i);
    std::vector<std::vector<size_t>> result;
    for (auto& [first, region] : found) result.push_back(std::move(region));
    return result;
  }

  ValueId input_of(size_t candidate, size_t input) const { return graph_.node(candidates_[candidate].id).inputs[input]; }

  /// The candidate that gives an input.
  std::optional<size_t> giver_of(size_t candidate, size_t input) const {
    const Node* producer = graph_.producer(input_of(candidate, input));
    const auto at = producer ? index_.find(producer->id) : index_.end();
    return at == index_.end() || candidates_[at->second].stays ? std::nullopt : std::optional(at->second);
  }

  /// Whether the candidate's input 0 stays in planes.
  bool reads_planes(size_t candidate) const { return candidates_[candidate].is_image && !giver_of(candidate, 0); }

  /// Whether something that is no candidate takes the value. Two candidates, one of which gives the other its input, are of one region.
  bool is_used_outside(ValueId id) const {
    const GraphValue& value = graph_.value(id);
    return value.is_output || std::ranges::any_of(value.consumers, [&](NodeId user) {
             const auto at = index_.find(user);
             if (at == index_.end() || candidates_[at->second].stays) return true;
             const std::vector<size_t>& blocked = candidates_[at->second].inputs;
             const std::vector<ValueId>& inputs = graph_.node(user).inputs;
             for (size_t i = 0; i < inputs.size(); ++i)
               if (inputs[i] == id && std::ranges::find(blocked, i) == blocked.end()) return true;
             return false;
           });
  }

  /// Nanoseconds that reordering the value takes: where a candidate gives it to others, or others to a candidate.
  double border(ValueId id) const {
    const Node* producer = graph_.producer(id);
    const auto giver = producer ? index_.find(producer->id) : index_.end();
    bool crosses = false;
    if (giver != index_.end() && !candidates_[giver->second].stays) {
      crosses = is_used_outside(id);
    } else {
      for (NodeId user : graph_.value(id).consumers) {
        const auto at = index_.find(user);
        if (at == index_.end() || candidates_[at->second].stays) continue;
        for (size_t input : candidates_[at->second].inputs)
          crosses |= input_of(at->second, input) == id && !(input == 0 && reads_planes(at->second));
      }
    }
    return crosses ? kCosts.reorder * planes_of(id).values() : 0;
  }

  /// Nanoseconds that reordering the inputs and the output of some candidates takes.
  double borders(std::span<const size_t> of) const {
    double all = 0;
    std::unordered_set<ValueId> counted;
    const auto count = [&](ValueId id) { all += counted.insert(id).second ? border(id) : 0; };
    for (size_t i : of) {
      for (size_t input : candidates_[i].inputs) count(input_of(i, input));
      count(graph_.node(candidates_[i].id).outputs[0]);
    }
    return all;
  }

  void leave_out_dear_ones() {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      Candidate& candidate = candidates_[i];
      if (candidate.saved >= 0) continue;
      const double before = borders({&i, 1});
      candidate.stays = true;
      candidate.stays = borders({&i, 1}) < before - candidate.saved;
    }
  }

  double gain(const std::vector<size_t>& region) const {
    double saved = 0;
    for (size_t i : region) saved += candidates_[i].saved;
    return saved - borders(region);
  }

  /// Adds a node of our own with one output for that of `old`.
  ValueId add(const Node& old, std::string_view op_type, std::vector<Attribute> attributes, std::vector<ValueId> inputs, ValueId named) {
    Node made;
    made.name = old.name;
    made.op_type = op_type;
    made.domain = "roundhouse";
    made.opset = 1;
    made.attributes = std::move(attributes);
    made.inputs = std::move(inputs);
    return give(std::move(made), old, named);
  }
  ValueId give(Node made, const Node& old, ValueId named) {
    const ValueId output = rewrite_.edit().add_value(graph_.value(named).name);
    made.id = kNoNode;
    made.outputs = {output};
    rewrite_.edit().add_node(std::move(made), {old.id});
    return output;
  }

  void rewrite(const std::vector<size_t>& region) {
    std::unordered_map<ValueId, ValueId> blocks;
    for (size_t i : region) {  // in the order of the graph
      const Candidate& candidate = candidates_[i];
      const Node& node = graph_.node(candidate.id);
      std::vector<ValueId> inputs;
      for (ValueId id : node.inputs) inputs.push_back(id == kNoValue ? kNoValue : rewrite_.current(id));
      for (size_t input : candidate.inputs) {
        const ValueId id = node.inputs[input];
        if (input == 0 && reads_planes(i)) continue;
        const auto [at, is_new] = blocks.try_emplace(id, kNoValue);
        if (is_new) at->second = add(node, "BlockChannels", {{"channels", planes_of(id).channels}}, {rewrite_.current(id)}, id);
        inputs[input] = at->second;
      }
      const ValueId old = node.outputs[0];
      blocks[old] = in_blocks(i, node, std::move(inputs));
      if (is_used_outside(old)) {
        const ValueId planes = add(node, "UnblockChannels", {{"channels", planes_of(old).channels}}, {blocks[old]}, old);
        rewrite_.replace(old, planes);
      }
      rewrite_.remove(node.id);
    }
  }

  ValueId in_blocks(size_t candidate, const Node& node, std::vector<ValueId> inputs) {
    const ValueId old = node.outputs[0];
    std::vector<Attribute> attributes = node.attributes;
    if (is_conv(node)) {
      if (reads_planes(candidate)) attributes.push_back({"from_planes", int64_t{1}});
      return add(node, "BlockedConv", std::move(attributes), std::move(inputs), old);
    }
    if (has_blocked_form(node)) {
      attributes.push_back({"blocked", int64_t{1}});
      return add(node, node.op_type, std::move(attributes), std::move(inputs), old);
    }
    if (is_op(node, "BatchNormalization")) {
      std::erase_if(attributes, [](const Attribute& attribute) { return attribute.name != "epsilon"; });
      attributes.push_back({"blocked", int64_t{1}});
      return add(node, "FusedBatchNormalization", std::move(attributes), std::move(inputs), old);
    }
    Node made = node;
    made.inputs = std::move(inputs);
    return give(std::move(made), node, old);
  }

  std::vector<Candidate> candidates_;
  std::unordered_map<NodeId, size_t> index_;
};

}  // namespace

Edit convert_to_blocked_channels(const Graph& graph, PassContext& context) {
  return context.is_settled() ? Planner(graph, context).run() : Edit(graph);
}

}  // namespace rh::passes
