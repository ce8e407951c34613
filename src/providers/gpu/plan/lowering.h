#pragma once

#include <cstddef>
#include <cstring>
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
  int output = -1;     ///< of the region, by number: its memory is meant, wherever the value is
  int64_t offset = 0;  ///< in bytes, of what is meant
};

/// Where what stands behind a kernel's arguments begins (behind() of kernels/device.cuh).
constexpr size_t behind(size_t bytes) {
  constexpr size_t kAlignment = 16;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

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
  bool joins = false;  ///< it is part of the launch before it
};

/// A region whose sizes are all known, and what is known of its values.
struct StaticRegion {
  std::shared_ptr<Graph> graph;
  KnownContents contents;
  std::map<ValueId, Tensor> host;       ///< of the region's inputs in host memory
  std::map<ValueId, Tensor> constants;  ///< those that are in the device's memory
};

/// Where a value's bytes are: those of a root, from an offset on.
struct Root {
  ValueId value;
  int64_t offset = 0;
};

/// What operators write their launches to.
class Lowering {
 public:
  Lowering(const StaticRegion& region, const DeviceFacts& device);

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
  void launch(Kernel kernel, const LaunchSize& size, const A& arguments, std::vector<Operand> operands) {
    add(made(std::move(kernel), size, arguments, std::move(operands)));
  }
  /// With a table behind the arguments.
  template <typename A>
  void launch(Kernel kernel, const LaunchSize& size, const A& arguments, std::vector<Operand> operands, std::span<const std::byte> table) {
    Launch launch = made(std::move(kernel), size, arguments, std::move(operands));
    launch.arguments.resize(behind(sizeof arguments));
    launch.arguments.insert(launch.arguments.end(), table.begin(), table.end());
    add(std::move(launch));
  }
  /// One whose kernel's call ends in kPlainEpilogue: what a chain of elements makes of `result`, the launch may make itself.
  template <typename A>
  void launch_open(Kernel kernel, const LaunchSize& size, const A& arguments, std::vector<Operand> operands, ValueId result) {
    add_open(made(std::move(kernel), size, arguments, std::move(operands)), result);
  }
  void add(Launch launch);
  /// The launch that makes a value which one node alone takes; it is no longer among the launches. Nothing where it is none that was open.
  std::optional<Launch> take_open(ValueId value);
  /// A value of the launches' own, in the planned memory.
  ValueId scratch(DType dtype, const Shape& shape);
  /// Whether launches make a value, and not the caller.
  bool is_made(ValueId value) const { return graph().value(value).producer != kNoNode || value >= first_scratch_; }
  /// Adds a launch that copies all elements.
  void copy(ValueId from, ValueId to);
  /// `made` is bytes of `of`, from an offset on: no launch.
  void view(ValueId made, ValueId of, int64_t offset = 0);
  // Chains: kept until the node that takes them.
  std::map<ValueId, Chain>& pending() { return pending_; }
  bool is_output(ValueId value) const { return graph().value(value).is_output; }

  /// The numbers of an input that is known on the host. Throws Error naming the node.
  std::vector<float> floats(const NodeView& node, int input) const;

  Root root(ValueId value) const;
  /// Whether the value's bytes are written into the arguments: it is known on the host.
  bool is_host(ValueId value) const;
  std::vector<std::byte> host_bytes(ValueId value) const;
  bool is_constant(ValueId value) const { return region_.constants.contains(value); }
  const std::vector<Launch>& launches() const { return launches_; }
  /// The output in whose memory a root is made; -1: none.
  int output_of(ValueId root) const;

  /// Runs over the nodes in their order. Throws Error naming the node.
  void run();

 private:
  template <typename A>
  Launch made(Kernel kernel, const LaunchSize& size, const A& arguments, std::vector<Operand> operands) const {
    static_assert(std::is_trivially_copyable_v<A>);
    std::vector<std::byte> bytes(sizeof arguments);
    std::memcpy(bytes.data(), &arguments, sizeof arguments);
    return {std::move(kernel), size, std::move(bytes), std::move(operands), {node_}};
  }
  void add_open(Launch launch, ValueId result);
  bool is_known(const Node& node) const;
  void copy_to(ValueId from, const Operand& to);
  void finish_outputs();

  const StaticRegion& region_;
  const DeviceFacts& device_;
  std::map<ValueId, Root> views_;
  std::map<ValueId, Chain> pending_;
  std::map<ValueId, int> output_of_;  // by root
  std::vector<Launch> launches_;
  std::map<ValueId, size_t> open_;  // launches by what they make
  NodeId node_ = kNoNode;
  ValueId first_scratch_;
};

/// The end of a kernel's call that stores results as they are; in its place the name of a generated type stands.
inline constexpr std::string_view kPlainEpilogue = "rh::StoreResult>";

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
