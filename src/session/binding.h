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

/// The bindings of one plan. Symbol values are rounded up to buckets, and a symbol that outgrows its binding gets at least twice the room,
/// so that a growing one binds O(log) times. Thread-safe.
class BindingCache {
 public:
  /// The three must stay as they are from the first find() on, and outlive this.
  BindingCache(const SizeProgram& program, const std::vector<BufferSize>& sizes, const MemoryPlanner& planner)
      : program_(program), sizes_(sizes), planner_(planner) {}

  /// Larger buffers are left out of bindings made from then on.
  void set_max_buffer_bytes(size_t bytes) { max_buffer_bytes_ = bytes; }

  /// A binding that covers these values: one made before, or a new one.
  std::shared_ptr<const Binding> find(std::span<const int64_t> symbols);

  int64_t bindings_made() const { return made_.load(std::memory_order_relaxed); }
  int64_t peak_bytes() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::vector<int64_t> choose_limits(std::span<const int64_t> symbols);
  std::shared_ptr<const Binding> bind(std::span<const int64_t> symbols, std::vector<int64_t> limits) const;

  const SizeProgram& program_;
  const std::vector<BufferSize>& sizes_;
  const MemoryPlanner& planner_;
  size_t max_buffer_bytes_ = std::numeric_limits<size_t>::max();
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Binding>> recent_;  ///< the newest first
  std::vector<int32_t> growths_;                        ///< by symbol
  std::atomic<int64_t> made_{0};
  std::atomic<int64_t> peak_{0};
};

}  // namespace rh
