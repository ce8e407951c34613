#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "session/block_cache.h"
#include "session/memory_forecast.h"
#include "session/plan.h"
#include "session/value_types.h"

namespace rh {

class Profiler;
class RunObserver;
class SubplanRunner;

/// Host memory that nobody else refers to.
bool is_spare_memory(const Value& value);

/// Copies between memories, by what made them necessary.
struct CopyCounters {
  std::atomic<int64_t> inputs{0};   ///< the caller's value was elsewhere than the model expects it
  std::atomic<int64_t> outputs{0};  ///< a result was made elsewhere than the caller wants it
  std::atomic<int64_t> steps{0};    ///< placement (CopyPlacement says why)
  std::atomic<int64_t> bytes{0};
};

/// What a run is told besides its values; subgraphs run under the same.
struct RunControls {
  Parallel parallel;
  Profiler* profiler = nullptr;                       ///< null: off
  const std::vector<bool>* steps = nullptr;           ///< of the main graph: those to execute; null: all
  const std::vector<bool>* keep_on_device = nullptr;  ///< by output: a result need not be on the host; null: all are to be
  std::span<Stream* const> streams;                   ///< by provider; null where its work is done when calls return
  CopyCounters* copies = nullptr;                     ///< null: not counted
  RunObserver* observer = nullptr;                    ///< null: nobody watches
  int depth = 0;                                      ///< of the graph that runs: 0 is the main graph
  size_t max_tensor_bytes = std::numeric_limits<size_t>::max();
};

/// The memory and values of one run in flight of a plan; kept for later runs, in which it allocates nothing once sizes have settled.
class Frame {
 public:
  Frame(const Plan& plan, std::shared_ptr<MemoryAccount> account);
  ~Frame();

  const Plan& plan() const { return plan_; }
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }

  /// Where sizes do not depend on inputs and the arena is of at most `most` bytes, makes it ready, so that the first run need not wait for
  /// its pages. Returns how many bytes it has.
  size_t prepare_arena(size_t most, const Parallel& parallel);
  /// Where sizes are known with the inputs: a large page of arena, more than which few inputs do not need.
  void prepare_small_arena();
  /// Makes the arena ready for these values of the symbols; returns how many bytes it has.
  size_t prepare_arena(std::span<const int64_t> symbols);
  void set_controls(const RunControls& controls) { controls_ = &controls; }
  /// Points inputs at the caller's values, finds the binding for their shapes and the arena for it.
  void begin(std::span<const Value* const> inputs, std::span<Value> outputs, const RunControls& controls);
  /// Forgets values and takes blocks back.
  void end();

  /// The value of a slot, null where it has none yet.
  const Value* find(int32_t slot) const;
  Value& value(int32_t slot) { return values_[static_cast<size_t>(slot)]; }
  std::span<const Value* const> inputs_of(const Step& step) const {
    return {step_inputs_.data() + step.first_input, static_cast<size_t>(step.input_count)};
  }
  /// The element types of its outputs, for its inputs as they are: undefined where only the kernel tells.
  std::span<const DType> output_dtypes_of(const Step& step) {
    if (step.late_types >= 0) return late_types_[static_cast<size_t>(step.late_types)].outputs(plan_, step, inputs_of(step));
    return {plan_.output_dtypes.data() + step.first_output, static_cast<size_t>(step.output_count)};
  }
  /// The caller's value for output `index`, perhaps empty.
  Value& bound_output(int32_t index) { return outputs_[static_cast<size_t>(index)]; }
  const RunControls& controls() const { return *controls_; }

  /// Memory of at least `bytes` for a slot that shares no older one: its place in the arena where that suffices, else a block.
  void* memory_of(int32_t slot, size_t bytes);
  /// Whether values lie inside others in this run.
  bool has_parts_in_place() const { return binding_->parts_in_place; }
  /// Whether `data` lies in the memory of a root slot.
  bool lives_in(int32_t root, const void* data) const;
  /// A block for this run in the memory of a slot, apart from what is planned.
  void* extra_memory(int32_t slot, size_t bytes);
  /// Memory until reset_scratch().
  void* scratch(size_t bytes);
  /// What was asked for of it since reset_scratch().
  size_t scratch_bytes() const { return scratch_asked_; }
  void reset_scratch() {
    scratch_asked_ = 0;
    arena_scratch_ = 0;
    scratch_chunk_ = 0;
    scratch_used_ = 0;
    if (scratch_chunks_.size() > 1) scratch_chunks_.clear();  // the next who asks gets one as large as all
  }
  /// The value of a slot dies.
  void release(int32_t slot);
  /// What take_spare(slot) gives in a later run, if it is spare memory.
  void keep_spare(int32_t slot, Value value);
  /// Memory of the slot's value of a run before, empty where there is none; from now on it is kept when the value dies.
  Value take_spare(int32_t slot);
  /// A value that must not outlive the run is in this slot.
  void note_held(int32_t slot) { held_.push_back(slot); }

  /// Where the caller's input is not where the plan expects it: a copy that is, kept for later runs.
  Tensor& staged_input(size_t index, DType dtype, const Shape& shape);

  Stream* stream_of(const Step& step) const {
    return step.stream == kHostStream || controls_->streams.empty() ? nullptr : controls_->streams[static_cast<size_t>(step.stream)];
  }
  /// The step was submitted to its stream, and others wait for it.
  void set_notification(size_t step, std::unique_ptr<Notification> notification);
  /// Null where there is nothing to wait for.
  Notification* notification(int32_t step) const {
    return notifications_.empty() ? nullptr : notifications_[static_cast<size_t>(step)].get();
  }

  /// Runner of subplan `index`, made at the first call.
  SubplanRunner& subplan(int32_t index);

  /// What this run holds now, the largest first.
  std::vector<TensorMemory> live_tensors() const;

  /// Memory that it keeps for later runs.
  size_t bytes() const;
  int64_t allocations() const;

 private:
  BlockCache& cache_of(int32_t slot) { return *caches_[static_cast<size_t>(plan_.slots[static_cast<size_t>(slot)].place)]; }
  void bind();
  void place_parts();
  void* place_of(const Slot& slot, size_t bytes) const;
  void reserve_arena(const std::shared_ptr<const Binding>& binding);
  /// Of the arena, what this run's tensors leave; null where that is too little.
  void* scratch_of_arena(size_t bytes);

  const Plan& plan_;
  std::shared_ptr<MemoryAccount> account_;
  std::vector<Value> values_;              // by slot
  std::vector<const Value*> step_inputs_;  // beside the plan's
  std::vector<const Value*> inputs_;       // by input
  std::span<Value> outputs_;
  const RunControls* controls_ = nullptr;

  std::vector<int64_t> symbols_;
  GrowthTracker growth_;
  std::shared_ptr<const Binding> binding_;
  std::shared_ptr<const Binding> refused_;  // the arena of which found no memory
  CountedMemory arena_;
  int64_t arena_allocations_ = 0;
  std::vector<std::unique_ptr<BlockCache>> caches_;           // by place
  std::vector<Tensor> staged_;                                // by input
  std::vector<std::unique_ptr<Notification>> notifications_;  // by step
  std::vector<BlockCache::Block> blocks_;                     // by slot
  struct PartPlace {
    int64_t offset = -1, bytes = -1;
  };
  std::vector<PartPlace> parts_;        // by part of the plan
  std::vector<int64_t> parts_symbols_;  // for which they were worked out
  std::vector<int64_t> registers_;
  std::vector<LateTypes> late_types_;  // by Step::late_types
  std::vector<int32_t> held_;
  struct Spare {
    bool is_wanted = false;
    Value value;
  };
  std::vector<Spare> spares_;                                 // by slot; empty where none is wanted
  std::vector<std::pair<int32_t, BlockCache::Block>> extra_;  // with their places
  std::vector<CountedMemory> scratch_chunks_;
  size_t scratch_chunk_ = 0, scratch_used_ = 0, scratch_wanted_ = 0, scratch_asked_ = 0, arena_scratch_ = 0;
  std::vector<std::unique_ptr<SubplanRunner>> runners_;
};

}  // namespace rh
