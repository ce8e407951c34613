// Pattern: Conv, FusedConv or NhwcConv, a sum of its shape before or behind the activation, and an activation, if only of a view;
//   ConvTranspose and its activation.
// Replacement: FusedConv, NhwcConv or FusedConvTranspose; numbers that scale and shift a HardSwish go in, too.
// Not: other types than float32 and float16; values in between that something else takes; a slope a channel where channels are elsewhere.

#include "ops/activation/fused_activation.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

class Fuser : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    // Of two convolutions that are added, the later one takes the sum of the other.
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      const bool is_fused = node.op_type == "FusedConv" && node.domain == "com.microsoft";
      if (is_op(node, "Conv") || is_op(node, "ConvTranspose") || is_own(node, "NhwcConv") || is_fused) fuse(node);
    }
    return rewrite_.take();
  }

 private:
  void fuse(const Node& conv) {
    const DType dtype = tensor_type(graph_, conv.inputs[0]).dtype;
    if ((dtype != DType::float32 && dtype != DType::float16) || NodeView(graph_, conv).has("activation")) return;
    const Node* last = &conv;
    const bool adds = conv.inputs.size() <= 3 && !is_op(conv, "ConvTranspose");
    const Node* sum = adds ? next(conv) : nullptr;
    ValueId addend = kNoValue;
    if (sum && is_sum(graph_, *sum, conv.outputs[0])) {
      addend = other_input(*sum, conv.outputs[0]);
      last = sum;
    } else {
      sum = nullptr;
    }
    const Node* view = next(*last);
    if (view && (!is_view(*view) || !is_only_output(graph_, *view))) view = nullptr;
    const Node* activation = next(view ? *view : *last);
    std::optional<ops::FusedActivation> function;
    if (activation && activation->inputs[0] == (view ? view : last)->outputs[0] && is_only_output(graph_, *activation))
      function = activation_of(conv, *activation, view);
    if (!function) view = nullptr;
    if (function) last = activation;
    std::vector<NodeId> scaling;
    if (function && !view && dtype == DType::float32) last = take_affine(*function, *last, scaling);
    const bool sum_last = function && !view && !sum && adds && scaling.empty() && takes_sum_last(dtype, *activation);
    if (sum_last) {
      last = sum = next(*activation);
      addend = other_input(*sum, activation->outputs[0]);
    }
    if (last == &conv || !context_.admit()) return;
    replace(conv, sum, sum_last ? activation : nullptr, addend, function, view, *last, scaling);
  }

  /// A number by which a HardSwish is multiplied, and one that is added then, as networks with learned scales have them, become part of
  /// it. The last node that counts; those before it, if there are any, are added to `scaling`.
  const Node* take_affine(ops::FusedActivation& function, const Node& activation, std::vector<NodeId>& scaling) const {
    using F = ops::FusedActivation::Function;
    if (function.function != F::hard_swish) return &activation;
    const Node* last = &activation;
    float scale = 1, shift = 0;
    for (const char* op : {"Mul", "Add"}) {
      const Node* user = next(*last);
      if (!user || !is_op(*user, op) || !have_same_type(graph_, last->outputs[0], user->outputs[0])) continue;
      const auto number = constant_number(graph_, other_input(*user, last->outputs[0]));
      if (!number || static_cast<double>(static_cast<float>(*number)) != *number) continue;
      (op == std::string_view("Mul") ? scale : shift) = static_cast<float>(*number);
      scaling.push_back(last->id);
      last = user;
    }
    if (!scaling.empty()) function = {F::hard_swish_affine, scale, shift};
    return last;
  }

  /// Whether the activation's result is added to a value of its shape.
  bool takes_sum_last(DType dtype, const Node& activation) const {
    const Node* sum = dtype == DType::float32 ? next(activation) : nullptr;
    return sum && is_sum(graph_, *sum, activation.outputs[0]);
  }

  const Node* next(const Node& node) const {
    const Node* user = only_user(graph_, node);
    return user && !rewrite_.is_removed(user->id) ? user : nullptr;
  }

  /// A slope for each channel only where channels are in their place.
  std::optional<ops::FusedActivation> activation_of(const Node& conv, const Node& activation, const Node* view) const {
    const NodeView node(graph_, activation);
    const TensorType& type = tensor_type(graph_, conv.outputs[0]);
    const bool by_channel = !view && !is_own(conv, "NhwcConv") && type.has_rank() && type.rank() > 1 && (*type.dims)[1].is_constant();
    return by_channel ? ops::FusedActivation::of_channels(node, (*type.dims)[1].value(), type.rank()) : ops::FusedActivation::of(node);
  }

  /// `last` is the activation, if any, of a view, if any, of the sum, if any; or the sum, where the activation is `inner`.
  void replace(const Node& conv, const Node* sum, const Node* inner, ValueId addend, const std::optional<ops::FusedActivation>& function,
               const Node* view, const Node& last, std::span<const NodeId> scaling) {
    Node fused;
    fused.name = conv.name;
    const bool is_transposed = is_op(conv, "ConvTranspose");
    fused.op_type = is_own(conv, "NhwcConv") ? conv.op_type : is_transposed ? "FusedConvTranspose" : "FusedConv";
    fused.domain = inner || is_transposed || !scaling.empty() || is_own(conv, "NhwcConv") ? "roundhouse" : "com.microsoft";
    fused.opset = 1;
    fused.attributes = conv.attributes;
    if (function) {
      for (Attribute& attribute : function->attributes()) fused.attributes.push_back(std::move(attribute));
    }
    for (ValueId input : conv.inputs) fused.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    if (inner) fused.attributes.push_back({"sum_last", int64_t{1}});
    std::vector<NodeId> stands_for{conv.id};
    if (inner) stands_for.push_back(inner->id);
    if (sum) {
      fused.inputs.resize(3, kNoValue);
      fused.inputs.push_back(rewrite_.current(addend));
      stands_for.push_back(sum->id);
    }
    stands_for.insert(stands_for.end(), scaling.begin(), scaling.end());
    if (function && !inner) stands_for.push_back(last.id);
    if (!view) return rewrite_.replace_nodes(std::move(fused), last, stands_for);
    fused.outputs = {rewrite_.edit().add_value(graph_.value(conv.outputs[0]).name)};
    Node made;
    made.name = view->name;
    made.op_type = view->op_type;
    made.opset = view->opset;
    made.attributes = view->attributes;
    for (ValueId input : view->inputs) made.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    made.inputs[0] = fused.outputs[0];
    rewrite_.edit().add_node(std::move(fused), stands_for);
    rewrite_.replace_nodes(std::move(made), last, {view->id});
    for (const NodeId id : stands_for) rewrite_.remove(id);
  }
};

}  // namespace

Edit fuse_conv_activation(const Graph& graph, PassContext& context) { return Fuser(graph, context).run(); }

}  // namespace rh::passes
