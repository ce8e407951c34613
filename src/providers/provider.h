#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "providers/kernel.h"
#include "tensor/tensor.h"

namespace rh {

/// What a provider says of one node of a graph.
struct Answer {
  NodeId node = kNoNode;
  std::string refusal;  ///< why it does not take the node; empty: it takes it
  std::string kernel;   ///< what would compute it: "Conv(11)"
};

/// What is known of the session when a kernel is made.
struct CompileContext {
  bool strict_precision = false;  ///< one order of summation for any number of threads
  bool fast_precision = false;    ///< about 16 bits of mantissa are enough
};

/// An execution provider: a kind of device with its memory, and the kernels for the nodes that it takes. Outlives the sessions that use it;
/// thread-safe.
class Provider {
 public:
  virtual ~Provider() = default;
  /// "CPUExecutionProvider".
  virtual std::string_view name() const = 0;
  /// Where its kernels expect their inputs and leave their outputs.
  virtual Device device() const = 0;
  virtual Allocator& allocator() const = 0;
  /// One answer for each of `candidates`, nodes of `graph` that no provider before has taken, in the same order.
  virtual std::vector<Answer> capability(const Graph& graph, std::span<const NodeId> candidates) const = 0;
  /// The kernel for a node that it took. Throws Error.
  virtual std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node, const CompileContext& context) const = 0;
};

}  // namespace rh
