#pragma once

#include <map>
#include <memory>
#include <string>

#include "providers/provider.h"

namespace rh::cpu {

inline constexpr std::string_view kProviderName = "CPUExecutionProvider";

/// The provider of this folder's kernels. Options: use_arena ("0", "1", "true", "false": what the session's options have as the arena of
/// the CPU).
std::shared_ptr<Provider> make_provider(const std::map<std::string, std::string>& options);

/// Why products of floats use no AMX tiles in this process; empty where they do. May ask the system for the tiles, and try them.
std::string why_no_amx();

}  // namespace rh::cpu
