// Another provider's library, which sees each processor as one of Intel: some take no other, though they run on it.
// RH_TEST_VIEWED_LIBRARY names the library.
#include <dlfcn.h>

#include <cstdlib>

#include "roundhouse/onnxruntime_c_api.h"

namespace {

const OrtApiBase* g_host = nullptr;
OrtApi g_api;
ReleaseEpApiFactoryFn g_release = nullptr;

bool is_processor(const OrtHardwareDevice* device) {
  return g_host->GetApi(ORT_API_VERSION)->HardwareDevice_Type(device) == OrtHardwareDeviceType_CPU;
}

uint32_t ORT_API_CALL vendor_id(const OrtHardwareDevice* device) noexcept {
  return is_processor(device) ? 0x8086 : g_host->GetApi(ORT_API_VERSION)->HardwareDevice_VendorId(device);
}

const char* ORT_API_CALL vendor(const OrtHardwareDevice* device) noexcept {
  return is_processor(device) ? "Intel" : g_host->GetApi(ORT_API_VERSION)->HardwareDevice_Vendor(device);
}

const OrtApi* ORT_API_CALL api_of(uint32_t version) noexcept {
  if (g_host->GetApi(version) == nullptr) return nullptr;
  g_api = *g_host->GetApi(ORT_API_VERSION);
  g_api.HardwareDevice_VendorId = vendor_id;
  g_api.HardwareDevice_Vendor = vendor;
  return &g_api;
}

const char* ORT_API_CALL version_string() noexcept { return g_host->GetVersionString(); }

constexpr OrtApiBase kView{api_of, version_string};

OrtStatus* failure(const char* message) { return g_host->GetApi(ORT_API_VERSION)->CreateStatus(ORT_FAIL, message); }

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* host,
                                                                               const OrtLogger* logger, OrtEpFactory** factories,
                                                                               size_t room, size_t* count) {
  g_host = host;
  const char* path = std::getenv("RH_TEST_VIEWED_LIBRARY");
  if (path == nullptr) return failure("RH_TEST_VIEWED_LIBRARY names no library");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return failure(dlerror());
  auto* const create = reinterpret_cast<CreateEpApiFactoriesFn>(dlsym(library, "CreateEpFactories"));
  g_release = reinterpret_cast<ReleaseEpApiFactoryFn>(dlsym(library, "ReleaseEpFactory"));
  if (create == nullptr || g_release == nullptr) return failure("the viewed library is not a provider's");
  return create(name, &kView, logger, factories, room, count);
}

extern "C" __attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) { return g_release(factory); }
