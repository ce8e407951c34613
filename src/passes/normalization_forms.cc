#include <algorithm>

#include "ops/reduction/reduce.h"
#include "passes/channel_affine.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBroadcastOpset = 7;  // of ai.onnx, from which on arithmetic broadcasts as numpy does
constexpr int kLayerOpset = 17, kRmsOpset = 23, kInstanceOpset = 6;

/// The dimensions over which is normalised: the last one, or those behind the channels.
enum class Over : uint8_t { last, spatial };

struct Found {
  ValueId x = kNoValue, scale = kNoValue, bias = kNoValue;
  double epsilon = 0;
  bool subtracts_mean = false;
  std::optional<Over> over;
  ChannelAffine channels;  // over spatial dimensions, in place of scale and bias
  std::vector<NodeId> nodes;
  const Node* last = nullptr;
};

class Matcher {
 public:
  Matcher(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_op(node, "Sqrt")) continue;
      Found found;
      if (match(node, found)) replace(std::move(found));
    }
    return rewrite_.take();
  }

 private:
  static bool is_binary(const Node* node, std::string_view op_type) {
    return node && is_op(*node, op_type) && node->opset >= kBroadcastOpset && node->inputs.size() == 2;
  }

  bool match(const Node& root, Found& f) const {
    f.nodes = {root.id};
    return match_variance(root.inputs[0], f) && match_quotient(root, f) && match_parameters(f) && is_closed(graph_, f.nodes, *f.last) &&
           have_same_type(graph_, f.x, f.last->outputs[0]) &&
           std::none_of(f.nodes.begin(), f.nodes.end(), [&](NodeId id) { return rewrite_.is_removed(id); });
  }

  /// mean(x^2) + epsilon, x perhaps less its mean.
  bool match_variance(ValueId value, Found& f) const {
    const Node* sum = graph_.producer(value);
    if (!is_binary(sum, "Add")) return false;
    for (size_t i = 0; i < 2; ++i) {
      const auto epsilon = constant_number(graph_, sum->inputs[i]);
      const Node* mean = graph_.producer(sum->inputs[1 - i]);
      const auto over = mean ? mean_over(*mean) : std::nullopt;
      if (!epsilon || !(*epsilon >= 0) || !over) continue;
      f.epsilon = *epsilon;
      f.over = over;
      f.nodes.insert(f.nodes.end(), {sum->id, mean->id});
      return match_square(mean->inputs[0], f);
    }
    return false;
  }

  bool match_square(ValueId value, Found& f) const {
    const Node* square = graph_.producer(value);
    if (is_binary(square, "Pow") ? constant_number(graph_, square->inputs[1]) != 2.0
                                 : !is_binary(square, "Mul") || square->inputs[0] != square->inputs[1])
      return false;
    f.nodes.push_back(square->id);
    f.x = square->inputs[0];
    const DType dtype = tensor_type(graph_, f.x).dtype;
    const Node* difference = graph_.producer(f.x);
    if (is_binary(difference, "Sub")) {
      const Node* mean = graph_.producer(difference->inputs[1]);
      if (mean && mean_over(*mean) == f.over && mean->inputs[0] == difference->inputs[0]) {
        f.nodes.insert(f.nodes.end(), {difference->id, mean->id});
        f.subtracts_mean = true;
      }
    }
    return dtype == DType::float32 || dtype == DType::float16;
  }

  /// What a ReduceMean is over whose dimensions stay.
  std::optional<Over> mean_over(const Node& node) const {
    if (!is_op(node, "ReduceMean")) return std::nullopt;
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
    for (int64_t& axis : axes) axis = axis < 0 ? axis + type.rank() : axis;
    std::ranges::sort(axes);
    if (axes == std::vector<int64_t>{type.rank() - 1}) return Over::last;
    std::vector<int64_t> spatial;
    for (int64_t axis = 2; axis < type.rank(); ++axis) spatial.push_back(axis);
    return axes == spatial ? std::optional(Over::spatial) : std::nullopt;
  }

  /// What is normalised, divided by the root.
  bool match_quotient(const Node& root, Found& f) const {
    const Node* user = only_user(graph_, root);
    if (!user) return false;
    const ValueId normalized = f.x;
    if (is_binary(user, "Div") && user->inputs[0] == normalized && user->inputs[1] == root.outputs[0]) {
      take(f, *user);
    } else {
      const bool is_inverse = is_op(*user, "Reciprocal") || (is_binary(user, "Div") && user->inputs[1] == root.outputs[0] &&
                                                             constant_number(graph_, user->inputs[0]) == 1.0);
      const Node* product = is_inverse ? only_user(graph_, *user) : nullptr;
      if (!is_binary(product, "Mul") || other_input(*product, user->outputs[0]) != normalized) return false;
      f.nodes.push_back(user->id);
      take(f, *product);
    }
    if (f.subtracts_mean) f.x = graph_.producer(normalized)->inputs[0];
    return true;
  }

  static void take(Found& f, const Node& node) {
    f.nodes.push_back(node.id);
    f.last = &node;
  }

  /// One number an element of the last dimension.
  bool is_parameter(const Found& f, ValueId value) const {
    const TensorType &type = tensor_type(graph_, value), &x = tensor_type(graph_, f.x);
    return type.dtype == x.dtype && type.has_rank() && type.rank() == 1 && x.has_rank() && x.rank() > 0 &&
           (*type.dims)[0] == x.dims->back();
  }

  bool match_parameters(Found& f) const { return f.over == Over::last ? match_scale(f) : match_channels(f); }

  /// A scale and a shift a channel, or neither: of the form with a mean alone.
  bool match_channels(Found& f) const {
    const TensorType& x = tensor_type(graph_, f.x);
    if (!f.subtracts_mean || !x.has_rank() || x.rank() < 3 || !(*x.dims)[1].is_constant()) return false;
    ChannelAffineChain chain = channel_affines_after(graph_, *f.last, {x.dtype, x.rank(), (*x.dims)[1].value()});
    f.channels = std::move(chain.affine);
    f.nodes.insert(f.nodes.end(), chain.nodes.begin(), chain.nodes.end());
    f.last = chain.last;
    return true;
  }

  /// A scale, which must be there, and of the form with a mean a bias.
  bool match_scale(Found& f) const {
    const Node* scaled = only_user(graph_, *f.last);
    if (!is_binary(scaled, "Mul")) return false;
    f.scale = other_input(*scaled, f.last->outputs[0]);
    if (!is_parameter(f, f.scale)) return false;
    take(f, *scaled);
    const Node* shifted = f.subtracts_mean ? only_user(graph_, *f.last) : nullptr;
    if (!is_binary(shifted, "Add") || !is_parameter(f, other_input(*shifted, f.last->outputs[0]))) return true;
    f.bias = other_input(*shifted, f.last->outputs[0]);
    take(f, *shifted);
    return true;
  }

  void replace(Found f) {
    if (f.over == Over::spatial) return replace_by_instance_normalization(f);
    if (!context_.admit()) return;
    Node fused;
    fused.op_type = f.subtracts_mean ? "LayerNormalization" : "RMSNormalization";
    fused.opset = f.subtracts_mean ? kLayerOpset : kRmsOpset;
    fused.attributes = {{"axis", int64_t{-1}}};
    fused.inputs = {rewrite_.current(f.x), rewrite_.current(f.scale)};
    if (f.bias != kNoValue) fused.inputs.push_back(rewrite_.current(f.bias));
    add(std::move(fused), f);
  }

  void replace_by_instance_normalization(const Found& f) {
    const DType dtype = tensor_type(graph_, f.x).dtype;
    auto scale = channel_parameters(dtype, f.channels.scale), bias = channel_parameters(dtype, f.channels.shift);
    if (!scale || !bias || !context_.admit()) return;
    const std::string& name = graph_.value(f.last->outputs[0]).name;
    Edit& edit = rewrite_.edit();
    Node fused;
    fused.op_type = "InstanceNormalization";
    fused.opset = kInstanceOpset;
    fused.inputs = {rewrite_.current(f.x), edit.add_constant(name + "_scale", std::move(*scale)),
                    edit.add_constant(name + "_bias", std::move(*bias))};
    add(std::move(fused), f);
  }

  void add(Node fused, const Found& f) {
    std::vector<NodeId> nodes = f.nodes;
    std::ranges::sort(nodes);
    fused.name = f.last->name;
    fused.opset = std::max(f.last->opset, fused.opset);
    fused.attributes.push_back({"epsilon", static_cast<float>(f.epsilon)});
    rewrite_.replace_nodes(std::move(fused), *f.last, nodes);
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

/// LayerNormalization and RMSNormalization over the last dimension and InstanceNormalization that are written out become one operator.
Edit normalization_forms(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
