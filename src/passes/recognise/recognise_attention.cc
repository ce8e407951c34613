// Pattern: softmax(scale Q K' + masks) V of float32, written out in any of the usual ways, with the Transposes, splits and repeats around
//   it.
// Replacement: FusedAttention, which reads and writes heads where they lie.
// Not: a softmax over another dimension than the last; operands whose batches do not fit; masks that are not added; other uses in between.

#include <algorithm>
#include <map>
#include <string>

#include "ops/nn/softmax.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/attention_match.h"

namespace rh::passes {

namespace {

constexpr int kWhereOpset = 9;

struct ByText {
  bool operator()(const std::pair<ValueId, SymbolicShape>& a, const std::pair<ValueId, SymbolicShape>& b) const {
    return std::pair(a.first, to_string(a.second)) < std::pair(b.first, to_string(b.second));
  }
};

class Matcher : AttentionGraph {
 public:
  Matcher(const Graph& graph, PassContext& context) : AttentionGraph(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_op(node, "Softmax")) match(node);
    }
    return rewrite_.take();
  }

 private:
  void match(const Node& softmax) {
    Attention a;
    a.inner = {softmax.id};
    if (!runs_over_last(softmax)) return;
    a.dimensions = rank(softmax.inputs[0]);
    find_zeroed(softmax, a);
    if (!ScoreMatcher(graph_).match(softmax.inputs[0], a) || !match_weights(softmax, a) || !fits(a)) return;
    if (a.is_folded && !OperandMatcher(graph_).unfold(a)) return;
    OperandMatcher(graph_).match(a);
    const bool takes_lengths = !a.v_turned && serves_all_matrices(a) && OperandMatcher(graph_).take_lengths_first(a);
    if (!a.v_turned && !takes_lengths) take_output_transpose(a);
    const auto is_removed = [&](NodeId id) { return rewrite_.is_removed(id); };
    if (std::any_of(a.inner.begin(), a.inner.end(), is_removed) || !can_fold(a) || !context_.admit()) return;
    replace(softmax, a);
  }

  bool runs_over_last(const Node& softmax) const {
    const int dimensions = rank(softmax.inputs[0]);
    if (type(softmax.inputs[0]).dtype != DType::float32 || dimensions < 3 || dimensions > 5) return false;
    const int64_t axis = ops::Softmax::read(NodeView(graph_, softmax)).axis;
    return axis == -1 || axis == dimensions - 1;
  }

  /// Where a Where that alone takes the weights makes some of them 0.
  void find_zeroed(const Node& softmax, Attention& a) const {
    const Node* where = only_user(graph_, softmax);
    if (!where || !is_op(*where, "Where") || !have_same_type(graph_, softmax.outputs[0], where->outputs[0])) return;
    const bool masked = where->inputs[2] == softmax.outputs[0];  // chooses those that become 0
    if (where->inputs[masked ? 2 : 1] != softmax.outputs[0] || constant_number(graph_, where->inputs[masked ? 1 : 2]) != 0.0) return;
    a.zeroed = chosen_by(where->inputs[0], masked);
    a.inner.push_back(where->id);
  }

  /// From the softmax on to the second product, where NaN, or those that are masked, may become 0 in between.
  bool match_weights(const Node& softmax, Attention& a) const {
    const ValueId weights = softmax.outputs[0];
    const GraphValue& value = graph_.value(weights);
    ValueId left = weights;
    if (value.consumers.size() == 2 && !value.is_output) {
      const Node *first = &graph_.node(value.consumers[0]), *second = &graph_.node(value.consumers[1]);
      if (is_op(*first, "Where")) std::swap(first, second);
      if (!is_op(*first, "IsNaN") || !is_op(*second, "Where") || only_user(graph_, *first) != second) return false;
      const auto zero = constant_number(graph_, second->inputs[1]);
      if (second->inputs[0] != first->outputs[0] || zero != 0.0 || second->inputs[2] != weights ||
          !have_same_type(graph_, weights, second->outputs[0]))
        return false;
      a.nan_is_zero = true;
      a.inner.push_back(first->id);
      a.inner.push_back(second->id);
      left = second->outputs[0];
    }
    if (a.zeroed) left = only_user(graph_, left)->outputs[0];
    const Node* product = only_user(graph_, left);
    if (product && is_op(*product, "Transpose") && !a.is_folded && a.dimensions < 5 && turns_matrices(*product)) {
      a.v_turned = true;
      a.inner.push_back(product->id);
      left = product->outputs[0];
      product = only_user(graph_, left);
    }
    const size_t at = a.v_turned ? 1 : 0;
    if (!product || !is_op(*product, "MatMul") || product->inputs[at] != left || !is_only_output(graph_, *product)) return false;
    a.v = product->inputs[1 - at];
    a.inner.push_back(product->id);
    a.last = product;
    if (rank(a.v) != rank(a.q) || rank(product->outputs[0]) != rank(a.q)) return false;
    return !a.needs_equal_keys || type(a.k).dims->back() == dim(a.v, type(a.v).dims->size() - 2 + at);
  }

  bool turns_matrices(const Node& transpose) const {
    const auto perm = permutation(NodeView(graph_, transpose));
    if (!perm || perm->size() < 2) return false;
    const int64_t size = static_cast<int64_t>(perm->size());
    for (int64_t i = 0; i < size - 2; ++i)
      if ((*perm)[static_cast<size_t>(i)] != i) return false;
    return perm->back() == size - 2;
  }

  /// Whether batch and heads are the same everywhere, or keys and values such as serve all.
  bool fits(const Attention& a) const {
    const auto serves = [&](ValueId id, size_t i) {
      const Dim &own = dim(id, i), &queries = dim(a.q, i);
      if (own == queries) return true;
      if (a.dimensions == 5 || a.is_folded) return false;
      return own.is_constant(1) || (i == 0 && !(own.is_constant() && queries.is_constant()));
    };
    for (size_t i = 0; i + 2 < type(a.q).dims->size(); ++i) {
      if (!serves(a.k, i) || !serves(a.v, i)) return false;
    }
    return true;
  }

  /// The dimensions of a batch of two as one.
  static SymbolicShape folded(const SymbolicShape& dims) {
    SymbolicShape result(dims.begin() + 1, dims.end());
    result[0] = dims[0] * dims[1];
    return result;
  }

  /// Whether a mask is one of four dimensions where the batch of two is one: it has both dimensions of the batch, or neither.
  bool folds_with(ValueId id, const Attention& a) const {
    const auto is_own = [&](size_t i) { return dim(id, i) == dim(a.q, i); };
    const auto is_one = [&](size_t i) { return dim(id, i).is_constant(1); };
    if (rank(id) < 4 || (rank(id) == 4 && is_one(0))) return true;
    return rank(id) == 5 && ((is_own(0) && is_own(1)) || (is_one(0) && is_one(1))) &&
           reshape_target(*type(id).dims, folded(*type(id).dims)).has_value();
  }

  bool folds_with(const Mask& mask, const Attention& a) const {
    if (mask.constant) return mask.constant->shape().size() < 4;
    if (mask.value != kNoValue) return folds_with(mask.value, a);
    return (!mask.choice || folds_with(mask.choice->condition, a)) &&
           std::ranges::all_of(mask.terms, [&](const Mask& term) { return folds_with(term, a); });
  }

  /// Whether all matrices have their masks in common, or a batch of one has them.
  bool serves_all_matrices(const Attention& a) const {
    const bool is_one_batch = a.dimensions == 3 || (a.dimensions == 4 && dim(a.q, 0).is_constant(1));
    return is_one_batch || a.masks.empty();
  }

  /// Whether an attention of five dimensions can be one of four.
  bool can_fold(const Attention& a) const {
    if (a.dimensions != 5) return true;
    const auto is_folded = [&](ValueId id, const std::optional<SymbolicShape>& view) {
      return view || reshape_target(*type(id).dims, folded(*type(id).dims)).has_value();
    };
    const SymbolicShape& y = *type(a.last->outputs[0]).dims;
    return is_folded(a.q, a.q_view) && is_folded(a.k, a.k_view) && is_folded(a.v, a.v_view) && reshape_target(folded(y), y) &&
           std::ranges::all_of(a.masks, [&](const Mask& mask) { return folds_with(mask, a); });
  }

  void take_output_transpose(Attention& a) const {
    const Node* node = only_user(graph_, *a.last);
    const Node* same = nullptr;
    if (node && is_op(*node, "Reshape") && have_same_type(graph_, node->inputs[0], node->outputs[0])) {
      same = node;
      node = only_user(graph_, *node);
    }
    if (!node || !is_op(*node, "Transpose")) return;
    const Permutation lengths_first = a.dimensions == 5 ? Permutation{0, 1, 3, 2, 4} : Permutation{0, 2, 1, 3};
    if (permutation_of(NodeView(graph_, *node)) != lengths_first) return;
    a.output_length_first = true;
    if (same) a.inner.push_back(same->id);
    a.inner.push_back(node->id);
    a.last = node;
  }

  ValueId number(const Node& softmax, const char* what, double value) {
    const auto [at, is_new] = numbers_.try_emplace({what, value}, kNoValue);
    if (!is_new) return at->second;
    Tensor tensor(DType::float32, Shape{});
    *tensor.data<float>() = static_cast<float>(value);
    return at->second = rewrite_.edit().add_constant(graph_.value(softmax.outputs[0]).name + what, std::move(tensor));
  }

  /// The layers of a model have it in common.
  ValueId made_mask(const Node& softmax, const char* op_type, const std::vector<ValueId>& inputs) {
    const auto [at, is_new] = made_masks_.try_emplace({op_type, inputs}, kNoValue);
    if (!is_new) return at->second;
    Node node;
    node.name = softmax.name + "_mask";
    node.op_type = op_type;
    node.opset = std::max(softmax.opset, kWhereOpset);
    node.inputs = inputs;
    node.outputs = {rewrite_.edit().add_value(graph_.value(softmax.outputs[0]).name + "_mask")};
    at->second = node.outputs[0];
    rewrite_.edit().add_node(std::move(node), {softmax.id});
    return at->second;
  }

  ValueId mask(const Node& softmax, const Mask& of) {
    if (of.value != kNoValue) return folded_mask(softmax, of.value);
    if (of.constant) return rewrite_.edit().add_constant(graph_.value(softmax.outputs[0]).name + "_masks", *of.constant);
    ValueId sum = of.terms.empty() ? number(softmax, "_kept", 0) : mask(softmax, of.terms[0]);
    for (size_t i = 1; i < of.terms.size(); ++i) sum = made_mask(softmax, "Add", {sum, mask(softmax, of.terms[i])});
    if (of.factor != 1) sum = made_mask(softmax, "Mul", {sum, number(softmax, "_factor", of.factor)});
    if (of.least) return made_mask(softmax, "Max", {sum, number(softmax, "_least", *of.least)});
    if (!of.choice) return sum;
    const ValueId masked = number(softmax, "_masked", of.choice->number);
    return made_mask(softmax, "Where",
                     {folded_mask(softmax, of.choice->condition), of.choice->masked ? masked : sum, of.choice->masked ? sum : masked});
  }

  /// The layers of a model have it in common.
  ValueId folded_mask(const Node& softmax, ValueId id) {
    if (rank(id) < 5) return rewrite_.current(id);
    const auto [at, is_new] = folded_masks_.try_emplace(id, kNoValue);
    if (is_new) at->second = reshaped(softmax, rewrite_.current(id), *type(id).dims, folded(*type(id).dims));
    return at->second;
  }

  ValueId reshaped(const Node& softmax, ValueId value, const SymbolicShape& from, const SymbolicShape& to) {
    const std::string& name = graph_.value(softmax.outputs[0]).name;
    Node view;
    view.name = softmax.name.empty() ? "" : softmax.name + "_Reshape";
    view.op_type = "Reshape";
    view.inputs = {value, rewrite_.edit().add_constant(name + "_shape", Tensor::ints(*reshape_target(from, to)))};
    view.outputs = {rewrite_.edit().add_value(name)};
    const ValueId result = view.outputs[0];
    rewrite_.edit().add_node(std::move(view), {softmax.id});
    return result;
  }

  /// Each matrix transposed.
  static Node transpose_of(const Node& softmax, ValueId value, int dimensions) {
    std::vector<int64_t> perm;
    for (int i = 0; i < dimensions; ++i) perm.push_back(i);
    std::swap(perm.end()[-1], perm.end()[-2]);
    Node node;
    node.name = softmax.name.empty() ? "" : softmax.name + "_Transpose";
    node.op_type = "Transpose";
    node.attributes.push_back({"perm", std::move(perm)});
    node.inputs = {value};
    return node;
  }

  ValueId turned(const Node& softmax, ValueId value, int dimensions) {
    Node node = transpose_of(softmax, value, dimensions);
    node.outputs = {rewrite_.edit().add_value(graph_.value(softmax.outputs[0]).name + "_values")};
    const ValueId result = node.outputs[0];
    rewrite_.edit().add_node(std::move(node), {softmax.id});
    return result;
  }

  ValueId scaled_queries(const Node& softmax, const Attention& a) {
    Node product;
    product.name = softmax.name.empty() ? "" : softmax.name + "_Mul";
    product.op_type = "Mul";
    product.inputs = {rewrite_.current(a.q), rewrite_.current(a.q_factor)};
    product.outputs = {rewrite_.edit().add_value(graph_.value(softmax.outputs[0]).name + "_queries")};
    const ValueId result = product.outputs[0];
    rewrite_.edit().add_node(std::move(product), {softmax.id});
    return result;
  }

  void replace(const Node& softmax, const Attention& a) {
    const bool folds = a.dimensions == 5 || a.output_view;
    Node fused;
    fused.name = softmax.name;
    fused.op_type = "FusedAttention";
    fused.domain = "roundhouse";
    fused.opset = 1;
    fused.attributes = a.attributes();
    std::map<std::pair<ValueId, SymbolicShape>, ValueId, ByText> views;
    const auto add = [&](ValueId input, const std::optional<SymbolicShape>& view) {
      const SymbolicShape &dims = *type(input).dims, to = view ? *view : folds ? folded(dims) : dims;
      const bool is_scaled = a.q_factor != kNoValue && fused.inputs.empty();
      if (is_scaled)
        return fused.inputs.push_back(folds ? reshaped(softmax, scaled_queries(softmax, a), dims, to) : scaled_queries(softmax, a));
      const auto [at, is_new] = views.try_emplace({input, to}, rewrite_.current(input));
      if (is_new && (view || folds)) at->second = reshaped(softmax, at->second, dims, to);
      fused.inputs.push_back(at->second);
    };
    add(a.q, a.q_view);
    add(a.k, a.k_view);
    add(a.v, a.v_view);
    if (a.v_turned) fused.inputs[2] = turned(softmax, fused.inputs[2], a.dimensions);
    for (const Mask& added : a.masks) fused.inputs.push_back(mask(softmax, added));
    std::vector<NodeId> stands_for = a.inner;
    stands_for.insert(stands_for.end(), a.outer.begin(), a.outer.end());
    std::sort(stands_for.begin(), stands_for.end());
    stands_for.erase(std::unique(stands_for.begin(), stands_for.end()), stands_for.end());
    if (a.v_turned) {
      fused.outputs = {rewrite_.edit().add_value(graph_.value(a.last->outputs[0]).name)};
      Node back = transpose_of(softmax, fused.outputs[0], a.dimensions);
      rewrite_.edit().add_node(std::move(fused), stands_for);
      return rewrite_.replace_nodes(std::move(back), *a.last, stands_for, a.outer);
    }
    if (!folds) return rewrite_.replace_nodes(std::move(fused), *a.last, stands_for, a.outer);
    const GraphValue& y = graph_.value(a.last->outputs[0]);
    fused.outputs = {rewrite_.edit().add_value(y.name)};
    const ValueId made = fused.outputs[0];
    rewrite_.edit().add_node(std::move(fused), stands_for);
    const SymbolicShape& dims = *y.type.tensor().dims;
    rewrite_.replace_node(*a.last, reshaped(softmax, made, a.output_view ? *a.output_view : folded(dims), dims));
    for (NodeId id : a.inner) rewrite_.remove(id);
  }

  PassContext& context_;
  Rewrite rewrite_;
  std::map<std::pair<std::string, double>, ValueId> numbers_;
  std::map<std::pair<std::string, std::vector<ValueId>>, ValueId> made_masks_;
  std::map<ValueId, ValueId> folded_masks_;
};

}  // namespace

Edit recognise_attention(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
