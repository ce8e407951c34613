#pragma once

#include "ops/inference.h"
#include "ops/node_view.h"

namespace rh {

/// Shapes that are known at load and do not fit, of an operator for which ONNX Runtime finds that when the node runs.
class ShapeError : public Error {
  using Error::Error;
};

/// An axis that the rank does not have: ONNX Runtime says FAIL, whatever the operator.
class AxisError : public Error {
 public:
  AxisError(const NodeView& node, std::string text, bool for_runs)
      : Error(ErrorCode::fail, std::move(text), node.node().where()), for_runs(for_runs) {}

  bool for_runs;  ///< of any operator: the low 32 bits, which ONNX takes when a model loads, are an axis
};

/// Whether an error of a node's inference is for its run: a ShapeError, or any of an operator of those that ONNX Runtime looks at only
/// then.
bool is_for_runs(const Node& node, const Error& error);

/// Throws ShapeError with the node's name, operator and opset.
template <typename... Args>
[[noreturn]] void fail_when_run(const NodeView& node, fmt::format_string<Args...> text, Args&&... args) {
  throw ShapeError(ErrorCode::fail, fmt::format(text, std::forward<Args>(args)...), node.node().where());
}

/// As infer_types, but that a node with an error that is for its run becomes one that gives it then (ops::Unrunnable).
KnownContents infer_types_for_runs(Graph& graph, const InferenceOptions& options);

}  // namespace rh
