// Pattern: Conv, MaxPool and AveragePool between an Unsqueeze and a Squeeze of a spatial dimension of 1, as converters write models of one
//   dimension.
// Replacement: the same over the other dimensions, without the two.
// Not: windows of more than one element or with pads there; weights that are not constant; values in between that something else takes.

#include <algorithm>

#include "ops/ints_operand.h"
#include "ops/tensor/squeeze.h"
#include "ops/tensor/unsqueeze.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

/// Convolutions and pools, each the only user of the one before, over a dimension that is there for them alone.
struct Chain {
  size_t axis = 0;
  const Node* front = nullptr;       // inserts the dimension, or transposes what has it inserted
  ValueId x = kNoValue;              // before it is inserted
  std::vector<int64_t> perm;         // of x, where the front transposes
  std::vector<const Node*> windows;  // the last one first
  const Node* squeeze = nullptr;
};

/// Lists of a window by what they hold for each spatial axis.
struct WindowList {
  std::string_view name;
  size_t numbers = 1;
};
constexpr WindowList kLists[] = {{"kernel_shape"}, {"strides"}, {"dilations"}, {"pads", 2}};

template <typename T>
std::vector<T> without(std::span<const T> values, size_t position) {
  std::vector<T> rest(values.begin(), values.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(position));
  return rest;
}

class Remover : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    return visit_nodes([&](const Node& node) {
      if (!is_op(node, "Squeeze") || !is_only_output(graph_, node)) return;
      const auto chain = match(node);
      if (chain && context_.admit()) replace(*chain);
    });
  }

 private:
  /// The one axis that Squeeze or Unsqueeze names, where it is spatial in a value of this type.
  static std::optional<size_t> spatial_axis(const ops::IntsOperand& axes, const TensorType& type) {
    if (!type.has_rank() || type.rank() < 4 || !axes.values || axes.values->size() != 1) return std::nullopt;
    const int64_t given = (*axes.values)[0], axis = given < 0 ? given + type.rank() : given;
    return axis >= 2 && axis < type.rank() ? std::optional(static_cast<size_t>(axis)) : std::nullopt;
  }

  std::optional<Chain> match(const Node& squeeze) const {
    const TensorType& type = tensor_type(graph_, squeeze.inputs[0]);
    const auto axis = spatial_axis(ops::Squeeze::read(NodeView(graph_, squeeze)).axes, type);
    if (!axis) return std::nullopt;
    Chain chain{.axis = *axis, .squeeze = &squeeze};
    ValueId value = squeeze.inputs[0];
    for (const Node* node = graph_.producer(value); node && is_window(*node, *axis) && has_one_use(graph_.value(value));
         node = graph_.producer(value)) {
      chain.windows.push_back(node);
      value = node->inputs[0];
    }
    chain.front = graph_.producer(value);
    const bool is_found = !chain.windows.empty() && chain.front && (match_inserting(chain, value) || match_transpose(chain, value));
    return is_found ? std::optional(std::move(chain)) : std::nullopt;
  }

  /// Whether the node's window has one element along the axis and pads nothing there.
  bool is_window(const Node& node, size_t axis) const {
    const bool is_conv = is_op(node, "Conv");
    if ((!is_conv && !is_op(node, "MaxPool") && !is_op(node, "AveragePool")) || !is_only_output(graph_, node)) return false;
    const TensorType& x = tensor_type(graph_, node.inputs[0]);
    if (!x.has_rank() || static_cast<size_t>(x.rank()) <= axis || !(*x.dims)[axis].is_constant(1)) return false;
    const size_t rank = static_cast<size_t>(x.rank()) - 2, position = axis - 2;
    const NodeView view(graph_, node);
    for (const WindowList& list : kLists) {
      const auto values = view.ints(list.name);
      if (values && values->size() != list.numbers * rank) return false;
    }
    const auto kernel = view.ints("kernel_shape"), pads = view.ints("pads");
    if (pads && ((*pads)[position] != 0 || (*pads)[position + rank] != 0)) return false;
    if (!is_conv) return kernel && (*kernel)[position] == 1;
    const Tensor* weights = view.constant_input(1);
    return weights && weights->shape().rank() == x.rank() && weights->shape()[static_cast<int>(axis)] == 1;
  }

  /// Whether a Squeeze takes away the axis of what the window gives, for itself alone.
  bool is_squeezed(const Node& window, size_t axis) const {
    const Node* squeeze = only_user(graph_, window);
    if (!squeeze || !is_op(*squeeze, "Squeeze") || squeeze->inputs[0] != window.outputs[0]) return false;
    return spatial_axis(ops::Squeeze::read(NodeView(graph_, *squeeze)).axes, tensor_type(graph_, window.outputs[0])) == axis;
  }

  /// Whether `with` is `x` with a dimension of 1 at `axis`. A dimension that differs in name alone is the same one, since both have as many
  /// elements.
  bool inserts(ValueId x, ValueId with, size_t axis) const {
    const TensorType &a = tensor_type(graph_, x), &b = tensor_type(graph_, with);
    if (!a.has_rank() || !b.has_rank() || a.rank() + 1 != b.rank() || !(*b.dims)[axis].is_constant(1)) return false;
    int different = 0;
    bool may_be_empty = false;
    for (size_t i = 0; i < static_cast<size_t>(a.rank()); ++i) {
      const Dim& dim = (*a.dims)[i];
      if (dim != (*b.dims)[i < axis ? i : i + 1]) {
        ++different;
      } else {
        may_be_empty |= !dim.is_constant() || dim.value() < 1;
      }
    }
    return different == 0 || (different == 1 && !may_be_empty);
  }

  bool match_inserting(Chain& chain, ValueId value) const {
    if (!is_op(*chain.front, "Unsqueeze") && !is_op(*chain.front, "Reshape")) return false;
    chain.x = chain.front->inputs[0];
    return inserts(chain.x, value, chain.axis);
  }

  /// Transpose of what Unsqueeze gives, for such chains alone: each gets a Transpose, which are the same again.
  bool match_transpose(Chain& chain, ValueId value) const {
    const Node* inner = is_op(*chain.front, "Transpose") ? graph_.producer(chain.front->inputs[0]) : nullptr;
    if (!inner || !is_op(*inner, "Unsqueeze") || graph_.value(value).is_output) return false;
    const auto is_chain = [&](NodeId id) { return is_window(graph_.node(id), chain.axis) && is_squeezed(graph_.node(id), chain.axis); };
    if (!std::ranges::all_of(graph_.value(value).consumers, is_chain) && !has_one_use(graph_.value(value))) return false;
    const auto perm = permutation(NodeView(graph_, *chain.front));
    const auto axes = ops::Unsqueeze::read(NodeView(graph_, *inner)).axes.values;
    const TensorType& type = tensor_type(graph_, inner->outputs[0]);
    if (!perm || !axes || axes->size() != 1 || !type.has_rank() || perm->size() != static_cast<size_t>(type.rank())) return false;
    const int64_t inserted = (*axes)[0] < 0 ? (*axes)[0] + type.rank() : (*axes)[0];
    if ((*perm)[chain.axis] != inserted) return false;
    for (const int64_t from : *perm) {
      if (from != inserted) chain.perm.push_back(from > inserted ? from - 1 : from);
    }
    chain.x = inner->inputs[0];
    return true;
  }

  void replace(const Chain& chain) {
    ValueId value = rewrite_.current(chain.x);
    if (!chain.perm.empty())
      value = rewrite_.add_part(part_of(*chain.front, true, "Transpose", {value}, {{"perm", chain.perm}}), *chain.front);
    std::vector<NodeId> nodes;
    for (size_t i = chain.windows.size(); i-- > 0;) {
      const Node& window = *chain.windows[i];
      nodes.push_back(window.id);
      Node made = narrowed(window, value, chain.axis);
      if (i > 0) {
        value = rewrite_.add_part(std::move(made), window);
      } else {
        nodes.push_back(chain.squeeze->id);
        rewrite_.replace_nodes(std::move(made), *chain.squeeze, nodes);
      }
    }
  }

  /// The convolution or pool over the other dimensions of `x`, without outputs yet.
  Node narrowed(const Node& window, ValueId x, size_t axis) {
    const size_t position = axis - 2;
    Node made;
    made.name = window.name;
    made.op_type = window.op_type;
    made.opset = window.opset;
    made.inputs = window.inputs;
    made.attributes = window.attributes;
    made.inputs[0] = x;
    for (Attribute& attribute : made.attributes) {
      const auto list = std::ranges::find(kLists, attribute.name, &WindowList::name);
      if (list == std::end(kLists)) continue;
      std::vector<int64_t> values = *attribute.get<std::vector<int64_t>>();
      const size_t rank = values.size() / list->numbers;
      for (size_t i = list->numbers; i-- > 0;) values = without<int64_t>(values, position + i * rank);
      attribute.value = std::move(values);
    }
    for (size_t i = 1; i < made.inputs.size(); ++i) made.inputs[i] = rewrite_.current(made.inputs[i]);
    if (is_op(window, "Conv")) {
      const GraphValue& weights = graph_.value(window.inputs[1]);
      const Shape& shape = weights.constant_tensor()->shape();
      const std::vector<int64_t> dims = without<int64_t>(std::span<const int64_t>(shape.begin(), shape.end()), axis);
      made.inputs[1] = rewrite_.edit().add_constant(weights.name, weights.constant_tensor()->reshaped(Shape(dims.begin(), dims.end())));
    }
    return made;
  }
};

}  // namespace

Edit eliminate_inserted_dimensions(const Graph& graph, PassContext& context) { return Remover(graph, context).run(); }

}  // namespace rh::passes
