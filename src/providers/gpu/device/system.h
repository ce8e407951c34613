#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "providers/gpu/device/api.h"

namespace rh::gpu {

/// A vendor's driver and compiler, as one process has them. What differs between vendors is in it.
struct Vendor {
  std::string_view provider;  ///< "CUDAExecutionProvider"
  std::string_view memory;    ///< what memory of a device is called: "Cuda"
  uint32_t vendor_id;
  DriverNumbers numbers;
  /// Looks the functions up. Throw Error{not_found} with one sentence.
  std::shared_ptr<kit::VendorLibrary> (*open_driver)(DriverApi& api);
  std::shared_ptr<kit::VendorLibrary> (*open_compiler)(CompilerApi& api, std::string_view given);
  /// What an error of the driver means beside its own text, and what to do; empty where that says it.
  std::string_view (*hint)(Result result);
  /// The compiler's options for a device of this capability.
  std::vector<std::string> (*compiler_options)(int major, int minor);
};

/// A device as the driver tells it.
struct DeviceFacts {
  int number = 0;
  std::string name, uuid, pci;  ///< pci: "0000:01:00.0"; uuid: empty where the driver does not tell it
  size_t bytes = 0;
  int major = 0, minor = 0, multiprocessors = 1;
};

/// The driver of a vendor, opened once a process.
class System {
 public:
  /// Throws Error{not_found} where there is no driver, Error{ep_fail} where it does not start.
  static const System& of(const Vendor& vendor);

  const Vendor& vendor() const { return vendor_; }
  const DriverApi& api() const { return api_; }
  int driver_version() const { return version_; }  ///< 13020 is 13.2
  const std::vector<DeviceFacts>& devices() const { return devices_; }
  /// Throws Error where `result` is an error: std::bad_alloc's for a want of memory, else Error{ep_fail}.
  void check(Result result, std::string_view what) const;

 private:
  explicit System(const Vendor& vendor);
  DeviceFacts facts_of(int number) const;

  const Vendor& vendor_;
  DriverApi api_;
  std::shared_ptr<kit::VendorLibrary> library_;
  int version_ = 0;
  std::vector<DeviceFacts> devices_;
};

}  // namespace rh::gpu
