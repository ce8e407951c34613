// What the stand of HIP has in place of cuda/common/kind.cc: an architecture is a name, of which the stand knows the number in hexadecimal.
#include "stands/cuda/common/kind.h"

#include <algorithm>

#include "stands/cuda/common/settings.h"
#include "stands/hip/architecture.h"

namespace rh::stand {

std::string device_name() { return "Roundhouse HIP stand"; }
std::vector<const char*> visible_devices_variables() { return {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}; }

std::string architecture_name() { return text_setting("RH_STAND_ARCHITECTURE", "gfx90a"); }
int number_of_architecture(const std::string& name) {
  const std::string number = name.substr(0, name.find(':'));
  return number.starts_with("gfx") ? std::stoi(number.substr(3), nullptr, 16) : 0;
}
int device_architecture() { return number_of_architecture(architecture_name()); }
// The GPUs of the families GCN and CDNA have wavefronts of 64.
unsigned warp_size() { return static_cast<unsigned>(setting("RH_STAND_WARP", device_architecture() < 0x1000 ? 64 : 32)); }

const std::vector<int>& known_architectures() {
  static const auto& known = *new std::vector<int>{0x900,  0x906,  0x908,  0x90a,  0x942,  0x950,  0x1010, 0x1030,
                                                   0x1100, 0x1101, 0x1102, 0x1150, 0x1151, 0x1200, 0x1201};
  return known;
}
NamedArchitecture architecture_of(const std::string& option) {
  static const std::string flag = "--offload-arch=";
  if (!option.starts_with(flag)) return {};
  const int number = number_of_architecture(option.substr(flag.size()));
  return {true, true, std::ranges::count(known_architectures(), number) > 0 ? number : 0};
}
std::vector<std::string> architecture_flags(int number) {
  char name[16];
  std::snprintf(name, sizeof name, "%x", static_cast<unsigned>(number));
  const std::string digits = name;
  return {"-D__HIPCC_RTC__=1",
          "-D__HIP_DEVICE_COMPILE__=1",
          "-D__HIP_PLATFORM_AMD__=1",
          "-D__gfx" + digits + "__=1",
          "-D__GFX" + digits.substr(0, digits.size() - 2) + "__=1",
          "-DRH_STAND_ARCHITECTURE=0x" + digits};
}
int default_architecture() { return device_architecture(); }
bool code_is_exact() { return true; }

}  // namespace rh::stand
