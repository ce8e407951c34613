#include <algorithm>

#include "ops/activation/fused_activation.h"
#include "ops/math/gemm.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBroadcastOpset = 7;  // of ai.onnx, from which on Add and Gemm broadcast as numpy does

/// What follows a product and goes into it.
struct Tail {
  ValueId bias = kNoValue, sum = kNoValue;
  std::optional<ops::FusedActivation> activation;
  std::vector<NodeId> nodes;  ///< of the product and what follows
  const Node* last = nullptr;
};

class Fuser {
 public:
  Fuser(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    // Of two products that are added, the later one takes the sum of the other.
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (rewrite_.is_removed(node.id) || node.inputs.empty()) continue;
      const DType dtype = tensor_type(graph_, node.inputs[0]).dtype;
      if (dtype != DType::float32 && dtype != DType::float16) continue;
      if (is_op(node, "MatMul") || is_bare_product(node)) fuse_matmul(node);
      if (is_op(node, "Gemm") && node.opset >= kBroadcastOpset) fuse_gemm(node);
    }
    return rewrite_.take();
  }

 private:
  /// Our own, of a right operand of another type than the left one.
  static bool is_bare_product(const Node& node) {
    return is_own(node, "FusedMatMul") && node.inputs.size() <= 3 && !node.attribute("activation");
  }

  void fuse_matmul(const Node& product) {
    Tail tail = start(product);
    if (product.inputs.size() > 2) {
      tail.bias = product.inputs[2];
    } else {
      take_bias(tail, product);
    }
    take_sum(tail);
    take_activation(tail);
    if (tail.last == &product || !context_.admit()) return;
    Node fused = shell(product, "FusedMatMul", "roundhouse", tail);
    fused.inputs.resize(2);
    add_terms(fused, tail);
    fused.attributes.insert(fused.attributes.end(), product.attributes.begin(), product.attributes.end());
    rewrite_.replace_nodes(std::move(fused), *tail.last, tail.nodes);
  }

  void fuse_gemm(const Node& product) {
    if (fuse_folded(product)) return;
    Tail tail = start(product);
    take_activation(tail);
    if (tail.last == &product || !context_.admit()) return;
    Node fused = shell(product, "FusedGemm", "com.microsoft", tail);
    fused.attributes = product.attributes;
    for (Attribute& attribute : tail.activation->separate_attributes()) fused.attributes.push_back(std::move(attribute));
    rewrite_.replace_nodes(std::move(fused), *tail.last, tail.nodes);
  }

  /// Gemm between a Reshape to a matrix and one back: a product of more dimensions, which what follows then goes into.
  bool fuse_folded(const Node& product) {
    const Node *fold = graph_.producer(product.inputs[0]), *unfold = only_user(graph_, product);
    if (!fold || !unfold || !is_op(*fold, "Reshape") || !is_op(*unfold, "Reshape") || !is_only_output(graph_, *unfold)) return false;
    const NodeView view(graph_, product);
    const ops::Gemm op = ops::Gemm::read(view);
    const ValueId x = fold->inputs[0], y = unfold->outputs[0];
    const TensorType &from = tensor_type(graph_, x), &to = tensor_type(graph_, y);
    const TensorType &a = tensor_type(graph_, product.inputs[0]), &c = tensor_type(graph_, product.outputs[0]);
    const bool plain = op.alpha == 1 && op.beta == 1 && !op.transpose_a && graph_.value(product.inputs[1]).constant_tensor();
    if (!plain || unfold->inputs[0] != product.outputs[0] || !from.has_rank() || !to.has_rank() || !a.has_rank() || !c.has_rank())
      return false;
    if (from.rank() < 3 || from.rank() != to.rank() || a.rank() != 2 || c.rank() != 2) return false;
    if (!std::equal(from.dims->begin(), from.dims->end() - 1, to.dims->begin()) || !(from.dims->back() == a.dims->back()) ||
        !(to.dims->back() == c.dims->back()))
      return false;
    Tail tail = start(product);
    if (view.has_input(2)) {
      const TensorType& bias = tensor_type(graph_, product.inputs[2]);
      if (!bias.has_rank() || bias.rank() != 1 || !((*bias.dims)[0] == c.dims->back())) return false;
      tail.bias = product.inputs[2];
    }
    take(tail, *unfold);
    take_sum(tail);
    take_activation(tail);
    if (!context_.admit()) return true;
    Node fused = shell(product, "FusedMatMul", "roundhouse", tail);
    fused.inputs = {rewrite_.current(x), rewrite_.current(product.inputs[1])};
    add_terms(fused, tail);
    if (op.transpose_b) fused.attributes.push_back({"transB", int64_t{1}});
    rewrite_.replace_nodes(std::move(fused), *tail.last, tail.nodes);
    return true;
  }

  void add_terms(Node& fused, const Tail& tail) const {
    for (ValueId value : {tail.bias, tail.sum}) fused.inputs.push_back(value == kNoValue ? kNoValue : rewrite_.current(value));
    while (fused.inputs.back() == kNoValue) fused.inputs.pop_back();
    if (tail.activation) fused.attributes = tail.activation->attributes();
  }

  static Tail start(const Node& product) {
    Tail tail;
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

  /// Add of one number a column.
  void take_bias(Tail& tail, const Node& product) const {
    const Node* add = next(tail);
    const TensorType& right = tensor_type(graph_, product.inputs[1]);
    if (!add || !is_add(*add) || product.attribute("transB") || !right.has_rank() || right.rank() < 2 || !right.dims->back().is_constant())
      return;
    const ValueId bias = other_input(*add, tail.last->outputs[0]);
    const TensorType& type = tensor_type(graph_, bias);
    if (!type.is_static() || type.dtype != tensor_type(graph_, product.inputs[0]).dtype) return;
    const Shape shape = type.shape();
    const TensorType& result = tensor_type(graph_, tail.last->outputs[0]);
    const bool is_row = shape.rank() > 0 && shape.elements() == shape[shape.rank() - 1] && shape.elements() == right.dims->back().value();
    if (!is_row || !result.has_rank() || shape.rank() > result.rank()) return;
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

  Node shell(const Node& product, std::string_view op_type, std::string_view domain, const Tail& tail) {
    Node fused;
    fused.name = product.name;
    fused.op_type = op_type;
    fused.domain = domain;
    fused.opset = 1;
    for (ValueId input : product.inputs) fused.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    return fused;
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

/// A product, a bias, a sum of its shape that is added, and an activation become one operator.
Edit fused_products(const Graph& graph, PassContext& context) { return Fuser(graph, context).run(); }

}  // namespace rh::passes
