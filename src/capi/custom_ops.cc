// Domains of custom operators, and the libraries that register them.
#include <filesystem>

#include "abi/options.h"
#include "base/dynamic_library.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "roundhouse/onnxruntime_c_api.h"

namespace rh::capi {

namespace {

/// Opens a library, for as long as the process lives, and lets its RegisterCustomOps fill the options.
void* register_library(OrtSessionOptions* options, const ORTCHAR_T* path) {
  void* library = open_library(path);
  const auto entry = reinterpret_cast<RegisterCustomOpsFn>(find_symbol(library, "RegisterCustomOps"));
  if (!entry) fail(ErrorCode::fail, "custom operators: the library has no function RegisterCustomOps");
  if (const Status status = abi::take_status(entry(options, OrtGetApiBase())); !status.ok()) {
    fail(status.code(), "custom operators: {}", status.message());
  }
  return library;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateCustomOpDomain(const char* domain, OrtCustomOpDomain** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtCustomOpDomain{&checked(domain, "domain"), {}};
  });
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
    checked(handle, "library_handle") = register_library(options, std::filesystem::path(&checked(path, "library_path")).c_str());
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsLibrary_V2(OrtSessionOptions* options, const ORTCHAR_T* path) {
  return guard([&] {
    checked(options, "options");
    register_library(options, &checked(path, "library_name"));
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsUsingFunction(OrtSessionOptions* options, const char* name) {
  return guard([&] {
    checked(options, "options");
    const auto entry = reinterpret_cast<RegisterCustomOpsFn>(find_symbol(nullptr, &checked(name, "registration_func_name")));
    if (!entry) fail(ErrorCode::invalid_argument, "custom operators: no function is called '{}'", name);
    return entry(options, OrtGetApiBase());
  });
}

OrtStatus* ORT_API_CALL CreatePrepackedWeightsContainer(OrtPrepackedWeightsContainer** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtPrepackedWeightsContainer;
  });
}

void ORT_API_CALL ReleasePrepackedWeightsContainer(OrtPrepackedWeightsContainer* container) { delete container; }

}  // namespace rh::capi
