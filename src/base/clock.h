#pragma once

#include <string>

namespace rh {

/// "2026-01-31 12:00:00.123456", local time.
std::string timestamp();

}  // namespace rh
