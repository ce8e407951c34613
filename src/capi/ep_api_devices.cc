// OrtEpApi: devices, memory and streams.
#include "abi/devices.h"
#include "abi/env.h"
#include "abi/value.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "providers/plugin/stream.h"

namespace rh::capi::ep_api {

OrtStatus* ORT_API_CALL CreateEpDevice(OrtEpFactory* factory, const OrtHardwareDevice* hardware, const OrtKeyValuePairs* metadata,
                                       const OrtKeyValuePairs* options, OrtEpDevice** out) {
  return guard([&] {
    checked(out, "ep_device") = nullptr;
    OrtEpFactory& source = checked(factory, "ep_factory");
    auto device = std::make_unique<OrtEpDevice>();
    device->device = &checked(hardware, "hardware_device");
    device->factory = factory;
    const char* name = source.GetName ? source.GetName(factory) : nullptr;
    const char* vendor = source.GetVendor ? source.GetVendor(factory) : nullptr;
    device->ep_name = name ? name : "";
    device->ep_vendor = vendor ? vendor : "";
    if (metadata) device->metadata = *metadata;
    if (options) device->options = *options;
    const char* version = source.ort_version_supported >= 23 && source.GetVersion ? source.GetVersion(factory) : nullptr;
    if (version && !device->metadata.find("version")) device->metadata.set("version", version);
    *out = device.release();
  });
}

void ORT_API_CALL ReleaseEpDevice(OrtEpDevice* device) { delete device; }

OrtStatus* ORT_API_CALL EpDevice_AddAllocatorInfo(OrtEpDevice* device, const OrtMemoryInfo* info) {
  return guard([&] {
    OrtEpDevice& target = checked(device, "ep_device");
    const OrtMemoryInfo& memory = checked(info, "allocator_memory_info");
    auto& place = memory.allocator_type == OrtReadOnlyAllocator                 ? target.read_only_memory
                  : memory.device.memory == OrtDeviceMemoryType_HOST_ACCESSIBLE ? target.host_accessible_memory
                                                                                : target.device_memory;
    place = &memory;
  });
}

OrtStatus* ORT_API_CALL CreateHardwareDevice(OrtHardwareDeviceType type, uint32_t vendor_id, uint32_t device_id, const char* vendor,
                                             const OrtKeyValuePairs* metadata, OrtHardwareDevice** out) {
  return guard([&] {
    checked(out, "hardware_device") = nullptr;
    auto device = std::make_unique<OrtHardwareDevice>();
    device->type = type;
    device->vendor_id = vendor_id;
    device->device_id = device_id;
    device->vendor = vendor ? vendor : "";
    if (metadata) device->metadata = *metadata;
    *out = device.release();
  });
}

void ORT_API_CALL ReleaseHardwareDevice(OrtHardwareDevice* device) { delete device; }

const OrtMemoryDevice* ORT_API_CALL MemoryInfo_GetMemoryDevice(const OrtMemoryInfo* info) { return info ? &info->device : nullptr; }

const OrtMemoryDevice* ORT_API_CALL Value_GetMemoryDevice(const OrtValue* value) { return value ? &value->memory_info().device : nullptr; }

bool ORT_API_CALL MemoryDevice_AreEqual(const OrtMemoryDevice* a, const OrtMemoryDevice* b) {
  if (!a || !b) return a == b;
  return a->type == b->type && a->memory == b->memory && a->vendor_id == b->vendor_id && a->device_id == b->device_id;
}

OrtMemoryInfoDeviceType ORT_API_CALL MemoryDevice_GetDeviceType(const OrtMemoryDevice* device) {
  return device ? device->type : OrtMemoryInfoDeviceType_CPU;
}
OrtDeviceMemoryType ORT_API_CALL MemoryDevice_GetMemoryType(const OrtMemoryDevice* device) {
  return device ? device->memory : OrtDeviceMemoryType_DEFAULT;
}
uint32_t ORT_API_CALL MemoryDevice_GetVendorId(const OrtMemoryDevice* device) { return device ? device->vendor_id : 0; }
uint32_t ORT_API_CALL MemoryDevice_GetDeviceId(const OrtMemoryDevice* device) {
  return device ? static_cast<uint32_t>(device->device_id) : 0;
}

const OrtSyncStreamImpl* ORT_API_CALL SyncStream_GetImpl(const OrtSyncStream* stream) { return stream ? &stream->impl() : nullptr; }
uint64_t ORT_API_CALL SyncStream_GetSyncId(const OrtSyncStream* stream) { return stream ? stream->sync_id() : 0; }
uint64_t ORT_API_CALL GetSyncIdForLastWaitOnSyncStream(const OrtSyncStream* producer, const OrtSyncStream* consumer) {
  return producer && consumer ? consumer->last_wait_on(*producer) : 0;
}

OrtStatus* ORT_API_CALL GetEnvConfigEntries(OrtKeyValuePairs** out) {
  return guard([&] {
    checked(out, "config_entries");
    const OrtEnv* env = abi::current_env();
    *out = env ? new OrtKeyValuePairs(env->config) : new OrtKeyValuePairs;
  });
}

OrtStatus* ORT_API_CALL DeviceEpIncompatibilityDetails_SetDetails(OrtDeviceEpIncompatibilityDetails* details, uint32_t reasons,
                                                                  int32_t error_code, const char* notes) {
  return guard([&] {
    OrtDeviceEpIncompatibilityDetails& target = checked(details, "details");
    target.reasons = reasons;
    target.error_code = error_code;
    target.notes = notes ? notes : "";
  });
}

}  // namespace rh::capi::ep_api
