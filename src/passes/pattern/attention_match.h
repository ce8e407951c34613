#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "passes/pattern/axis_order.h"

namespace rh::passes {

/// A mask of true and false: what scores become where it is `masked`.
struct Choice {
  ValueId condition = kNoValue;
  bool masked = false;
  double number = 0;
};

/// Numbers that are added to scores: a value, a constant that stands for several, or what is made of other masks.
struct Mask {
  ValueId value = kNoValue;
  std::optional<Tensor> constant;
  std::vector<Mask> terms;       ///< that are added up; none: 0
  std::optional<Choice> choice;  ///< between the sum of the terms and a number
  std::optional<double> least;   ///< what the sum of the terms is at least
  double factor = 1;             ///< of the sum of the terms

  bool is_made() const { return value == kNoValue && !constant; }
};

/// What is known of one attention.
struct Attention {
  ValueId q = kNoValue, k = kNoValue, v = kNoValue;
  ValueId products = kNoValue;    ///< what is made of the first product before masks are added
  bool is_folded = false;         ///< the products have batch and heads as one dimension
  std::vector<Mask> masks;        ///< that are added; of two the second one has a number for each key alone
  bool needs_equal_keys = false;  ///< the values must be as many as the keys for the masks to fit
  int dimensions = 4;             ///< of the scores: those of a batch, heads where there are four, and of five one more of the batch
  double scale = 1;
  ValueId q_factor = kNoValue;  ///< a number for each head, by which queries are multiplied before
  bool q_length_first = false, k_length_first = false, v_length_first = false, output_length_first = false;
  int64_t q_part = 0, k_part = 0, v_part = 0;
  std::optional<SymbolicShape> q_view, k_view, v_view;  ///< as which they are read, where that is not their shape
  std::optional<SymbolicShape> output_view;             ///< as which the result is written
  bool k_transposed = true, nan_is_zero = false;
  double softcap = 0;
  std::optional<Choice> zeroed;        ///< which weights become 0 behind the softmax
  std::optional<double> masked_score;  ///< of those that masks choose, in place of a score
  bool v_turned = false;               ///< V lies as [..., depth, keys], and the result as [..., depth, queries]
  std::vector<NodeId> inner;           ///< nodes that it replaces, from the first product to the last node
  std::vector<NodeId> outer;           ///< nodes before the first product that it makes superfluous, where nobody else takes what they give
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
    if (softcap != 0) list.push_back({"softcap", static_cast<float>(softcap)});
    if (masked_score) list.push_back({"masked_score", static_cast<float>(*masked_score)});
    flag("masked_is_zero", zeroed.has_value());
    return list;
  }
};

/// Graph and values as matchers of attention look at them.
class AttentionGraph {
 public:
  explicit AttentionGraph(const Graph& graph) : graph_(graph) {}

 protected:
  const TensorType& type(ValueId id) const;
  int rank(ValueId id) const { return type(id).has_rank() ? type(id).rank() : -1; }
  const Dim& dim(ValueId id, size_t i) const { return (*type(id).dims)[i]; }
  /// Whether the last two dimensions are the same.
  bool has_matrices_of(ValueId a, ValueId b) const;
  /// The condition and whether it is the masked ones, with any Not taken off.
  Choice chosen_by(ValueId condition, bool masked) const;
  /// The operand and the number where the node multiplies or divides by one number.
  std::optional<std::pair<ValueId, double>> factor_of(const Node& node) const;

  const Graph& graph_;
};

/// From a softmax back to the first product, by masks that are added and a factor.
class ScoreMatcher : AttentionGraph {
 public:
  using AttentionGraph::AttentionGraph;

  /// Fills in queries, keys, masks and the factor.
  bool match(ValueId scores, Attention& a) const;

 private:
  bool match_sum(ValueId value, size_t depth, Attention& a) const;
  bool match_mask(const Node& add, size_t depth, Attention& a) const;
  bool match_choice(const Node& where, size_t depth, Attention& a) const;
  std::optional<std::pair<ValueId, double>> bounded_by(const Node& node) const;
  bool match_least(const Node& node, size_t depth, Attention& a) const;
  bool match_folded(ValueId value, size_t depth, Attention& a) const;
  bool match_folded_twice(ValueId value, size_t depth, Attention& a) const;
  bool match_windows(ValueId value, size_t depth, Attention& a) const;
  std::optional<std::pair<ValueId, ValueId>> head_factor_of(const Node& node) const;
  bool match_scaled(ValueId value, size_t depth, Attention& a) const;
  static bool is_last(const Attention& a, const Choice& choice, size_t depth);
  ValueId strip_softcap(ValueId value, Attention& a) const;
  bool match_product(ValueId value, Attention& a) const;
  bool fits_scores(ValueId mask, Attention& a) const;
  std::vector<SymbolicShape> parts_of(const Mask& mask) const;
  bool is_of_keys(const Mask& mask) const;
  bool is_of_all_heads(const Mask& mask) const;
  bool add_up_constants(Attention& a) const;
  bool settle_masks(Attention& a) const;
};

/// Goes behind what comes before queries, keys and values, so that they are read where they lie.
class OperandMatcher : AttentionGraph {
 public:
  using AttentionGraph::AttentionGraph;

  void match(Attention& a) const;
  /// From products of three dimensions to the four that operands and result have before and after; false where they do not.
  bool unfold(Attention& a) const;
  /// Operands that lie as [S, B H, D], as those of torch.nn.MultiheadAttention do, as the heads of one batch; false where none does so.
  bool take_lengths_first(Attention& a) const;

 private:
  bool unfold(ValueId& value, Attention& a) const;
  bool strip_to_lengths(ValueId& value, const Permutation& permuted, Attention& a) const;
  std::optional<SymbolicShape> as_one_batch(ValueId value, bool length_first) const;
  void strip(ValueId& value, ValueId source, Attention& a) const;
  void strip_scale(ValueId& value, Attention& a) const;
  std::optional<Permutation> permutation(ValueId value) const;
  /// Whether a Transpose gives the value by this permutation of the last four dimensions.
  bool is_permuted(ValueId value, const Permutation& last_four) const;
  ValueId source(ValueId value) const { return graph_.producer(value)->inputs[0]; }
  void strip_key_transpose(Attention& a) const;
  void strip_folded_transpose(Attention& a) const;
  bool is_unfolded(ValueId keys, ValueId k) const;
  std::optional<std::pair<ValueId, int64_t>> part_of(ValueId value) const;
  std::optional<std::pair<ValueId, int64_t>> piece_of(ValueId value, int64_t axis) const;
  std::optional<std::pair<ValueId, int64_t>> turned_part(ValueId turned, const std::optional<double>& index) const;
  bool strip_part(ValueId& value, int64_t& part, Attention& a) const;
  ValueId repeated_along(ValueId value, size_t axis) const;
  bool repeats_each(const Node& gather, int64_t heads) const;
  void strip_repeat(ValueId& value, Attention& a) const;
  void strip_repeated_dimension(ValueId& value, Attention& a) const;
  void strip_transpose(ValueId& value, bool& length_first, Attention& a) const;
  void strip_split(ValueId& value, bool& length_first, int64_t& part, std::optional<SymbolicShape>& view, Attention& a) const;
};

}  // namespace rh::passes
