#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "providers/kit/cache/content_mark.h"
#include "providers/kit/device/device_driver.h"
#include "tensor/tensor.h"

namespace rh::kit {

/// A block of a device's memory.
class DeviceBlock {
 public:
  DeviceBlock(std::shared_ptr<DeviceDriver> driver, size_t bytes) : driver_(std::move(driver)), memory_(driver_->allocate(bytes)) {}
  ~DeviceBlock() { driver_->free(memory_); }
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  void* memory() const { return memory_; }

 private:
  std::shared_ptr<DeviceDriver> driver_;
  void* memory_;
};

/// What earlier calls of a host uploaded and regions still use, by the mark and the size of its bytes.
using UploadedConstants = std::map<std::pair<ContentMark, size_t>, std::pair<std::weak_ptr<const DeviceBlock>, void*>>;

/// Uploads constants while a host's Compile runs: those of one call are in one block, and what was uploaded before is not again.
class DeviceConstants {
 public:
  DeviceConstants(std::shared_ptr<DeviceDriver> driver, UploadedConstants& earlier) : driver_(std::move(driver)), earlier_(earlier) {}

  /// The tensors in the device's memory, one by one; each owns its block. `device` is what they say of themselves.
  std::vector<Tensor> upload(std::span<const Tensor* const> tensors, Device device = {Device::Type::gpu});
  /// What owns constants that are uploaded stays until the host's call ends: what was uploaded is told by its address.
  void keep(std::shared_ptr<const void> owner) { kept_.push_back(std::move(owner)); }

 private:
  bool find_earlier(const Tensor& tensor, Device device);

  std::shared_ptr<DeviceDriver> driver_;
  UploadedConstants& earlier_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::map<std::pair<const void*, size_t>, Tensor> known_;  // by where they are on the host
};

}  // namespace rh::kit
