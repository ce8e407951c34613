#include "abi/logger.h"

#include <cstdio>

#include "base/clock.h"

void OrtLogger::write(OrtLoggingLevel severity, const char* category, const char* location, const char* message) const {
  if (function) {
    function(parameter, severity, category, id.c_str(), location, message);
    return;
  }
  const char letter = "VIWEF"[severity < 0 || severity > 4 ? 4 : severity];
  std::fprintf(stderr, "%s [%c:%s:%s%s%s] %s\n", rh::timestamp().c_str(), letter, category, id.c_str(), *location ? ", " : "", location,
               message);
}
