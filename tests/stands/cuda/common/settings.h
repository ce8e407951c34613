// What the environment says to the stand.
#pragma once

#include <string>

namespace rh::stand {

// The variable's number; `otherwise` where it is not set.
long setting(const char* name, long otherwise);
std::string text_setting(const char* name, const std::string& otherwise);

// RH_STAND_ORDER: 0 as they come, 1 backwards, else a seed.
long order_setting();
// RH_STAND_CHECKED: kernels whose every access is watched.
bool checked_setting();

// The folder of the library that this function is in.
std::string own_folder();

}  // namespace rh::stand
