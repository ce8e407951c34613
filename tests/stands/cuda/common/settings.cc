#include "stands/cuda/common/settings.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace rh::stand {

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::atol(text) : otherwise;
}

std::string text_setting(const char* name, const std::string& otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? text : otherwise;
}

long order_setting() { return setting("RH_STAND_ORDER", 0); }

bool checked_setting() { return setting("RH_STAND_CHECKED", 0) != 0; }

std::string own_folder() {
  Dl_info found{};
  dladdr(reinterpret_cast<const void*>(&own_folder), &found);
  return std::filesystem::absolute(found.dli_fname ? found.dli_fname : ".").parent_path().string();
}

}  // namespace rh::stand
