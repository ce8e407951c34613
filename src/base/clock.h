#pragma once

#include <ctime>
#include <string>

namespace rh {

/// The parts of a time, in the local zone.
std::tm local_time(std::time_t seconds);

/// "2026-01-31 12:00:00.123456", local time.
std::string timestamp();

}  // namespace rh
