// Functions that are found by name, through the headers of their own.
#include <cstdio>
#include <cstdlib>

#include "onnxruntime_experimental_cxx_api.h"

int main() {
  const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  int64_t value = 0;
  Ort::Status first(Ort::Experimental::Get_OrtApi_ExperimentalApiTest_SinceV28_Fn(api)(&value));
  Ort::Status second(Ort::Experimental::Get_OrtApi_ExperimentalApiTest_SinceV28_FnOrThrow(api)(nullptr));
  const bool refuses = !second.IsOK() && second.GetErrorCode() == ORT_INVALID_ARGUMENT;
  if (!first.IsOK() || value != 12345 || !refuses || api->GetExperimentalFunction("nothing")) return EXIT_FAILURE;
  std::puts("functions are found by name");
}
