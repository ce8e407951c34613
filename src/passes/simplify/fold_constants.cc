// Pattern: a node whose inputs are all constant.
// Replacement: its results as constants.
// Not: DequantizeLinear, random operators, subgraphs; results above the limits of folding, those that only weights are made of apart; what
//   the kernel refuses.

#include "passes/simplify/fold_constants.h"

#include <algorithm>
#include <array>
#include <new>
#include <unordered_map>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

// Weights stay quantised: their dequantisation belongs to the operator that takes them. If is a matter of inline_constant_branches.
bool may_fold(const Node& node) { return node.op_type != "DequantizeLinear" && !is_random(node) && !has_subgraph(node); }

// Operators whose result may be far larger than all they are given.
bool may_grow(const Node& node) {
  static constexpr std::array<std::string_view, 10> kGrowing = {"ConstantOfShape", "Expand", "Tile",   "Range",    "EyeLike",
                                                                "OneHot",          "Pad",    "Resize", "Upsample", "ConvTranspose"};
  return std::find(kGrowing.begin(), kGrowing.end(), node.op_type) != kGrowing.end();
}

/// Whether the node scales the value with constants, as many elements as there are.
bool keeps_constant(const Graph& graph, const Node& node, ValueId id) {
  if (!scales_elements(node)) return false;
  const TensorType &from = tensor_type(graph, id), &to = tensor_type(graph, node.outputs[0]);
  return from.is_static() && to.is_static() && from.shape().elements() == to.shape().elements() &&
         std::ranges::all_of(node.inputs, [&](ValueId input) { return input == id || graph.value(input).constant_tensor(); });
}

// Whether only weights are made of the value, perhaps after a change of its form.
bool is_weight(const Graph& graph, ValueId id, int depth = 0) {
  static constexpr std::array<std::string_view, 4> kProducts = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  static constexpr std::array<std::string_view, 3> kFusedProducts = {"FusedConv", "FusedGemm", "FusedMatMul"};
  static constexpr std::array<std::string_view, 4> kForms = {"Reshape", "Transpose", "Unsqueeze", "Squeeze"};
  const auto is_one_of = [](const auto& names, const Node& node) {
    return node.domain.empty() && std::find(names.begin(), names.end(), node.op_type) != names.end();
  };
  const GraphValue& value = graph.value(id);
  if (value.is_output || depth > 4) return false;
  return std::all_of(value.consumers.begin(), value.consumers.end(), [&](NodeId consumer) {
    const Node& node = graph.node(consumer);
    if (keeps_constant(graph, node, id)) return is_weight(graph, node.outputs[0], depth + 1);
    if (is_one_of(kForms, node)) return node.inputs[0] == id && node.outputs.size() == 1 && is_weight(graph, node.outputs[0], depth + 1);
    const bool is_fused = node.domain == "com.microsoft" && std::ranges::find(kFusedProducts, node.op_type) != kFusedProducts.end();
    return (is_fused || is_one_of(kProducts, node)) && node.inputs[0] != id;
  });
}

class Folder {
 public:
  Folder(const Graph& graph, PassContext& context, bool (*may_fold)(const Node&))
      : graph_(graph), context_(context), may_fold_(may_fold), rewrite_(graph) {}

  Edit run() {
    if (!context_.evaluator) return rewrite_.take();
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (may_fold_(node) && gather_inputs(node) && may_be_kept(node) && fold(node)) give_back_inputs(node);
    }
    for (const ValueId id : in_order_) {
      const auto folded = folded_.find(id);
      if (folded != folded_.end())
        rewrite_.replace(id, rewrite_.edit().add_constant(graph_.value(id).name, std::move(folded->second.value)));
    }
    return rewrite_.take();
  }

 private:
  // False where an input is not a constant tensor, those folded before included.
  bool gather_inputs(const Node& node) {
    inputs_.clear();
    input_bytes_ = 0;
    for (ValueId id : node.inputs) {
      Value& value = inputs_.emplace_back();
      if (id == kNoValue) continue;
      if (const auto folded = folded_.find(id); folded != folded_.end()) {
        value = folded->second.value;
      } else if (const Tensor* tensor = graph_.value(id).constant_tensor()) {
        value = *tensor;
      } else {
        return false;
      }
      input_bytes_ += value.tensor().bytes();
    }
    return input_bytes_ > 0 || !node.inputs.empty();
  }

  // A change of type to twice the width is let through.
  size_t most_bytes() const { return std::min(context_.fold_budget_bytes, std::max(context_.fold_limit_bytes, 2 * input_bytes_)); }
  // What results take of either budget.
  struct Bytes {
    size_t weights = 0, others = 0;
  };
  struct Folded {
    Value value;
    Bytes bytes;
    size_t uses;  ///< by nodes that are not folded
  };
  // False where the result is too large to be kept, counted before.
  bool count(ValueId id, size_t bytes, Bytes& taken) const {
    if (bytes > context_.most_folded_bytes) return false;
    if (bytes > context_.fold_limit_bytes && bytes <= context_.weight_budget_bytes - taken.weights && is_weight(graph_, id)) {
      taken.weights += bytes;
      return true;
    }
    if (bytes > most_bytes() || bytes > context_.fold_budget_bytes - taken.others) return false;
    taken.others += bytes;
    return true;
  }

  // Before anything is computed: as far as types tell, results are small enough.
  bool may_be_kept(const Node& node) const {
    bool used = false, all_known = true;
    Bytes bytes;
    for (ValueId id : node.outputs) {
      if (!is_used(graph_, id)) continue;
      used = true;
      const TensorType& type = tensor_type(graph_, id);
      if (!type.is_static()) {
        all_known = false;
      } else if (!count(id, bytes_of(type.dtype, type.shape().elements()), bytes)) {
        return false;
      }
    }
    return used && (all_known || (!may_grow(node) && input_bytes_ <= context_.fold_limit_bytes));
  }

  bool fold(const Node& node) {
    std::vector<Value> results;
    try {
      results = context_.evaluator->evaluate(graph_, node, inputs_, std::max(context_.fold_budget_bytes, context_.weight_budget_bytes));
    } catch (const Error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;  // as any other failure: the node stays, and the run reports it
    }
    if (results.size() != node.outputs.size()) return false;
    Bytes all;
    std::vector<Bytes> bytes(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      if (!is_used(graph_, node.outputs[i])) continue;
      if (!results[i].is_tensor() || !results[i].tensor().defined()) return false;
      const DType expected = tensor_type(graph_, node.outputs[i]).dtype;
      if (expected != DType::undefined && expected != results[i].tensor().dtype()) return false;
      const Bytes before = all;
      if (!count(node.outputs[i], results[i].tensor().bytes(), all)) return false;
      bytes[i] = {all.weights - before.weights, all.others - before.others};
    }
    if (!context_.admit()) return false;
    context_.fold_budget_bytes -= all.others;
    context_.weight_budget_bytes -= all.weights;
    for (size_t i = 0; i < results.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (!is_used(graph_, output)) continue;
      const GraphValue& value = graph_.value(output);
      folded_.emplace(output, Folded{std::move(results[i]), bytes[i], value.consumers.size() + (value.is_output ? 1 : 0)});
      in_order_.push_back(output);
    }
    rewrite_.remove(node.id);
    return true;
  }

  /// What only folded nodes take is held no longer.
  void give_back_inputs(const Node& node) {
    for (const ValueId id : node.inputs) {
      const auto folded = folded_.find(id);
      if (folded == folded_.end() || --folded->second.uses > 0) continue;
      context_.fold_budget_bytes += folded->second.bytes.others;
      context_.weight_budget_bytes += folded->second.bytes.weights;
      folded_.erase(folded);
    }
  }

  const Graph& graph_;
  PassContext& context_;
  bool (*const may_fold_)(const Node&);
  Rewrite rewrite_;
  std::unordered_map<ValueId, Folded> folded_;
  std::vector<ValueId> in_order_;  ///< all that were folded
  std::vector<Value> inputs_;
  size_t input_bytes_ = 0;
};

}  // namespace

Edit folded(const Graph& graph, PassContext& context, bool (*may_fold)(const Node&)) { return Folder(graph, context, may_fold).run(); }

Edit fold_constants(const Graph& graph, PassContext& context) { return folded(graph, context, may_fold); }

}  // namespace rh::passes
