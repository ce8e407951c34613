#include "base/clock.h"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace rh {

std::tm local_time(std::time_t seconds) {
  std::tm parts{};
#ifdef _WIN32
  localtime_s(&parts, &seconds);
#else
  localtime_r(&seconds, &parts);
#endif
  return parts;
}

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const auto since_epoch = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  const std::tm parts = local_time(std::chrono::system_clock::to_time_t(now));
  char text[48];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%06d", static_cast<int>(since_epoch % 1'000'000));
  return text;
}

}  // namespace rh
