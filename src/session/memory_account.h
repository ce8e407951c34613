#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "base/error.h"
#include "base/pages.h"
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
  /// `budget` 0: none.
  explicit MemoryAccount(size_t budget = 0) : budget_(budget) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  /// To be called before memory is taken. Throws OverBudget, and then counts nothing.
  void charge(MemoryUse use, size_t bytes);
  void credit(MemoryUse use, size_t bytes) noexcept;

  size_t budget() const { return budget_; }
  size_t used() const { return total_.load(std::memory_order_relaxed); }
  size_t used(MemoryUse use) const { return uses_[static_cast<int>(use)].load(std::memory_order_relaxed); }
  /// The most that was ever used at once.
  size_t peak(MemoryUse use) const { return peaks_[static_cast<int>(use)].load(std::memory_order_relaxed); }

 private:
  const size_t budget_;
  std::atomic<size_t> total_{0};
  std::atomic<size_t> uses_[kMemoryUses] = {};
  std::atomic<size_t> peaks_[kMemoryUses] = {};
};

/// Host memory that an account counts as long as it is there; memory of a device that only has an owner.
class CountedMemory {
 public:
  CountedMemory() = default;
  /// `device` null: host memory.
  CountedMemory(MemoryAccount& account, MemoryUse use, Allocator* device = nullptr) : account_(&account), device_(device), use_(use) {}
  CountedMemory(MemoryAccount& account, MemoryUse use, size_t bytes) : CountedMemory(account, use) { resize(bytes); }
  ~CountedMemory();
  CountedMemory(CountedMemory&& other) noexcept { *this = std::move(other); }
  CountedMemory& operator=(CountedMemory&& other) noexcept;

  void* data() const { return device_ ? device_data_ : memory_.data(); }
  size_t bytes() const { return device_ ? device_bytes_ : memory_.bytes(); }
  /// Throws std::bad_alloc, and is then empty; or OverBudget, and is then as it was.
  void resize(size_t bytes);

 private:
  void resize_on_device(size_t bytes);

  MemoryAccount* account_ = nullptr;
  Allocator* device_ = nullptr;
  MemoryUse use_ = MemoryUse::late;
  PageMemory memory_;
  void* device_data_ = nullptr;
  size_t device_bytes_ = 0;
};

/// A tensor for a session's caller, counted until its last owner lets go of it, which may be after the session.
Tensor counted_output(const std::shared_ptr<MemoryAccount>& account, DType dtype, const Shape& shape);

}  // namespace rh
