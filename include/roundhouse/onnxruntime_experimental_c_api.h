// Functions outside the stable interface. OrtApi::GetExperimentalFunction finds one by its name and gives null where the library lacks it;
// each has a type, OrtExperimental_<name>_Fn, and its name, kOrtExperimental_<name>_FnName. <name> ends in the version that had it first.
#pragma once

#include "onnxruntime_c_api.h"

/// Writes 12345: shows that functions are found by name.
typedef OrtStatusPtr(ORT_API_CALL* OrtExperimental_OrtApi_ExperimentalApiTest_SinceV28_Fn)(_Out_ int64_t* out);
static const char* const kOrtExperimental_OrtApi_ExperimentalApiTest_SinceV28_FnName = "OrtApi_ExperimentalApiTest_SinceV28";
