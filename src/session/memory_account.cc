#include "session/memory_account.h"

#include <algorithm>

#include "base/out_of_memory.h"
#include "session/memory_forecast.h"

namespace rh {

namespace {

constexpr const char* kUseNames[kMemoryUses] = {"weights", "the arena", "tensors of unknown size", "scratch memory", "outputs"};

void raise_to(std::atomic<size_t>& peak, size_t value) {
  size_t seen = peak.load(std::memory_order_relaxed);
  while (value > seen && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

void MemoryAccount::charge(MemoryUse use, size_t bytes) {
  while (!try_charge(use, bytes)) {
    if (drop_outputs() == 0) fail_over_budget(use, bytes);
  }
}

bool MemoryAccount::try_charge(MemoryUse use, size_t bytes) noexcept {
  const int u = static_cast<int>(use);
  const size_t before = total_.fetch_add(bytes, std::memory_order_relaxed);
  if (budget_ != 0 && (before > budget_ || bytes > budget_ - before)) {
    total_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  raise_to(peaks_[u], uses_[u].fetch_add(bytes, std::memory_order_relaxed) + bytes);
  return true;
}

void MemoryAccount::fail_over_budget(MemoryUse use, size_t bytes) const {
  std::string parts;
  for (int other = 0; other < kMemoryUses; ++other) {
    const size_t used = uses_[other].load(std::memory_order_relaxed);
    if (used != 0) parts += fmt::format("{}{} {}", parts.empty() ? " (" : ", ", kUseNames[other], bytes_text(used));
  }
  throw OverBudget(
      ErrorCode::runtime_exception,
      fmt::format("{} would take {} more, the session has {}{}, and its budget (roundhouse.memory.budget_bytes) is {} bytes",
                  kUseNames[static_cast<int>(use)], bytes_text(bytes), bytes_text(used()), parts.empty() ? parts : parts + ")", budget_));
}

void MemoryAccount::credit(MemoryUse use, size_t bytes) noexcept {
  total_.fetch_sub(bytes, std::memory_order_relaxed);
  uses_[static_cast<int>(use)].fetch_sub(bytes, std::memory_order_relaxed);
}

OutputBlocks::Blocks MemoryAccount::take_output(size_t bytes) {
  const size_t wanted = output_block_bytes(bytes);
  if (OutputBlocks::Blocks idle = outputs_.take_idle(bytes); !idle.empty()) return idle;
  OutputBlocks::Blocks block(1);
  free_outputs(outputs_.make_room(wanted));
  try {
    charge(MemoryUse::outputs, wanted);
    try {
      block.front() = PageMemory::in_large_pages(wanted);
    } catch (...) {
      credit(MemoryUse::outputs, wanted);
      throw;
    }
  } catch (...) {
    OutputBlocks::Blocks none;
    outputs_.give_back(none, wanted);
    throw;
  }
  return block;
}

void MemoryAccount::give_output_back(OutputBlocks::Blocks block) noexcept {
  if (block.empty()) return;
  outputs_.give_back(block, block.front().bytes());
  free_outputs(std::move(block));
}

size_t MemoryAccount::free_outputs(OutputBlocks::Blocks blocks) noexcept {
  size_t bytes = 0;
  for (const PageMemory& block : blocks) bytes += block.bytes();
  blocks.clear();
  if (bytes != 0) credit(MemoryUse::outputs, bytes);
  return bytes;
}

CountedMemory::~CountedMemory() {
  if (block_) source_->deallocate(block_);
  if (account_ && is_counted_ && bytes() != 0) account_->credit(use_, bytes());
}

CountedMemory& CountedMemory::operator=(CountedMemory&& other) noexcept {
  std::swap(account_, other.account_);
  std::swap(source_, other.source_);
  std::swap(is_counted_, other.is_counted_);
  std::swap(use_, other.use_);
  std::swap(block_, other.block_);
  std::swap(block_bytes_, other.block_bytes_);
  memory_ = std::move(other.memory_);
  return *this;
}

void CountedMemory::count(size_t before, size_t after) {
  if (!is_counted_) return;
  if (after > before) {
    account_->charge(use_, after - before);
  } else {
    account_->credit(use_, before - after);
  }
}

void CountedMemory::resize_block(size_t bytes) {
  if (block_) source_->deallocate(block_);
  block_ = nullptr;
  block_bytes_ = 0;
  if (bytes == 0) return;
  block_ = source_->allocate(bytes);
  block_bytes_ = bytes;
}

void CountedMemory::resize(size_t bytes) {
  count(this->bytes(), bytes);
  try {
    if (source_) {
      resize_block(bytes);
    } else {
      memory_.resize(bytes);
    }
  } catch (const std::bad_alloc&) {
    if (!is_counted_) throw;
    account_->credit(use_, bytes);
    throw OutOfMemory(bytes, kUseNames[static_cast<int>(use_)]);
  } catch (...) {
    if (is_counted_) account_->credit(use_, bytes);
    throw;
  }
}

Tensor counted_output(const std::shared_ptr<MemoryAccount>& account, DType dtype, const Shape& shape) {
  if (dtype == DType::string) return Tensor(dtype, shape);
  const size_t bytes = bytes_of(dtype, shape.elements());
  if (bytes >= kLeastOutputBlock && !account->source()) {
    struct Owner {
      std::shared_ptr<MemoryAccount> account;
      OutputBlocks::Blocks block;
      ~Owner() { account->give_output_back(std::move(block)); }
    };
    const auto owner = std::make_shared<Owner>(account);
    owner->block = account->take_output(bytes);
    return Tensor(dtype, shape, owner->block.front().data(), owner);
  }
  account->charge(MemoryUse::outputs, bytes);
  Allocator& source = account->source() ? *account->source() : host_allocator();
  void* data = nullptr;
  try {
    data = source.allocate(bytes);
  } catch (...) {
    account->credit(MemoryUse::outputs, bytes);
    throw;
  }
  return Tensor(dtype, shape, data, std::shared_ptr<void>(data, [account, bytes, &source](void* memory) {
                  source.deallocate(memory);
                  account->credit(MemoryUse::outputs, bytes);
                }));
}

}  // namespace rh
