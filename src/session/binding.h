#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "session/memory_planner.h"
#include "session/size_program.h"

namespace rh {

/// The size of one planned buffer: `elements` (a register, or a number where the register is SizeProgram::kNone) of `bits` bits.
struct BufferSize {
  SizeProgram::Register elements = SizeProgram::kNone;
  int64_t constant = 0;
  int32_t bits = 0;

  /// Of so many elements; -1 where their number could not be told.
  int64_t bytes(int64_t elements) const;
};

/// Places of all planned buffers for symbol values up to `limits`.
struct Binding {
  std::vector<int64_t> limits;   ///< by symbol, inclusive
  std::vector<int64_t> offsets;  ///< by buffer; -1 where the size could not be told
  std::vector<int64_t> bytes;    ///< by buffer: what is reserved
  int64_t arena_bytes = 0;

  bool covers(std::span<const int64_t> symbols) const {
    for (size_t i = 0; i < limits.size(); ++i) {
      if (symbols[i] > limits[i]) return false;
    }
    return true;
  }
};

/// The next multiple of an eighth of the power of two below: 5 → 5, 17 → 18, 100 → 104.
int64_t bucket(int64_t value);

/// Tells symbols that grow from run to run, as the length of a cache does, from those that change at random.
class GrowthTracker {
 public:
  /// Takes the values of a run; those of the same number of symbols each time.
  void note(std::span<const int64_t> symbols);
  bool grows(size_t symbol) const {
    return symbol < past_.size() && past_[symbol].streak >= kRises && past_[symbol].falls * 8 <= past_[symbol].rises;
  }

 private:
  static constexpr int64_t kRises = 4;  ///< so many steps in a row
  static constexpr int64_t kStep = 8;   ///< of at most so much
  struct Past {
    int64_t value = 0, streak = 0, rises = 0, falls = 0;
  };
  std::vector<Past> past_;
};

/// The bindings of one plan. Symbol values are rounded up to buckets. A symbol that grows step by step gets at least twice the room when it
/// outgrows its binding, so that it binds O(log) times; others keep the room of the binding before only where that takes no larger arena
/// than was needed already. Thread-safe.
class BindingCache {
 public:
  /// The three must stay as they are from the first find() on, and outlive this.
  BindingCache(const SizeProgram& program, const std::vector<BufferSize>& sizes, const MemoryPlanner& planner)
      : program_(program), sizes_(sizes), planner_(planner) {}

  /// Larger buffers are left out of bindings made from then on.
  void set_max_buffer_bytes(size_t bytes) { max_buffer_bytes_ = bytes; }

  /// A binding that covers these values: one made before, or a new one.
  std::shared_ptr<const Binding> find(std::span<const int64_t> symbols, const GrowthTracker& growth = {});
  /// What find() would answer, without making note of it.
  std::shared_ptr<const Binding> preview(std::span<const int64_t> symbols) const;
  /// A binding for just these values, which is not kept.
  std::shared_ptr<const Binding> tight(std::span<const int64_t> symbols) const;
  /// A binding for which there is no memory is not to be found again.
  void forget(const std::shared_ptr<const Binding>& binding);

  int64_t bindings_made() const { return made_.load(std::memory_order_relaxed); }
  int64_t peak_bytes() const { return peak_.load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<const Binding>* find_recent(std::span<const int64_t> symbols) const;
  std::shared_ptr<const Binding> make(std::span<const int64_t> symbols, const GrowthTracker& growth) const;
  std::shared_ptr<const Binding> bind(std::span<const int64_t> symbols, std::vector<int64_t> limits) const;

  const SizeProgram& program_;
  const std::vector<BufferSize>& sizes_;
  const MemoryPlanner& planner_;
  size_t max_buffer_bytes_ = std::numeric_limits<size_t>::max();
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Binding>> recent_;  ///< the newest first
  std::atomic<int64_t> made_{0};
  std::atomic<int64_t> peak_{0};
};

}  // namespace rh
