#include <algorithm>

#include "passes/attention_match.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBroadcastOpset = 7;                 // of ai.onnx, from which on arithmetic broadcasts as numpy does
constexpr double kMasked = -1e30;                  // beside this or less, a score that is added to it is lost
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

bool ScoreMatcher::match(ValueId scores, Attention& a) const {
  const Node* node = graph_.producer(scores);
  if (node && is_op(*node, "Where") && has_one_use(graph_.value(scores))) return match_choice(*node, a);
  return match_sum(scores, a) && settle_masks(scores, a);
}

/// Scores to which masks are added.
bool ScoreMatcher::match_sum(ValueId value, Attention& a) const {
  constexpr size_t kMostMasks = 4;
  const Node* node = graph_.producer(value);
  if (node && is_binary(*node, "Add") && has_one_use(graph_.value(value)) && a.masks.size() < kMostMasks) {
    for (size_t i = 0; i < 2; ++i) {
      Attention masked = a;
      const ValueId mask = node->inputs[1 - i];
      masked.masks.push_back({mask, {}});
      if (!have_same_type(graph_, node->inputs[i], value) || type(mask).dtype != DType::float32 || rank(mask) < 0) continue;
      if (!match_sum(node->inputs[i], masked)) continue;
      masked.inner.push_back(node->id);
      a = std::move(masked);
      return true;
    }
  }
  return (a.masks.size() < kMostMasks && match_windows(value, a)) || match_product(value, a);
}

/// Masks of the windows of one image: [windows, H, S, T] as [1, windows, H, S, T], and back.
bool ScoreMatcher::match_windows(ValueId value, Attention& a) const {
  const Node* back = graph_.producer(value);
  if (!back || !is_op(*back, "Reshape") || rank(value) != 4 || rank(back->inputs[0]) != 5 || !has_one_use(graph_.value(value)))
    return false;
  const ValueId masked = back->inputs[0];
  for (size_t i = 0; i < 4; ++i)
    if (!dim(masked, 0).is_constant(1) || !(dim(masked, i + 1) == dim(value, i))) return false;
  Attention found = a;
  found.inner.push_back(back->id);
  const Node* node = graph_.producer(masked);
  for (; node && is_binary(*node, "Add") && has_one_use(graph_.value(node->outputs[0])); node = graph_.producer(node->inputs[0])) {
    const Tensor* mask = graph_.value(node->inputs[1]).constant_tensor();
    const bool fits = mask && mask->dtype() == DType::float32 && mask->shape().size() == 5 && mask->shape()[0] == 1;
    if (!fits || !have_same_type(graph_, node->inputs[0], masked)) return false;
    found.masks.push_back({kNoValue, mask->reshaped(Shape(mask->shape().begin() + 1, mask->shape().end()))});
    found.inner.push_back(node->id);
  }
  if (!node || found.masks.size() == a.masks.size() || !is_op(*node, "Reshape") || !has_one_use(graph_.value(node->outputs[0])) ||
      !have_same_type(graph_, node->inputs[0], value))
    return false;
  found.inner.push_back(node->id);
  if (!match_sum(node->inputs[0], found)) return false;
  a = std::move(found);
  return true;
}

/// Those that are constant become one. Of two that are left, one has a number for each key alone.
bool ScoreMatcher::settle_masks(ValueId scores, Attention& a) const {
  std::vector<Mask> masks;
  std::optional<Tensor> sum;
  size_t constants = 0;
  for (const Mask& mask : a.masks) {
    const Tensor* constant = mask.constant ? &*mask.constant : graph_.value(mask.value).constant_tensor();
    if (!constant) masks.push_back(mask);
    if (!constant) continue;
    if (++constants == 1) {
      sum = *constant;
    } else if (!(sum = sum_of(*sum, *constant))) {
      return false;
    }
  }
  if (constants > 1) masks.push_back({kNoValue, sum});
  if (constants == 1)
    masks.push_back(
        *std::ranges::find_if(a.masks, [&](const Mask& mask) { return mask.constant || graph_.value(mask.value).constant_tensor(); }));
  a.masks = std::move(masks);
  if (a.masks.size() < 2) return true;
  const Dim& keys = type(scores).dims->back();
  const auto is_of_keys = [&](const Mask& mask) {
    if (mask.constant) return false;
    const SymbolicShape& dims = *type(mask.value).dims;
    return !dims.empty() && dims.back() == keys && !keys.is_constant(1) && (dims.size() == 1 || dims[dims.size() - 2].is_constant(1));
  };
  if (is_of_keys(a.masks[0])) std::swap(a.masks[0], a.masks[1]);
  return a.masks.size() == 2 && is_of_keys(a.masks[1]);
}

/// Scores, or a number so low that nothing is left of a score beside it.
bool ScoreMatcher::match_choice(const Node& where, Attention& a) const {
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
  const auto factor = factor_of(*node);
  const auto of_heads = factor ? std::nullopt : head_factor_of(*node);
  if (factor || of_heads) {
    if (factor) a.scale *= factor->second;
    if (of_heads) a.q_factor = of_heads->second;
    a.inner.push_back(node->id);
    value = factor ? factor->first : of_heads->first;
    node = graph_.producer(value);
    if (!node || !has_one_use(graph_.value(value))) return false;
  }
  if (!is_op(*node, "MatMul") || rank(value) != rank(node->inputs[0]) || rank(value) != rank(node->inputs[1])) return false;
  a.inner.push_back(node->id);
  a.q = node->inputs[0];
  a.k = node->inputs[1];
  return true;
}

}  // namespace rh::passes
