#include <algorithm>
#include <limits>

#include "ops/math/clip.h"
#include "ops/nn/fused_attention.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/attention_match.h"

namespace rh::passes {

namespace {

constexpr double kMasked = -1e30;      // beside this or less, a score that is added to it is lost
constexpr double kMostMasked = -1000;  // a greater number may be a score
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMostSummed = int64_t{1} << 21;  // elements of constant masks that are added up at load

bool is_binary(const Node& node, std::string_view op_type) {
  return is_op(node, op_type) && node.opset >= kBroadcastOpset && node.inputs.size() == 2;
}

/// Both added up as numpy broadcasts them, of four dimensions at most; nothing where they do not fit or give too much.
std::optional<Tensor> sum_of(const Tensor& a, const Tensor& b) {
  constexpr size_t kRank = 4;
  Shape shape(kRank, 1), steps[2] = {Shape(kRank, 0), Shape(kRank, 0)};
  const Tensor* const terms[2] = {&a, &b};
  for (size_t t = 0; t < 2; ++t) {
    const Shape& own = terms[t]->shape();
    if (own.size() > kRank) return std::nullopt;
    int64_t step = 1;
    for (size_t i = kRank; i-- > kRank - own.size();) {
      const int64_t size = own[i + own.size() - kRank];
      if (size != 1 && shape[i] != 1 && shape[i] != size) return std::nullopt;
      if (size != 1) shape[i] = size;
      steps[t][i] = size == 1 ? 0 : step;
      step *= size;
    }
  }
  if (shape.elements() > kMostSummed) return std::nullopt;
  Tensor sum(DType::float32, shape);
  float* to = sum.data<float>();
  for (int64_t i = 0; i < shape.elements(); ++i) {
    int64_t rest = i, at[2] = {0, 0};
    for (size_t axis = kRank; axis-- > 0; rest /= shape[axis])
      for (size_t t = 0; t < 2; ++t) at[t] += rest % shape[axis] * steps[t][axis];
    to[i] = a.data<float>()[at[0]] + b.data<float>()[at[1]];
  }
  return sum;
}

}  // namespace

const TensorType& AttentionGraph::type(ValueId id) const { return tensor_type(graph_, id); }

std::optional<std::pair<ValueId, double>> AttentionGraph::factor_of(const Node& node) const {
  const bool divides = is_binary(node, "Div");
  if (!divides && !is_binary(node, "Mul")) return std::nullopt;
  for (size_t i = 0; i < (divides ? 1u : 2u); ++i) {
    const auto number = constant_number(graph_, node.inputs[1 - i]);
    if (!number || (divides && *number == 0) || !have_same_type(graph_, node.inputs[i], node.outputs[0])) continue;
    return std::pair{node.inputs[i], divides ? 1 / *number : *number};
  }
  return std::nullopt;
}

Choice AttentionGraph::chosen_by(ValueId condition, bool masked) const {
  for (const Node* node; (node = graph_.producer(condition)) && is_op(*node, "Not"); masked = !masked) condition = node->inputs[0];
  return {.condition = condition, .masked = masked};
}

bool ScoreMatcher::match(ValueId scores, Attention& a) const {
  if (!match_sum(scores, 0, a) || !settle_masks(a) || (a.zeroed && !a.masked_score)) return false;
  return (a.softcap == 0 && !a.masked_score) || a.masks.size() < 2;
}

/// Scores to which masks are added, of which some may be replaced by a number.
bool ScoreMatcher::match_sum(ValueId value, size_t depth, Attention& a) const {
  constexpr size_t kMostSteps = 6;
  const Node* node = graph_.producer(value);
  if (!node || !has_one_use(graph_.value(value))) return false;
  if (depth < kMostSteps) {
    if (is_op(*node, "Where")) return match_choice(*node, depth + 1, a);
    if (is_op(*node, "Max") || is_op(*node, "Clip")) return match_least(*node, depth + 1, a);
    if (match_scaled(value, depth + 1, a)) return true;
    if (is_binary(*node, "Add") && match_mask(*node, depth + 1, a)) return true;
    if (match_windows(value, depth + 1, a) || match_folded(value, depth + 1, a) || match_folded_twice(value, depth + 1, a)) return true;
  }
  return match_product(value, a);
}

bool ScoreMatcher::match_mask(const Node& add, size_t depth, Attention& a) const {
  for (size_t i = 0; i < 2; ++i) {
    Attention masked = a;
    const ValueId mask = add.inputs[1 - i];
    if (type(mask).dtype != DType::float32 || rank(add.inputs[i]) != rank(add.outputs[0])) continue;
    if (!match_sum(add.inputs[i], depth, masked) || !fits_scores(mask, masked)) continue;
    masked.masks.push_back({.value = mask});
    masked.inner.push_back(add.id);
    a = std::move(masked);
    return true;
  }
  return false;
}

/// Scores, or a number so low that nothing is left of a score beside it.
bool ScoreMatcher::match_choice(const Node& where, size_t depth, Attention& a) const {
  for (size_t i = 1; i < 3; ++i) {
    const auto number = constant_number(graph_, where.inputs[3 - i]);
    if (!number || !(*number <= kMostMasked) || rank(where.inputs[i]) != rank(where.outputs[0])) continue;
    if (!match_sum(where.inputs[i], depth, a) || !fits_scores(where.inputs[0], a)) return false;
    Choice choice{.condition = where.inputs[0], .masked = i == 2, .number = *number};
    if (a.zeroed || !(*number <= kMasked)) {
      if (!is_last(a, chosen_by(where.inputs[0], i == 2), depth)) return false;
      a.masked_score = *number;
      choice.number = static_cast<double>(ops::FusedAttention::kMasked);
    }
    Mask chosen{.terms = std::move(a.masks), .choice = choice};
    a.masks = {std::move(chosen)};
    a.inner.push_back(where.id);
    return true;
  }
  return false;
}

/// Whether nothing is added to masked scores, and the weights that become 0, if any do, are theirs.
bool ScoreMatcher::is_last(const Attention& a, const Choice& choice, size_t depth) {
  return depth == 1 && (!a.zeroed || (choice.condition == a.zeroed->condition && choice.masked == a.zeroed->masked));
}

/// A number times the sum of scores and masks.
bool ScoreMatcher::match_scaled(ValueId value, size_t depth, Attention& a) const {
  const auto factor = factor_of(*graph_.producer(value));
  const Node* sum = factor ? graph_.producer(factor->first) : nullptr;
  if (!sum || !is_binary(*sum, "Add")) return false;
  Attention found = a;
  if (!match_sum(factor->first, depth, found) || found.masks.empty() || found.softcap != 0) return false;
  found.scale *= factor->second;
  Mask scaled{.terms = std::move(found.masks), .factor = factor->second};
  found.masks = {std::move(scaled)};
  found.inner.push_back(graph_.producer(value)->id);
  a = std::move(found);
  return true;
}

/// softcap tanh(score / softcap) to the score, where the value is such.
ValueId ScoreMatcher::strip_softcap(ValueId value, Attention& a) const {
  const Node* outer = graph_.producer(value);
  const auto cap = factor_of(*outer);
  const Node* tanh = cap && cap->second > 0 && has_one_use(graph_.value(cap->first)) ? graph_.producer(cap->first) : nullptr;
  if (!tanh || !is_op(*tanh, "Tanh") || a.is_folded || !has_one_use(graph_.value(tanh->inputs[0]))) return value;
  const Node* inner = graph_.producer(tanh->inputs[0]);
  const auto factor = inner ? factor_of(*inner) : std::nullopt;
  const Node* score = factor && has_one_use(graph_.value(factor->first)) ? graph_.producer(factor->first) : nullptr;
  if (!score) return value;
  a.softcap = cap->second;
  a.scale *= factor->second * cap->second;
  a.inner.insert(a.inner.end(), {inner->id, tanh->id, outer->id});
  return factor->first;
}

/// The operand and the number where the node gives the greater of the two.
std::optional<std::pair<ValueId, double>> ScoreMatcher::bounded_by(const Node& node) const {
  const auto number = [&](size_t i) { return i < node.inputs.size() ? constant_number(graph_, node.inputs[i]) : std::nullopt; };
  if (is_op(node, "Clip")) {
    const ops::Clip clip = ops::Clip::read(NodeView(graph_, node));
    const bool has_max = clip.max || (node.inputs.size() > 2 && node.inputs[2] != kNoValue && number(2) != kInfinity);
    const auto min = clip.min ? std::optional<double>(*clip.min) : number(1);
    return has_max || !min ? std::nullopt : std::optional(std::pair{node.inputs[0], *min});
  }
  for (size_t i = 0; is_op(node, "Max") && node.inputs.size() == 2 && i < 2; ++i) {
    if (number(1 - i) && rank(node.inputs[i]) == rank(node.outputs[0])) return std::pair{node.inputs[i], *number(1 - i)};
  }
  return std::nullopt;
}

/// Scores that such a number bounds from below, so that it is the masks that it bounds.
bool ScoreMatcher::match_least(const Node& node, size_t depth, Attention& a) const {
  const auto bounded = bounded_by(node);
  if (!bounded || !(bounded->second <= kMasked) || !match_sum(bounded->first, depth, a)) return false;
  if (!a.masks.empty()) {
    Mask least{.terms = std::move(a.masks), .least = bounded->second};
    a.masks = {std::move(least)};
  }
  a.inner.push_back(node.id);
  return true;
}

/// Whether the mask gives no more than the scores there are, unless two sizes of different names turn out as 1 and more.
bool ScoreMatcher::fits_scores(ValueId mask, Attention& a) const {
  const int missing = rank(a.products) - rank(mask);
  if (rank(mask) < 0 || missing < 0) return false;
  for (size_t i = 0; i < type(mask).dims->size(); ++i) {
    const Dim &own = dim(mask, i), &score = dim(a.products, i + static_cast<size_t>(missing));
    if (own == score || own.is_constant(1)) continue;
    if (a.dimensions == 5 || score.is_constant(1) || (own.is_constant() && score.is_constant())) return false;
    if (i + 1 == type(mask).dims->size()) a.needs_equal_keys = true;
  }
  return true;
}

/// Masks of the windows of one image: [windows, H, S, T] as [1, windows, H, S, T], and back.
bool ScoreMatcher::match_windows(ValueId value, size_t depth, Attention& a) const {
  const Node* back = graph_.producer(value);
  if (!back || !is_op(*back, "Reshape") || rank(value) != 4 || rank(back->inputs[0]) != 5) return false;
  const ValueId masked = back->inputs[0];
  for (size_t i = 0; i < 4; ++i)
    if (!dim(masked, 0).is_constant(1) || !(dim(masked, i + 1) == dim(value, i))) return false;
  std::vector<Mask> masks;
  std::vector<NodeId> nodes{back->id};
  const Node* node = graph_.producer(masked);
  for (; node && is_binary(*node, "Add") && has_one_use(graph_.value(node->outputs[0])); node = graph_.producer(node->inputs[0])) {
    const Tensor* mask = graph_.value(node->inputs[1]).constant_tensor();
    const bool fits = mask && mask->dtype() == DType::float32 && mask->shape().size() == 5 && mask->shape()[0] == 1;
    if (!fits || !have_same_type(graph_, node->inputs[0], masked)) return false;
    masks.push_back({.constant = mask->reshaped(Shape(mask->shape().begin() + 1, mask->shape().end()))});
    nodes.push_back(node->id);
  }
  if (!node || masks.empty() || !is_op(*node, "Reshape") || !has_one_use(graph_.value(node->outputs[0])) ||
      !have_same_type(graph_, node->inputs[0], value))
    return false;
  nodes.push_back(node->id);
  Attention found = a;
  if (!match_sum(node->inputs[0], depth, found)) return false;
  found.masks.insert(found.masks.end(), masks.rbegin(), masks.rend());
  found.inner.insert(found.inner.end(), nodes.rbegin(), nodes.rend());
  a = std::move(found);
  return true;
}

/// Masks of heads that the products have as one dimension with the batch: [B H, S, T] as [B, H, S, T], and back.
bool ScoreMatcher::match_folded(ValueId value, size_t depth, Attention& a) const {
  const Node* fold = graph_.producer(value);
  if (a.is_folded || !is_op(*fold, "Reshape") || rank(value) != 3 || rank(fold->inputs[0]) != 4) return false;
  Attention found = a;
  found.is_folded = true;
  found.dimensions = 4;
  if (!match_sum(fold->inputs[0], depth, found) || found.masks.empty()) return false;
  if (!has_matrices_of(value, fold->inputs[0]) && !has_matrices_of(value, found.products)) return false;
  found.inner.push_back(fold->id);
  a = std::move(found);
  return true;
}

/// [B, H, S, T] as [B H, S, T] and back between two masks.
bool ScoreMatcher::match_folded_twice(ValueId value, size_t depth, Attention& a) const {
  const Node* const unfold = graph_.producer(value);
  if (!a.is_folded || !is_op(*unfold, "Reshape") || rank(value) != 4) return false;
  const Node* const fold = graph_.producer(unfold->inputs[0]);
  if (!fold || !is_op(*fold, "Reshape") || rank(fold->inputs[0]) != 4 || !has_one_use(graph_.value(unfold->inputs[0]))) return false;
  Attention found = a;
  if (!match_sum(fold->inputs[0], depth, found) || !(dim(value, 1) == dim(found.products, 1))) return false;
  if (!has_matrices_of(value, fold->inputs[0]) && !has_matrices_of(value, found.products)) return false;
  found.inner.insert(found.inner.end(), {fold->id, unfold->id});
  a = std::move(found);
  return true;
}

bool AttentionGraph::has_matrices_of(ValueId a, ValueId b) const {
  const SymbolicShape &one = *type(a).dims, &other = *type(b).dims;
  return one.end()[-1] == other.end()[-1] && one.end()[-2] == other.end()[-2];
}

/// The shapes of all that the mask is made of.
std::vector<SymbolicShape> ScoreMatcher::parts_of(const Mask& mask) const {
  if (mask.value != kNoValue) return {*type(mask.value).dims};
  std::vector<SymbolicShape> parts;
  if (mask.constant) parts.emplace_back(mask.constant->shape().begin(), mask.constant->shape().end());
  if (mask.choice) parts.push_back(*type(mask.choice->condition).dims);
  for (const Mask& term : mask.terms) {
    for (SymbolicShape& part : parts_of(term)) parts.push_back(std::move(part));
  }
  return parts;
}

/// Whether there is a number for each key, the same for all queries.
bool ScoreMatcher::is_of_keys(const Mask& mask) const {
  const auto parts = parts_of(mask);
  const auto has_keys = [](const SymbolicShape& dims) { return !dims.empty() && !dims.back().is_constant(1); };
  const auto has_one_row = [](const SymbolicShape& dims) { return dims.size() < 2 || dims[dims.size() - 2].is_constant(1); };
  return !mask.constant && std::ranges::any_of(parts, has_keys) && std::ranges::all_of(parts, has_one_row);
}

bool ScoreMatcher::is_of_all_heads(const Mask& mask) const {
  return std::ranges::all_of(parts_of(mask),
                             [](const SymbolicShape& dims) { return dims.size() < 3 || dims[dims.size() - 3].is_constant(1); });
}

/// False where they are too many.
bool ScoreMatcher::add_up_constants(Attention& a) const {
  const auto constant_of = [&](const Mask& mask) {
    if (mask.constant) return &*mask.constant;
    return mask.value == kNoValue ? nullptr : graph_.value(mask.value).constant_tensor();
  };
  if (std::ranges::count_if(a.masks, [&](const Mask& mask) { return constant_of(mask) != nullptr; }) < 2) return true;
  std::vector<Mask> masks;
  std::optional<Tensor> sum;
  for (const Mask& mask : a.masks) {
    const Tensor* constant = constant_of(mask);
    if (!constant) {
      masks.push_back(mask);
    } else if (!(sum = sum ? sum_of(*sum, *constant) : *constant)) {
      return false;
    }
  }
  masks.push_back({.constant = std::move(sum)});
  a.masks = std::move(masks);
  return true;
}

/// Of those that are not constant one may have a number for each key alone. The others are added up where that is little beside the scores.
bool ScoreMatcher::settle_masks(Attention& a) const {
  if (!add_up_constants(a)) return false;
  if (a.masks.size() < 2) return true;
  const auto last = std::find_if(a.masks.rbegin(), a.masks.rend(), [&](const Mask& mask) { return is_of_keys(mask); });
  std::optional<Mask> of_keys;
  if (last != a.masks.rend()) {
    of_keys = std::move(*last);
    a.masks.erase(std::next(last).base());
  }
  if (a.masks.size() > 1) {
    const auto serves_heads = [&](const Mask& mask) { return is_of_all_heads(mask); };
    if (rank(a.products) != 4 || !std::ranges::all_of(a.masks, serves_heads)) return false;
    Mask sum{.terms = std::move(a.masks)};
    a.masks = {std::move(sum)};
  }
  if (of_keys) a.masks.push_back(std::move(*of_keys));
  return true;
}

/// The operand and the numbers where the node multiplies by one for each matrix.
std::optional<std::pair<ValueId, ValueId>> ScoreMatcher::head_factor_of(const Node& node) const {
  for (size_t i = 0; is_binary(node, "Mul") && i < 2; ++i) {
    const ValueId factor = node.inputs[1 - i];
    const bool has_matrices = type(factor).dtype == DType::float32 && rank(factor) >= 2 && rank(factor) <= rank(node.outputs[0]);
    if (!has_matrices || !have_same_type(graph_, node.inputs[i], node.outputs[0])) continue;
    const SymbolicShape& dims = *type(factor).dims;
    if (dims.back().is_constant(1) && dims[dims.size() - 2].is_constant(1)) return std::pair{node.inputs[i], factor};
  }
  return std::nullopt;
}

bool ScoreMatcher::match_product(ValueId value, Attention& a) const {
  const Node* node = graph_.producer(value);
  if (!node || !has_one_use(graph_.value(value))) return false;
  a.products = value;
  if (const ValueId score = strip_softcap(value, a); score != value) {
    value = score;
    node = graph_.producer(value);
  }
  const auto go_to = [&](ValueId input) {
    a.inner.push_back(node->id);
    value = input;
    node = graph_.producer(value);
    return node && has_one_use(graph_.value(value));
  };
  if (a.is_folded) {
    const bool unfolds = is_op(*node, "Reshape") && rank(value) == 4 && rank(node->inputs[0]) == 3;
    if (!unfolds || !has_matrices_of(value, node->inputs[0]) || !go_to(node->inputs[0])) return false;
  }
  const auto factor = factor_of(*node);
  const auto of_heads = factor || a.is_folded ? std::nullopt : head_factor_of(*node);
  if (factor) a.scale *= factor->second;
  if (of_heads) a.q_factor = of_heads->second;
  if ((factor || of_heads) && !go_to(factor ? factor->first : of_heads->first)) return false;
  if (!is_op(*node, "MatMul") || rank(value) != rank(node->inputs[0]) || rank(value) != rank(node->inputs[1])) return false;
  a.inner.push_back(node->id);
  a.q = node->inputs[0];
  a.k = node->inputs[1];
  return true;
}

}  // namespace rh::passes
