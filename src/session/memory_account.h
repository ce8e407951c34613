#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "base/error.h"
#include "base/pages.h"
#include "session/output_blocks.h"
#include "tensor/tensor.h"

namespace rh {

/// What a session's memory is for.
enum class MemoryUse : int { weights, arena, late, scratch, outputs };
inline constexpr int kMemoryUses = 5;

/// What MemoryAccount throws: the message says what was asked for, what there is, and the budget.
class OverBudget : public Error {
 public:
  using Error::Error;
};

/// The memory of one session, counted and held to a budget. Thread-safe.
class MemoryAccount {
 public:
  /// `budget` 0: none. `source` gives the host memory of runs; null: the process does.
  explicit MemoryAccount(size_t budget = 0, std::shared_ptr<Allocator> source = nullptr) : budget_(budget), source_(std::move(source)) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  /// To be called before memory is taken. Throws OverBudget, and then counts nothing; what is kept for outputs to come goes first.
  void charge(MemoryUse use, size_t bytes);
  void credit(MemoryUse use, size_t bytes) noexcept;

  size_t budget() const { return budget_; }
  Allocator* source() const { return source_.get(); }
  size_t used() const { return total_.load(std::memory_order_relaxed); }
  size_t used(MemoryUse use) const { return uses_[static_cast<int>(use)].load(std::memory_order_relaxed); }
  /// Host memory of at least `bytes` for an output, counted, perhaps that of one before. Throws std::bad_alloc or OverBudget.
  OutputBlocks::Blocks take_output(size_t bytes);
  /// It is kept for the next one, and counted as long.
  void give_output_back(OutputBlocks::Blocks block) noexcept;
  /// Lets go of what is kept for outputs to come, and says how many bytes; with `for_good` nothing is kept from now on.
  size_t drop_outputs(bool for_good = false) noexcept { return free_outputs(outputs_.drop(for_good)); }

  /// The most that was ever used at once.
  size_t peak(MemoryUse use) const { return peaks_[static_cast<int>(use)].load(std::memory_order_relaxed); }

 private:
  bool try_charge(MemoryUse use, size_t bytes) noexcept;
  [[noreturn]] void fail_over_budget(MemoryUse use, size_t bytes) const;
  size_t free_outputs(OutputBlocks::Blocks blocks) noexcept;

  const size_t budget_;
  const std::shared_ptr<Allocator> source_;
  std::atomic<size_t> total_{0};
  std::atomic<size_t> uses_[kMemoryUses] = {};
  std::atomic<size_t> peaks_[kMemoryUses] = {};
  OutputBlocks outputs_;
};

/// Host memory that an account counts as long as it is there; memory of a device that only has an owner.
class CountedMemory {
 public:
  CountedMemory() = default;
  /// `device` null: host memory.
  CountedMemory(MemoryAccount& account, MemoryUse use, Allocator* device = nullptr)
      : account_(&account), source_(device ? device : account.source()), is_counted_(!device), use_(use) {}
  CountedMemory(MemoryAccount& account, MemoryUse use, size_t bytes) : CountedMemory(account, use) { resize(bytes); }
  ~CountedMemory();
  CountedMemory(CountedMemory&& other) noexcept { *this = std::move(other); }
  CountedMemory& operator=(CountedMemory&& other) noexcept;

  void* data() const { return source_ ? block_ : memory_.data(); }
  size_t bytes() const { return source_ ? block_bytes_ : memory_.bytes(); }
  /// Throws std::bad_alloc, and is then empty; or OverBudget, and is then as it was.
  void resize(size_t bytes);

 private:
  void count(size_t before, size_t after);
  void resize_block(size_t bytes);

  MemoryAccount* account_ = nullptr;
  Allocator* source_ = nullptr;  // of a device's memory, or of the session's host memory; null: pages of the process
  bool is_counted_ = true;
  MemoryUse use_ = MemoryUse::late;
  PageMemory memory_;
  void* block_ = nullptr;
  size_t block_bytes_ = 0;
};

/// A tensor for a session's caller, counted until its last owner lets go of it, which may be after the session.
Tensor counted_output(const std::shared_ptr<MemoryAccount>& account, DType dtype, const Shape& shape);

}  // namespace rh
