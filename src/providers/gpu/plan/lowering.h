#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/graph.h"
#include "ops/inference.h"
#include "ops/ints_operand.h"
#include "providers/gpu/device/program.h"
#include "providers/gpu/kernels/arguments.cuh"
#include "providers/gpu/lower/elementwise/chain.h"

namespace rh::gpu {

/// An address that a launch takes: where it stands in the launch's arguments, and the value whose it is.
struct Operand {
  size_t at;
  ValueId value;
  bool is_written = false;
  int output = -1;  ///< of the region, by number: its memory is meant, wherever the value is
};

/// How many threads work on what.
struct LaunchSize {
  Driver::Grid grid;
  unsigned threads = 256;
  unsigned shared_bytes = 0;
};

struct Launch {
  Kernel kernel;
  LaunchSize size;
  std::vector<std::byte> arguments;
  std::vector<Operand> operands;
  std::vector<NodeId> nodes;
};

/// A region whose sizes are all known, and what is known of its values.
struct StaticRegion {
  std::shared_ptr<Graph> graph;
  KnownContents contents;
  std::map<ValueId, Tensor> host;  ///< of the region's inputs in host memory
};

/// Where a value's bytes are: those of a root, from an offset on.
struct Root {
  ValueId value;
  int64_t offset = 0;
};

/// What operators write their launches to.
class Lowering {
 public:
  /// `constants`: those that are in the device's memory.
  Lowering(const StaticRegion& region, const DeviceFacts& device, const std::map<ValueId, Tensor>& constants,
           std::span<const ValueId> outputs);

  const Graph& graph() const { return *region_.graph; }
  const DeviceFacts& device() const { return device_; }
  Shape shape(ValueId value) const;
  DType dtype(ValueId value) const;
  /// Small integers that are known on the host; nothing where they are not.
  std::optional<std::vector<int64_t>> ints(ValueId value) const;
  /// An attribute's, or an input's. Throws Error naming the node where they are given and not known.
  std::optional<std::vector<int64_t>> ints(const NodeView& node, const ops::IntsOperand& operand) const;

  /// Adds a launch, whose addresses are filled in when a run begins.
  template <typename A>
  void launch(Kernel kernel, const LaunchSize& size, const A& arguments, std::initializer_list<Operand> operands) {
    static_assert(std::is_trivially_copyable_v<A>);
    std::vector<std::byte> bytes(sizeof arguments);
    std::memcpy(bytes.data(), &arguments, sizeof arguments);
    add({std::move(kernel), size, std::move(bytes), operands, {node_}});
  }
  void add(Launch launch);
  /// `made` is bytes of `of`, from an offset on: no launch.
  void view(ValueId made, ValueId of, int64_t offset = 0);
  // Chains: kept until the node that takes them.
  std::map<ValueId, Chain>& pending() { return pending_; }
  bool is_output(ValueId value) const { return graph().value(value).is_output; }

  Root root(ValueId value) const;
  /// Whether the value's bytes are written into the arguments: it is known on the host.
  bool is_host(ValueId value) const;
  std::vector<std::byte> host_bytes(ValueId value) const;
  bool is_constant(ValueId value) const { return constants_.contains(value); }
  const std::vector<Launch>& launches() const { return launches_; }
  /// The output in whose memory a root is made; -1: none.
  int output_of(ValueId root) const;

  /// Runs over the nodes in their order. Throws Error naming the node.
  void run();

 private:
  bool is_known(const Node& node) const;
  void copy_to(ValueId from, const Operand& to);
  void finish_outputs();

  const StaticRegion& region_;
  const DeviceFacts& device_;
  const std::map<ValueId, Tensor>& constants_;
  std::vector<ValueId> outputs_;
  std::map<ValueId, Root> views_;
  std::map<ValueId, Chain> pending_;
  std::map<ValueId, int> output_of_;  // by root
  std::vector<Launch> launches_;
  NodeId node_ = kNoNode;
};

/// Blocks of threads for so many elements, or for so many pieces of work of a block each.
LaunchSize over_elements(int64_t n);
LaunchSize over_blocks(int64_t blocks, unsigned threads, size_t shared_bytes = 0);
/// Threads of a block that walks a row, a power of two.
unsigned threads_for_row(int64_t columns);
/// "float", "rh::half": the type of elements in kernels; empty for those that they do not have.
std::string_view element_name(DType dtype);
/// The type of as many bytes, for kernels that only move elements.
std::string_view mover_name(DType dtype);

}  // namespace rh::gpu
