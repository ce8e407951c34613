#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace rh {

/// A node as operators read it: attributes by name with defaults, and the inputs whose values are known at load.
/// Attributes of the wrong kind throw Error{fail} naming the attribute.
class NodeView {
 public:
  NodeView(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  std::string_view op_type() const { return node_.op_type; }
  std::string_view domain() const { return node_.domain; }
  int opset() const { return node_.opset; }

  int input_count() const { return static_cast<int>(node_.inputs.size()); }
  bool has_input(int i) const { return i >= 0 && i < input_count() && node_.inputs[i] != kNoValue; }
  int output_count() const { return static_cast<int>(node_.outputs.size()); }
  bool has_output(int i) const { return i >= 0 && i < output_count() && node_.outputs[i] != kNoValue; }
  /// The tensor of a constant input; null where it is left out or known only at run time.
  const Tensor* constant_input(int i) const;
  /// Declared or inferred type of an input; unknown where it is left out.
  const ValueType& input_type(int i) const;

  bool has(std::string_view attribute) const { return node_.attribute(attribute) != nullptr; }
  int64_t int_or(std::string_view attribute, int64_t otherwise) const;
  bool flag(std::string_view attribute, bool otherwise = false) const { return int_or(attribute, otherwise) != 0; }
  float float_or(std::string_view attribute, float otherwise) const;
  std::string string_or(std::string_view attribute, std::string_view otherwise) const;
  std::vector<int64_t> ints_or(std::string_view attribute, std::vector<int64_t> otherwise = {}) const;
  std::vector<float> floats_or(std::string_view attribute, std::vector<float> otherwise = {}) const;
  std::vector<std::string> strings_or(std::string_view attribute, std::vector<std::string> otherwise = {}) const;
  std::optional<std::vector<int64_t>> ints(std::string_view attribute) const;  ///< nothing where it is absent
  const Tensor* tensor(std::string_view attribute) const;                      ///< null where it is absent
  const Graph* subgraph(std::string_view attribute) const;                     ///< null where it is absent
  /// These throw where the attribute is absent.
  int64_t required_int(std::string_view attribute) const;
  float required_float(std::string_view attribute) const;
  std::vector<int64_t> required_ints(std::string_view attribute) const;
  std::string required_string(std::string_view attribute) const;

  /// Throws Error{fail} with this node's name, operator and opset: what the operator's rules forbid.
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw Error(ErrorCode::fail, fmt::format(text, std::forward<Args>(args)...), node_.where());
  }
  /// The same with Error{invalid_graph}: what the operator's schema forbids.
  template <typename... Args>
  [[noreturn]] void fail_schema(fmt::format_string<Args...> text, Args&&... args) const {
    throw Error(ErrorCode::invalid_graph, fmt::format(text, std::forward<Args>(args)...), node_.where());
  }

 private:
  template <typename T>
  const T* find(std::string_view attribute, const char* kind) const;

  const Graph& graph_;
  const Node& node_;
};

}  // namespace rh
