#pragma once

#define ORT_API_MANUAL_INIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/dynamic_library.h"
#include "base/error.h"
#include "base/paths.h"
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

  void* function(const char* name) const { return find_symbol(handle, name); }

 private:
  Library() {
    const char* other = std::getenv("RH_CAPI_LIBRARY");
    ours = !other;
    const auto own = std::string(RH_BUILD_DIR "/lib/").append(kLibraryPrefix).append("roundhouse").append(kLibrarySuffix);
    path = other ? other : own;
    try {
      handle = open_library(as_path(path).c_str());
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      std::abort();
    }
    base = reinterpret_cast<const OrtApiBase* (*)()>(function("OrtGetApiBase"))();
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
