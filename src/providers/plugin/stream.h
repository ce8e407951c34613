#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "abi/memory_info.h"
#include "providers/device.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

/// A plugin's stream as the ABI hands it around.
struct OrtSyncStream final : rh::Stream {
  /// Takes over `impl`.
  OrtSyncStream(std::string provider, OrtSyncStreamImpl& impl, const OrtMemoryDevice& memory, rh::Device device);
  ~OrtSyncStream() override;
  OrtSyncStream(const OrtSyncStream&) = delete;
  OrtSyncStream& operator=(const OrtSyncStream&) = delete;

  rh::Device device() const override { return device_; }
  std::unique_ptr<rh::Notification> record() override;
  rh::Status flush() override;
  rh::Status end_run() override;

  void* handle() const;
  OrtSyncStreamImpl& impl() const { return impl_; }
  const OrtMemoryDevice& memory() const { return memory_; }
  /// Grows with each point that is recorded.
  uint64_t sync_id() const { return sync_id_.load(std::memory_order_relaxed); }
  /// That of `producer` when this stream last waited for it; 0: never.
  uint64_t last_wait_on(const OrtSyncStream& producer) const;

 private:
  friend class PluginNotification;
  std::string provider_;
  OrtSyncStreamImpl& impl_;
  OrtMemoryDevice memory_;
  rh::Device device_;
  std::atomic<uint64_t> sync_id_{1};
  mutable std::mutex mutex_;
  std::map<const OrtSyncStream*, uint64_t> waits_;
};

namespace rh::plugin {

/// A plugin's copies, as the session uses them.
class PluginTransfer final : public DataTransfer {
 public:
  PluginTransfer(std::string provider, OrtDataTransferImpl& impl) : provider_(std::move(provider)), impl_(impl) {}
  ~PluginTransfer() override;
  bool can_copy(Device from, Device to) const override;
  Status copy(const Tensor& from, Tensor& to, Stream* stream) override;

 private:
  std::string provider_;
  OrtDataTransferImpl& impl_;
};

/// The ABI's form of a memory.
OrtMemoryDevice memory_device_of(Device device);

}  // namespace rh::plugin
