#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "onnx/messages.h"
#include "onnx/reader.h"
#include "onnx/scope.h"
#include "onnx/tensor_reader.h"

namespace rh::onnx {

/// A model-local function being inlined at a node that calls it.
struct FunctionCall {
  const FunctionFields& function;
  const NodeFields& node;
  Scope& caller;
};

/// Builds graphs from their messages.
class GraphReader {
 public:
  /// `domains`: see ReadOptions.
  GraphReader(const ModelFields& model, TensorReader& tensors, const ReadLimits& limits, std::span<const std::string> domains);

  /// Fills an empty graph with the content of the model's graph.
  void read_main(const GraphFields& fields, Graph& graph);

 private:
  using Types = std::unordered_map<std::string_view, std::string_view>;  ///< ValueInfoProtos by name

  void read_graph(const GraphFields& fields, Scope& scope);
  using Names = std::unordered_set<std::string_view>;
  void read_initializers(const GraphFields& fields, const Names& sparse_outputs, Scope& scope);
  /// A Constant whose value has to stay sparse, or that gives what an initializer or input gives too, becomes an initializer.
  bool read_as_initializer(const NodeFields& fields, const Names& sparse_outputs, const Names& declared, Scope& scope);
  void declare_outputs(const std::vector<NodeFields>& nodes, Scope& scope, const Types& types);
  std::shared_ptr<Graph> read_subgraph(std::string_view message, Scope& outer);

  void read_node(const NodeFields& fields, int32_t index, Scope& scope);
  void add_node(const NodeFields& fields, Provenance provenance, Scope& scope);
  void inline_call(const FunctionFields& function, const NodeFields& fields, Provenance provenance, Scope& caller, int32_t index);
  void bind_outputs(const FunctionFields& function, const std::vector<ValueId>& actual, Scope& scope,
                    std::vector<std::pair<ValueId, ValueId>>& passed_through);

  /// The version that the model or function imports of the domain, for the model without one the newest known, as ONNX Runtime takes it;
  /// 0 where the domain is not known either.
  int opset_of(std::string_view domain, const Scope& scope) const;
  std::vector<Attribute> read_attributes(const NodeFields& fields, Scope& scope);
  /// Nothing where it refers to an attribute that neither the call nor the function's defaults give.
  std::optional<Attribute> read_attribute(std::string_view message, Scope& scope);
  std::optional<Attribute> read_reference(std::string_view name, std::string_view referred, Scope& scope);
  Scope& bridge(Scope& holder, const FunctionCall& call, std::deque<Scope>& storage);

  const ModelFields& model_;
  TensorReader& tensors_;
  ReadLimits limits_;
  std::span<const std::string> domains_;
  int64_t inlined_nodes_ = 0, inlined_bytes_ = 0;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const FunctionFields*> functions_;
  std::map<std::string, int> assumed_imports_;  ///< versions of domains that the model uses and does not import
};

}  // namespace rh::onnx
