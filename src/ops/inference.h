#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "ops/node_view.h"

namespace rh {

/// Contents of small int32, int64 and boolean (0 or 1) tensors (shapes, axes, sizes and what is computed of them; up to 64 elements of rank
/// 0 or 1) as far as they are known, by value id of one graph.
using KnownContents = std::unordered_map<ValueId, SymbolicShape>;

/// What type and shape inference of one node reads and writes.
class InferenceContext {
 public:
  /// Infers the types of a subgraph's outputs from types (and, where known, contents) given for its inputs.
  using SubgraphInference = FunctionRef<std::vector<ValueType>(const Graph&, std::span<const ValueType>)>;

  InferenceContext(const NodeView& node, KnownContents& contents, SubgraphInference infer_subgraph, FunctionRef<Dim()> fresh_symbol);

  const NodeView& node() const { return node_; }
  int input_count() const { return node_.input_count(); }
  bool has_input(int i) const { return node_.has_input(i); }
  const ValueType& input_type(int i) const { return node_.input_type(i); }
  /// The tensor type of input i; a type without dtype and rank where nothing is known. Throws where the input is not a tensor.
  const TensorType& input_tensor(int i) const;
  DType input_dtype(int i) const { return input_tensor(i).dtype; }
  const Tensor* input_constant(int i) const { return node_.constant_input(i); }
  /// Elements of an integer input of rank 0 or 1, each a number, an expression or unknown; nothing where not even their number is known.
  std::optional<SymbolicShape> input_contents(int i) const;
  /// The same where every element is a number.
  std::optional<std::vector<int64_t>> input_ints(int i) const;

  int output_count() const { return node_.output_count(); }
  bool has_output(int i) const { return node_.has_output(i); }
  void set_output(int i, ValueType type);
  void set_output(int i, DType dtype, std::optional<SymbolicShape> dims = {}) { set_output(i, ValueType::tensor(dtype, std::move(dims))); }
  /// Contents of a small integer output (rank 0: one element).
  void set_output_contents(int i, SymbolicShape contents);
  const ValueType& output_type(int i) const { return outputs_[i]; }

  /// A new symbol, for a size that only running the node tells.
  Dim fresh_symbol() const { return fresh_symbol_(); }
  std::vector<ValueType> infer_subgraph(std::string_view attribute, std::span<const ValueType> inputs) const;

  /// `axis` as an index in [0, rank); throws Error{fail} naming `name`, the axis and the range.
  int check_axis(const char* name, int64_t axis, int rank) const;
  /// The symbolic form of numpy broadcasting. A symbol against 1 is the symbol; two different symbols give a fresh one (they may differ by
  /// a 1).
  SymbolicShape broadcast(const SymbolicShape& a, const SymbolicShape& b) const;
  /// Output i gets the dtype given and the broadcast shape of all inputs in [first, last).
  void set_broadcast_output(int i, DType dtype, int first, int last);

 private:
  const NodeView& node_;
  KnownContents& contents_;
  SubgraphInference infer_subgraph_;
  FunctionRef<Dim()> fresh_symbol_;
  std::vector<ValueType> outputs_;
  friend class GraphInference;
};

struct InferenceOptions {
  /// A node of an operator that is not known: error, or outputs of unknown type (custom operators, `inspect`).
  bool unknown_operators_are_errors = false;
  /// A declared shape that contradicts the operator's: error, or the operator's counts.
  bool contradictory_shapes_are_errors = false;
  /// Asked first for every node: infers its outputs, or returns false where the operator is not one of its own. Empty: nobody is asked.
  std::function<bool(const NodeView&, InferenceContext&)> custom = {};
};

/// Infers types of all values of a graph and its subgraphs, in order, merging with what is declared, and gives known contents. Throws
/// Error{fail} with the node where element types or kinds contradict or an operator refuses its inputs, check_node's error. Sizes that only
/// a run tells become fresh symbols.
KnownContents infer_types(Graph& graph, const InferenceOptions& options = {});

}  // namespace rh
