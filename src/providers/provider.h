#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "providers/compile_context.h"
#include "providers/device.h"
#include "providers/kernel.h"
#include "providers/profiler.h"
#include "tensor/tensor.h"

namespace rh {

struct Pass;

/// Why a provider does not run a node.
enum class RefusalCode : uint8_t { op, opset, type, shape, attribute, layout, claimed_earlier, unit, cost, forced, unstated };
std::string_view to_string(RefusalCode code);

/// A provider that was asked for a node and does not run it.
struct Refusal {
  std::string provider;
  RefusalCode code = RefusalCode::unstated;
  std::string reason;  ///< a sentence
};

/// Nodes that a provider takes: one that it has a kernel for, or several that it compiles into one unit.
struct Claim {
  std::vector<NodeId> nodes;
  std::string kernel;                         ///< what computes them: "Conv(11)"
  bool compiled = false;                      ///< the nodes become one unit, whose graph goes to compile()
  bool drop_constants = false;                ///< of a unit: its graph has the constants, its node does not take them as inputs
  uint64_t host_inputs = 0;                   ///< bit i: the kernel takes input i in host memory; without effect on units
  uint64_t host_outputs = 0;                  ///< bit i: the kernel leaves output i in host memory
  std::vector<std::string> host_values = {};  ///< of a unit: names of values from outside that it takes in host memory
};

/// What a provider says of a graph.
struct Capability {
  struct NodeRefusal {
    NodeId node = kNoNode;
    RefusalCode code = RefusalCode::unstated;
    std::string reason;
  };
  std::vector<Claim> claims;
  std::vector<NodeRefusal> refusals;  ///< may leave nodes out: they are then refused as unstated
};

/// Nodes made one. The inputs of the node are what the body takes from outside; constants are initializers of the body, and inputs of the
/// node as well unless the claim dropped them.
struct Unit {
  std::unique_ptr<Graph> body;
  std::string name;                 ///< of the node
  std::vector<std::string> inputs;  ///< names of what the node takes, in order
  std::vector<std::string> outputs;
  bool drops_constants = false;  ///< the provider has no need of the body's constants once compile() has ended
};

/// What stands for a compiled unit in a model file: its provider makes the unit from it when such a model is loaded.
struct ContextNode {
  std::string name, op_type, domain;         ///< "EPContext" of "com.microsoft"
  std::vector<std::string> inputs, outputs;  ///< names of what the unit takes and gives
  std::vector<Attribute> attributes;
};

/// What a provider is told of a run, before and after it.
struct RunInfo {
  const void* options = nullptr;  ///< the caller's handle (OrtRunOptions); null where there is none
  bool synchronize = true;        ///< at the end: all that was submitted has to be done
};

/// An execution provider of one session: devices with their memory and streams, and the kernels or compiled units for the nodes that it
/// takes. Thread-safe but for what makes it ready (capability, compile, make_kernel).
class Provider {
 public:
  virtual ~Provider() = default;
  /// "CPUExecutionProvider".
  virtual std::string_view name() const = 0;
  /// Where its kernels expect their inputs and leave their outputs, but for those that a claim says are on the host.
  virtual Device device() const = 0;
  /// Of its device or, where it has one of its own, of host memory that its device reaches.
  virtual Allocator& allocator() const = 0;
  /// Copies to and from its device; null where that is host memory.
  virtual DataTransfer* transfer() const { return nullptr; }
  /// A stream for one run; null where work is done when calls return.
  virtual std::unique_ptr<Stream> make_stream() const { return nullptr; }

  /// What it takes of `candidates`, nodes of `graph` that no provider before has taken.
  virtual Capability capability(const Graph& graph, std::span<const NodeId> candidates) = 0;
  /// Whether it compiles units whose constants the claim dropped with these at any address of a file; all others are aligned.
  virtual bool reads_any_address() const { return false; }
  /// Whether it wants a node that it takes with the channels last: partitioning then changes the node's layout (partition/layout.h) and
  /// asks for the graph's capability again.
  virtual bool wants_channels_last(const Node&) const { return false; }
  /// The kernel for a node that it took. Throws Error.
  virtual std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node, const CompileContext& context) = 0;
  /// Its passes, in order, over the nodes that it was given, bodies of units included; they may give operators that it alone knows, and
  /// only such that it takes. The nodes of others are sealed meanwhile. The list lives as long as the provider.
  virtual std::span<const Pass> passes() const;
  /// Kernels for units, in their order; the units outlive them. Throws Error.
  virtual std::vector<std::unique_ptr<Kernel>> compile(std::span<const Unit* const> units);
  /// The node that stands for a unit in a file, once it is compiled; nothing where the provider writes none.
  virtual std::optional<ContextNode> context_node(const Unit&) const { return {}; }
  /// What a compiled model is to say of the provider that made it, so that it can be held against the one that loads it; empty: nothing.
  virtual std::string compatibility_info(const Graph&) { return {}; }
  /// Everything is compiled.
  virtual void finish() {}
  /// For one trace; null where the provider measures nothing itself.
  virtual std::unique_ptr<ProviderProfiler> make_profiler() const { return nullptr; }

  /// Whether it records runs of the whole graph, to do them again without asking for each node. A recording has the caller's number.
  virtual bool records_runs() const { return false; }
  virtual bool has_recorded(int) const { return false; }
  /// The run once more, with inputs and outputs where they were.
  virtual Status replay(int number);
  virtual Status forget_recorded(int) { return {}; }
  /// Of a graph that it records, nodes that compute shapes may run on the CPU.
  virtual bool records_beside_cpu() const { return false; }

  virtual Status begin_run(const RunInfo&) { return {}; }
  virtual Status end_run(const RunInfo&) { return {}; }
  /// Waits until all that was submitted to its devices is done.
  virtual Status synchronize() { return {}; }
  /// Options that may change while the session lives; those that it does not know are left alone.
  virtual void set_options(const std::map<std::string, std::string>&) {}
};

/// A tensor in the provider's memory, which keeps the provider.
Tensor device_tensor(const std::shared_ptr<Provider>& provider, DType dtype, const Shape& shape);

}  // namespace rh
