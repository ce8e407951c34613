#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi/key_values.h"
#include "abi/memory_info.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

/// A processor, GPU or NPU: found by us, or declared by a provider.
struct OrtHardwareDevice {
  OrtHardwareDeviceType type = OrtHardwareDeviceType_CPU;
  uint32_t vendor_id = 0;  ///< PCI numbers
  uint32_t device_id = 0;
  std::string vendor;
  OrtKeyValuePairs metadata;
};

/// A provider on a piece of hardware.
struct OrtEpDevice {
  std::string ep_name, ep_vendor;
  const OrtHardwareDevice* device = nullptr;
  OrtKeyValuePairs metadata, options;
  OrtEpFactory* factory = nullptr;  ///< null: built in
  /// The provider's own objects, by which it knows its memory again; null where it declared none. They live as long as its factory.
  const OrtMemoryInfo* device_memory = nullptr;
  const OrtMemoryInfo* host_accessible_memory = nullptr;
  const OrtMemoryInfo* read_only_memory = nullptr;
};

/// Why a provider cannot use a device.
struct OrtDeviceEpIncompatibilityDetails {
  uint32_t reasons = OrtDeviceEpIncompatibility_NONE;
  int32_t error_code = 0;
  std::string notes;
};

namespace rh::abi {

/// The processor, then GPUs and NPUs as the system lists them below `sysfs`.
std::vector<OrtHardwareDevice> discover_hardware(const std::string& sysfs = "/sys");

}  // namespace rh::abi
