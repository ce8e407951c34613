// Hardware as the system lists it: the folders of a made-up machine.
#include "abi/devices.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rh {

namespace {

namespace fs = std::filesystem;

/// A folder with the shape of /sys.
class MadeUpSystem {
 public:
  MadeUpSystem() : root_(fs::temp_directory_path() / ("rh_devices_" + std::to_string(::getpid()))) { fs::create_directories(root_); }
  ~MadeUpSystem() { fs::remove_all(root_); }

  /// A device at devices/<path>; an empty text leaves its file out.
  void add_device(const std::string& path, const std::string& vendor, const std::string& device, const std::string& kind = {}) const {
    write(path, "vendor", vendor);
    write(path, "device", device);
    write(path, "class", kind);
  }
  /// Listed as class/<list>/<name>.
  void list(const std::string& path, const std::string& list, const std::string& name) const {
    const fs::path entry = root_ / "devices" / path / list / name;
    fs::create_directories(entry);
    fs::create_symlink(root_ / "devices" / path, entry / "device");
    fs::create_directories(root_ / "class" / list);
    fs::create_symlink(entry, root_ / "class" / list / name);
  }
  void list_on_bus(const std::string& path) const {
    const fs::path bus = root_ / "bus" / "pci" / "devices";
    fs::create_directories(bus);
    fs::create_symlink(root_ / "devices" / path, bus / fs::path(path).filename());
  }
  /// "GPU 10de:2684 {Discrete=1 card_idx=0}": what is found, without the processor.
  std::vector<std::string> found() const {
    std::vector<std::string> texts;
    for (const OrtHardwareDevice& device : abi::discover_hardware(root_.string())) {
      if (device.type == OrtHardwareDeviceType_CPU) continue;
      char numbers[32];
      std::snprintf(numbers, sizeof(numbers), "%04x:%04x", device.vendor_id, device.device_id);
      std::string text = (device.type == OrtHardwareDeviceType_GPU ? "GPU " : "NPU ") + std::string(numbers) + device.vendor + " {";
      for (const auto& [key, value] : device.metadata.pairs()) text += key + "=" + value + " ";
      texts.push_back(text + "}");
    }
    return texts;
  }

 private:
  void write(const std::string& path, const char* file, const std::string& text) const {
    fs::create_directories(root_ / "devices" / path);
    if (!text.empty()) std::ofstream(root_ / "devices" / path / file) << text << "\n";
  }

  fs::path root_;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST(devices, finds_the_processor_alone) {
  const auto devices = abi::discover_hardware("/nowhere");
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].type, OrtHardwareDeviceType_CPU);
  EXPECT_FALSE(devices[0].vendor.empty());
  EXPECT_EQ(devices[0].device_id, 0u);
  EXPECT_TRUE(devices[0].metadata.pairs().empty());
}

TEST(devices, finds_cards_and_accelerators) {
  const MadeUpSystem system;
  system.add_device("pci0000:00/0000:00:02.0", "0x8086", "0x46a6");
  system.list("pci0000:00/0000:00:02.0", "drm", "card1");
  system.list("pci0000:00/0000:00:02.0", "drm", "card1-HDMI-A-1");
  system.list("pci0000:00/0000:00:02.0", "drm", "renderD128");
  system.add_device("pci0000:00/0000:00:01.0/0000:01:00.0", "0x10de", "0x2684");
  system.list("pci0000:00/0000:00:01.0/0000:01:00.0", "drm", "card0");
  system.add_device("platform/display", "0x13b5", "0x1111");
  system.list("platform/display", "drm", "card12");
  system.add_device("platform/other", "", "");
  system.list("platform/other", "drm", "card2");
  system.add_device("pci0000:00/0000:00:0b.0", "0x8086", "0x643e");
  system.list("pci0000:00/0000:00:0b.0", "accel", "accel0");
  EXPECT_EQ(system.found(),
            (Texts{"GPU 10de:2684 {Discrete=1 card_idx=0 pci_bus_id=0000:01:00.0 }", "GPU 8086:46a6 {card_idx=1 pci_bus_id=0000:00:02.0 }",
                   "GPU 13b5:1111 {card_idx=12 }", "NPU 8086:643e {accel_idx=0 pci_bus_id=0000:00:0b.0 }"}));
}

TEST(devices, looks_on_the_bus_where_no_card_is_listed) {
  const MadeUpSystem system;
  const std::pair<const char*, const char*> controllers[] = {{"0000:01:00.0", "0x030000"}, {"0000:02:00.0", "0x030200"},
                                                             {"0000:03:00.0", "0x038000"}, {"0000:04:00.0", "0x030100"},
                                                             {"0000:05:00.0", "0x040000"}, {"0000:06:00.0", "nonsense"}};
  for (const auto& [address, kind] : controllers) {
    system.add_device(std::string("pci0000:00/") + address, "0x10de", "0x2684", kind);
    system.list_on_bus(std::string("pci0000:00/") + address);
  }
  EXPECT_EQ(system.found(),
            (Texts{"GPU 10de:2684 {Discrete=1 pci_bus_id=0000:01:00.0 }", "GPU 10de:2684 {Discrete=1 pci_bus_id=0000:02:00.0 }"}));
}

}  // namespace rh
