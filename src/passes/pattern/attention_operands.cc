#include <algorithm>

#include "ops/tensor/split.h"
#include "ops/tensor/transpose.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/attention_match.h"

namespace rh::passes {

void OperandMatcher::match(Attention& a) const {
  const bool strips_q = a.q_factor == kNoValue;
  if (strips_q) strip_scale(a.q, a);
  strip_scale(a.k, a);
  strip_repeat(a.k, a);
  if (a.k_transposed) strip_key_transpose(a);
  strip_scale(a.k, a);
  strip_repeat(a.k, a);
  if (!a.v_turned) strip_repeat(a.v, a);
  if (strips_q && !strip_part(a.q, a.q_part, a)) strip_transpose(a.q, a.q_length_first, a);
  if (!a.k_transposed && !a.k_length_first && !strip_part(a.k, a.k_part, a)) strip_transpose(a.k, a.k_length_first, a);
  if (!a.v_turned && !strip_part(a.v, a.v_part, a)) strip_transpose(a.v, a.v_length_first, a);
  strip_split(a.q, a.q_length_first, a.q_part, a.q_view, a);
  if (!a.k_transposed) strip_split(a.k, a.k_length_first, a.k_part, a.k_view, a);
  if (!a.v_turned) strip_split(a.v, a.v_length_first, a.v_part, a.v_view, a);
}

/// [B H, S, D] to [B, H, S, D].
bool OperandMatcher::unfold(ValueId& value, Attention& a) const {
  const Node* fold = graph_.producer(value);
  if (!fold || !is_op(*fold, "Reshape") || rank(fold->inputs[0]) != 4) return false;
  const ValueId heads = fold->inputs[0];
  if (!(dim(heads, 1) == dim(a.products, 1)) || !has_matrices_of(value, heads)) return false;
  strip(value, heads, a);
  return true;
}

bool OperandMatcher::unfold(Attention& a) const {
  const Node* view = only_user(graph_, *a.last);
  if (!view || !is_op(*view, "Reshape") || rank(view->outputs[0]) != 4) return false;
  const ValueId y = view->outputs[0];
  const bool has_rows = dim(y, 2) == dim(a.last->outputs[0], 1) || dim(y, 2) == dim(a.q, 1);
  if (!(dim(y, 1) == dim(a.products, 1)) || !has_rows || !(dim(y, 3) == dim(a.v, 2))) return false;
  if (permutation(a.k) == Permutation{0, 2, 1}) {
    a.k_transposed = false;
    strip(a.k, source(a.k), a);
  }
  if (!unfold(a.q, a) || !unfold(a.k, a) || !unfold(a.v, a)) return false;
  a.inner.push_back(view->id);
  a.last = view;
  return true;
}

/// [B H, S, D], perhaps as [B, H, S, D], to the [S, B H, D] that it is a transposition of.
bool OperandMatcher::strip_to_lengths(ValueId& value, const Permutation& permuted, Attention& a) const {
  const Node* view = graph_.producer(value);
  const bool is_unfolded = view && is_op(*view, "Reshape") && rank(value) == 4 && rank(view->inputs[0]) == 3;
  if (is_unfolded && !has_matrices_of(value, view->inputs[0])) return false;
  const ValueId turned = is_unfolded ? view->inputs[0] : value;
  if (rank(turned) != 3 || permutation(turned) != permuted) return false;
  if (is_unfolded) strip(value, turned, a);
  strip(value, source(turned), a);
  return true;
}

/// [S, B H, D] and [S, B, H, D], where the length is first, or [B H, S, D] and [B, H, S, D] with a batch of one before.
std::optional<SymbolicShape> OperandMatcher::as_one_batch(ValueId value, bool length_first) const {
  const SymbolicShape& dims = *type(value).dims;
  SymbolicShape one{Dim(1)};
  one.insert(one.end(), dims.begin(), dims.end());
  if (dims.size() == 4) {
    const size_t batch = length_first ? 2 : 1;
    one[batch] = one[batch] * one[batch + 1];
    one.erase(one.begin() + static_cast<int64_t>(batch) + 1);
  }
  return reshape_target(dims, one) && reshape_target(one, dims) ? std::optional(one) : std::nullopt;
}

bool OperandMatcher::take_lengths_first(Attention& a) const {
  for (ValueId operand : {a.q, a.k, a.v})
    if (rank(operand) != a.dimensions) return false;
  const bool is_plain = !a.q_length_first && !a.k_length_first && !a.v_length_first && a.q_part + a.k_part + a.v_part == 0 && !a.q_view &&
                        !a.k_view && !a.v_view && a.q_factor == kNoValue && !a.is_folded && a.dimensions <= 4;
  if (!is_plain) return false;
  const SymbolicShape queries = *type(a.q).dims;
  for (size_t i = 0; i + 2 < queries.size(); ++i)
    if (!(dim(a.k, i) == queries[i]) || !(dim(a.v, i) == queries[i])) return false;
  Attention taken = a;
  taken.q_length_first = strip_to_lengths(taken.q, {1, 0, 2}, taken);
  taken.k_length_first = strip_to_lengths(taken.k, a.k_transposed ? Permutation{1, 2, 0} : Permutation{1, 0, 2}, taken);
  taken.k_transposed = a.k_transposed && !taken.k_length_first;
  taken.v_length_first = strip_to_lengths(taken.v, {1, 0, 2}, taken);
  if (!taken.q_length_first && !taken.k_length_first && !taken.v_length_first) return false;
  const Node* turn = only_user(graph_, *a.last);
  const auto turned = turn ? permutation(turn->outputs[0]) : std::nullopt;
  const bool is_one = a.dimensions == 4 && queries[0].is_constant(1);
  if (turned == (a.dimensions == 3 ? Permutation{1, 0, 2} : Permutation{2, 0, 1, 3}) || (is_one && turned == Permutation{0, 2, 1, 3})) {
    taken.output_length_first = true;
    taken.inner.push_back(turn->id);
    taken.last = turn;
  }
  taken.q_view = as_one_batch(taken.q, taken.q_length_first);
  taken.k_view = as_one_batch(taken.k, taken.k_length_first);
  taken.v_view = as_one_batch(taken.v, taken.v_length_first);
  taken.output_view = as_one_batch(taken.last->outputs[0], taken.output_length_first && turned != Permutation{0, 2, 1, 3});
  if (!taken.q_view || !taken.k_view || !taken.v_view || !taken.output_view) return false;
  a = std::move(taken);
  return true;
}

/// Goes behind a node: it is superfluous where only superfluous nodes take its result.
void OperandMatcher::strip(ValueId& value, ValueId source, Attention& a) const {
  const GraphValue& passed = graph_.value(value);
  const auto is_in = [&](const std::vector<NodeId>& nodes, NodeId id) { return std::find(nodes.begin(), nodes.end(), id) != nodes.end(); };
  if (has_one_use(passed) && (is_in(a.inner, passed.consumers[0]) || is_in(a.outer, passed.consumers[0])))
    a.outer.push_back(passed.producer);
  value = source;
}

void OperandMatcher::strip_scale(ValueId& value, Attention& a) const {
  const Node* node = graph_.producer(value);
  const auto factor = node ? factor_of(*node) : std::nullopt;
  if (!factor) return;
  a.scale *= factor->second;
  strip(value, factor->first, a);
}

std::optional<Permutation> OperandMatcher::permutation(ValueId value) const {
  const Node* node = graph_.producer(value);
  if (!node || !is_op(*node, "Transpose")) return std::nullopt;
  return ops::Transpose::read(NodeView(graph_, *node)).perm;
}

bool OperandMatcher::is_permuted(ValueId value, const Permutation& last_four) const {
  if (rank(value) == 4) return permutation(value) == last_four;
  Permutation all{0};
  for (int64_t axis : last_four) all.push_back(axis + 1);
  return rank(value) == 5 && permutation(value) == all;
}

/// K' to K.
void OperandMatcher::strip_key_transpose(Attention& a) const {
  if (is_permuted(a.k, {0, 1, 3, 2}) || permutation(a.k) == Permutation{0, 2, 1}) {
    a.k_transposed = false;
    strip(a.k, source(a.k), a);
  } else if (is_permuted(a.k, {0, 2, 3, 1})) {
    a.k_transposed = false;
    a.k_length_first = true;
    strip(a.k, source(a.k), a);
  } else {
    strip_folded_transpose(a);
  }
}

/// A transposition of all the matrices of a batch as one of three dimensions.
void OperandMatcher::strip_folded_transpose(Attention& a) const {
  const Node* outer = graph_.producer(a.k);
  if (!outer || !is_op(*outer, "Reshape") || permutation(source(a.k)) != Permutation{0, 2, 1}) return;
  const ValueId turned = source(a.k), folded = source(turned);
  const Node* inner = graph_.producer(folded);
  if (rank(folded) != 3 || rank(a.k) != 4 || !(dim(folded, 1) == dim(a.k, 3)) || !(dim(folded, 2) == dim(a.k, 2))) return;
  const bool was_unfolded = inner && is_op(*inner, "Reshape") && is_unfolded(source(folded), a.k);
  if (!was_unfolded && !(dim(a.k, 0) == dim(a.q, 0))) return;  // the kernel unfolds by Q's batch
  strip(a.k, turned, a);
  strip(a.k, folded, a);
  a.k_transposed = false;
  if (was_unfolded) strip(a.k, source(folded), a);
}

/// Whether the matrices lie as those of K, transposed, in four dimensions or with a fifth of size 1.
bool OperandMatcher::is_unfolded(ValueId keys, ValueId k) const {
  const Dim whole[] = {dim(k, 0), dim(k, 1), dim(k, 3), dim(k, 2)};
  const int extra = rank(keys) - 4;
  if (extra != 0 && !(extra == 1 && dim(keys, 0).is_constant(1))) return false;
  for (size_t i = 0; i < std::size(whole); ++i)
    if (!(dim(keys, i + static_cast<size_t>(extra)) == whole[i])) return false;
  return extra == 0 || part_of(keys).has_value();
}

/// Where [1, B, H, S, D] is one part of [B, S, P, H, D], transposed: what it is a part of, and which.
std::optional<std::pair<ValueId, int64_t>> OperandMatcher::part_of(ValueId value) const {
  if (rank(value) != 5 || !dim(value, 0).is_constant(1)) return std::nullopt;
  if (permutation(value) == Permutation{2, 0, 3, 1, 4}) return piece_of(source(value), 2);
  const auto piece = piece_of(value, 0);
  return piece ? turned_part(piece->first, static_cast<double>(piece->second)) : std::nullopt;
}

/// Where the value is one of the pieces of size 1 along the axis: of what, and which.
std::optional<std::pair<ValueId, int64_t>> OperandMatcher::piece_of(ValueId value, int64_t axis) const {
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

std::optional<std::pair<ValueId, int64_t>> OperandMatcher::turned_part(ValueId turned, const std::optional<double>& index) const {
  if (!index || *index < 0 || rank(turned) != 5 || permutation(turned) != Permutation{2, 0, 3, 1, 4}) return std::nullopt;
  if (!dim(turned, 0).is_constant() || *index >= static_cast<double>(dim(turned, 0).value())) return std::nullopt;
  return std::pair{source(turned), static_cast<int64_t>(*index)};
}

/// One part of queries, keys and values that were made together.
bool OperandMatcher::strip_part(ValueId& value, int64_t& part, Attention& a) const {
  const Node* node = graph_.producer(value);
  if (!node || a.dimensions != 4) return false;
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

/// Where the value repeats one of size 1 along the axis: of what.
ValueId OperandMatcher::repeated_along(ValueId value, size_t axis) const {
  const Node* node = graph_.producer(value);
  if (!node || !(is_op(*node, "Expand") || is_op(*node, "Tile") || is_op(*node, "Concat"))) return kNoValue;
  const ValueId single = node->inputs[0];
  const auto is_single = [&](ValueId id) { return id == single; };
  if (is_op(*node, "Concat") && !std::ranges::all_of(node->inputs, is_single)) return kNoValue;
  if (rank(single) != rank(value) || !dim(single, axis).is_constant(1)) return kNoValue;
  for (size_t i = 0; i < type(value).dims->size(); ++i)
    if (i != axis && !(dim(value, i) == dim(single, i))) return kNoValue;
  return single;
}

/// Whether each index comes as often as any other one, one after the other.
bool OperandMatcher::repeats_each(const Node& gather, int64_t heads) const {
  const Tensor* indices = NodeView(graph_, gather).constant_input(1);
  if (!indices || indices->dtype() != DType::int64 || indices->shape().size() != 1) return false;
  const int64_t count = indices->elements(), times = heads > 0 ? count / heads : 0;
  if (times == 0 || count != times * heads) return false;
  for (int64_t i = 0; i < count; ++i)
    if (indices->data<int64_t>()[i] != i / times) return false;
  return true;
}

/// Heads that are repeated: [B, H, S, D] to [B, H, 1, S, D], [B, H, n, S, D] and [B, H n, S, D], by Gather, or one head as it is.
void OperandMatcher::strip_repeat(ValueId& value, Attention& a) const {
  const Node* node = graph_.producer(value);
  if (!node || rank(value) != 4 || !dim(value, 1).is_constant()) return;
  if (const ValueId head = repeated_along(value, 1); head != kNoValue) return strip(value, head, a);
  if (is_op(*node, "Gather") && rank(node->inputs[0]) == 4) {
    const int64_t axis = NodeView(graph_, *node).int_or("axis", 0);
    const Dim& heads = dim(node->inputs[0], 1);
    if ((axis == 1 || axis == -3) && heads.is_constant() && repeats_each(*node, heads.value())) strip(value, node->inputs[0], a);
  } else if (is_op(*node, "Reshape") && rank(node->inputs[0]) == 5) {
    strip_repeated_dimension(value, a);
  }
}

/// The new dimension is the one of size 1 behind the heads, and nothing but it grows.
void OperandMatcher::strip_repeated_dimension(ValueId& value, Attention& a) const {
  const ValueId repeated = source(value), single = repeated_along(repeated, 2);
  const Node* view = single == kNoValue ? nullptr : graph_.producer(single);
  if (!view || !(is_op(*view, "Unsqueeze") || is_op(*view, "Reshape")) || rank(view->inputs[0]) != 4) return;
  const ValueId heads = view->inputs[0];
  const std::pair<size_t, size_t> kept[] = {{0, 0}, {1, 1}, {3, 2}, {4, 3}};
  for (const auto& [in_single, in_heads] : kept)
    if (!(dim(single, in_single) == dim(heads, in_heads))) return;
  if (!(dim(repeated, 1) * dim(repeated, 2) == dim(value, 1)) || !has_matrices_of(value, heads)) return;
  strip(value, repeated, a);
  strip(value, single, a);
  strip(value, heads, a);
}

/// [B, S, H, D] to [B, H, S, D].
void OperandMatcher::strip_transpose(ValueId& value, bool& length_first, Attention& a) const {
  if (!is_permuted(value, {0, 2, 1, 3})) return;
  length_first = true;
  strip(value, source(value), a);
}

/// One of equal pieces along the last dimension, [B, S, P H D], as heads: a part of [B, S, P, H, D].
void OperandMatcher::strip_split(ValueId& value, bool& length_first, int64_t& part, std::optional<SymbolicShape>& view,
                                 Attention& a) const {
  const Node *heads = graph_.producer(value), *split = heads ? graph_.producer(heads->inputs[0]) : nullptr;
  if (!length_first || !split || !is_op(*heads, "Reshape") || !is_op(*split, "Split") || a.dimensions < 4) return;
  const ValueId piece = heads->inputs[0], whole = split->inputs[0];
  const size_t batch = static_cast<size_t>(a.dimensions) - 3;  // dimensions
  if (rank(piece) != static_cast<int>(batch) + 2 || rank(value) != a.dimensions || rank(whole) != rank(piece)) return;
  const int64_t axis = ops::Split::read(NodeView(graph_, *split)).axis, last = rank(piece) - 1;
  const auto is_alike = [&](ValueId id) { return id != kNoValue && have_same_type(graph_, id, piece); };
  if ((axis != -1 && axis != last) || !dim(piece, static_cast<size_t>(last)).is_constant() ||
      !std::all_of(split->outputs.begin(), split->outputs.end(), is_alike))
    return;
  for (size_t i = 0; i <= batch; ++i)
    if (!(dim(piece, i) == dim(value, i)) || !(dim(whole, i) == dim(value, i))) return;
  SymbolicShape dims = *type(value).dims;
  dims.insert(dims.end() - 2, Dim(static_cast<int64_t>(split->outputs.size())));
  for (; dims.size() > 5; dims.erase(dims.begin())) dims[1] = dims[0] * dims[1];
  if (!reshape_target(*type(whole).dims, dims)) return;
  length_first = false;
  part = graph_.value(piece).output_index;
  view = std::move(dims);
  strip(value, piece, a);
  strip(value, whole, a);
}

}  // namespace rh::passes
