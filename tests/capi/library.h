#pragma once

#define ORT_API_MANUAL_INIT
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "roundhouse/onnxruntime_cxx_api.h"

namespace rh::test {

/// The library under test, opened as a program that knows only the ABI would: the one that RH_CAPI_LIBRARY names (another implementation,
/// of which the same is expected), or libroundhouse of this build.
struct Library {
  static const Library& get() {
    static const Library library;
    return library;
  }

  std::string path;
  bool ours = false;
  void* handle = nullptr;
  const OrtApiBase* base = nullptr;

 private:
  Library() {
    const char* other = std::getenv("RH_CAPI_LIBRARY");
    ours = !other;
    path = other ? other : RH_BUILD_DIR "/lib/libroundhouse.so.1";
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      ADD_FAILURE() << dlerror();
      std::abort();
    }
    base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"))();
  }
};

/// Tests through the C++ interface, and through `api` where a failed call is what is looked at.
class ApiTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { Ort::InitApi(Library::get().base->GetApi(ORT_API_VERSION)); }

  const OrtApi& api = Ort::GetApi();
  Ort::MemoryInfo cpu = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  Ort::AllocatorWithDefaultOptions allocator;
};

/// The code of a status, which is released.
inline OrtErrorCode code_of(OrtStatus* status) { return Ort::Status(status).GetErrorCode(); }

}  // namespace rh::test
