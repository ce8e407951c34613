// Whether a provider can use a device, or a model that was compiled for it.
#include <algorithm>

#include "abi/allocator.h"
#include "abi/env.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "capi/table.h"
#include "onnx/reader.h"
#include "providers/plugin/call.h"

namespace rh::capi {

namespace {

// The versions of OrtEpFactory that have these members.
constexpr uint32_t kValidateSince = 23, kIncompatibilitySince = 24;

constexpr const char* kInfoKey = "ep_compatibility_info.";

void text_of_model(const Model& model, const char* provider, OrtAllocator* allocator, char** out) {
  const std::string key = kInfoKey + std::string(provider);
  const auto found = std::ranges::find(model.metadata, key, &std::pair<std::string, std::string>::first);
  *out = found == model.metadata.end() ? nullptr : abi::copy_string(*allocator, found->second);
}

void check_text_arguments(const char* provider, OrtAllocator* allocator, char** out) {
  checked(out, "compatibility_info") = nullptr;
  checked(allocator, "allocator");
  if (!*&checked(provider, "ep_type")) fail(ErrorCode::invalid_argument, "argument 'ep_type' must not be empty");
}

}  // namespace

OrtStatus* ORT_API_CALL GetCompatibilityInfoFromModel(const ORTCHAR_T* path, const char* provider, OrtAllocator* allocator, char** out) {
  return guard([&] {
    check_text_arguments(provider, allocator, out);
    text_of_model(onnx::read_model(utf8(&checked(path, "model_path"))), provider, allocator, out);
  });
}

OrtStatus* ORT_API_CALL GetCompatibilityInfoFromModelBytes(const void* data, size_t bytes, const char* provider, OrtAllocator* allocator,
                                                           char** out) {
  return guard([&] {
    check_text_arguments(provider, allocator, out);
    const auto* first = &checked(static_cast<const std::byte*>(data), "model_data");
    text_of_model(onnx::read_model(std::span(first, bytes)), provider, allocator, out);
  });
}

OrtStatus* ORT_API_CALL GetModelCompatibilityForEpDevices(const OrtEpDevice* const* devices, size_t count, const char* info,
                                                          OrtCompiledModelCompatibility* out) {
  return guard([&] {
    OrtCompiledModelCompatibility& result = checked(out, "out_status");
    checked(info, "compatibility_info");
    if (count == 0) fail(ErrorCode::invalid_argument, "argument 'ep_devices' is empty, expected devices of one provider");
    checked_array(devices, count, "ep_devices");
    std::vector<const OrtHardwareDevice*> hardware;
    for (size_t i = 0; i < count; ++i) {
      const OrtEpDevice& device = checked(devices[i], "ep_devices[i]");
      if (device.ep_name != devices[0]->ep_name) {
        fail(ErrorCode::invalid_argument, "argument 'ep_devices' has devices of {} and of {}, expected those of one provider",
             devices[0]->ep_name, device.ep_name);
      }
      hardware.push_back(device.device);
    }
    result = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
    OrtEpFactory* factory = devices[0]->factory;
    if (!factory || factory->ort_version_supported < kValidateSince || !factory->ValidateCompiledModelCompatibilityInfo) return Status();
    return plugin::try_call(devices[0]->ep_name, "OrtEpFactory::ValidateCompiledModelCompatibilityInfo", [&] {
      return factory->ValidateCompiledModelCompatibilityInfo(factory, hardware.data(), hardware.size(), info, &result);
    });
  });
}

OrtStatus* ORT_API_CALL GetHardwareDeviceEpIncompatibilityDetails(const OrtEnv* env, const char* provider,
                                                                  const OrtHardwareDevice* hardware,
                                                                  OrtDeviceEpIncompatibilityDetails** out) {
  return guard([&] {
    checked(out, "details") = nullptr;
    checked(hardware, "hw");
    const auto devices = checked(env, "env").ep_devices();
    checked(provider, "ep_name");
    const auto device = std::ranges::find_if(devices, [&](const OrtEpDevice* entry) { return entry->ep_name == provider; });
    if (device == devices.end()) {
      fail(ErrorCode::invalid_argument, "No valid factory found for execution provider '{}': register its library first", provider);
    }
    auto details = std::make_unique<OrtDeviceEpIncompatibilityDetails>();
    OrtEpFactory* factory = (*device)->factory;
    if (factory && factory->ort_version_supported >= kIncompatibilitySince && factory->GetHardwareDeviceIncompatibilityDetails) {
      const Status status = plugin::try_call(provider, "OrtEpFactory::GetHardwareDeviceIncompatibilityDetails", [&] {
        return factory->GetHardwareDeviceIncompatibilityDetails(factory, hardware, details.get());
      });
      if (!status.ok()) return status;
    }
    *out = details.release();
    return Status();
  });
}

OrtStatus* ORT_API_CALL DeviceEpIncompatibilityDetails_GetReasonsBitmask(const OrtDeviceEpIncompatibilityDetails* details, uint32_t* out) {
  return guard([&] { checked(out, "reasons_bitmask") = checked(details, "details").reasons; });
}

OrtStatus* ORT_API_CALL DeviceEpIncompatibilityDetails_GetNotes(const OrtDeviceEpIncompatibilityDetails* details, const char** out) {
  return guard([&] {
    checked(out, "notes") = nullptr;
    if (!checked(details, "details").notes.empty()) *out = details->notes.c_str();
  });
}

OrtStatus* ORT_API_CALL DeviceEpIncompatibilityDetails_GetErrorCode(const OrtDeviceEpIncompatibilityDetails* details, int32_t* out) {
  return guard([&] { checked(out, "error_code") = checked(details, "details").error_code; });
}

void ORT_API_CALL ReleaseDeviceEpIncompatibilityDetails(OrtDeviceEpIncompatibilityDetails* details) { delete details; }

}  // namespace rh::capi
