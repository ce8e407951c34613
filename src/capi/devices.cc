// The machine's hardware, and the providers that run on it.
#include "abi/devices.h"

#include "abi/env.h"
#include "capi/copy_out.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

OrtStatus* ORT_API_CALL GetNumHardwareDevices(const OrtEnv* env, size_t* count) {
  return guard([&] { checked(count, "num_devices") = checked(env, "env").hardware_devices().size(); });
}

OrtStatus* ORT_API_CALL GetHardwareDevices(const OrtEnv* env, const OrtHardwareDevice** out, size_t room) {
  return guard([&] {
    const auto devices = checked(env, "env").hardware_devices();
    check_room(out, devices.size(), room, "devices");
    std::ranges::copy(devices, out);
  });
}

OrtStatus* ORT_API_CALL GetEpDevices(const OrtEnv* env, const OrtEpDevice* const** out, size_t* count) {
  return guard([&] {
    checked(out, "ep_devices") = nullptr;
    checked(count, "num_ep_devices") = 0;
    const auto devices = checked(env, "env").ep_devices();
    *out = devices.data();
    *count = devices.size();
  });
}

OrtHardwareDeviceType ORT_API_CALL HardwareDevice_Type(const OrtHardwareDevice* device) {
  return device ? device->type : OrtHardwareDeviceType_CPU;
}
uint32_t ORT_API_CALL HardwareDevice_VendorId(const OrtHardwareDevice* device) { return device ? device->vendor_id : 0; }
const char* ORT_API_CALL HardwareDevice_Vendor(const OrtHardwareDevice* device) { return device ? device->vendor.c_str() : nullptr; }
uint32_t ORT_API_CALL HardwareDevice_DeviceId(const OrtHardwareDevice* device) { return device ? device->device_id : 0; }
const OrtKeyValuePairs* ORT_API_CALL HardwareDevice_Metadata(const OrtHardwareDevice* device) {
  return device ? &device->metadata : nullptr;
}

const char* ORT_API_CALL EpDevice_EpName(const OrtEpDevice* device) { return device ? device->ep_name.c_str() : nullptr; }
const char* ORT_API_CALL EpDevice_EpVendor(const OrtEpDevice* device) { return device ? device->ep_vendor.c_str() : nullptr; }
const OrtKeyValuePairs* ORT_API_CALL EpDevice_EpMetadata(const OrtEpDevice* device) { return device ? &device->metadata : nullptr; }
const OrtKeyValuePairs* ORT_API_CALL EpDevice_EpOptions(const OrtEpDevice* device) { return device ? &device->options : nullptr; }
const OrtHardwareDevice* ORT_API_CALL EpDevice_Device(const OrtEpDevice* device) { return device ? device->device : nullptr; }

const OrtMemoryInfo* ORT_API_CALL EpDevice_MemoryInfo(const OrtEpDevice* device, OrtDeviceMemoryType type) {
  if (!device) return nullptr;
  switch (type) {
    case OrtDeviceMemoryType_DEFAULT: return device->device_memory;
    case OrtDeviceMemoryType_HOST_ACCESSIBLE: return device->host_accessible_memory;
  }
  return nullptr;
}

}  // namespace rh::capi
