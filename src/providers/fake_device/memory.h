#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "providers/fake_device/addresses.h"
#include "providers/fake_device/counts.h"

namespace rh::fake_device {

/// Memory of a device. New blocks are full of NaNs, freed ones of a pattern, and kept for a while, so that their addresses are nobody's.
/// Thread-safe.
class DeviceMemory {
 public:
  explicit DeviceMemory(Counts& counts) : counts_(counts) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// A block of `usable` bytes, which may be fewer than were asked for where the device is wrong on purpose. Null where there is none.
  void* allocate(size_t bytes, size_t usable);
  void free(void* block);
  void* allocate_pinned(size_t bytes);
  void free_pinned(void* block);
  bool is_pinned(const void* address, size_t bytes) const;

  /// The host's address of bytes that lie in one block of this device. Throws Error{ep_fail} naming `what` for all other addresses.
  void* at(const void* address, size_t bytes, std::string_view what) const;
  /// Throws Error{ep_fail} where the address is a device's.
  static void check_host(const void* address, std::string_view what);
  size_t blocks() const;

 private:
  Counts& counts_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, size_t> blocks_;  // by the host's address
  std::map<uintptr_t, size_t> pinned_;
  std::deque<std::pair<void*, size_t>> freed_;
  size_t freed_bytes_ = 0;
};

}  // namespace rh::fake_device
