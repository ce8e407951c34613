#include "providers/fake_device/memory.h"

#include <algorithm>
#include <cstring>

#include "base/aligned.h"
#include "base/error.h"

namespace rh::fake_device {

namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kKeptBytes = size_t{64} << 20;  // of freed blocks
constexpr int kNew = 0xff;                       // a NaN in every floating-point type
constexpr int kFreed = 0xdd;

uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

void* aligned(size_t bytes) {
  return bytes > SIZE_MAX / 2 ? nullptr : allocate_aligned(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment + kAlignment);
}

bool contains(const std::map<uintptr_t, size_t>& blocks, uintptr_t address, size_t bytes) {
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return address - start <= size && bytes <= size - (address - start);
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [block, bytes] : freed_) free_aligned(block);
}

void* DeviceMemory::allocate(size_t bytes, size_t usable) {
  const size_t size = std::min(bytes, usable);
  void* block = aligned(size);
  if (!block) return nullptr;
  std::memset(block, kNew, size);
  const std::lock_guard lock(mutex_);
  blocks_.emplace(number(block), size);
  ++counts_.allocations;
  counts_.add_bytes(static_cast<int64_t>(size));
  return reinterpret_cast<void*>(number(block) | kDeviceBit);
}

void DeviceMemory::free(void* block) {
  if (!block) return;
  const std::lock_guard lock(mutex_);
  const auto at = blocks_.find(number(block) & ~kDeviceBit);
  if (!is_device_address(block) || at == blocks_.end()) return;
  counts_.add_bytes(-static_cast<int64_t>(at->second));
  void* memory = reinterpret_cast<void*>(at->first);
  std::memset(memory, kFreed, at->second);
  freed_.emplace_back(memory, at->second);
  freed_bytes_ += at->second;
  blocks_.erase(at);
  while (freed_bytes_ > kKeptBytes) {
    freed_bytes_ -= freed_.front().second;
    free_aligned(freed_.front().first);
    freed_.pop_front();
  }
}

void* DeviceMemory::allocate_pinned(size_t bytes) {
  void* block = aligned(bytes);
  const std::lock_guard lock(mutex_);
  if (block) pinned_.emplace(number(block), bytes);
  return block;
}

void DeviceMemory::free_pinned(void* block) {
  const std::lock_guard lock(mutex_);
  if (pinned_.erase(number(block)) > 0) free_aligned(block);
}

bool DeviceMemory::is_pinned(const void* address, size_t bytes) const {
  const std::lock_guard lock(mutex_);
  return contains(pinned_, number(address), bytes);
}

void* DeviceMemory::at(const void* address, size_t bytes, std::string_view what) const {
  if (!is_device_address(address)) fail(ErrorCode::ep_fail, "{} is at {}, an address of the host", what, address);
  const std::lock_guard lock(mutex_);
  const uintptr_t host = number(address) & ~kDeviceBit;
  if (!contains(blocks_, host, bytes)) fail(ErrorCode::ep_fail, "{}, {} bytes at {}, is in no block of the device", what, bytes, address);
  return reinterpret_cast<void*>(host);
}

void DeviceMemory::check_host(const void* address, std::string_view what) {
  if (is_device_address(address)) fail(ErrorCode::ep_fail, "{} is at {}, an address of a device", what, address);
}

size_t DeviceMemory::blocks() const {
  const std::lock_guard lock(mutex_);
  return blocks_.size();
}

}  // namespace rh::fake_device
