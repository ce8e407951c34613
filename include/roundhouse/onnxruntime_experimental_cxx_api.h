// The functions of onnxruntime_experimental_c_api.h in C++: each by a getter that gives null where the library lacks it, and by one that
// throws an Ort::Exception with ORT_NOT_IMPLEMENTED then.
#pragma once

#include <string>

#include "onnxruntime_cxx_api.h"
#include "onnxruntime_experimental_c_api.h"

namespace Ort {
namespace Experimental {

inline OrtExperimental_OrtApi_ExperimentalApiTest_SinceV28_Fn Get_OrtApi_ExperimentalApiTest_SinceV28_Fn(const OrtApi* api) {
  return reinterpret_cast<OrtExperimental_OrtApi_ExperimentalApiTest_SinceV28_Fn>(
      api->GetExperimentalFunction(kOrtExperimental_OrtApi_ExperimentalApiTest_SinceV28_FnName));
}

inline OrtExperimental_OrtApi_ExperimentalApiTest_SinceV28_Fn Get_OrtApi_ExperimentalApiTest_SinceV28_FnOrThrow(const OrtApi* api) {
  const auto function = Get_OrtApi_ExperimentalApiTest_SinceV28_Fn(api);
  if (!function) {
    ORT_CXX_API_THROW(std::string("the library has no function '") + kOrtExperimental_OrtApi_ExperimentalApiTest_SinceV28_FnName +
                          "': use a newer one, or do without",
                      ORT_NOT_IMPLEMENTED);
  }
  return function;
}

}  // namespace Experimental
}  // namespace Ort
