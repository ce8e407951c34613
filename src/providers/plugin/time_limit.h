#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rh::plugin {

/// How long a plugin may take to make its factories, or a provider, where the configuration of the environment, or of the session, says so
/// much: 30 seconds without; 0: no limit.
std::chrono::milliseconds time_limit_of(std::optional<uint32_t> said);

/// Calls `work` on a thread of its own and gives its status. One that is not done in time is left behind: the error says so, and `kept` is
/// released once it ends, if ever; `hung`, where given, becomes true. `work` must not use what the caller owns. `function`:
/// "OrtEpFactory::CreateEp".
Status call_in_time(std::string_view provider, std::string_view function, std::chrono::milliseconds limit, std::function<Status()> work,
                    std::shared_ptr<const void> kept, bool* hung = nullptr);

}  // namespace rh::plugin
