#pragma once

#include <nlohmann/json.hpp>

#include "providers/cpu/cpu_provider.h"

namespace rh::capi {

/// {"used", "reason": why not}.
inline nlohmann::json amx_json() {
  const std::string reason = cpu::why_no_amx();
  return {{"used", reason.empty()}, {"reason", reason}};
}

}  // namespace rh::capi
