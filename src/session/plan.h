#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "providers/provider.h"
#include "session/binding.h"

namespace rh {

inline constexpr int32_t kNoSlot = -1;
inline constexpr int32_t kHostStream = -1;

/// A value of a plan, and where it lives.
struct Slot {
  enum class Kind : uint8_t {
    constant,  ///< shared by all runs
    input,     ///< the caller's, or of the enclosing plan
    output,    ///< given to the caller: his memory, or new memory that he gets
    planned,   ///< in the arena of the frame
    late,      ///< size or type known only when it is made: a block from the frame's cache
  };
  Kind kind = Kind::late;
  int32_t root = kNoSlot;  ///< the slot whose memory this one shares: itself, but for views, parts of others and outputs made in place
  int32_t home = kNoSlot;  ///< the same where no value lies inside another one
  int32_t buffer = -1;     ///< of a planned home: its number with the memory planner
  int32_t part = -1;       ///< of a value that is made inside its root: its number among the plan's parts
  int32_t index = -1;      ///< of an input or output: its position
  ValueId value = kNoValue;
  int32_t place = 0;  ///< of its memory, in the plan's list
};

/// A node with its kernel. The numbers are ranges in the plan's flat lists.
struct Step {
  const Kernel* kernel = nullptr;
  const Node* node = nullptr;
  std::string_view provider;  ///< its name
  int32_t first_input = 0, input_count = 0;
  int32_t first_output = 0, output_count = 0;
  int32_t first_release = 0, release_count = 0;
  int32_t first_subplan = 0;
  int32_t first_wait = 0, wait_count = 0;
  int32_t stream = kHostStream;     ///< its provider's, where that has a device; else it is done when its kernel returns
  int32_t copy_into = kHostStream;  ///< of a copy from device to device: the stream that may still use the target's memory
  bool copies = false;              ///< it is a Copy node
  bool signals = false;             ///< a later step waits for it
  int32_t first_fetch = 0, fetch_count = 0;
  int32_t late_types = -1;  ///< where only a run tells the types of its inputs: its number among such steps
};

/// A memory that values of a plan live in. The first of a plan is the host's.
struct Place {
  Device device;
  std::shared_ptr<Provider> owner;  ///< null: the host
};

/// How an output of a step may share an input's memory.
struct OutputAlias {
  enum class Kind : uint8_t { none, in_place, view, part };
  Kind kind = Kind::none;
  int32_t input = -1;  ///< of the same step
};

/// Where a symbol's value is read at the start of a run.
struct SymbolSource {
  int32_t symbol = 0;
  int32_t input = 0;  ///< position
  int32_t axis = 0;
};

/// Where a value lies inside its root, and how much it takes.
struct ValuePart {
  BufferSize offset, size;
};

/// A graph compiled for one pattern of symbols: steps in order, and a slot for each value. Immutable but for its cache of bindings; shared
/// by all runs.
struct Plan {
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Graph* graph = nullptr;
  std::vector<std::shared_ptr<Provider>> providers;  ///< outlive the kernels
  std::vector<std::shared_ptr<const Unit>> units;
  std::vector<Slot> slots;
  std::deque<Value> constants;         ///< of constant slots, and defaults of overridable inputs
  std::vector<const Value*> defaults;  ///< by slot: the constant, or null
  std::vector<int32_t> inputs;         ///< slots: graph inputs in order, then captured outer values
  int32_t graph_inputs = 0;            ///< how many of them are graph inputs
  std::vector<int32_t> captured;       ///< slots of the enclosing plan, one for each captured value
  std::vector<int32_t> outputs;        ///< slots, in the order of the graph's outputs; one may stand twice
  std::vector<int32_t> host_outputs;   ///< beside them: of an output made on a device that the host takes too, the slot of its copy there
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<Step> steps;
  std::vector<int32_t> step_inputs;                   ///< slots; kNoSlot where left out
  std::vector<int32_t> step_outputs;                  ///< slots; kNoSlot where left out
  std::vector<DType> output_dtypes;                   ///< beside step_outputs
  std::unique_ptr<bool[]> outputs_wanted;             ///< beside step_outputs
  std::vector<OutputAlias> output_aliases;            ///< beside step_outputs
  std::vector<int32_t> releases;                      ///< late slots whose values die with a step
  std::vector<std::span<const std::byte>> fetches;    ///< constants of later steps that a step brings into the caches
  std::vector<int32_t> waits;                         ///< steps of streams that must be done before a step begins
  std::vector<std::vector<int32_t>> input_positions;  ///< by input: where in step_inputs its slot stands
  std::vector<std::unique_ptr<Plan>> subplans;
  int32_t late_typed_steps = 0;
  std::vector<Place> places{Place{}};
  bool uses_streams = false;  ///< a step of this plan may not be done when its kernel returns

  SizeProgram sizes;
  std::vector<SymbolSource> symbol_sources;
  std::vector<BufferSize> buffers;
  std::vector<BufferSize> output_sizes;  ///< by output: of those that a step makes; `constant` -1 where only a run tells
  std::vector<ValuePart> parts;
  MemoryPlanner planner;           ///< of a run in which no value lies inside another one
  MemoryPlanner in_place_planner;  ///< of one in which all parts do
  mutable BindingCache bindings{sizes, buffers, planner};

  /// Whether this plan or one of its subgraphs has work for a device.
  bool has_devices() const {
    return uses_streams || places.size() > 1 || std::ranges::any_of(subplans, [](const auto& subplan) { return subplan->has_devices(); });
  }
  FetchList fetches_of(const Step& step) const {
    return FetchList(fetches).subspan(static_cast<size_t>(step.first_fetch), static_cast<size_t>(step.fetch_count));
  }
  Device device_of(int32_t slot) const { return places[static_cast<size_t>(slots[static_cast<size_t>(slot)].place)].device; }
  const std::string& name_of(int32_t slot) const { return graph->value(slots[static_cast<size_t>(slot)].value).name; }
  int64_t step_count() const;     ///< those of subplans included
  int64_t bindings_made() const;  ///< those of subplans included
  size_t constant_bytes() const;  ///< of this plan alone
  size_t packed_bytes() const;    ///< of this plan's kernels alone
};

}  // namespace rh
