#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace rh::cli {

/// The machine's GPUs and NPUs as the system below `root` (its /sys, /dev and /etc) lists them, with what providers need to reach them:
/// [{"type", "vendor_id", "device_id", "name": of the driver, "providers": [short names], "module": of the kernel, "module_version",
/// "nodes": [device files], "libraries": [{"name", "path", "version"}], "icds": [files that name drivers to loaders], "ok", "verdict",
/// "remedy"}]. Opens no device.
nlohmann::json find_accelerators(const std::string& root);

/// Driver and device of a provider that cannot do without them, by its short name; null for others. `hardware` as RhListProviders has it.
nlohmann::json driver_of(const std::string& short_name, const nlohmann::json& hardware, const std::string& root);

/// What to do where a library is missing.
std::string source_of(const std::string& library);

}  // namespace rh::cli
