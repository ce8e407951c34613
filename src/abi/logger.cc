#include "abi/logger.h"

#include <cstdio>

#include "base/clock.h"

std::atomic<RhLogFunction> OrtLogger::instead_of_stderr = nullptr;

void OrtLogger::write(OrtLoggingLevel severity, const char* category, const char* location, const char* message) const {
  if (function) {
    function(parameter, severity, category, id.c_str(), location, message);
    return;
  }
  const RhLogFunction other = instead_of_stderr.load(std::memory_order_acquire);
  if (other && other(severity, category, id.c_str(), location, message) != 0) return;
  const char letter = "VIWEF"[severity < 0 || severity > 4 ? 4 : severity];
  std::fprintf(stderr, "%s [%c:%s:%s%s%s] %s\n", rh::timestamp().c_str(), letter, category, id.c_str(), *location ? ", " : "", location,
               message);
}
