#include "tensor/arena.h"

#include <algorithm>
#include <new>

#include "base/error.h"

namespace rh {

namespace {

constexpr size_t kUnit = 256;
constexpr size_t kMost = std::numeric_limits<size_t>::max() / 2;

size_t rounded(size_t bytes) {
  if (bytes > kMost) throw std::bad_alloc();
  return std::max(kUnit, (bytes + kUnit - 1) / kUnit * kUnit);
}

uintptr_t address(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

}  // namespace

Arena::Arena(std::shared_ptr<Allocator> source, const ArenaSettings& settings)
    : source_(std::move(source)), settings_(settings), next_region_bytes_(settings.initial_chunk_bytes) {
  statistics_.limit = settings.max_bytes == 0 ? std::numeric_limits<size_t>::max() : settings.max_bytes;
}

Arena::~Arena() {
  for (const auto& [start, bytes] : regions_) source_->deallocate(reinterpret_cast<void*>(start));
  for (const auto& [memory, bytes] : reserved_) source_->deallocate(memory);
}

void* Arena::allocate(size_t bytes) {
  const size_t wanted = rounded(bytes);
  const std::lock_guard lock(mutex_);
  auto best = free_.lower_bound({wanted, 0});
  if (best == free_.end()) {
    extend(wanted);
    best = free_.lower_bound({wanted, 0});
  }
  return take(chunks_.find(best->second), wanted, bytes);
}

void* Arena::take(Chunks::iterator chunk, size_t bytes, size_t requested) {
  const size_t whole = chunk->second.bytes, spare = whole - bytes;
  if (spare >= bytes || spare >= settings_.max_dead_bytes) {
    add_free(chunk->first + bytes, spare, chunk->second.region);
    chunk->second.bytes = bytes;
  }
  chunk->second.entry = free_.extract({whole, chunk->first});
  chunk->second.in_use = true;
  chunk->second.requested = requested;
  statistics_.in_use += chunk->second.bytes;
  statistics_.requested_in_use += requested;
  statistics_.max_in_use = std::max(statistics_.max_in_use, statistics_.in_use);
  statistics_.max_allocation = std::max(statistics_.max_allocation, chunk->second.bytes);
  ++statistics_.allocations;
  return reinterpret_cast<void*>(chunk->first);
}

void Arena::add_free(uintptr_t start, size_t bytes, uintptr_t region) {
  const auto chunk = chunks_.emplace(start, Chunk{bytes, 0, region, false}).first;
  try {
    free_.insert({bytes, start});
  } catch (...) {
    chunks_.erase(chunk);
    throw;
  }
}

void Arena::extend(size_t bytes) {
  const size_t available = statistics_.limit - std::min(statistics_.limit, statistics_.total_allocated);
  if (bytes > available) {
    fail(ErrorCode::fail, "the arena on {} needs {} more bytes for a request, its limit (max_mem) of {} leaves {}", device().to_string(),
         bytes, statistics_.limit, available);
  }
  size_t region = bytes;
  if (settings_.growth == ArenaSettings::Growth::next_power_of_two) {
    while (next_region_bytes_ < bytes && next_region_bytes_ < settings_.max_power_of_two_bytes) {
      next_region_bytes_ = std::max<size_t>(1, next_region_bytes_) * 2;
    }
    region = std::min(std::max(next_region_bytes_, bytes), available);
  }
  void* memory = nullptr;
  try {
    memory = source_->allocate(region);
  } catch (...) {
    if (region == bytes) throw;
    region = bytes;
    memory = source_->allocate(region);
  }
  try {
    regions_.emplace(address(memory), region);
    add_free(address(memory), region, address(memory));
  } catch (...) {
    regions_.erase(address(memory));
    source_->deallocate(memory);
    throw;
  }
  next_region_bytes_ = std::min(next_region_bytes_ * 2, std::max(settings_.max_power_of_two_bytes, settings_.initial_chunk_bytes));
  statistics_.total_allocated += region;
  ++statistics_.extensions;
}

void* Arena::reserve(size_t bytes) {
  if (bytes > kMost) throw std::bad_alloc();
  void* memory = source_->allocate(bytes);
  const std::lock_guard lock(mutex_);
  try {
    reserved_.emplace(memory, bytes);
  } catch (...) {
    source_->deallocate(memory);
    throw;
  }
  statistics_.in_use += bytes;
  statistics_.requested_in_use += bytes;
  statistics_.total_allocated += bytes;
  statistics_.max_in_use = std::max(statistics_.max_in_use, statistics_.in_use);
  ++statistics_.allocations;
  ++statistics_.reserves;
  return memory;
}

Arena::Chunks::iterator Arena::merge(Chunks::iterator left, Chunks::iterator right) {
  if (left->second.in_use || right->second.in_use || left->second.region != right->second.region) return right;
  Free::node_type entry = free_.extract({left->second.bytes, left->first});
  free_.erase({right->second.bytes, right->first});
  left->second.bytes += right->second.bytes;
  entry.value().first = left->second.bytes;
  free_.insert(std::move(entry));
  chunks_.erase(right);
  return left;
}

void Arena::deallocate(void* memory) {
  if (!memory) return;
  std::unique_lock lock(mutex_);
  if (const auto apart = reserved_.find(memory); apart != reserved_.end()) {
    statistics_.in_use -= apart->second;
    statistics_.requested_in_use -= apart->second;
    statistics_.total_allocated -= apart->second;
    reserved_.erase(apart);
    lock.unlock();
    source_->deallocate(memory);
    return;
  }
  auto chunk = chunks_.find(address(memory));
  if (chunk == chunks_.end() || !chunk->second.in_use) return;
  statistics_.in_use -= chunk->second.bytes;
  statistics_.requested_in_use -= chunk->second.requested;
  chunk->second.in_use = false;
  chunk->second.requested = 0;
  chunk->second.entry.value() = {chunk->second.bytes, chunk->first};
  free_.insert(std::move(chunk->second.entry));
  if (chunk != chunks_.begin()) chunk = merge(std::prev(chunk), chunk);
  if (std::next(chunk) != chunks_.end()) merge(chunk, std::next(chunk));
}

void Arena::shrink() {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (auto region = regions_.begin(); region != regions_.end();) {
    const auto chunk = chunks_.find(region->first);
    if (chunk->second.in_use || chunk->second.bytes != region->second) {
      ++region;
      continue;
    }
    free_.erase({chunk->second.bytes, chunk->first});
    chunks_.erase(chunk);
    source_->deallocate(reinterpret_cast<void*>(region->first));
    statistics_.total_allocated -= region->second;
    region = regions_.erase(region);
    any = true;
  }
  if (any) ++statistics_.shrinkages;
  next_region_bytes_ = settings_.initial_growth_bytes;
}

ArenaStatistics Arena::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace rh
