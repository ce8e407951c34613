// Pattern: convolutions of one value that are added up, with the value itself and what scales and shifts its channels beside them.
// Replacement: one Conv whose kernel is the sum of theirs.
// Not: where that kernel is larger than theirs together; other strides, groups or types; weights that are not constant.

#include <algorithm>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/kernel_sum.h"

namespace rh::passes {

namespace {

// Larger sums, and longer rows of operators that scale, are left as they are.
constexpr size_t kMostTerms = 256, kMostSteps = 8;

/// A value that is added, or subtracted.
struct Term {
  ValueId value = kNoValue;
  double sign = 1;
  std::optional<PlacedConvolution> conv;  ///< that gives the value to the sum alone
  bool is_merged = false;
};

/// Add, Sub and Sum of values of one type, the results of all but the root used by the next alone.
struct SumTree {
  const Node* root = nullptr;
  std::vector<Term> terms;
  std::vector<NodeId> nodes;
};

/// Terms that become one convolution, of which the first is one.
struct Merged {
  std::vector<const Term*> convolutions;
  std::vector<std::pair<const Term*, ChannelAffine>> affines;
  KernelWindow window;
  std::vector<NodeId> nodes;
  std::vector<Tensor> constants;  ///< weights and bias

  const PlacedConvolution& first() const { return *convolutions.front()->conv; }
  size_t count() const { return convolutions.size() + affines.size(); }
};

class Merger : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_sum(node)) continue;
      const Node* user = only_user(graph_, node);
      if (!user || !is_sum(*user)) merge(tree_of(node));
    }
    return rewrite_.take();
  }

 private:
  bool is_sum(const Node& node) const {
    const bool adds = is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Sum");
    if (!adds || node.opset < kBroadcastOpset || !is_only_output(graph_, node)) return false;
    return std::ranges::all_of(node.inputs, [&](ValueId input) { return have_same_type(graph_, input, node.outputs[0]); });
  }

  SumTree tree_of(const Node& root) const {
    SumTree tree{.root = &root, .terms = {}, .nodes = {}};
    std::vector<std::pair<const Node*, Term>> open{{&root, {root.outputs[0]}}};
    while (!open.empty()) {
      auto [node, term] = std::move(open.back());
      open.pop_back();
      if (!node) {
        term.conv = convolution_of(term.value);
        tree.terms.push_back(std::move(term));
        continue;
      }
      tree.nodes.push_back(node->id);
      for (size_t i = node->inputs.size(); i-- > 0;) {
        const ValueId input = node->inputs[i];
        const Node* inner = graph_.producer(input);
        const bool goes_on = inner && has_one_use(graph_.value(input)) && is_sum(*inner);
        open.push_back({goes_on ? inner : nullptr, {input, i == 1 && node->op_type == "Sub" ? -term.sign : term.sign}});
      }
    }
    return tree;
  }

  std::optional<PlacedConvolution> convolution_of(ValueId value) const {
    const Node* node = graph_.producer(value);
    return node && has_one_use(graph_.value(value)) ? placed_convolution(graph_, *node) : std::nullopt;
  }

  void merge(SumTree tree) {
    if (tree.terms.size() > kMostTerms) return;
    std::vector<Merged> made;
    for (Term& term : tree.terms) {
      if (term.is_merged || !term.conv) continue;
      Merged merged = convolutions_like(*term.conv, tree);
      take_affines(merged, tree);
      if (merged.count() == 1 || !add_up(merged)) continue;
      for (const Term* part : merged.convolutions) tree.terms[static_cast<size_t>(part - tree.terms.data())].is_merged = true;
      for (const auto& [part, affine] : merged.affines) tree.terms[static_cast<size_t>(part - tree.terms.data())].is_merged = true;
      made.push_back(std::move(merged));
    }
    if (!made.empty() && context_.admit()) replace(tree, made);
  }

  static bool are_alike(const PlacedConvolution& a, const PlacedConvolution& b) {
    return a.op.node->inputs[0] == b.op.node->inputs[0] && a.op.group == b.op.group && a.op.outputs == b.op.outputs &&
           a.strides == b.strides && a.op.weights->dtype() == b.op.weights->dtype() && a.op.weights->shape()[1] == b.op.weights->shape()[1];
  }

  /// Whether as many outputs come of the windows, whatever the size of the input, or as the sizes are.
  bool have_same_limits(const KernelWindow& a, const KernelWindow& b, ValueId output) const {
    return tensor_type(graph_, output).is_static() ||
           std::ranges::equal(a, b, [](const KernelAxis& x, const KernelAxis& y) { return x.limit == y.limit; });
  }

  /// Convolutions like `first` whose kernels together are not smaller than one that covers them, the largest first.
  Merged convolutions_like(const PlacedConvolution& first, const SumTree& tree) const {
    std::vector<const Term*> alike;
    for (const Term& term : tree.terms)
      if (!term.is_merged && term.conv && are_alike(first, *term.conv)) alike.push_back(&term);
    std::ranges::stable_sort(alike, std::greater(), [](const Term* term) { return kernel_size(term->conv->window); });
    Merged merged;
    merged.window = alike.front()->conv->window;
    int64_t separate = 0;
    for (const Term* term : alike) {
      const int64_t all = separate + kernel_size(term->conv->window);
      const auto window = united(merged.window, term->conv->window);
      if (!window || kernel_size(*window) > all || !have_same_limits(merged.window, term->conv->window, term->value)) continue;
      separate = all;
      merged.window = *window;
      merged.convolutions.push_back(term);
      merged.nodes.push_back(term->conv->op.node->id);
    }
    return merged;
  }

  /// Terms that scale and shift the channels of the convolutions' input; the input itself where others are merged anyway.
  void take_affines(Merged& merged, SumTree& tree) const {
    const PlacedConvolution& conv = merged.first();
    const bool covers = std::ranges::all_of(merged.window, [](const KernelAxis& axis) { return axis.covers(0); });
    if (!covers || !ops::all_are(conv.strides, 1) || conv.op.inputs != conv.op.outputs) return;
    for (const bool is_input : {false, true}) {
      for (const Term& term : tree.terms) {
        if (term.is_merged || (term.value == conv.op.node->inputs[0]) != is_input || (is_input && merged.count() == 1)) continue;
        take_affine(merged, term);
      }
    }
  }

  void take_affine(Merged& merged, const Term& term) const {
    const LinearOperator& op = merged.first().op;
    const ChannelValue type{op.weights->dtype(), op.weights->shape().rank(), op.outputs};
    const size_t channels = static_cast<size_t>(op.outputs);
    ChannelAffine affine{std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)};
    std::vector<NodeId> nodes;
    for (ValueId value = term.value; value != op.node->inputs[0];) {
      auto step = nodes.size() < kMostSteps ? channel_affine_before(graph_, value, type) : std::nullopt;
      if (!step) return;
      append(step->affine, affine);
      affine = std::move(step->affine);
      nodes.push_back(step->node->id);
      value = step->from;
    }
    // Nodes whose results something else takes too stay for that.
    for (const NodeId id : nodes) {
      if (!has_one_use(graph_.value(graph_.node(id).outputs[0]))) break;
      merged.nodes.push_back(id);
    }
    merged.affines.emplace_back(&term, std::move(affine));
  }

  /// False where a number does not fit the type of the weights.
  static bool add_up(Merged& merged) {
    std::vector<KernelTerm> terms;
    for (const Term* term : merged.convolutions) terms.push_back({term->sign, &*term->conv, {}});
    for (const auto& [term, affine] : merged.affines) terms.push_back({term->sign, nullptr, affine});
    auto constants = summed_kernels(merged.first(), merged.window, terms);
    if (constants) merged.constants = std::move(*constants);
    return constants.has_value();
  }

  void replace(const SumTree& tree, const std::vector<Merged>& made) {
    std::vector<Term> terms;
    for (const Merged& merged : made) terms.push_back({add_convolution(tree, merged)});
    for (const Term& term : tree.terms)
      if (!term.is_merged) terms.push_back({rewrite_.current(term.value), term.sign});
    ValueId sum = terms.front().value;
    for (size_t i = 1; i < terms.size(); ++i) sum = add_sum(tree, sum, terms[i]);
    rewrite_.replace_node(*tree.root, sum);
    for (const NodeId id : tree.nodes) rewrite_.remove(id);
  }

  ValueId add_convolution(const SumTree& tree, const Merged& merged) {
    const Node& first = *merged.first().op.node;
    const GraphValue& output = graph_.value(tree.root->outputs[0]);
    Edit& edit = rewrite_.edit();
    Node conv;
    conv.name = first.name;
    conv.op_type = "Conv";
    conv.opset = first.opset;
    conv.attributes = window_attributes(merged.first(), merged.window);
    conv.inputs = {rewrite_.current(first.inputs[0]), edit.add_constant(graph_.value(first.inputs[1]).name, merged.constants[0])};
    if (merged.constants.size() > 1) conv.inputs.push_back(edit.add_constant(output.name + "_bias", merged.constants[1]));
    conv.outputs = {edit.add_value(output.name, output.type)};
    const ValueId result = conv.outputs[0];
    for (const NodeId id : merged.nodes) rewrite_.remove(id);
    std::vector<NodeId> nodes = merged.nodes;
    nodes.insert(nodes.end(), tree.nodes.begin(), tree.nodes.end());
    edit.add_node(std::move(conv), nodes);
    return result;
  }

  ValueId add_sum(const SumTree& tree, ValueId sum, const Term& term) {
    const GraphValue& output = graph_.value(tree.root->outputs[0]);
    Node node;
    node.name = tree.root->name;
    node.op_type = term.sign > 0 ? "Add" : "Sub";
    node.opset = tree.root->opset;
    node.inputs = {sum, term.value};
    node.outputs = {rewrite_.edit().add_value(output.name, output.type)};
    const ValueId result = node.outputs[0];
    rewrite_.edit().add_node(std::move(node), tree.nodes);
    return result;
  }
};

}  // namespace

Edit merge_parallel_convolutions(const Graph& graph, PassContext& context) { return Merger(graph, context).run(); }

}  // namespace rh::passes
