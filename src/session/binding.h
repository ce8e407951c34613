#pragma once

#include <algorithm>
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

/// Whether all of these symbols are 0 or 1.
inline bool are_units(std::span<const SizeProgram::Register> units, std::span<const int64_t> symbols) {
  return std::ranges::all_of(units, [&](SizeProgram::Register r) { return symbols[static_cast<size_t>(r)] <= 1; });
}

/// Places of all planned buffers for symbol values up to `limits`.
struct Binding {
  std::vector<int64_t> limits;   ///< by symbol, inclusive
  std::vector<int64_t> offsets;  ///< by buffer; -1 where the size could not be told
  std::vector<int64_t> bytes;    ///< by buffer: what is reserved
  int64_t arena_bytes = 0;
  bool parts_in_place = false;             ///< values lie inside others where the plan has places for them
  const MemoryPlanner* planner = nullptr;  ///< that gave the offsets

  /// Of a binding in which no value lies inside another one since one of these symbols is more than 1: else none.
  std::span<const SizeProgram::Register> units;

  bool covers(std::span<const int64_t> symbols) const {
    if (!units.empty() && are_units(units, symbols)) return false;
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

  /// Another schedule of the same buffers, in which parts lie inside other values: taken where all the symbols `units` are 0 or 1 and the
  /// arena is hardly larger, with `lean` no larger.
  void set_parts(const MemoryPlanner& in_place, std::vector<SizeProgram::Register> units, bool lean) {
    in_place_ = &in_place;
    units_ = std::move(units);
    lean_ = lean;
  }
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
  const MemoryPlanner* in_place_ = nullptr;
  std::vector<SizeProgram::Register> units_;
  bool lean_ = false;
  size_t max_buffer_bytes_ = std::numeric_limits<size_t>::max();
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Binding>> recent_;  ///< the newest first
  std::atomic<int64_t> made_{0};
  std::atomic<int64_t> peak_{0};
};

}  // namespace rh
