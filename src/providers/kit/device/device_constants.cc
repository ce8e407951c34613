#include "providers/kit/device/device_constants.h"

namespace rh::kit {

namespace {

constexpr size_t kAlignment = 256;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::pair<const void*, size_t> key_of(const Tensor& tensor) { return {tensor.raw(), tensor.bytes()}; }

}  // namespace

std::vector<Tensor> DeviceConstants::upload(std::span<const Tensor* const> tensors, Device device) {
  std::map<std::pair<const void*, size_t>, size_t> offsets;  // of those that are not there yet
  size_t size = 0;
  for (const Tensor* tensor : tensors) {
    if (tensor->dtype() == DType::string) fail(ErrorCode::not_implemented, "constants of strings are not uploaded to a device");
    if (tensor->bytes() == 0 || known_.contains(key_of(*tensor)) || !offsets.emplace(key_of(*tensor), size).second) continue;
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
    }
    uploaded.emplace_back(tensor->dtype(), tensor->shape(), there.raw(), there.owner(), device);
  }
  return uploaded;
}

}  // namespace rh::kit
