#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "providers/kit/device/device_driver.h"
#include "tensor/arena.h"

namespace rh::kit {

/// Blocks of a device's memory, or pinned ones, as an allocator.
class DriverMemory final : public Allocator {
 public:
  DriverMemory(std::shared_ptr<DeviceDriver> driver, bool pinned) : driver_(std::move(driver)), pinned_(pinned) {}
  void* allocate(size_t bytes) override { return pinned_ ? driver_->allocate_pinned(bytes) : driver_->allocate(bytes); }
  void deallocate(void* memory) override { pinned_ ? driver_->free_pinned(memory) : driver_->free(memory); }
  Device device() const override { return pinned_ ? Device{} : Device{Device::Type::gpu}; }

 private:
  std::shared_ptr<DeviceDriver> driver_;
  bool pinned_;
};

/// Memory for work on streams: an arena, and in regions of it one for each stream, which may give a freed piece out at once, since the work
/// that used it comes first on the stream. When a stream has done its work its regions without a piece in use go back, for others.
/// Thread-safe.
class StreamMemory {
 public:
  /// Without settings each piece is a block of the source.
  StreamMemory(std::shared_ptr<Allocator> source, const std::optional<ArenaSettings>& settings);

  void* allocate(size_t bytes);
  /// For work on `stream`, whichever names it, alone until that is told to be done.
  void* allocate_on(const void* stream, size_t bytes);
  /// Outside of the arena: for what stays.
  void* reserve(size_t bytes);
  void deallocate(void* memory);
  /// The stream's work is done.
  void settle(const void* stream);
  /// It is, and there will be no more.
  void forget(const void* stream);
  void shrink();
  ArenaStatistics statistics() const;

 private:
  std::shared_ptr<Allocator> source_;
  ArenaSettings settings_;
  std::shared_ptr<Arena> arena_;  // null: without
  std::mutex mutex_;
  std::map<const void*, std::shared_ptr<Arena>> streams_;
  std::unordered_map<void*, std::shared_ptr<Arena>> pieces_;  // in use, of streams
};

}  // namespace rh::kit
