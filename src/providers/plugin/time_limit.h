#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "abi/key_values.h"
#include "base/error.h"

namespace rh::plugin {

/// How long a plugin may take to make its factories, or a provider: an entry of the environment's configuration, or of the session's.
inline constexpr char kTimeoutKey[] = "roundhouse.plugin.timeout_ms";
/// 30 seconds without an entry; 0: no limit. Throws Error{invalid_argument}.
std::chrono::milliseconds time_limit_of(const OrtKeyValuePairs* config);

/// Calls `work` on a thread of its own and gives its status. One that is not done in time is left behind: the error says so, and `kept` is
/// released once it ends, if ever; `hung`, where given, becomes true. `work` must not use what the caller owns. `function`:
/// "OrtEpFactory::CreateEp".
Status call_in_time(std::string_view provider, std::string_view function, std::chrono::milliseconds limit, std::function<Status()> work,
                    std::shared_ptr<const void> kept, bool* hung = nullptr);

}  // namespace rh::plugin
