// Domains of custom operators, and the libraries that register them.
#include <dlfcn.h>

#include "abi/options.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "roundhouse/onnxruntime_c_api.h"

namespace rh::capi {

namespace {

/// Opens a library and lets its RegisterCustomOps fill the options.
void* register_library(OrtSessionOptions* options, const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(ErrorCode::fail, "custom operators: cannot load '{}': {}", path, dlerror());
  const auto entry = reinterpret_cast<RegisterCustomOpsFn>(dlsym(library, "RegisterCustomOps"));
  if (!entry) {
    dlclose(library);
    fail(ErrorCode::fail, "custom operators: '{}' has no function RegisterCustomOps", path);
  }
  if (const Status status = abi::take_status(entry(options, OrtGetApiBase())); !status.ok()) {
    dlclose(library);
    fail(status.code(), "custom operators: '{}': {}", path, status.message());
  }
  return library;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateCustomOpDomain(const char* domain, OrtCustomOpDomain** out) {
  return guard([&] { checked(out, "out") = new OrtCustomOpDomain{&checked(domain, "domain"), {}}; });
}

OrtStatus* ORT_API_CALL CustomOpDomain_Add(OrtCustomOpDomain* domain, const OrtCustomOp* op) {
  return guard([&] { checked(domain, "custom_op_domain").ops.push_back(&checked(op, "op")); });
}

void ORT_API_CALL ReleaseCustomOpDomain(OrtCustomOpDomain* domain) { delete domain; }

OrtStatus* ORT_API_CALL AddCustomOpDomain(OrtSessionOptions* options, OrtCustomOpDomain* domain) {
  return guard([&] { checked(options, "options").custom_op_domains.push_back(&checked(domain, "custom_op_domain")); });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsLibrary(OrtSessionOptions* options, const char* path, void** handle) {
  return guard([&] {
    checked(options, "options");
    checked(handle, "library_handle") = register_library(options, &checked(path, "library_path"));
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsLibrary_V2(OrtSessionOptions* options, const ORTCHAR_T* path) {
  return guard([&] {
    checked(options, "options");
    register_library(options, &checked(path, "library_name"));  // stays loaded as long as the process
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsUsingFunction(OrtSessionOptions* options, const char* name) {
  return guard([&] {
    checked(options, "options");
    const auto entry = reinterpret_cast<RegisterCustomOpsFn>(dlsym(RTLD_DEFAULT, &checked(name, "registration_func_name")));
    if (!entry) fail(ErrorCode::invalid_argument, "custom operators: no function is called '{}'", name);
    return entry(options, OrtGetApiBase());
  });
}

OrtStatus* ORT_API_CALL CreatePrepackedWeightsContainer(OrtPrepackedWeightsContainer** out) {
  return guard([&] { checked(out, "out") = new OrtPrepackedWeightsContainer; });
}

void ORT_API_CALL ReleasePrepackedWeightsContainer(OrtPrepackedWeightsContainer* container) { delete container; }

}  // namespace rh::capi
