#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

OrtStatus* ORT_API_CALL CreateStatus(OrtErrorCode code, const char* message) {
  return abi::make_status(static_cast<ErrorCode>(code), message ? message : "");
}

OrtErrorCode ORT_API_CALL GetErrorCode(const OrtStatus* status) { return status ? status->code : ORT_OK; }

const char* ORT_API_CALL GetErrorMessage(const OrtStatus* status) { return status ? status->message.c_str() : ""; }

void ORT_API_CALL ReleaseStatus(OrtStatus* status) { abi::release_status(status); }

}  // namespace rh::capi
