#include "accelerators.h"

namespace rh::cli {

// Windows lists no devices in files.
nlohmann::json find_accelerators(const std::string&) { return nlohmann::json::array(); }
nlohmann::json driver_of(const std::string&, const nlohmann::json&, const std::string&) { return nullptr; }
std::string source_of(const std::string& library) { return "install what brings " + library; }

}  // namespace rh::cli
