#include "providers/kit/device/device_constants.h"

namespace rh::kit {

namespace {

constexpr size_t kAlignment = 256;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::pair<const void*, size_t> key_of(const Tensor& tensor) { return {tensor.raw(), tensor.bytes()}; }

constexpr size_t kLeastShared = 1024;  // bytes; smaller ones are not looked for

/// The bytes of what was uploaded are no longer at hand to be compared: they are on the device, and the host may have let go of its own.
std::pair<ContentMark, size_t> content_of(const Tensor& tensor) {
  return {content_mark({static_cast<const char*>(tensor.raw()), tensor.bytes()}, MarkKey::of_process()), tensor.bytes()};
}

}  // namespace

// Hosts compile a body's regions in calls of their own, and may have let go of what they gave in earlier ones.
bool DeviceConstants::find_earlier(const Tensor& tensor, Device device) {
  if (tensor.bytes() < kLeastShared || earlier_.empty()) return false;
  const auto found = earlier_.find(content_of(tensor));
  if (found == earlier_.end()) return false;
  const auto block = found->second.first.lock();
  if (block) known_[key_of(tensor)] = Tensor(tensor.dtype(), tensor.shape(), found->second.second, block, device);
  return block != nullptr;
}

std::vector<Tensor> DeviceConstants::upload(std::span<const Tensor* const> tensors, Device device) {
  std::map<std::pair<const void*, size_t>, size_t> offsets;  // of those that are not there yet
  size_t size = 0;
  for (const Tensor* tensor : tensors) {
    if (tensor->dtype() == DType::string) fail(ErrorCode::not_implemented, "constants of strings are not uploaded to a device");
    if (tensor->bytes() == 0 || known_.contains(key_of(*tensor)) || offsets.contains(key_of(*tensor))) continue;
    if (find_earlier(*tensor, device)) continue;
    offsets.emplace(key_of(*tensor), size);
    size += aligned(tensor->bytes());
  }
  const auto block = size > 0 ? std::make_shared<const DeviceBlock>(driver_, size) : nullptr;
  std::vector<Tensor> uploaded;
  for (const Tensor* tensor : tensors) {
    Tensor& there = known_[key_of(*tensor)];
    if (const auto offset = offsets.find(key_of(*tensor)); !there.defined() && offset != offsets.end()) {
      void* memory = static_cast<char*>(block->memory()) + offset->second;
      driver_->copy(memory, tensor->raw(), tensor->bytes(), CopyKind::to_device, nullptr);
      there = Tensor(tensor->dtype(), tensor->shape(), memory, block, device);
      if (tensor->bytes() >= kLeastShared) earlier_[content_of(*tensor)] = {block, memory};
    }
    uploaded.emplace_back(tensor->dtype(), tensor->shape(), there.raw(), there.owner(), device);
  }
  return uploaded;
}

}  // namespace rh::kit
