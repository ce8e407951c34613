// The architecture of the stand's devices: RH_STAND_ARCHITECTURE, a name as HIP has it.
#pragma once

#include <string>

namespace rh::stand {

std::string architecture_name();

}  // namespace rh::stand
