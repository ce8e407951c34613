// Pattern: MatMul or Gemm, a bias, a sum of its shape that is added, and an activation; a Reshape back to the dimensions of which another
//   made a matrix.
// Replacement: FusedMatMul; FusedGemm where a Gemm scales, turns the left operand or adds more than a row.
// Not: other types than float32 and float16; values in between that something else takes.

#include <algorithm>

#include "ops/activation/fused_activation.h"
#include "ops/math/fused_matmul.h"
#include "ops/math/gemm.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

/// What follows a product and goes into it.
struct Tail {
  ValueId bias = kNoValue, sum = kNoValue;
  std::optional<ops::FusedActivation> activation;
  std::vector<NodeId> nodes;  ///< of the product and what follows
  const Node* last = nullptr;
};

class Fuser : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    // Of two products that are added, the later one takes the sum of the other.
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (rewrite_.is_removed(node.id) || node.inputs.empty()) continue;
      const DType dtype = tensor_type(graph_, node.inputs[0]).dtype;
      if (dtype != DType::float32 && dtype != DType::float16) continue;
      const bool is_gemm = is_op(node, "Gemm") && node.opset >= kBroadcastOpset;
      if (!is_gemm && !is_op(node, "MatMul") && !is_bare_product(node)) continue;
      is_plain(node) ? fuse_matmul(node) : fuse_gemm(node);
    }
    return rewrite_.take();
  }

 private:
  /// Our own, of a right operand of another type than the left one.
  static bool is_bare_product(const Node& node) {
    return is_own(node, "FusedMatMul") && node.inputs.size() <= 3 && !node.attribute("activation");
  }

  /// Whether FusedMatMul computes the same: a Gemm may scale nothing, turn the right operand alone, and add one number a column.
  bool is_plain(const Node& product) const {
    if (!is_op(product, "Gemm")) return true;
    const ops::Gemm op = ops::Gemm::read(NodeView(graph_, product));
    if (op.alpha != 1 || op.beta != 1 || op.transpose_a) return false;
    const TensorType &bias = tensor_type(graph_, bias_of(product)), &result = tensor_type(graph_, product.outputs[0]);
    return bias_of(product) == kNoValue || (result.has_rank() && result.rank() == 2 && is_row(bias, result.dims->back()));
  }

  void fuse_matmul(const Node& product) {
    Tail tail = start(product);
    take_bias(tail, product);
    const ValueId x = take_unfold(tail, product);
    if (x != kNoValue) take_bias(tail, product);
    take_sum(tail);
    const bool is_gemm = is_op(product, "Gemm");
    if (is_gemm && tail.last == &product) return fuse_gemm(product);
    take_activation(tail);
    if (tail.last == &product || !context_.admit()) return;
    Node fused = shell(product, "FusedMatMul", "roundhouse");
    if (x != kNoValue) fused.inputs[0] = rewrite_.current(x);
    fused.inputs.resize(2);
    add_terms(fused, tail);
    if (!is_gemm) {
      fused.attributes.insert(fused.attributes.end(), product.attributes.begin(), product.attributes.end());
    } else if (ops::Gemm::read(NodeView(graph_, product)).transpose_b) {
      fused.attributes.push_back({"transB", int64_t{1}});
    }
    rewrite_.replace_nodes(std::move(fused), *tail.last, tail.nodes);
  }

  void fuse_gemm(const Node& product) {
    Tail tail = start(product);
    take_activation(tail);
    if (tail.last == &product || !context_.admit()) return;
    Node fused = shell(product, "FusedGemm", "com.microsoft");
    fused.attributes = product.attributes;
    for (Attribute& attribute : tail.activation->separate_attributes()) fused.attributes.push_back(std::move(attribute));
    rewrite_.replace_nodes(std::move(fused), *tail.last, tail.nodes);
  }

  /// Takes the Reshape of a product back to the dimensions that another one made a matrix of, and gives what that was: a product of more
  /// dimensions, which what follows then goes into.
  ValueId take_unfold(Tail& tail, const Node& product) const {
    const Node *fold = graph_.producer(product.inputs[0]), *unfold = next(tail);
    if (!fold || !unfold || !is_op(*fold, "Reshape") || !is_op(*unfold, "Reshape") || unfold->inputs[0] != tail.last->outputs[0])
      return kNoValue;
    const ops::FusedMatMul op = ops::FusedMatMul::read(NodeView(graph_, product));
    if (op.transpose_a || op.transpose_batch_a || !NodeView(graph_, product).constant_input(1)) return kNoValue;
    const ValueId x = fold->inputs[0], y = unfold->outputs[0];
    const TensorType &from = tensor_type(graph_, x), &to = tensor_type(graph_, y);
    const TensorType &a = tensor_type(graph_, product.inputs[0]), &c = tensor_type(graph_, product.outputs[0]);
    if (!from.has_rank() || !to.has_rank() || !a.has_rank() || !c.has_rank()) return kNoValue;
    if (from.rank() < 3 || from.rank() != to.rank() || a.rank() != 2 || c.rank() != 2) return kNoValue;
    if (!std::equal(from.dims->begin(), from.dims->end() - 1, to.dims->begin()) || !(from.dims->back() == a.dims->back()) ||
        !(to.dims->back() == c.dims->back()))
      return kNoValue;
    take(tail, *unfold);
    return x;
  }

  void add_terms(Node& fused, const Tail& tail) const {
    for (ValueId value : {tail.bias, tail.sum}) fused.inputs.push_back(value == kNoValue ? kNoValue : rewrite_.current(value));
    while (fused.inputs.back() == kNoValue) fused.inputs.pop_back();
    if (tail.activation) fused.attributes = tail.activation->attributes();
  }

  static ValueId bias_of(const Node& product) { return product.inputs.size() > 2 ? product.inputs[2] : kNoValue; }

  static Tail start(const Node& product) {
    Tail tail;
    tail.bias = bias_of(product);
    tail.nodes = {product.id};
    tail.last = &product;
    return tail;
  }

  const Node* next(const Tail& tail) const {
    const Node* user = only_user(graph_, *tail.last);
    return user && !rewrite_.is_removed(user->id) && is_only_output(graph_, *user) ? user : nullptr;
  }

  static void take(Tail& tail, const Node& node) {
    tail.nodes.push_back(node.id);
    tail.last = &node;
  }

  static bool is_row(const TensorType& type, const Dim& columns) {
    return type.has_rank() && type.rank() > 0 && type.dims->back() == columns &&
           std::all_of(type.dims->begin(), type.dims->end() - 1, [](const Dim& dim) { return dim.is_constant(1); });
  }

  /// Add of one number a column, to a product that has none yet.
  void take_bias(Tail& tail, const Node& product) const {
    const Node* add = next(tail);
    const TensorType &right = tensor_type(graph_, product.inputs[1]), &result = tensor_type(graph_, tail.last->outputs[0]);
    if (tail.bias != kNoValue || !add || !is_add(*add) || !right.has_rank() || right.rank() < 2 || !result.has_rank()) return;
    const ValueId bias = other_input(*add, tail.last->outputs[0]);
    const TensorType& type = tensor_type(graph_, bias);
    if (type.dtype != tensor_type(graph_, product.inputs[0]).dtype || !result.dims->back().is_constant()) return;
    if (!is_row(type, result.dims->back()) || type.rank() > result.rank()) return;
    tail.bias = bias;
    take(tail, *add);
  }

  void take_sum(Tail& tail) const {
    const Node* add = next(tail);
    if (!add || !is_add(*add)) return;
    const ValueId sum = other_input(*add, tail.last->outputs[0]);
    if (!have_same_type(graph_, sum, tail.last->outputs[0])) return;
    tail.sum = sum;
    take(tail, *add);
  }

  void take_activation(Tail& tail) const {
    const Node* node = next(tail);
    if (!node || node->inputs[0] != tail.last->outputs[0]) return;
    tail.activation = ops::FusedActivation::of(NodeView(graph_, *node));
    if (tail.activation) take(tail, *node);
  }

  static bool is_add(const Node& node) { return is_op(node, "Add") && node.opset >= kBroadcastOpset && node.inputs[0] != node.inputs[1]; }

  Node shell(const Node& product, std::string_view op_type, std::string_view domain) {
    Node fused;
    fused.name = product.name;
    fused.op_type = op_type;
    fused.domain = domain;
    fused.opset = 1;
    for (ValueId input : product.inputs) fused.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    return fused;
  }
};

}  // namespace

Edit fuse_matmul_activation(const Graph& graph, PassContext& context) { return Fuser(graph, context).run(); }

}  // namespace rh::passes
