#pragma once

#include <span>

#include "passes/driver/driver.h"
#include "session/options.h"

namespace rh {

/// What session options say of a list of passes; names of the `other` list may be disabled too.
PassOptions pass_settings(const SessionOptions& options, std::span<const Pass> list, std::span<const Pass> other);

}  // namespace rh
