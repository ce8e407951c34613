#include "stands/cuda/driver/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "stands/cuda/common/settings.h"

namespace rh::stand {
namespace {

constexpr size_t kPage = 4096;

size_t rounded_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

void* map_closed(void* at, size_t length) {
  return mmap(at, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
}

}  // namespace

DeviceMemory::DeviceMemory(size_t limit_bytes) : limit_(limit_bytes) {
  void* base = map_closed(nullptr, kAddresses);
  if (base == MAP_FAILED) {
    std::perror("stand: no addresses for the memory of a device");
    std::abort();
  }
  base_ = static_cast<char*>(base);
#if defined(__x86_64__)
  if (text_setting("RH_STAND_PROTECTION", "keys") == "keys") key_ = pkey_alloc(0, PKEY_DISABLE_ACCESS);
#endif
}

void DeviceMemory::protect(size_t first, size_t length, bool open) {
  int rights = open ? PROT_READ | PROT_WRITE : PROT_NONE;
#if defined(__x86_64__)
  if (key_ >= 0) {
    pkey_mprotect(base_ + first, length, rights, key_);
    return;
  }
#endif
  mprotect(base_ + first, length, rights);
}

char* DeviceMemory::allocate(size_t bytes) {
  size_t rounded = rounded_up(bytes, kAlignment), length = rounded_up(rounded, kPage), start;
  {
    std::lock_guard lock(mutex_);
    if (bytes > limit_ || used_ + bytes > limit_ || next_ + length + kPage > kAddresses) return nullptr;
    size_t first = next_;
    next_ += length + kPage;
    start = first + length - rounded;
    protect(first, length, key_ >= 0 || entered_ > 0);
    blocks_[start] = {bytes, first, length};
    used_ += bytes;
    peak_ = std::max(peak_, used_);
  }
  DeviceAccess access(*this);
  std::memset(base_ + start, 0xff, rounded);
  return base_ + start;
}

bool DeviceMemory::release(char* p) {
  std::lock_guard lock(mutex_);
  auto found = blocks_.find(static_cast<size_t>(p - base_));
  if (!has(p) || found == blocks_.end()) return false;
  map_closed(base_ + found->second.first, found->second.length);
  used_ -= found->second.bytes;
  blocks_.erase(found);
  return true;
}

DeviceMemory::Block DeviceMemory::block_of(const void* p) {
  if (!has(p)) return {};
  std::lock_guard lock(mutex_);
  size_t offset = static_cast<size_t>(static_cast<const char*>(p) - base_);
  auto after = blocks_.upper_bound(offset);
  if (after == blocks_.begin()) return {};
  --after;
  if (offset >= after->first + after->second.bytes) return {};
  return {base_ + after->first, after->second.bytes};
}

bool DeviceMemory::inside(const void* p, size_t bytes) {
  Block block = block_of(p);
  return block.start && static_cast<const char*>(p) + bytes <= block.start + block.bytes;
}

std::vector<char*> DeviceMemory::blocks() {
  std::lock_guard lock(mutex_);
  std::vector<char*> starts;
  for (const auto& [start, pages] : blocks_) starts.push_back(base_ + start);
  return starts;
}

size_t DeviceMemory::used() {
  std::lock_guard lock(mutex_);
  return used_;
}
size_t DeviceMemory::peak() {
  std::lock_guard lock(mutex_);
  return peak_;
}
size_t DeviceMemory::count() {
  std::lock_guard lock(mutex_);
  return blocks_.size();
}
void DeviceMemory::forget_peak() {
  std::lock_guard lock(mutex_);
  peak_ = used_;
}

void DeviceMemory::reopen_for_this_thread() {
#if defined(__x86_64__)
  if (key_ >= 0) pkey_set(key_, 0);
#endif
}

void DeviceMemory::enter() {
  if (key_ >= 0) return reopen_for_this_thread();
  std::lock_guard lock(mutex_);
  if (entered_++ == 0)
    for (const auto& [start, pages] : blocks_) protect(pages.first, pages.length, true);
}

void DeviceMemory::leave() {
#if defined(__x86_64__)
  if (key_ >= 0) {
    pkey_set(key_, PKEY_DISABLE_ACCESS);
    return;
  }
#endif
  std::lock_guard lock(mutex_);
  if (--entered_ == 0)
    for (const auto& [start, pages] : blocks_) protect(pages.first, pages.length, false);
}

}  // namespace rh::stand
