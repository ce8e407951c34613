// Pattern: Einsum of two operands: a batch of matrices, or rows of any dimensions by constant weights.
// Replacement: MatMul, with the Transposes and Reshapes that it needs before and behind.
// Not: equations with an ellipsis, a diagonal or a sum over a letter of one operand; sizes of shared letters that may differ; integers.

#include <algorithm>
#include <string>

#include "ops/math/einsum.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "tensor/dispatch.h"

namespace rh::passes {

namespace {

/// The letters of an equation of two operands, by what becomes of them in a product of matrices.
struct Letters {
  std::string batch;     // in both operands and the result
  std::string summed;    // in both operands alone
  std::string free[2];   // in one operand and the result
  bool is_plain = true;  // no "...", no diagonal, no sum over a letter of one operand
};

bool has(const std::string& term, char letter) { return term.find(letter) != std::string::npos; }

bool has_repeats(std::string term) {
  std::ranges::sort(term);
  return std::ranges::adjacent_find(term) != term.end();
}

/// Those of the result in its order, the others in that of the operands.
Letters letters_of(const ops::Einsum& op) {
  Letters letters;
  for (const std::string* term : {&op.terms[0], &op.terms[1], &op.output}) letters.is_plain &= !has(*term, '.') && !has_repeats(*term);
  for (char c : op.output) {
    const bool in[] = {has(op.terms[0], c), has(op.terms[1], c)};
    letters.is_plain &= in[0] || in[1];
    (in[0] && in[1] ? letters.batch : letters.free[in[0] ? 0 : 1]) += c;
  }
  for (int i = 0; i < 2; ++i) {
    for (char c : op.terms[static_cast<size_t>(i)]) {
      if (has(op.output, c)) continue;
      if (i == 0 && has(op.terms[1], c)) letters.summed += c;
      letters.is_plain &= has(op.terms[static_cast<size_t>(1 - i)], c);
    }
  }
  return letters;
}

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_op(node, "Einsum") && node.inputs.size() == 2) match(node);
    }
    return rewrite_.take();
  }

 private:
  void match(const Node& node) {
    const ops::Einsum op = ops::Einsum::read(NodeView(graph_, node));
    if (op.terms.size() != 2 || !is_only_output(graph_, node)) return;
    const Letters letters = letters_of(op);
    if (!letters.is_plain || letters.summed.empty() || letters.free[0].empty() || letters.free[1].empty() || !fits(node, op)) return;
    if (!letters.batch.empty()) {
      const bool are_matrices = letters.summed.size() == 1 && letters.free[0].size() == 1 && letters.free[1].size() == 1;
      if (are_matrices && context_.admit()) replace_by_batch(node, op, letters);
      return;
    }
    // Which operand the weights are says which side the other stands on: no reordering of what a run computes but the result.
    for (size_t weights : {1, 0}) {
      const Tensor* constant = NodeView(graph_, node).constant_input(static_cast<int>(weights));
      if (constant && constant->elements() > 0 && context_.admit()) return replace_by_weights(node, op, letters, weights);
    }
  }

  /// Whether ranks and shared dimensions are known and equal: a product of matrices would not repeat single ones of the latter.
  bool fits(const Node& node, const ops::Einsum& op) const {
    const TensorType* types[] = {&tensor_type(graph_, node.inputs[0]), &tensor_type(graph_, node.inputs[1])};
    for (size_t i = 0; i < 2; ++i) {
      if (!types[i]->has_rank() || types[i]->dims->size() != op.terms[i].size() || !FloatingTypes::set.contains(types[i]->dtype))
        return false;
    }
    for (size_t i = 0; i < op.terms[0].size(); ++i) {
      const size_t other = op.terms[1].find(op.terms[0][i]);
      if (other != std::string::npos && !((*types[0]->dims)[i] == (*types[1]->dims)[other])) return false;
    }
    return true;
  }

  /// The matrices of a batch.
  void replace_by_batch(const Node& node, const ops::Einsum& op, const Letters& letters) {
    const size_t left = op.output.find(letters.free[0][0]) < op.output.find(letters.free[1][0]) ? 0 : 1, right = 1 - left;
    const ValueId a =
        transposed(node, rewrite_.current(node.inputs[left]), op.terms[left], letters.batch + letters.free[left] + letters.summed);
    const ValueId b =
        transposed(node, rewrite_.current(node.inputs[right]), op.terms[right], letters.batch + letters.summed + letters.free[right]);
    finish(node, part_of(node, true, "MatMul", {a, b}), letters.batch + letters.free[left] + letters.free[right], op.output);
  }

  /// Rows by one matrix.
  void replace_by_weights(const Node& node, const ops::Einsum& op, const Letters& letters, size_t weights) {
    const size_t rows = 1 - weights;
    std::string summed = op.terms[rows];
    std::erase_if(summed, [&](char c) { return !has(letters.summed, c); });
    const auto sizes = [&](const std::string& names) {
      std::vector<int64_t> list;
      for (char c : names) list.push_back((*tensor_type(graph_, node.inputs[weights]).dims)[op.terms[weights].find(c)].value());
      return list;
    };
    const auto product = [](const std::vector<int64_t>& list) {
      int64_t count = 1;  // of elements that are there
      for (int64_t size : list) count *= size;
      return count;
    };
    const std::vector<int64_t> kept(letters.free[rows].size(), 0), columns = sizes(letters.free[weights]);
    const int64_t depth = product(sizes(summed));
    ValueId a = transposed(node, rewrite_.current(node.inputs[rows]), op.terms[rows], letters.free[rows] + summed);
    if (summed.size() > 1) a = reshaped(node, a, joined(kept, {depth}));
    ValueId b = transposed(node, node.inputs[weights], op.terms[weights], summed + letters.free[weights]);
    if (op.terms[weights].size() > 2) b = reshaped(node, b, {depth, product(columns)});
    const Node matmul = part_of(node, true, "MatMul", {a, b});
    const std::string order = letters.free[rows] + letters.free[weights];
    if (columns.size() == 1) return finish(node, matmul, order, op.output);
    const ValueId flat = rewrite_.add_part(matmul, node);
    finish(node, part_of(node, false, "Reshape", {flat, shape(node, joined(kept, columns))}), order, op.output);
  }

  static std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  ValueId shape(const Node& node, const std::vector<int64_t>& sizes) {
    Tensor tensor(DType::int64, Shape{static_cast<int64_t>(sizes.size())});
    std::ranges::copy(sizes, tensor.data<int64_t>());
    return rewrite_.edit().add_constant(graph_.value(node.outputs[0]).name + "_shape", std::move(tensor));
  }

  ValueId reshaped(const Node& node, ValueId value, const std::vector<int64_t>& sizes) {
    return rewrite_.add_part(part_of(node, false, "Reshape", {value, shape(node, sizes)}), node);
  }

  static std::vector<int64_t> permutation(const std::string& from, const std::string& to) {
    std::vector<int64_t> perm;
    for (char c : to) perm.push_back(static_cast<int64_t>(from.find(c)));
    return perm;
  }

  ValueId transposed(const Node& node, ValueId value, const std::string& from, const std::string& to) {
    return from == to ? value : rewrite_.add_part(transpose(node, value, from, to), node);
  }

  static Node transpose(const Node& node, ValueId value, const std::string& from, const std::string& to) {
    return part_of(node, false, "Transpose", {value}, {{"perm", permutation(from, to)}});
  }

  /// `last` gives the result with its dimensions in the order `from`.
  void finish(const Node& node, Node last, const std::string& from, const std::string& to) {
    if (from != to) last = transpose(node, rewrite_.add_part(std::move(last), node), from, to);
    rewrite_.replace_nodes(std::move(last), node, {node.id});
  }
};

}  // namespace

Edit convert_einsum_to_matmul(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
