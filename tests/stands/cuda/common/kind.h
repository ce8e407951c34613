// What differs between the stands of CUDA and HIP: each has a file of these functions (cuda/common/kind.cc, hip/kind.cc).
#pragma once

#include <string>
#include <vector>

namespace rh::stand {

std::string device_name();
// The variables that choose among the devices, the first that is set.
std::vector<const char*> visible_devices_variables();
// The architecture of the devices, and the number in an image that was compiled for it: 80, or 0x90a.
int device_architecture();
unsigned warp_size();

// The architectures that the compiler knows.
const std::vector<int>& known_architectures();
// The number of the architecture that a compiler's option names, if it is such an option: 0 of one that is not known.
struct NamedArchitecture {
  bool is_named = false, is_real = true;  // real: code of a device and not of a family
  int number = 0;
};
NamedArchitecture architecture_of(const std::string& option);
// Definitions that kernels see.
std::vector<std::string> architecture_flags(int number);
int default_architecture();
// Whether code runs on its architecture alone, and on no newer one of the family.
bool code_is_exact();

}  // namespace rh::stand
