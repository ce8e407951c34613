#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/node_view.h"
#include "providers/kit/refusals.h"
#include "tensor/tensor.h"

namespace rh::kit {

/// What a provider compiles into one: a graph of its own, and the values that a run gives and takes, in order.
struct Region {
  std::shared_ptr<const Graph> graph;  ///< of its constants those in bodies last; others look into the host's memory until the call ends
  std::vector<ValueId> inputs;         ///< of the graph; constants, but those of bodies, are among them
  std::vector<ValueId> outputs;
};

/// Makes the memory of a run's results.
class RunOutputs {
 public:
  virtual ~RunOutputs() = default;
  /// Memory for the output of this number, once its shape is known.
  virtual MutableView make(size_t index, const Shape& shape) = 0;
};

/// A compiled region. Runs go side by side, so it does not change.
class Executable {
 public:
  virtual ~Executable() = default;
  /// `inputs` go with those of the region. Throws Error.
  virtual void run(std::span<const TensorView> inputs, RunOutputs& outputs) const = 0;
};

/// What a vendor's provider is, one for each session: it says which nodes it runs, and compiles regions of them. Both in host memory.
class RegionProvider {
 public:
  virtual ~RegionProvider() = default;
  /// Whether it runs the node, bodies included; the graph has types.
  virtual Support supports(const NodeView& node) const = 0;
  /// Regions of fewer nodes, those of bodies counted, are left to others.
  virtual size_t least_nodes() const { return 1; }
  /// Once a session for each region. Throws Error.
  virtual std::unique_ptr<Executable> compile(const Region& region) = 0;

 protected:
  /// Of a node with bodies: the first refusal among the nodes of those.
  Support supports_bodies(const NodeView& node) const;
};

/// Whether a provider runs a node; an Error of supports() is a refusal.
Support support_of(const RegionProvider& provider, const Graph& graph, NodeId id);

/// What a provider runs of a graph: regions, and why not the other nodes.
struct Decision {
  std::vector<std::vector<NodeId>> regions;
  std::vector<std::pair<NodeId, Refusal>> refusals;
};

/// Asks for each node but those in `taken`, which others have.
Decision decide(const Graph& graph, const RegionProvider& provider, std::span<const NodeId> taken);

}  // namespace rh::kit
