#include <cstdio>
#include <string_view>

#include "capi/guard.h"
#include "capi/stub.h"
#include "capi/table.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::capi {

// Designators make the compiler check the order of each list; the assertions below, that no slot is left out.
// clang-format off
#define RH_SLOT(name) .name = RH_FUNCTIONS::name,
#define RH_STUB(name) .name = Stub<#name, decltype(RH_TABLE::name)>::call,
#define RH_FUNCTIONS capi
#define RH_TABLE OrtApi
const OrtApi kApi = {
#include "capi/api_slots.inc"
};
#undef RH_TABLE
#undef RH_FUNCTIONS
#define RH_FUNCTIONS model_editor
#define RH_TABLE OrtModelEditorApi
const OrtModelEditorApi kModelEditorApi = {
#include "capi/model_editor_slots.inc"
};
#undef RH_TABLE
#undef RH_FUNCTIONS
#define RH_FUNCTIONS compile
#define RH_TABLE OrtCompileApi
const OrtCompileApi kCompileApi = {
#include "capi/compile_slots.inc"
};
#undef RH_TABLE
#undef RH_FUNCTIONS
#define RH_FUNCTIONS interop
#define RH_TABLE OrtInteropApi
const OrtInteropApi kInteropApi = {
#include "capi/interop_slots.inc"
};
#undef RH_TABLE
#undef RH_FUNCTIONS
#define RH_FUNCTIONS ep_api
#define RH_TABLE OrtEpApi
const OrtEpApi kEpApi = {
#include "capi/ep_slots.inc"
};
#undef RH_FUNCTIONS
#define RH_FUNCTIONS model_editor
#undef RH_TABLE
#define RH_TABLE OrtModelPackageApi
const OrtModelPackageApi kModelPackageApi = {
#include "capi/model_package_slots.inc"
};
#undef RH_TABLE
#undef RH_FUNCTIONS
#undef RH_SLOT
#undef RH_STUB

namespace {

#define RH_SLOT(name) +1
#define RH_STUB(name) +1
constexpr size_t kSlotSize = sizeof(void (*)());
static_assert(sizeof(OrtApi) == kSlotSize * (0
#include "capi/api_slots.inc"
));
static_assert(sizeof(OrtModelEditorApi) == kSlotSize * (0
#include "capi/model_editor_slots.inc"
));
static_assert(sizeof(OrtCompileApi) == kSlotSize * (0
#include "capi/compile_slots.inc"
));
static_assert(sizeof(OrtInteropApi) == kSlotSize * (0
#include "capi/interop_slots.inc"
));
static_assert(sizeof(OrtEpApi) == kSlotSize * (0
#include "capi/ep_slots.inc"
));
static_assert(sizeof(OrtModelPackageApi) == kSlotSize * (0
#include "capi/model_package_slots.inc"
));
#undef RH_SLOT
#undef RH_STUB
// clang-format on

}  // namespace

const OrtModelEditorApi* ORT_API_CALL GetModelEditorApi() { return &kModelEditorApi; }
const OrtCompileApi* ORT_API_CALL GetCompileApi() { return &kCompileApi; }
const OrtEpApi* ORT_API_CALL GetEpApi() { return &kEpApi; }
const OrtInteropApi* ORT_API_CALL GetInteropApi() { return &kInteropApi; }
const OrtModelPackageApi* ORT_API_CALL GetModelPackageApi() { return &kModelPackageApi; }
const OrtTrainingApi* ORT_API_CALL GetTrainingApi(uint32_t) { return nullptr; }

namespace {

// The only one that ONNX Runtime has of these: a test that there are such functions.
OrtStatus* ORT_API_CALL experimental_test(int64_t* out) {
  return guard([&] { checked(out, "out") = 12345; });
}

}  // namespace

OrtExperimentalFnPtr ORT_API_CALL GetExperimentalFunction(const char* name) {
  const bool is_known = name && std::string_view(name) == "OrtApi_ExperimentalApiTest_SinceV28";
  return is_known ? reinterpret_cast<OrtExperimentalFnPtr>(experimental_test) : nullptr;
}
const char* ORT_API_CALL GetBuildInfoString() { return "Build Info: Roundhouse " RH_VERSION ", ONNX Runtime API 1.32.0"; }

namespace {

/// Every version sees the same, full table.
const OrtApi* ORT_API_CALL get_api(uint32_t version) {
  if (version >= 1 && version <= ORT_API_VERSION) return &kApi;
  std::fprintf(stderr, "roundhouse: API version %u was asked for; versions 1 to %d are offered\n", version, ORT_API_VERSION);
  return nullptr;
}

const char* ORT_API_CALL interface_version() { return "1.32.0"; }

constexpr OrtApiBase kBase = {.GetApi = get_api, .GetVersionString = interface_version};

}  // namespace

}  // namespace rh::capi

extern "C" {

ORT_EXPORT const OrtApiBase* ORT_API_CALL OrtGetApiBase() { return &rh::capi::kBase; }
ORT_EXPORT const char* ORT_API_CALL RhGetVersionString() { return RH_VERSION; }
}
