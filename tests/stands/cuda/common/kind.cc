#include "stands/cuda/common/kind.h"

#include <algorithm>
#include <regex>

#include "stands/cuda/common/settings.h"

namespace rh::stand {

std::string device_name() { return "Roundhouse CUDA stand"; }
std::vector<const char*> visible_devices_variables() { return {"CUDA_VISIBLE_DEVICES"}; }
int device_architecture() { return static_cast<int>(setting("RH_STAND_COMPUTE_CAPABILITY", 80)); }
unsigned warp_size() { return static_cast<unsigned>(setting("RH_STAND_WARP", 32)); }

const std::vector<int>& known_architectures() {
  static const auto& known = *new std::vector<int>{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  return known;
}
NamedArchitecture architecture_of(const std::string& option) {
  static const std::regex form(R"((?:--gpu-architecture|-arch|--gpu-code|-code)=(sm|compute|lto)_(\d+)[af]?)");
  std::smatch found;
  if (!std::regex_match(option, found, form)) return {};
  const int number = std::stoi(found[2]);
  return {true, found[1] == "sm", std::ranges::count(known_architectures(), number) > 0 ? number : 0};
}
std::vector<std::string> architecture_flags(int number) {
  return {"-D__CUDA_ARCH__=" + std::to_string(number * 10), "-DRH_STAND_ARCHITECTURE=" + std::to_string(number)};
}
int default_architecture() { return 75; }  // the least that NVRTC knows
bool code_is_exact() { return false; }

}  // namespace rh::stand
