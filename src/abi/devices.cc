#include "abi/devices.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "base/cpu_vendor.h"

namespace rh::abi {

namespace {

namespace fs = std::filesystem;

constexpr uint32_t kNvidia = 0x10de;
constexpr uint32_t kVgaController = 0x0300, k3dController = 0x0302;  // PCI classes, without the programming interface

OrtHardwareDevice processor() {
  OrtHardwareDevice device;
  const CpuVendor vendor = cpu_vendor();
  device.vendor = vendor.name;
  device.vendor_id = vendor.pci_id;
  return device;
}

/// The content of a file such as "0x10de\n"; nothing where it is not there or no number.
std::optional<uint32_t> hex_number(const fs::path& path) {
  std::string text;  // the system gives the size of such files wrongly
  std::getline(std::ifstream(path), text);
  const size_t begin = text.starts_with("0x") ? 2 : 0;
  uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data() + begin, text.data() + text.size(), value, 16);
  return problem == std::errc() && end != text.data() + begin ? std::optional(value) : std::nullopt;
}

/// "0000:01:00.0": hexadecimal domain, bus, device and function.
bool is_pci_address(std::string_view text) {
  constexpr char kSeparators[] = {':', ':', '.'};
  size_t position = 0;
  for (int part = 0; part < 4; ++part) {
    const size_t end = std::min(text.find_first_not_of("0123456789abcdef", position), text.size());
    if (end == position) return false;
    if (part == 3) return end == text.size();
    if (end == text.size() || text[end] != kSeparators[part]) return false;
    position = end + 1;
  }
  return false;
}

/// Entries of a folder named `prefix` and a number, by that number.
std::map<uint32_t, fs::path> numbered_entries(const fs::path& folder, std::string_view prefix) {
  std::map<uint32_t, fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    uint32_t number = 0;
    const auto [last, problem] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (problem == std::errc() && last == name.data() + name.size()) found.emplace(number, at->path());
  }
  return found;
}

/// The device that a folder of the system describes; nothing where it has no PCI numbers.
std::optional<OrtHardwareDevice> described(const fs::path& folder, OrtHardwareDeviceType type) {
  const auto vendor = hex_number(folder / "vendor"), device = hex_number(folder / "device");
  if (!vendor || !device) return std::nullopt;
  OrtHardwareDevice result;
  result.type = type;
  result.vendor_id = *vendor;
  result.device_id = *device;
  if (type == OrtHardwareDeviceType_GPU && *vendor == kNvidia) result.metadata.set("Discrete", "1");
  std::error_code error;
  const std::string address = fs::canonical(folder, error).filename().string();
  if (!error && is_pci_address(address)) result.metadata.set("pci_bus_id", address);
  return result;
}

/// Devices of a class such as drm, whose entries are numbered; `key` names the number in the metadata.
void add_class(const fs::path& folder, std::string_view prefix, const char* key, OrtHardwareDeviceType type,
               std::vector<OrtHardwareDevice>& devices) {
  for (const auto& [number, path] : numbered_entries(folder, prefix)) {
    std::optional<OrtHardwareDevice> device = described(path / "device", type);
    if (!device) continue;
    device->metadata.set(key, std::to_string(number));
    devices.push_back(std::move(*device));
  }
}

/// Graphics controllers on the bus: for systems whose driver makes no drm devices, as in containers.
void add_pci_gpus(const fs::path& folder, std::vector<OrtHardwareDevice>& devices) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::optional<uint32_t> kind = hex_number(at->path() / "class");
    if (kind && (*kind >> 8 == kVgaController || *kind >> 8 == k3dController)) paths.push_back(at->path());
  }
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    if (auto device = described(path, OrtHardwareDeviceType_GPU)) devices.push_back(std::move(*device));
  }
}

}  // namespace

std::vector<OrtHardwareDevice> discover_hardware(const std::string& sysfs) {
  const fs::path root(sysfs);
  std::vector<OrtHardwareDevice> devices;
  devices.push_back(processor());
  add_class(root / "class" / "drm", "card", "card_idx", OrtHardwareDeviceType_GPU, devices);
  if (devices.size() == 1) add_pci_gpus(root / "bus" / "pci" / "devices", devices);
  add_class(root / "class" / "accel", "accel", "accel_idx", OrtHardwareDeviceType_NPU, devices);
  return devices;
}

}  // namespace rh::abi
