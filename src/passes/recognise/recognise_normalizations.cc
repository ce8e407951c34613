// Pattern: a normalisation that is written out: a value, perhaps less its mean, by the root of its mean square or variance; scale and bias.
// Replacement: LayerNormalization, RMSNormalization, InstanceNormalization, or GroupNormalization of one group; over channels
//   LayerNormalization between Transposes.
// Not: means over other dimensions; where something else takes a value in between; without a scale, a length that is not known.

#include <algorithm>
#include <cmath>

#include "ops/nn/normalization.h"
#include "ops/reduction/reduce.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/channel_affine.h"

namespace rh::passes {

namespace {

constexpr int kLayerOpset = 17, kRmsOpset = 23, kInstanceOpset = 6, kGroupOpset = 21;

/// The mean of a value over its dimensions from `axis` up to `end`, which stay.
struct Mean {
  ValueId of = kNoValue;
  int axis = 0, end = 0;
  std::vector<NodeId> nodes;
};

struct Found {
  ValueId x = kNoValue, mean = kNoValue, scale = kNoValue, bias = kNoValue;
  ValueId centred = kNoValue;  // x less its mean; of RMSNormalization x
  double epsilon = 0;
  int axis = 0, end = 0;  // over which is normalised: all from `axis` on, or dimension 1 alone
  bool subtracts_mean = false;
  std::optional<ChannelAffine> channels;  // in place of scale and bias
  std::vector<NodeId> nodes;
  const Node* last = nullptr;
};

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      Found found;
      const bool is_found = is_op(node, "InstanceNormalization") ? match_instance(node, found) : is_root(node) && match(node, found);
      if (is_found && is_replaceable(found)) replace(std::move(found));
    }
    return rewrite_.take();
  }

 private:
  static bool is_binary(const Node* node, std::string_view op_type) {
    return node && is_op(*node, op_type) && node->opset >= kBroadcastOpset && node->inputs.size() == 2;
  }

  bool is_power(const Node& node, double exponent) const {
    return is_binary(&node, "Pow") && constant_number(graph_, node.inputs[1]) == exponent;
  }

  bool is_root(const Node& node) const { return is_op(node, "Sqrt") || is_power(node, 0.5) || is_power(node, -0.5); }

  bool is_replaceable(const Found& f) const {
    return is_closed(graph_, f.nodes, *f.last) && have_same_type(graph_, f.x, f.last->outputs[0]) &&
           std::none_of(f.nodes.begin(), f.nodes.end(), [&](NodeId id) { return rewrite_.is_removed(id); });
  }

  bool match(const Node& root, Found& f) const {
    f.nodes = {root.id};
    if (!match_variance(root.inputs[0], f)) return false;
    return (is_power(root, -0.5) ? match_inverse(root, f) : match_quotient(root, f)) && match_parameters(f);
  }

  /// mean(x^2) + epsilon, x perhaps less its mean; or mean(x^2) - mean(x)^2 + epsilon.
  bool match_variance(ValueId value, Found& f) const {
    const Node* sum = graph_.producer(value);
    if (!is_binary(sum, "Add")) return false;
    for (size_t i = 0; i < 2; ++i) {
      const auto epsilon = constant_number(graph_, sum->inputs[i]);
      const ValueId variance = sum->inputs[1 - i];
      const auto mean = mean_of(variance);
      if (!epsilon || !(*epsilon >= 0) || (!mean && !match_difference_of_squares(variance, f))) continue;
      f.epsilon = *epsilon;
      f.nodes.push_back(sum->id);
      if (!mean) return true;
      take_mean(f, *mean);
      return match_square(mean->of, f);
    }
    return false;
  }

  static void take_mean(Found& f, const Mean& mean) {
    f.axis = mean.axis;
    f.end = mean.end;
    f.nodes.insert(f.nodes.end(), mean.nodes.begin(), mean.nodes.end());
  }

  /// The node that gives the value as the square of its input 0.
  const Node* square(ValueId value) const {
    const Node* node = graph_.producer(value);
    const bool is_square = node && (is_power(*node, 2) || (is_binary(node, "Mul") && node->inputs[0] == node->inputs[1]));
    return is_square ? node : nullptr;
  }

  /// mean(x^2) - mean(x)^2, perhaps no less than zero, of floats: rounding makes it less exact than what takes its place.
  bool match_difference_of_squares(ValueId value, Found& f) const {
    std::vector<NodeId> nodes;
    const Node* difference = graph_.producer(value);
    if (difference && is_op(*difference, "Relu")) {
      nodes.push_back(difference->id);
      difference = graph_.producer(difference->inputs[0]);
    }
    if (!is_binary(difference, "Sub")) return false;
    const auto squares = mean_of(difference->inputs[0]);
    const Node *squared = squares ? square(squares->of) : nullptr, *squared_mean = square(difference->inputs[1]);
    const auto mean = squared && squared_mean ? mean_of(squared_mean->inputs[0]) : std::nullopt;
    if (!mean || mean->of != squared->inputs[0] || mean->axis != squares->axis || mean->end != squares->end) return false;
    if (tensor_type(graph_, mean->of).dtype != DType::float32) return false;
    nodes.insert(nodes.end(), {difference->id, squared->id, squared_mean->id});
    f.nodes.insert(f.nodes.end(), nodes.begin(), nodes.end());
    take_mean(f, *squares);
    take_mean(f, *mean);
    f.subtracts_mean = true;
    f.x = mean->of;
    f.mean = squared_mean->inputs[0];
    take_centred(f);
    return true;
  }

  /// x less its mean, where something takes that.
  void take_centred(Found& f) const {
    for (const NodeId user : graph_.value(f.mean).consumers) {
      const Node& node = graph_.node(user);
      if (!is_binary(&node, "Sub") || node.inputs[0] != f.x || node.inputs[1] != f.mean) continue;
      f.centred = node.outputs[0];
      f.nodes.push_back(user);
      return;
    }
  }

  bool match_square(ValueId value, Found& f) const {
    const Node* squared = square(value);
    if (!squared) return false;
    f.nodes.push_back(squared->id);
    f.x = f.centred = squared->inputs[0];
    const DType dtype = tensor_type(graph_, f.x).dtype;
    const Node* difference = graph_.producer(f.x);
    if (is_binary(difference, "Sub")) {
      const auto mean = mean_of(difference->inputs[1]);
      if (mean && mean->axis == f.axis && mean->end == f.end && mean->of == difference->inputs[0]) {
        f.nodes.push_back(difference->id);
        take_mean(f, *mean);
        f.subtracts_mean = true;
        f.x = mean->of;
        f.mean = difference->inputs[1];
      }
    }
    return dtype == DType::float32 || dtype == DType::float16;
  }

  /// ReduceMean, GlobalAveragePool, or ReduceSum with the number of elements divided by.
  std::optional<Mean> mean_of(ValueId value) const {
    const Node* node = graph_.producer(value);
    if (!node) return std::nullopt;
    if (is_op(*node, "ReduceMean")) return reduction(*node);
    if (is_op(*node, "GlobalAveragePool")) return pooled(*node);
    if (!is_binary(node, "Mul") && !is_binary(node, "Div")) return std::nullopt;
    for (size_t i = is_op(*node, "Mul") ? 0 : 1; i < 2; ++i) {
      const auto number = constant_number(graph_, node->inputs[i]);
      const Node* sum = number ? graph_.producer(node->inputs[1 - i]) : nullptr;
      auto found = sum && is_op(*sum, "ReduceSum") ? reduction(*sum) : std::nullopt;
      const auto count = found ? elements_of(tensor_type(graph_, found->of), found->axis, found->end) : std::nullopt;
      if (!count || !is_one(is_op(*node, "Mul") ? *number * *count : *number / *count)) continue;
      found->nodes.push_back(node->id);
      return found;
    }
    return std::nullopt;
  }

  /// As near as the rounding of 1 / n to float leaves it.
  static bool is_one(double value) { return std::fabs(value - 1) <= 1e-6; }

  /// How many elements some dimensions have, where all are constant.
  static std::optional<double> elements_of(const TensorType& type, int axis, int end) {
    double count = 1;
    for (int i = axis; i < end; ++i) {
      const Dim& dim = (*type.dims)[static_cast<size_t>(i)];
      if (!dim.is_constant()) return std::nullopt;
      count *= static_cast<double>(dim.value());
    }
    return count;
  }

  /// Over all dimensions but the first two.
  std::optional<Mean> pooled(const Node& node) const {
    const TensorType& type = tensor_type(graph_, node.inputs[0]);
    if (!type.has_rank() || type.rank() < 3) return std::nullopt;
    return Mean{node.inputs[0], 2, type.rank(), {node.id}};
  }

  /// Over the last dimensions, but not over all of more than one, or over dimension 1.
  std::optional<Mean> reduction(const Node& node) const {
    const TensorType& type = tensor_type(graph_, node.inputs[0]);
    const NodeView view(graph_, node);
    const ops::Reduce op = ops::Reduce::read(view);
    std::vector<int64_t> axes = op.axes.value_or(std::vector<int64_t>());
    if (op.axes_are_input) {
      const Tensor* given = view.constant_input(1);
      if (!given || given->dtype() != DType::int64) return std::nullopt;
      axes.assign(given->data<int64_t>(), given->data<int64_t>() + given->elements());
    }
    if (!op.keep_dims || !type.has_rank() || type.rank() == 0 || axes.empty()) return std::nullopt;
    const auto reduced = op.reduced(axes, type.rank());
    const auto first = std::find(reduced.begin(), reduced.end(), true);
    const int axis = static_cast<int>(first - reduced.begin()),
              end = static_cast<int>(std::find(first, reduced.end(), false) - reduced.begin());
    const bool are_last = end == type.rank(), is_second = axis == 1 && end == 2;
    const bool is_one_range = std::none_of(reduced.begin() + end, reduced.end(), [](bool r) { return r; });
    if (!is_one_range || !(are_last || is_second) || (axis == 0 && type.rank() > 1)) return std::nullopt;
    return Mean{node.inputs[0], axis, end, {node.id}};
  }

  /// What divides by the root, or by which its reciprocal is multiplied.
  bool match_quotient(const Node& root, Found& f) const {
    const Node* user = only_user(graph_, root);
    if (!user) return false;
    if (is_op(*user, "Reciprocal")) return match_inverse(*user, f);
    if (!is_binary(user, "Div") || user->inputs[1] != root.outputs[0]) return false;
    const ValueId divided = user->inputs[0];
    if (constant_number(graph_, divided) == 1.0) return match_inverse(*user, f);
    if (match_numerator(divided, f)) return take(f, *user);
    return is_affine_parameter(f, divided) && match_factor(*user, divided, f);
  }

  /// What is normalised, perhaps times the scale.
  bool match_numerator(ValueId value, Found& f) const {
    if (value == f.centred) return true;
    const Node* scaled = graph_.producer(value);
    if (f.scale != kNoValue || !is_binary(scaled, "Mul")) return false;
    const ValueId scale = other_input(*scaled, f.centred);
    if (other_input(*scaled, scale) != f.centred || !is_affine_parameter(f, scale)) return false;
    f.scale = scale;
    f.nodes.push_back(scaled->id);
    return true;
  }

  /// Of a node that gives the reciprocal of the root.
  bool match_inverse(const Node& inverse, Found& f) const {
    const Node* product = only_user(graph_, inverse);
    if (!is_binary(product, "Mul")) return match_factor(inverse, kNoValue, f);
    f.nodes.push_back(inverse.id);
    const ValueId other = other_input(*product, inverse.outputs[0]);
    if (match_numerator(other, f)) return take(f, *product);
    return is_affine_parameter(f, other) && match_factor(*product, other, f);
  }

  /// Of a node that gives the reciprocal of the root times `scale`: (x - mean) factor, or x factor - mean factor.
  bool match_factor(const Node& factor, ValueId scale, Found& f) const {
    f.scale = scale;
    f.nodes.push_back(factor.id);
    const ValueId value = factor.outputs[0];
    const auto& consumers = graph_.value(value).consumers;
    if (consumers.size() == 1) {
      const Node& product = graph_.node(consumers[0]);
      return is_binary(&product, "Mul") && other_input(product, value) == f.centred && take(f, product);
    }
    if (consumers.size() != 2 || !f.subtracts_mean) return false;
    const Node *a = &graph_.node(consumers[0]), *b = &graph_.node(consumers[1]);
    if (!is_binary(a, "Mul") || !is_binary(b, "Mul")) return false;
    if (other_input(*a, value) != f.x) std::swap(a, b);
    return other_input(*a, value) == f.x && match_sum(*a, *b, other_input(*b, value), f);
  }

  /// The difference of x times the factor and the mean times the factor, from which a bias may be taken before.
  bool match_sum(const Node& scaled, const Node& offset, ValueId mean, Found& f) const {
    f.nodes.insert(f.nodes.end(), {scaled.id, offset.id});
    const ValueId term = offset.outputs[0];
    const Node* sum = only_user(graph_, scaled);
    const Node* negation = mean == f.mean ? only_user(graph_, offset) : graph_.producer(mean);
    const bool is_negated = negation && is_op(*negation, "Neg");
    if (mean != f.mean && !(is_negated && negation->inputs[0] == f.mean)) return false;
    if (is_negated) f.nodes.push_back(negation->id);
    const ValueId negative = !is_negated ? kNoValue : mean == f.mean ? negation->outputs[0] : term;
    if (is_binary(sum, "Sub")) return !is_negated && sum->inputs[0] == scaled.outputs[0] && sum->inputs[1] == term && take(f, *sum);
    if (!is_binary(sum, "Add")) return false;
    const ValueId shift = other_input(*sum, scaled.outputs[0]);
    if (is_negated && shift == negative) return take(f, *sum);
    const Node* shifted = graph_.producer(shift);
    if (is_negated ? !is_binary(shifted, "Add") : !is_binary(shifted, "Sub") || shifted->inputs[1] != term) return false;
    f.bias = is_negated ? other_input(*shifted, negative) : shifted->inputs[0];
    f.nodes.push_back(shifted->id);
    return is_affine_parameter(f, f.bias) && (!is_negated || other_input(*shifted, f.bias) == negative) && take(f, *sum);
  }

  /// Over the last of three dimensions, with neither scale nor bias there, which follow a number for each element.
  bool match_instance(const Node& node, Found& f) const {
    const NodeView view(graph_, node);
    const TensorType& x = tensor_type(graph_, node.inputs[0]);
    if (!x.has_rank() || x.rank() != 3 || !holds_only(view.constant_input(1), 1) || !holds_only(view.constant_input(2), 0)) return false;
    f.x = f.centred = node.inputs[0];
    f.axis = 2;
    f.end = 3;
    f.subtracts_mean = true;
    f.epsilon = static_cast<double>(ops::GroupNormalization::read(view).epsilon);
    take(f, node);
    match_affine(f);
    return f.scale != kNoValue;
  }

  static bool holds_only(const Tensor* tensor, double number) {
    for (int64_t i = 0; tensor && i < tensor->elements(); ++i) {
      if (element_as_double(tensor->view(), i) != number) return false;
    }
    return tensor != nullptr;
  }

  static bool take(Found& f, const Node& node) {
    f.nodes.push_back(node.id);
    f.last = &node;
    return true;
  }

  /// One number an element of the dimensions over which is normalised. A constant may have dimensions of 1 before them.
  bool is_parameter(const Found& f, ValueId value) const {
    const TensorType &type = tensor_type(graph_, value), &x = tensor_type(graph_, f.x);
    if (type.dtype != x.dtype || !type.has_rank() || !x.has_rank() || f.end != x.rank()) return false;
    const int count = x.rank() - f.axis, extra = type.rank() - count;
    if (count < 1 || extra < 0 || type.rank() > x.rank() ||
        !std::equal(type.dims->begin() + extra, type.dims->end(), x.dims->begin() + f.axis))
      return false;
    return extra == 0 || (graph_.value(value).constant_tensor() &&
                          std::all_of(type.dims->begin(), type.dims->begin() + extra, [](const Dim& dim) { return dim.is_constant(1); }));
  }

  /// The channels that may have a scale and a shift each; nothing where there are none.
  std::optional<int64_t> channels_of(const Found& f) const {
    const TensorType& x = tensor_type(graph_, f.x);
    if (!f.subtracts_mean || !x.has_rank() || x.rank() < 3 || f.axis < 1 || f.axis > 2 || !(*x.dims)[1].is_constant()) return std::nullopt;
    return (*x.dims)[1].value();
  }

  /// One number a channel, or one for all; of kNoValue the number given.
  std::optional<std::vector<double>> channel_values(const Found& f, ValueId value, double without) const {
    const auto channels = channels_of(f);
    if (!channels) return std::nullopt;
    if (value == kNoValue) return std::vector<double>(static_cast<size_t>(*channels), without);
    const Tensor* constant = graph_.value(value).constant_tensor();
    const TensorType& x = tensor_type(graph_, f.x);
    if (!constant || constant->dtype() != x.dtype || constant->shape().rank() > x.rank()) return std::nullopt;
    const int64_t elements = constant->elements();
    const int axis = constant->shape().rank() - x.rank() + 1;
    if (elements != 1 && (axis < 0 || elements != *channels || constant->shape()[axis] != elements)) return std::nullopt;
    std::vector<double> values;
    for (int64_t c = 0; c < *channels; ++c) values.push_back(element_as_double(constant->view(), elements == 1 ? 0 : c));
    return values;
  }

  bool is_affine_parameter(const Found& f, ValueId value) const { return is_parameter(f, value) || channel_values(f, value, 0); }

  /// A scale and a bias of every element or of every channel, or neither.
  bool match_parameters(Found& f) const {
    const auto is_absent_or_parameter = [&](ValueId value) { return value == kNoValue || is_parameter(f, value); };
    const bool fits = is_absent_or_parameter(f.scale) && is_absent_or_parameter(f.bias);
    if (fits) match_affine(f);
    if (fits && (f.scale != kNoValue || f.bias != kNoValue)) return f.scale != kNoValue || has_known_length(f);
    return match_channels(f) || (fits && has_known_length(f));
  }

  /// Whether a scale of ones can stand for none.
  bool has_known_length(const Found& f) const {
    const TensorType& x = tensor_type(graph_, f.x);
    return x.has_rank() && f.axis == x.rank() - 1 && x.dims->back().is_constant();
  }

  /// A scale that follows and, of the form with a mean, a bias.
  void match_affine(Found& f) const {
    const auto parameter_of = [&](const Node* node, std::string_view op_type) {
      const ValueId value = is_binary(node, op_type) ? other_input(*node, f.last->outputs[0]) : kNoValue;
      return value != kNoValue && is_parameter(f, value) ? value : kNoValue;
    };
    const Node* user = only_user(graph_, *f.last);
    if (f.scale == kNoValue && f.bias == kNoValue && (f.scale = parameter_of(user, "Mul")) != kNoValue) {
      take(f, *user);
      user = only_user(graph_, *f.last);
    }
    if (f.subtracts_mean && f.bias == kNoValue && (f.bias = parameter_of(user, "Add")) != kNoValue) take(f, *user);
  }

  /// A scale and a shift a channel, or neither: of the form with a mean alone.
  bool match_channels(Found& f) const {
    auto scale = channel_values(f, f.scale, 1), shift = channel_values(f, f.bias, 0);
    if (!scale || !shift) return false;
    const TensorType& x = tensor_type(graph_, f.x);
    ChannelAffineChain chain = channel_affines_after(graph_, *f.last, {x.dtype, x.rank(), *channels_of(f)});
    const bool has_parameters = f.scale != kNoValue || f.bias != kNoValue || !chain.nodes.empty();
    if (!has_parameters && has_known_length(f) && !is_between_reshapes(f)) return false;
    f.channels = ChannelAffine{std::move(*scale), std::move(*shift)};
    append(*f.channels, chain.affine);
    f.nodes.insert(f.nodes.end(), chain.nodes.begin(), chain.nodes.end());
    f.last = chain.last;
    return true;
  }

  /// As groups of channels are, whose scale and bias then follow.
  bool is_between_reshapes(const Found& f) const {
    const Node *before = graph_.producer(f.x), *after = only_user(graph_, *f.last);
    return before && after && is_op(*before, "Reshape") && is_op(*after, "Reshape");
  }

  void replace(Found f) {
    if (f.channels) return f.end == tensor_type(graph_, f.x).rank() ? replace_by_channel_normalization(f) : replace_over_channels(f);
    if (!context_.admit()) return;
    const int rank = tensor_type(graph_, f.x).rank();
    Node fused;
    fused.op_type = f.subtracts_mean ? "LayerNormalization" : "RMSNormalization";
    fused.opset = f.subtracts_mean ? kLayerOpset : kRmsOpset;
    fused.attributes = {{"axis", int64_t{f.axis - rank}}};
    fused.inputs = {rewrite_.current(f.x), parameter(f, f.scale)};
    if (f.bias != kNoValue) fused.inputs.push_back(parameter(f, f.bias));
    add(std::move(fused), f);
  }

  /// The value in the shape of what is normalised; ones where there is none.
  ValueId parameter(const Found& f, ValueId value) {
    const TensorType& x = tensor_type(graph_, f.x);
    const std::string& name = graph_.value(f.last->outputs[0]).name;
    if (value == kNoValue) {
      const std::vector<double> ones(static_cast<size_t>(x.dims->back().value()), 1.0);
      return rewrite_.edit().add_constant(name + "_scale", *channel_parameters(x.dtype, ones));
    }
    const int count = x.rank() - f.axis, extra = tensor_type(graph_, value).rank() - count;
    if (extra == 0) return rewrite_.current(value);
    const Tensor* constant = graph_.value(value).constant_tensor();
    const Shape shape(constant->shape().begin() + extra, constant->shape().end());
    return rewrite_.edit().add_constant(graph_.value(value).name, constant->reshaped(shape));
  }

  /// LayerNormalization of x with its channels last. Passes that follow see where they are best.
  void replace_over_channels(const Found& f) {
    const DType dtype = tensor_type(graph_, f.x).dtype;
    auto scale = channel_parameters(dtype, f.channels->scale), bias = channel_parameters(dtype, f.channels->shift);
    if (!scale || !bias || !context_.admit()) return;
    const int64_t rank = tensor_type(graph_, f.x).rank();
    std::vector<int64_t> last{0}, second{0, rank - 1};
    for (int64_t i = 2; i < rank; ++i) {
      last.push_back(i);
      second.push_back(i - 1);
    }
    last.push_back(1);
    const std::string& name = graph_.value(f.last->outputs[0]).name;
    Edit& edit = rewrite_.edit();
    const auto made = [&](Node node) {
      node.name = f.last->name;
      node.opset = std::max(f.last->opset, node.opset);
      return node;
    };
    const auto give = [&](Node node) {
      const ValueId output = edit.add_value(name);
      node.outputs = {output};
      edit.add_node(std::move(node), f.nodes);
      return output;
    };
    Node turn, normalization, back;
    turn.op_type = back.op_type = "Transpose";
    turn.attributes = {{"perm", std::move(last)}};
    turn.inputs = {rewrite_.current(f.x)};
    normalization.op_type = "LayerNormalization";
    normalization.opset = kLayerOpset;
    normalization.attributes = {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(f.epsilon)}};
    normalization.inputs = {give(made(std::move(turn))), edit.add_constant(name + "_scale", std::move(*scale)),
                            edit.add_constant(name + "_bias", std::move(*bias))};
    back.attributes = {{"perm", std::move(second)}};
    back.inputs = {give(made(std::move(normalization)))};
    rewrite_.replace_nodes(made(std::move(back)), *f.last, nodes_of(f));
  }

  /// Of each channel by itself, or of all in one group.
  void replace_by_channel_normalization(const Found& f) {
    const DType dtype = tensor_type(graph_, f.x).dtype;
    auto scale = channel_parameters(dtype, f.channels->scale), bias = channel_parameters(dtype, f.channels->shift);
    if (!scale || !bias || !context_.admit()) return;
    const std::string& name = graph_.value(f.last->outputs[0]).name;
    Edit& edit = rewrite_.edit();
    Node fused;
    fused.op_type = f.axis == 1 ? "GroupNormalization" : "InstanceNormalization";
    fused.opset = f.axis == 1 ? kGroupOpset : kInstanceOpset;
    if (f.axis == 1) fused.attributes = {{"num_groups", int64_t{1}}};
    fused.inputs = {rewrite_.current(f.x), edit.add_constant(name + "_scale", std::move(*scale)),
                    edit.add_constant(name + "_bias", std::move(*bias))};
    add(std::move(fused), f);
  }

  /// Each once.
  static std::vector<NodeId> nodes_of(const Found& f) {
    std::vector<NodeId> nodes = f.nodes;
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  void add(Node fused, const Found& f) {
    fused.name = f.last->name;
    fused.opset = std::max(f.last->opset, fused.opset);
    fused.attributes.push_back({"epsilon", static_cast<float>(f.epsilon)});
    rewrite_.replace_nodes(std::move(fused), *f.last, nodes_of(f));
  }
};

}  // namespace

Edit recognise_normalizations(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
