#pragma once

#include <span>

#include "passes/driver/driver.h"
#include "session/options.h"

namespace rh {

/// What session options say of a list of passes.
PassOptions pass_settings(const SessionOptions& options, std::span<const Pass> list);

}  // namespace rh
