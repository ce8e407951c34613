#include "abi/status.h"

#include <memory>
#include <new>

namespace rh::abi {

namespace {

OrtStatus g_out_of_memory{ORT_RUNTIME_EXCEPTION, "out of memory"};

OrtStatus* out_of_memory() { return &g_out_of_memory; }

}  // namespace

OrtStatus* make_status(ErrorCode code, std::string_view message) {
  try {
    return new OrtStatus{static_cast<OrtErrorCode>(code), std::string(message)};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

OrtStatus* make_status(const Status& status) { return status.ok() ? nullptr : make_status(status.code(), status.message()); }

OrtStatus* status_of_current_exception() {
  try {
    return make_status(rh::status_of_current_exception());
  } catch (...) {
    return out_of_memory();
  }
}

void release_status(OrtStatus* status) {
  if (status != out_of_memory()) delete status;
}

Status take_status(OrtStatus* status) {
  if (!status) return {};
  const std::unique_ptr<OrtStatus, void (*)(OrtStatus*)> owned(status, release_status);
  if (owned->code == ORT_OK) return {};
  return Status(static_cast<ErrorCode>(owned->code), owned->message);
}

}  // namespace rh::abi
