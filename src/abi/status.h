#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "roundhouse/onnxruntime_c_api.h"

struct OrtStatus {
  OrtErrorCode code = ORT_FAIL;
  std::string message;
};

namespace rh::abi {

/// A status for a caller to release. Never throws: where memory is short, a shared "out of memory" status, which release leaves alone.
OrtStatus* make_status(ErrorCode code, std::string_view message);

/// Null for success.
OrtStatus* make_status(const Status& status);

/// The status that stands for the exception in flight; call only inside a catch block.
OrtStatus* status_of_current_exception();

/// Null is allowed.
void release_status(OrtStatus* status);

/// What a plugin or callback returned, taken over and released.
Status take_status(OrtStatus* status);

}  // namespace rh::abi
