#include <fmt/format.h>

#include "abi/logger.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

OrtStatus* ORT_API_CALL Logger_LogMessage(const OrtLogger* logger, OrtLoggingLevel severity, const char* message, const ORTCHAR_T*,
                                          int line, const char* function) {
  return guard([&] {
    const OrtLogger& target = checked(logger, "logger");
    if (!target.enabled(severity)) return;
    const std::string location = fmt::format("{}:{}", function ? function : "", line);
    target.log(severity, "onnxruntime", location.c_str(), checked(message, "message") ? message : "");
  });
}

OrtStatus* ORT_API_CALL Logger_GetLoggingSeverityLevel(const OrtLogger* logger, OrtLoggingLevel* out) {
  return guard([&] { checked(out, "out") = checked(logger, "logger").level; });
}

}  // namespace rh::capi

extern "C" ORT_EXPORT void ORT_API_CALL RhSetLogFunction(RhLogFunction function) {
  OrtLogger::instead_of_stderr.store(function, std::memory_order_release);
}
