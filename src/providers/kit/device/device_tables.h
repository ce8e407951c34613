#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>

#include "providers/kit/device/device_driver.h"
#include "providers/kit/device/stream_memory.h"

namespace rh::kit {

struct AllocatorTable;

/// A device that a factory lists: what its host calls the memory, and the driver once it is used.
class ListedDevice {
 public:
  ListedDevice(const Host& host, const DeviceSpec& spec, uint32_t vendor_id, std::shared_ptr<DeviceDriver> (*open)(int));
  ~ListedDevice();
  ListedDevice(const ListedDevice&) = delete;
  ListedDevice& operator=(const ListedDevice&) = delete;

  const DeviceSpec& spec() const { return spec_; }
  const OrtMemoryInfo& memory() const { return *memory_; }
  const OrtMemoryInfo& pinned() const { return *pinned_; }
  bool owns(const OrtMemoryDevice& device) const;
  bool owns_pinned(const OrtMemoryDevice& device) const;
  /// Opened at the first call. Throws Error.
  std::shared_ptr<DeviceDriver> driver();
  std::shared_ptr<DeviceDriver> opened();  ///< null: it was not opened
  /// Pinned memory for what a run needs a while.
  Allocator& pinned_pool();
  /// The device's memory, a block of the driver each time.
  Allocator& blocks();
  /// Tells the allocators that a stream has done its work, or is gone.
  void settle(const void* stream, bool is_gone);

 private:
  friend struct AllocatorTable;
  Host host_;
  DeviceSpec spec_;
  std::shared_ptr<DeviceDriver> (*open_)(int);
  OrtMemoryInfo* memory_ = nullptr;
  OrtMemoryInfo* pinned_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<DeviceDriver> driver_;
  std::shared_ptr<Arena> pinned_pool_;
  std::shared_ptr<DriverMemory> blocks_;
  std::set<AllocatorTable*> allocators_;
};

/// What a host's options for an allocator say of its arena (arena.extend_strategy and others); nothing where `options` is null or has none.
std::optional<ArenaSettings> arena_settings(const Host& host, const OrtKeyValuePairs* options);

/// Tables for a host, which it gives back by delete_allocator and by the tables' own Release.
OrtAllocator* make_allocator(const Host& host, std::shared_ptr<ListedDevice> device, bool pinned,
                             const std::optional<ArenaSettings>& settings);
void delete_allocator(OrtAllocator* allocator);
OrtSyncStreamImpl* make_stream_table(const Host& host, std::shared_ptr<ListedDevice> device, StreamHandle stream);
OrtDataTransferImpl* make_transfer(const Host& host, std::vector<std::shared_ptr<ListedDevice>> devices);

}  // namespace rh::kit
