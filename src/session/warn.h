#pragma once

#include <string_view>

#include "session/options.h"

namespace rh {

/// A warning of the session, where there is a log and its level lets it through.
inline void warn(LogSink* log, std::string_view text) {
  if (log && log->enabled(LogSeverity::warning)) log->log(LogSeverity::warning, "session", text);
}

}  // namespace rh
