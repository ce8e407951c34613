#include "providers/plugin/stream.h"

#include "abi/value.h"
#include "providers/plugin/call.h"

class PluginNotification final : public rh::Notification {
 public:
  PluginNotification(OrtSyncStream& stream, OrtSyncNotificationImpl& impl, uint64_t id) : stream_(stream), impl_(impl), id_(id) {}
  ~PluginNotification() override {
    if (impl_.Release) rh::plugin::tell([&] { impl_.Release(&impl_); });
  }

  bool wait_on(rh::Stream& consumer) override {
    auto* other = dynamic_cast<OrtSyncStream*>(&consumer);
    if (!other || !impl_.WaitOnDevice) return false;
    const rh::Status status =
        rh::plugin::try_call(stream_.provider_, "OrtSyncNotificationImpl::WaitOnDevice", [&] { return impl_.WaitOnDevice(&impl_, other); });
    if (!status.ok()) return false;
    const std::lock_guard lock(other->mutex_);
    other->waits_[&stream_] = id_;
    return true;
  }
  rh::Status wait_on_host() override {
    if (!impl_.WaitOnHost) return rh::error_status(rh::ErrorCode::ep_fail, "{}: a notification has no WaitOnHost", stream_.provider_);
    return rh::plugin::try_call(stream_.provider_, "OrtSyncNotificationImpl::WaitOnHost", [&] { return impl_.WaitOnHost(&impl_); });
  }

 private:
  OrtSyncStream& stream_;
  OrtSyncNotificationImpl& impl_;
  uint64_t id_;
};

OrtSyncStream::OrtSyncStream(std::string provider, OrtSyncStreamImpl& impl, const OrtMemoryDevice& memory, rh::Device device)
    : provider_(std::move(provider)), impl_(impl), memory_(memory), device_(device) {}

OrtSyncStream::~OrtSyncStream() {
  if (impl_.Release) rh::plugin::tell([&] { impl_.Release(&impl_); });
}

std::unique_ptr<rh::Notification> OrtSyncStream::record() {
  OrtSyncNotificationImpl* notification = nullptr;
  rh::plugin::call(provider_, "OrtSyncStreamImpl::CreateNotification",
                   [&] { return impl_.CreateNotification ? impl_.CreateNotification(&impl_, &notification) : nullptr; });
  if (!notification) rh::fail(rh::ErrorCode::ep_fail, "{}: OrtSyncStreamImpl::CreateNotification gave no notification", provider_);
  auto made = std::make_unique<PluginNotification>(*this, *notification, sync_id_.fetch_add(1, std::memory_order_relaxed));
  rh::plugin::call(provider_, "OrtSyncNotificationImpl::Activate",
                   [&] { return notification->Activate ? notification->Activate(notification) : nullptr; });
  return made;
}

rh::Status OrtSyncStream::flush() {
  if (!impl_.Flush) return {};
  return rh::plugin::try_call(provider_, "OrtSyncStreamImpl::Flush", [&] { return impl_.Flush(&impl_); });
}

rh::Status OrtSyncStream::end_run() {
  if (!impl_.OnSessionRunEnd) return {};
  return rh::plugin::try_call(provider_, "OrtSyncStreamImpl::OnSessionRunEnd", [&] { return impl_.OnSessionRunEnd(&impl_); });
}

void* OrtSyncStream::handle() const {
  return impl_.GetHandle ? rh::plugin::ask<void*>(nullptr, [&] { return impl_.GetHandle(&impl_); }) : nullptr;
}

uint64_t OrtSyncStream::last_wait_on(const OrtSyncStream& producer) const {
  const std::lock_guard lock(mutex_);
  const auto at = waits_.find(&producer);
  return at == waits_.end() ? 0 : at->second;
}

namespace rh::plugin {

OrtMemoryDevice memory_device_of(Device device) {
  OrtMemoryDevice memory;
  switch (device.type) {
    case Device::Type::cpu: return memory;
    case Device::Type::gpu: memory.type = OrtMemoryInfoDeviceType_GPU; break;
    case Device::Type::npu: memory.type = OrtMemoryInfoDeviceType_NPU; break;
    case Device::Type::other: memory.type = OrtMemoryInfoDeviceType_FPGA; break;
  }
  memory.vendor_id = device.vendor;
  memory.device_id = device.id;
  return memory;
}

PluginTransfer::~PluginTransfer() {
  if (impl_.Release) tell([&] { impl_.Release(&impl_); });
}

bool PluginTransfer::can_copy(Device from, Device to) const {
  if (!impl_.CanCopy) return false;
  const OrtMemoryDevice source = memory_device_of(from), target = memory_device_of(to);
  return ask(false, [&] { return impl_.CanCopy(&impl_, &source, &target); });
}

Status PluginTransfer::copy(const Tensor& from, Tensor& to, Stream* stream) {
  if (from.dtype() == DType::string) {
    return error_status(ErrorCode::not_implemented, "{}: tensors of strings are not copied between memories", provider_);
  }
  if (!impl_.CopyTensors) return error_status(ErrorCode::ep_fail, "{}: its OrtDataTransferImpl has no CopyTensors", provider_);
  const auto info = [](const Tensor& tensor) -> std::shared_ptr<const OrtMemoryInfo> {
    if (tensor.device().is_host()) return nullptr;
    return std::make_shared<const OrtMemoryInfo>(
        OrtMemoryInfo{"device", OrtDeviceAllocator, tensor.device().id, OrtMemTypeDefault, memory_device_of(tensor.device())});
  };
  const OrtValue source(Value(from), info(from));
  OrtValue target(Value(to), info(to));
  const OrtValue* sources[] = {&source};
  OrtValue* targets[] = {&target};
  OrtSyncStream* streams[] = {dynamic_cast<OrtSyncStream*>(stream)};
  return try_call(provider_, "OrtDataTransferImpl::CopyTensors",
                  [&] { return impl_.CopyTensors(&impl_, sources, targets, streams[0] ? streams : nullptr, 1); });
}

}  // namespace rh::plugin
