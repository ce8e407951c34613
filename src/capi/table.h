#pragma once

#include <type_traits>

#include "roundhouse/onnxruntime_ep_c_api.h"

// The functions of each table, declared with the types of their slots: a definition with another signature does not link. The lists
// say of each slot, in order, whether it is built (RH_SLOT) or answered by a stub (RH_STUB).
namespace rh::capi {

#define RH_STUB(name)
#define RH_SLOT(name) std::remove_pointer_t<decltype(OrtApi::name)> name;
#include "capi/api_slots.inc"
#undef RH_SLOT

namespace model_editor {
#define RH_SLOT(name) std::remove_pointer_t<decltype(OrtModelEditorApi::name)> name;
#include "capi/model_editor_slots.inc"
#undef RH_SLOT
}  // namespace model_editor

namespace compile {
#define RH_SLOT(name) std::remove_pointer_t<decltype(OrtCompileApi::name)> name;
#include "capi/compile_slots.inc"
#undef RH_SLOT
}  // namespace compile

namespace interop {
#define RH_SLOT(name) std::remove_pointer_t<decltype(OrtInteropApi::name)> name;
#include "capi/interop_slots.inc"
#undef RH_SLOT
}  // namespace interop

namespace ep_api {
#define RH_SLOT(name) std::remove_pointer_t<decltype(OrtEpApi::name)> name;
#include "capi/ep_slots.inc"
#undef RH_SLOT
}  // namespace ep_api
#undef RH_STUB

extern const OrtApi kApi;
extern const OrtModelEditorApi kModelEditorApi;
extern const OrtCompileApi kCompileApi;
extern const OrtInteropApi kInteropApi;
extern const OrtEpApi kEpApi;
extern const OrtModelPackageApi kModelPackageApi;

}  // namespace rh::capi
