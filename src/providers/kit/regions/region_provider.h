#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/node_view.h"
#include "providers/kit/device/device_constants.h"
#include "providers/kit/device/device_driver.h"
#include "providers/kit/regions/islands.h"
#include "providers/kit/regions/refusals.h"
#include "tensor/arena.h"
#include "tensor/tensor.h"

namespace rh::kit {

class KeptPrograms;

/// What a provider compiles into one: a graph of its own, and the values that a run gives and takes, in order.
struct Region {
  std::shared_ptr<const Graph> graph;  ///< constants look into the host's memory until the call ends; on the host those of bodies last
  std::vector<ValueId> inputs;         ///< of the graph; on the host its constants, but those of bodies, are among them
  std::vector<ValueId> outputs;
  std::vector<bool> host_inputs = {};       ///< by input: it is in host memory while a run's call lasts, not in the device's
  DeviceConstants* constants = nullptr;     ///< for providers of a device, which upload what they need before the call ends
  std::shared_ptr<KeptPrograms> kept = {};  ///< for what is compiled in runs; null where nothing is kept
  std::string model = {};                   ///< the model's file, beside which files with constants lie; empty where it is not known
};

/// Makes the memory of a run's results.
class RunOutputs {
 public:
  virtual ~RunOutputs() = default;
  /// Memory for the output of this number, once its shape is known.
  virtual MutableView make(size_t index, const Shape& shape) = 0;
  /// Where the run's work is submitted; null where the provider has no streams.
  virtual StreamHandle stream() const { return nullptr; }
  /// Whether the run is to stop, asked on the thread on which run() was called; hosts other than Roundhouse do not tell. Whoever stops
  /// throws Error.
  virtual RhRunState state() const { return RhRunState_ENDLESS; }
};

/// A compiled region, or a kernel. Runs go side by side, so it does not change.
class Executable {
 public:
  virtual ~Executable() = default;
  /// `inputs` go with those of the region, and are in the device's memory where the provider has one, but for the region's host inputs, as
  /// the outputs are. Throws Error.
  virtual void run(std::span<const TensorView> inputs, RunOutputs& outputs) const = 0;
};

/// A kernel for single nodes, of the provider's registry in the host.
struct KernelRow {
  std::string op_type, domain;
  int since_start, since_end;
  std::vector<std::pair<std::string, std::vector<DType>>> types;  ///< by type parameter: "T"
  std::function<std::unique_ptr<Executable>()> make;              ///< for each node
  uint64_t host_inputs = 0, host_outputs = 0;                     ///< bits of those in host memory
};

class ArtifactMaker;
class RunEntries;

/// What a vendor's provider is, one for each session: it says which nodes it runs, and compiles regions of them.
class RegionProvider {
 public:
  virtual ~RegionProvider() = default;
  /// Before the nodes of a graph are asked about; an Error ends the host's question.
  virtual void prepare(const Graph& graph) { (void)graph; }
  /// Whether it runs the node, bodies included; the graph has types. Tables that Gather takes rows of and weights of products and
  /// convolutions may lie at any address of the model's file: who reads their elements takes Tensor::aligned().
  virtual Support supports(const NodeView& node) const = 0;
  /// Whether it runs a node that it supports by a kernel of its registry, and not within a region.
  virtual bool has_kernel(const NodeView& node) const {
    (void)node;
    return false;
  }
  /// Of a device: bits of the inputs whose values it has to know on the host to run a node that it supports within a region;
  /// steering_inputs(node) of host_values.h are those that say what operators do. What is computed from shapes is none of the device's, and
  /// a region ends before a node that has to know what the device computes.
  virtual uint64_t host_inputs(const NodeView& node) const {
    (void)node;
    return 0;
  }
  /// Names of passes that Roundhouse runs over its nodes (RhEpGetPasses); it is then asked about what they gave. They live as long as it.
  virtual std::span<const char* const> host_passes() const { return {}; }
  /// Regions of fewer nodes, those of bodies counted, are left to others.
  virtual size_t least_nodes() const { return 1; }
  /// Of a device: by what the CPU and the device take, islands between nodes of others are left to those (islands.h); nothing: none is.
  virtual std::optional<CostModel> costs() const { return {}; }
  /// Whether it keeps what it needs of constants: then the host may let go of them, and they are no inputs of regions.
  virtual bool keeps_constants() const { return false; }
  /// Whether regions are compiled as they are claimed: what fails is left to others with the vendor's reason, what compiles is used. Their
  /// constants look into the host's memory until compile() returns.
  virtual bool tries_regions() const { return false; }
  /// Whether compile() reads constants at any address of the model's file, as supports() does; else they are aligned for their types.
  virtual bool reads_any_address() const { return false; }
  /// An option that changes while the session lives, as "ep.dynamic.workload_type"; one that it does not know is another provider's. Throws
  /// Error.
  virtual void set_dynamic_option(std::string_view name, std::string_view value) { (void)name, (void)value; }
  /// Once a session for each region; never null. Throws Error, or what the vendor's library throws.
  virtual std::unique_ptr<Executable> compile(const Region& region) = 0;
  /// Of a provider that tries regions, where that takes less: whether the vendor's library takes a part of a region that did not compile.
  /// Throws Error where it does not.
  virtual void try_part(const Region& part) { compile(part); }
  /// A run of the session begins, on any thread, with what its options say for this provider. An Error ends the run.
  virtual void begin_run(const RunEntries& entries) { (void)entries; }
  /// Kernels for single nodes; asked once.
  virtual std::vector<KernelRow> kernels() { return {}; }
  /// How its sessions' memory on the device is kept; nothing: each block is one of the driver's.
  virtual std::optional<ArenaSettings> arena() const { return ArenaSettings{}; }
  /// A stream for a run of its session.
  virtual StreamHandle make_stream(DeviceDriver& driver) { return driver.make_stream(); }
  /// How its executables are written down and read (artifact_maker.h); null: they are not.
  virtual ArtifactMaker* artifacts() { return nullptr; }

 protected:
  /// Of a node with bodies: the first refusal among the nodes of those.
  Support supports_bodies(const NodeView& node) const;
};

/// Whether a provider runs a node; an Error of supports() is a refusal.
Support support_of(const RegionProvider& provider, const Graph& graph, NodeId id);

/// What a provider runs of a graph: regions, nodes for its kernels, and why not the other nodes.
struct Decision {
  std::vector<std::vector<NodeId>> regions;
  std::vector<NodeId> kernels;
  std::vector<std::pair<NodeId, Refusal>> refusals;
};

/// Asks for each node but those in `taken`, which others have, and those in `failed`, which did not compile, and why.
Decision decide(const Graph& graph, const RegionProvider& provider, std::span<const NodeId> taken,
                const std::map<NodeId, std::string>& failed = {});

}  // namespace rh::kit
