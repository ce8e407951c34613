#pragma once

#include <cstdint>
#include <string>

namespace rh {

/// The maker of the processor: a short name and its number among PCI vendors; "unknown" and 0 where the processor does not say.
struct CpuVendor {
  std::string name;
  uint32_t pci_id = 0;
};
CpuVendor cpu_vendor();

}  // namespace rh
