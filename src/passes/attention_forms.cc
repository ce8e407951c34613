#include <algorithm>

#include "ops/nn/softmax.h"
#include "ops/tensor/split.h"
#include "ops/tensor/transpose.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBroadcastOpset = 7;  // of ai.onnx, from which on arithmetic broadcasts as numpy does
constexpr int kWhereOpset = 9;
constexpr double kMasked = -1e30;  // beside this or less, a score that is added to it is lost

using Permutation = std::vector<int64_t>;

/// A mask of true and false: what scores become where it is `masked`.
struct Choice {
  ValueId condition = kNoValue;
  bool masked = false;
  double number = 0;
};

/// What is known of one attention.
struct Attention {
  ValueId q = kNoValue, k = kNoValue, v = kNoValue, mask = kNoValue;
  std::optional<Choice> choice;  ///< in place of the mask
  double scale = 1;
  bool q_length_first = false, k_length_first = false, v_length_first = false, output_length_first = false;
  int64_t q_part = 0, k_part = 0, v_part = 0;
  bool k_transposed = true, nan_is_zero = false;
  std::vector<NodeId> inner;  ///< nodes that it replaces, from the first product to the last node
  std::vector<NodeId> outer;  ///< nodes before the first product that it makes superfluous, where nobody else takes what they give
  const Node* last = nullptr;

  std::vector<Attribute> attributes() const {
    std::vector<Attribute> list{{"scale", static_cast<float>(scale)}};
    const auto flag = [&](const char* name, bool value) {
      if (value) list.push_back({name, int64_t{1}});
    };
    flag("q_length_first", q_length_first);
    flag("k_length_first", k_length_first);
    flag("v_length_first", v_length_first);
    flag("output_length_first", output_length_first);
    const auto part = [&](const char* name, int64_t value) {
      if (value != 0) list.push_back({name, value});
    };
    part("q_part", q_part);
    part("k_part", k_part);
    part("v_part", v_part);
    flag("k_transposed", k_transposed);
    flag("nan_is_zero", nan_is_zero);
    return list;
  }
};

class Matcher {
 public:
  Matcher(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

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
    if (!runs_over_last(softmax) || !match_scores(softmax.inputs[0], a) || !match_weights(softmax, a) || !fits(a)) return;
    strip_scale(a.q, a);
    strip_scale(a.k, a);
    strip_key_transpose(a);
    if (!a.k_transposed) strip_repeat(a.k, a);
    strip_repeat(a.v, a);
    if (!strip_part(a.q, a.q_part, a)) strip_transpose(a.q, a.q_length_first, a);
    if (!a.k_transposed && !a.k_length_first && !strip_part(a.k, a.k_part, a)) strip_transpose(a.k, a.k_length_first, a);
    if (!strip_part(a.v, a.v_part, a)) strip_transpose(a.v, a.v_length_first, a);
    take_output_transpose(a);
    const auto is_removed = [&](NodeId id) { return rewrite_.is_removed(id); };
    if (std::any_of(a.inner.begin(), a.inner.end(), is_removed) || !context_.admit()) return;
    replace(softmax, a);
  }

  const TensorType& type(ValueId id) const { return tensor_type(graph_, id); }
  int rank(ValueId id) const { return type(id).has_rank() ? type(id).rank() : -1; }
  const Dim& dim(ValueId id, size_t i) const { return (*type(id).dims)[i]; }

  bool runs_over_last(const Node& softmax) const {
    const int dimensions = rank(softmax.inputs[0]);
    if (type(softmax.inputs[0]).dtype != DType::float32 || (dimensions != 3 && dimensions != 4)) return false;
    const int64_t axis = ops::Softmax::read(NodeView(graph_, softmax)).axis;
    return axis == -1 || axis == dimensions - 1;
  }

  /// Back from the softmax to the first product, by a mask that is added and a factor.
  bool match_scores(ValueId value, Attention& a) const {
    const Node* node = graph_.producer(value);
    if (node && is_binary(*node, "Add") && has_one_use(graph_.value(value))) {
      for (size_t i = 0; i < 2; ++i) {
        Attention masked = a;
        masked.mask = node->inputs[1 - i];
        if (!have_same_type(graph_, node->inputs[i], value) || type(masked.mask).dtype != DType::float32) continue;
        if (rank(masked.mask) < 0 || !match_product(node->inputs[i], masked)) continue;
        masked.inner.push_back(node->id);
        a = std::move(masked);
        return true;
      }
    }
    if (node && is_op(*node, "Where") && has_one_use(graph_.value(value))) return match_choice(*node, a);
    return match_product(value, a);
  }

  /// Scores, or a number so low that nothing is left of a score beside it.
  bool match_choice(const Node& where, Attention& a) const {
    for (size_t i = 1; i < 3; ++i) {
      const auto number = constant_number(graph_, where.inputs[3 - i]);
      const int dimensions = rank(where.inputs[0]);
      if (!number || !(*number <= kMasked) || !have_same_type(graph_, where.inputs[i], where.outputs[0]) || dimensions < 0) continue;
      a.choice = Choice{.condition = where.inputs[0], .masked = i == 2, .number = *number};
      a.inner.push_back(where.id);
      return match_product(where.inputs[i], a);
    }
    return false;
  }

  bool match_product(ValueId value, Attention& a) const {
    const Node* node = graph_.producer(value);
    if (!node || !has_one_use(graph_.value(value))) return false;
    if (const auto factor = factor_of(*node)) {
      a.scale *= factor->second;
      a.inner.push_back(node->id);
      value = factor->first;
      node = graph_.producer(value);
      if (!node || !has_one_use(graph_.value(value))) return false;
    }
    if (!is_op(*node, "MatMul") || rank(value) != rank(node->inputs[0]) || rank(value) != rank(node->inputs[1])) return false;
    a.inner.push_back(node->id);
    a.q = node->inputs[0];
    a.k = node->inputs[1];
    return true;
  }

  /// The operand and the number where the node multiplies or divides by one number.
  std::optional<std::pair<ValueId, double>> factor_of(const Node& node) const {
    const bool divides = is_binary(node, "Div");
    if (!divides && !is_binary(node, "Mul")) return std::nullopt;
    for (size_t i = 0; i < (divides ? 1u : 2u); ++i) {
      const auto number = constant_number(graph_, node.inputs[1 - i]);
      if (!number || (divides && *number == 0) || !have_same_type(graph_, node.inputs[i], node.outputs[0])) continue;
      return std::pair{node.inputs[i], divides ? 1 / *number : *number};
    }
    return std::nullopt;
  }

  static bool is_binary(const Node& node, std::string_view op_type) {
    return is_op(node, op_type) && node.opset >= kBroadcastOpset && node.inputs.size() == 2;
  }

  /// From the softmax on to the second product, where NaN may become 0 in between.
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
    const Node* product = only_user(graph_, left);
    if (!product || !is_op(*product, "MatMul") || product->inputs[0] != left || !is_only_output(graph_, *product)) return false;
    a.v = product->inputs[1];
    a.inner.push_back(product->id);
    a.last = product;
    return rank(a.v) == rank(a.q);
  }

  /// Whether batch and heads are the same everywhere: products would broadcast them.
  bool fits(const Attention& a) const {
    for (size_t i = 0; i + 2 < type(a.q).dims->size(); ++i) {
      if (!(dim(a.q, i) == dim(a.k, i)) || !(dim(a.q, i) == dim(a.v, i))) return false;
    }
    return true;
  }

  /// Goes behind a node: it is superfluous where only superfluous nodes take its result.
  void strip(ValueId& value, ValueId source, Attention& a) const {
    const GraphValue& passed = graph_.value(value);
    const auto is_in = [&](const std::vector<NodeId>& nodes, NodeId id) {
      return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
    };
    if (has_one_use(passed) && (is_in(a.inner, passed.consumers[0]) || is_in(a.outer, passed.consumers[0])))
      a.outer.push_back(passed.producer);
    value = source;
  }

  void strip_scale(ValueId& value, Attention& a) const {
    const Node* node = graph_.producer(value);
    const auto factor = node ? factor_of(*node) : std::nullopt;
    if (!factor) return;
    a.scale *= factor->second;
    strip(value, factor->first, a);
  }

  std::optional<Permutation> permutation(ValueId value) const {
    const Node* node = graph_.producer(value);
    if (!node || !is_op(*node, "Transpose")) return std::nullopt;
    return ops::Transpose::read(NodeView(graph_, *node)).perm;
  }

  ValueId source(ValueId value) const { return graph_.producer(value)->inputs[0]; }

  /// K' to K.
  void strip_key_transpose(Attention& a) const {
    const auto perm = permutation(a.k);
    if (perm && (*perm == Permutation{0, 1, 3, 2} || *perm == Permutation{0, 2, 1})) {
      a.k_transposed = false;
      strip(a.k, source(a.k), a);
    } else if (perm && *perm == Permutation{0, 2, 3, 1}) {
      a.k_transposed = false;
      a.k_length_first = true;
      strip(a.k, source(a.k), a);
    } else {
      strip_folded_transpose(a);
    }
  }

  /// A transposition of all the matrices of a batch as one of three dimensions.
  void strip_folded_transpose(Attention& a) const {
    const Node* outer = graph_.producer(a.k);
    if (!outer || !is_op(*outer, "Reshape") || permutation(source(a.k)) != Permutation{0, 2, 1}) return;
    const ValueId turned = source(a.k), folded = source(turned);
    const Node* inner = graph_.producer(folded);
    if (rank(folded) != 3 || rank(a.k) != 4 || !(dim(folded, 1) == dim(a.k, 3)) || !(dim(folded, 2) == dim(a.k, 2))) return;
    const std::vector<Dim> whole{dim(a.k, 0), dim(a.k, 1), dim(a.k, 3), dim(a.k, 2)};
    strip(a.k, turned, a);
    strip(a.k, folded, a);
    a.k_transposed = false;
    if (!inner || !is_op(*inner, "Reshape")) return;
    // The matrices as they lay before, in four dimensions or with a fifth of size 1.
    const ValueId keys = source(folded);
    const int extra = rank(keys) - 4;
    if (extra != 0 && !(extra == 1 && dim(keys, 0).is_constant(1))) return;
    for (size_t i = 0; i < whole.size(); ++i)
      if (!(dim(keys, i + static_cast<size_t>(extra)) == whole[i])) return;
    if (extra == 1 && !part_of(keys)) return;
    strip(a.k, keys, a);
  }

  /// Where [1, B, H, S, D] is one part of [B, S, P, H, D], transposed: what it is a part of, and which.
  std::optional<std::pair<ValueId, int64_t>> part_of(ValueId value) const {
    if (rank(value) != 5 || !dim(value, 0).is_constant(1)) return std::nullopt;
    if (permutation(value) == Permutation{2, 0, 3, 1, 4}) return piece_of(source(value), 2);
    const auto piece = piece_of(value, 0);
    return piece ? turned_part(piece->first, static_cast<double>(piece->second)) : std::nullopt;
  }

  /// Where the value is one of the pieces of size 1 along the axis: of what, and which.
  std::optional<std::pair<ValueId, int64_t>> piece_of(ValueId value, int64_t axis) const {
    const Node* node = graph_.producer(value);
    if (!node || !dim(value, static_cast<size_t>(axis)).is_constant(1)) return std::nullopt;
    if (is_op(*node, "Split")) {
      const int64_t along = ops::Split::read(NodeView(graph_, *node)).axis;
      const auto is_single = [&](ValueId id) { return id != kNoValue && dim(id, static_cast<size_t>(axis)).is_constant(1); };
      if (along != axis || !std::all_of(node->outputs.begin(), node->outputs.end(), is_single)) return std::nullopt;
      return std::pair{node->inputs[0], static_cast<int64_t>(graph_.value(value).output_index)};
    }
    if (!is_op(*node, "Slice") || node->inputs.size() < 4) return std::nullopt;
    const auto number = [&](size_t i) { return constant_number(graph_, node->inputs[i]); };
    const bool steps = node->inputs.size() > 4 && node->inputs[4] != kNoValue && number(4) != 1.0;
    if (steps || number(3) != static_cast<double>(axis) || !number(1) || *number(1) < 0) return std::nullopt;
    return std::pair{node->inputs[0], static_cast<int64_t>(*number(1))};
  }

  std::optional<std::pair<ValueId, int64_t>> turned_part(ValueId turned, const std::optional<double>& index) const {
    if (!index || *index < 0 || rank(turned) != 5 || permutation(turned) != Permutation{2, 0, 3, 1, 4}) return std::nullopt;
    if (!dim(turned, 0).is_constant() || *index >= static_cast<double>(dim(turned, 0).value())) return std::nullopt;
    return std::pair{source(turned), static_cast<int64_t>(*index)};
  }

  /// One part of queries, keys and values that were made together.
  bool strip_part(ValueId& value, int64_t& part, Attention& a) const {
    const Node* node = graph_.producer(value);
    if (!node) return false;
    std::optional<std::pair<ValueId, int64_t>> found;
    if (is_op(*node, "Gather") && rank(value) == 4 && NodeView(graph_, *node).int_or("axis", 0) == 0) {
      found = turned_part(node->inputs[0], constant_number(graph_, node->inputs[1]));
    } else if (is_op(*node, "Squeeze") && rank(value) == 4) {
      if (rank(node->inputs[0]) != 5 || !dim(node->inputs[0], 0).is_constant(1)) return false;
      for (size_t i = 0; i < 4; ++i)
        if (!(dim(node->inputs[0], i + 1) == dim(value, i))) return false;
      if ((found = part_of(node->inputs[0]))) strip(value, node->inputs[0], a);
    } else {
      found = part_of(value);
    }
    if (!found) return false;
    const ValueId turned = source(value);
    strip(value, turned, a);
    strip(value, found->first, a);
    part = found->second;
    return true;
  }

  /// Heads that are repeated: [B, H, S, D] to [B, H, 1, S, D], [B, H, n, S, D] and [B, H n, S, D].
  void strip_repeat(ValueId& value, Attention& a) const {
    const Node* reshape = graph_.producer(value);
    if (!reshape || !is_op(*reshape, "Reshape") || rank(value) != 4) return;
    const ValueId repeated = reshape->inputs[0];
    const Node* expand = graph_.producer(repeated);
    if (!expand || !is_op(*expand, "Expand") || rank(repeated) != 5) return;
    const Node* unsqueeze = graph_.producer(expand->inputs[0]);
    if (!unsqueeze || !is_op(*unsqueeze, "Unsqueeze")) return;
    const ValueId single = expand->inputs[0], heads = unsqueeze->inputs[0];
    if (rank(single) != 5 || rank(heads) != 4 || !dim(single, 2).is_constant(1) || !dim(value, 1).is_constant()) return;
    // The new dimension is the one of size 1 behind the heads, and nothing but it grows.
    const std::pair<size_t, size_t> kept[] = {{0, 0}, {1, 1}, {3, 2}, {4, 3}};
    for (const auto& [in_repeated, in_heads] : kept) {
      if (!(dim(repeated, in_repeated) == dim(heads, in_heads)) || !(dim(single, in_repeated) == dim(heads, in_heads))) return;
    }
    const Dim folded = dim(repeated, 1) * dim(repeated, 2);
    if (!(folded == dim(value, 1)) || !(dim(value, 2) == dim(heads, 2)) || !(dim(value, 3) == dim(heads, 3))) return;
    strip(value, repeated, a);
    strip(value, single, a);
    strip(value, heads, a);
  }

  /// [B, S, H, D] to [B, H, S, D].
  void strip_transpose(ValueId& value, bool& length_first, Attention& a) const {
    if (rank(value) != 4 || permutation(value) != Permutation{0, 2, 1, 3}) return;
    length_first = true;
    strip(value, source(value), a);
  }

  void take_output_transpose(Attention& a) const {
    const Node* node = only_user(graph_, *a.last);
    const Node* same = nullptr;
    if (node && is_op(*node, "Reshape") && have_same_type(graph_, node->inputs[0], node->outputs[0])) {
      same = node;
      node = only_user(graph_, *node);
    }
    if (!node || !is_op(*node, "Transpose") || permutation(node->outputs[0]) != Permutation{0, 2, 1, 3}) return;
    a.output_length_first = true;
    if (same) a.inner.push_back(same->id);
    a.inner.push_back(node->id);
    a.last = node;
  }

  /// Numbers to add in place of the choice.
  ValueId added_mask(const Node& softmax, const Choice& choice) {
    Edit& edit = rewrite_.edit();
    const std::string& name = graph_.value(softmax.outputs[0]).name;
    const auto number = [&](double value) {
      Tensor tensor(DType::float32, Shape{});
      *tensor.data<float>() = static_cast<float>(value);
      return edit.add_constant(name + (value == 0 ? "_kept" : "_masked"), std::move(tensor));
    };
    const ValueId kept = number(0), masked = number(choice.number);
    Node node;
    node.name = softmax.name + "_mask";
    node.op_type = "Where";
    node.opset = std::max(softmax.opset, kWhereOpset);
    node.inputs = {rewrite_.current(choice.condition), choice.masked ? masked : kept, choice.masked ? kept : masked};
    node.outputs = {edit.add_value(name + "_mask")};
    const ValueId mask = node.outputs[0];
    edit.add_node(std::move(node), {softmax.id});
    return mask;
  }

  void replace(const Node& softmax, const Attention& a) {
    Node fused;
    fused.name = softmax.name;
    fused.op_type = "FusedAttention";
    fused.domain = "roundhouse";
    fused.opset = 1;
    fused.attributes = a.attributes();
    for (ValueId input : {a.q, a.k, a.v}) fused.inputs.push_back(rewrite_.current(input));
    if (a.mask != kNoValue) fused.inputs.push_back(rewrite_.current(a.mask));
    if (a.choice) fused.inputs.push_back(added_mask(softmax, *a.choice));
    std::vector<NodeId> stands_for = a.inner;
    stands_for.insert(stands_for.end(), a.outer.begin(), a.outer.end());
    std::sort(stands_for.begin(), stands_for.end());
    stands_for.erase(std::unique(stands_for.begin(), stands_for.end()), stands_for.end());
    rewrite_.replace_nodes(std::move(fused), *a.last, stands_for, a.outer);
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

/// softmax(scale Q K' + mask) V, written out in any of the usual ways, becomes one operator, which also reads and writes heads where they
/// lie.
Edit attention_forms(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
