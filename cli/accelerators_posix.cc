#include "accelerators.h"
#include "finding.h"

#include <fnmatch.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "dependencies.h"

namespace rh::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A row of doctor_list.inc.
struct Driver {
  const char* name;
  const char* type;
  uint32_t vendor;
  const char* modules;
  const char* nodes;
  const char* libraries;
  const char* icds;
  const char* required_by;
  const char* used_by;
};
constexpr Driver kDrivers[] = {
#define RH_DRIVER(...) {__VA_ARGS__},
#define RH_SOURCE(prefix, remedy)
#include "doctor_list.inc"
#undef RH_DRIVER
#undef RH_SOURCE
};

struct Source {
  const char* prefix;
  const char* remedy;
};
constexpr Source kSources[] = {
#define RH_DRIVER(...)
#define RH_SOURCE(prefix, remedy) {prefix, remedy},
#include "doctor_list.inc"
#undef RH_DRIVER
#undef RH_SOURCE
};

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool has_word(const char* text, const std::string& word) {
  const std::vector<std::string> all = words(text);
  return std::find(all.begin(), all.end(), word) != all.end();
}

std::string first_word_in(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

uint32_t number_in(const fs::path& file) { return static_cast<uint32_t>(std::strtoul(first_word_in(file).c_str(), nullptr, 16)); }

/// Entries of a folder that fit a pattern, sorted.
std::vector<fs::path> entries(const fs::path& folder, const std::string& pattern) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (fnmatch(pattern.c_str(), at->path().filename().c_str(), 0) == 0) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Files below `root` that fit one of the patterns "/dev/nvidia[0-9]*".
std::vector<std::string> files(const std::string& root, const char* patterns) {
  std::vector<std::string> found;
  for (const std::string& pattern : words(patterns)) {
    const fs::path path = fs::path(root) / pattern.substr(1);
    for (const fs::path& file : entries(path.parent_path(), path.filename())) found.push_back(file.string());
  }
  return found;
}

/// A device of the kernel: where it is in /sys, and its file.
struct Device {
  std::string type;
  fs::path folder;
  std::vector<std::string> nodes;

  uint32_t vendor() const { return number_in(folder / "vendor"); }
  uint32_t number() const { return number_in(folder / "device"); }
  std::string module() const {
    std::error_code error;
    const fs::path driver = fs::read_symlink(folder / "driver", error);
    return error ? std::string() : driver.filename().string();
  }
};

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

std::vector<Device> devices_of(const std::string& root) {
  const fs::path sys = fs::path(root) / "sys/class", dev = fs::path(root) / "dev";
  std::vector<Device> devices;
  for (const fs::path& card : entries(sys / "drm", "card[0-9]")) {
    Device& device = devices.emplace_back(Device{"GPU", card / "device", {}});
    for (const fs::path& render : entries(sys / "drm", "renderD*")) {
      if (is_same(render / "device", device.folder)) device.nodes.push_back((dev / "dri" / render.filename()).string());
    }
  }
  for (const fs::path& accel : entries(sys / "accel", "accel[0-9]*")) {
    devices.push_back({"NPU", accel / "device", {(dev / "accel" / accel.filename()).string()}});
  }
  std::erase_if(devices, [](const Device& device) { return device.vendor() == 0; });
  return devices;
}

std::string module_version(const std::string& root, const std::string& module) {
  return module.empty() ? std::string() : first_word_in(fs::path(root) / "sys/module" / module / "version");
}

std::string group_of(const std::string& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return {};
  const group* owner = getgrgid(status.st_gid);
  return owner ? owner->gr_name : std::to_string(status.st_gid);
}

/// One device, examined from the kernel up to the libraries until something is wrong.
class Accelerator : Finding {
 public:
  Accelerator(const std::string& root, const Driver* driver, const std::string& module, std::vector<std::string> nodes)
      : driver_(driver), module_(module), nodes_(std::move(nodes)) {
    result_.update({{"name", driver ? driver->name : ""},
                    {"module", module},
                    {"module_version", module_version(root, module)},
                    {"nodes", nodes_},
                    {"libraries", json::array()},
                    {"icds", json::array()},
                    {"providers", json::array()}});
    if (!driver) return;
    result_["icds"] = files(root, driver->icds);
    for (const char* list : {driver->required_by, driver->used_by}) {
      for (const std::string& provider : words(list)) result_["providers"].push_back(provider);
    }
    for (const std::string& name : words(driver->libraries)) {
      const std::string path = find_library(name);
      result_["libraries"].push_back({{"name", name}, {"path", path}, {"version", path.empty() ? "" : library_version(path)}});
    }
  }

  json examined() && {
    if (check_kernel() && check_nodes() && check_libraries()) {
      be_ready();
    }
    return std::move(result_);
  }

 private:
  bool check_kernel() {
    if (!driver_) return conclude("no provider that is known here uses it", "");
    const std::vector<std::string> expected = words(driver_->modules);
    if (expected.empty() || std::find(expected.begin(), expected.end(), module_) != expected.end()) return true;
    std::string names;
    for (const std::string& name : expected) names += (names.empty() ? "" : " or ") + name;
    if (module_.empty()) return conclude("the kernel has no driver for it", "load the kernel's module " + names);
    return conclude("the kernel's driver for it is " + module_ + ", expected " + names, "install the " + std::string(driver_->name));
  }

  bool check_nodes() {
    if (nodes_.empty()) return conclude("the kernel has made no file for it in /dev", "give the container the device, or start udev");
    for (const std::string& node : nodes_) {
      if (access(node.c_str(), R_OK | W_OK) == 0) continue;
      if (errno == ENOENT) return conclude("there is no file '" + node + "'", "give the container the device, or start udev");
      return conclude("'" + node + "' cannot be opened: " + std::strerror(errno), "add the user to the group '" + group_of(node) + "'");
    }
    return true;
  }

  bool check_libraries() {
    for (const json& library : result_["libraries"]) {
      if (library["path"] == "") return conclude(library["name"].get<std::string>() + " is not found", source_of(library["name"]));
    }
    return true;
  }

  const Driver* driver_;
  std::string module_;
  std::vector<std::string> nodes_;
};

}  // namespace

json find_accelerators(const std::string& root) {
  json found = json::array();
  const auto add = [&](json entry, const std::string& type, uint32_t vendor, uint32_t device) {
    entry.update({{"type", type}, {"vendor_id", vendor}, {"device_id", device}});
    found.push_back(std::move(entry));
  };
  for (const Device& device : devices_of(root)) {
    const auto row = std::find_if(std::begin(kDrivers), std::end(kDrivers),
                                  [&](const Driver& driver) { return driver.vendor == device.vendor() && device.type == driver.type; });
    const Driver* driver = row == std::end(kDrivers) ? nullptr : row;
    // Drivers with files of their own beside those that the kernel numbers.
    std::vector<std::string> nodes = driver && *driver->nodes ? files(root, driver->nodes) : device.nodes;
    add(Accelerator(root, driver, device.module(), std::move(nodes)).examined(), device.type, device.vendor(), device.number());
  }
  for (const Driver& driver : kDrivers) {  // devices that are on no bus
    if (driver.vendor != 0) continue;
    std::vector<std::string> nodes = files(root, driver.nodes);
    if (!nodes.empty()) add(Accelerator(root, &driver, "", std::move(nodes)).examined(), driver.type, 0, 0);
  }
  return found;
}

json driver_of(const std::string& short_name, const json& hardware, const std::string& root) {
  const auto at =
      std::find_if(std::begin(kDrivers), std::end(kDrivers), [&](const Driver& d) { return has_word(d.required_by, short_name); });
  if (at == std::end(kDrivers)) return nullptr;
  json devices = json::array();
  for (const json& device : hardware) {
    if (device["type"] == at->type && device["vendor_id"] == at->vendor) devices.push_back(device);
  }
  std::string version;
  for (const std::string& module : words(at->modules)) version = version.empty() ? module_version(root, module) : version;
  return {{"name", at->name}, {"version", version}, {"library", find_library(words(at->libraries).front())}, {"devices", devices}};
}

std::string source_of(const std::string& library) {
  const auto at = std::find_if(std::begin(kSources), std::end(kSources), [&](const Source& s) { return library.starts_with(s.prefix); });
  return at == std::end(kSources) ? "install the package that has it, or name its folder in LD_LIBRARY_PATH" : at->remedy;
}

}  // namespace rh::cli
