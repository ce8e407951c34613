#pragma once

#include "ops/inference.h"
#include "ops/node_view.h"

namespace rh {

/// Shapes that are known at load and do not fit, of an operator for which ONNX Runtime finds that when the node runs.
class ShapeError : public Error {
  using Error::Error;
};

/// Throws ShapeError with the node's name, operator and opset.
template <typename... Args>
[[noreturn]] void fail_when_run(const NodeView& node, fmt::format_string<Args...> text, Args&&... args) {
  throw ShapeError(ErrorCode::fail, fmt::format(text, std::forward<Args>(args)...), node.node().where());
}

/// As infer_types, but that a node with a ShapeError becomes one that gives this error when it runs (ops::Unrunnable).
KnownContents infer_types_for_runs(Graph& graph, const InferenceOptions& options);

}  // namespace rh
