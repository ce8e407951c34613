#include "base/cpu_vendor.h"

#include <cstring>
#include <string_view>

#include "base/system_files.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace rh {

namespace {

struct Row {
  std::string_view key;
  const char* name;
  uint32_t pci_id;
};

#if defined(__x86_64__) || defined(__i386__)

constexpr Row kVendors[] = {{"GenuineIntel", "Intel", 0x8086}, {"AuthenticAMD", "AMD", 0x1022}, {"HygonGenuine", "Hygon", 0x1d94}};

std::string key() {
  unsigned highest = 0, words[3] = {};
  if (!__get_cpuid(0, &highest, &words[0], &words[2], &words[1])) return {};
  char text[sizeof(words)];
  std::memcpy(text, words, sizeof(words));
  return std::string(text, sizeof(text));
}

#else

/// By the implementer that an Arm processor names.
constexpr Row kVendors[] = {{"0x41", "ARM", 0x13b5},    {"0x43", "Cavium", 0x177d},   {"0x48", "Huawei", 0x19e5},
                            {"0x4e", "NVIDIA", 0x10de}, {"0x51", "Qualcomm", 0x5143}, {"0x61", "Apple", 0x106b}};

std::string key() {
  const std::string file = read_system_file("/proc/cpuinfo");
  for (std::string_view rest = file; !rest.empty();) {
    const std::string_view line = take_part(rest, '\n');
    const size_t begin = line.find("0x");
    if (line.starts_with("CPU implementer") && begin != line.npos) return std::string(line.substr(begin, 4));
  }
  return {};
}

#endif

}  // namespace

CpuVendor cpu_vendor() {
  const std::string found = key();
  for (const Row& row : kVendors) {
    if (row.key == found) return {row.name, row.pci_id};
  }
  return {"unknown", 0};
}

}  // namespace rh
