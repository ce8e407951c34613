// A library of providers that goes wrong in the way that RH_FAULT names.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "roundhouse/onnxruntime_ep_c_api.h"

namespace {

bool fault(const char* name) {
  const char* wanted = std::getenv("RH_FAULT");
  return wanted && std::strcmp(wanted, name) == 0;
}

const OrtApi* g_api = nullptr;

struct AtLoad {
  AtLoad() {
    if (fault("crash at load")) std::raise(SIGSEGV);
  }
} g_at_load;

OrtStatus* ORT_API_CALL devices(OrtEpFactory* self, const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** out, size_t,
                                size_t* used) {
  *used = 0;
  if (count == 0 || fault("no device")) return nullptr;
  *used = 1;
  return g_api->GetEpApi()->CreateEpDevice(self, hardware[0], nullptr, nullptr, out);
}

OrtStatus* ORT_API_CALL create_ep(OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                                  const OrtSessionOptions*, const OrtLogger*, OrtEp**) {
  if (fault("crash in session")) std::abort();
  if (fault("hang in session")) pause();
  return g_api->CreateStatus(ORT_EP_FAIL, "the device is on fire");
}

}  // namespace

extern "C" {

ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                                     size_t, size_t* count) {
  std::fprintf(stderr, "unsound plugin: about to start\n");
  g_api = base->GetApi(ORT_API_VERSION);
  if (fault("newer host")) {
    if (!base->GetApi(1000)) return g_api->CreateStatus(ORT_FAIL, "this plugin needs API version 1000");
  }
  if (fault("crash")) std::raise(SIGSEGV);
  if (fault("exit")) _exit(7);
  if (fault("hang")) pause();
  if (fault("throw")) throw std::runtime_error("thrown through the interface");
  auto* factory = new OrtEpFactory{};
  factory->ort_version_supported = 23;
  factory->GetName = [](const OrtEpFactory*) { return "UnsoundExecutionProvider"; };
  factory->GetVendor = [](const OrtEpFactory*) { return "tests"; };
  factory->GetVendorId = [](const OrtEpFactory*) { return uint32_t{0}; };
  factory->GetVersion = [](const OrtEpFactory*) { return "0.1.0"; };
  factory->GetSupportedDevices = devices;
  factory->CreateEp = create_ep;
  factory->ReleaseEp = [](OrtEpFactory*, OrtEp*) {};
  factories[0] = factory;
  *count = 1;
  return nullptr;
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  delete factory;
  return nullptr;
}
}
