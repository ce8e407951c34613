#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "graph/graph.h"

namespace rh {

/// A step that went well, as those see it who watch a run. Everything is valid during the call alone.
struct StepEvent {
  const Graph& graph;
  const Node& node;
  std::string_view provider;
  std::span<const Value* const> inputs;   ///< beside the node's; null where left out, on a device, or a constant that the kernel has packed
  std::span<const Value* const> outputs;  ///< beside the node's; null where left out or on a device
  int depth;                              ///< 0 in the main graph; a subgraph's nodes come before the node that runs it
  std::chrono::steady_clock::time_point begin, end;
  size_t scratch_bytes = 0;  ///< working memory that the node had
};

/// Watches the steps of a run, on the thread that runs it. Must not throw.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void after_step(const StepEvent& event) = 0;
};

/// Floating-point or integer operations of a matrix product, convolution or recurrent cell, a multiply-add counted as two; negative where
/// the operator is of another kind. Sizes are those of the values, or of the types where a value is packed.
double flops_of(const StepEvent& event);

}  // namespace rh
