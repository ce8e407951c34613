#include "abi/logger.h"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace {

/// "2026-01-31 12:00:00.123456", local time.
void format_now(char* text, size_t size) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const long microseconds =
      static_cast<long>(std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1'000'000);
  std::tm parts{};
#ifdef _WIN32
  localtime_s(&parts, &seconds);
#else
  localtime_r(&seconds, &parts);
#endif
  const size_t length = std::strftime(text, size, "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text + length, size - length, ".%06ld", microseconds);
}

}  // namespace

void OrtLogger::log(OrtLoggingLevel severity, const char* category, const char* location, const char* message) const {
  if (!enabled(severity)) return;
  if (function) {
    function(parameter, severity, category, id.c_str(), location, message);
    return;
  }
  char time[64];
  format_now(time, sizeof time);
  const char letter = "VIWEF"[severity < 0 || severity > 4 ? 4 : severity];
  std::fprintf(stderr, "%s [%c:%s:%s%s%s] %s\n", time, letter, category, id.c_str(), *location ? ", " : "", location, message);
}
