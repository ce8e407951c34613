#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "providers/gpu/device/vendor.h"

namespace rh::gpu {

/// The driver of a vendor, opened once a process.
class System {
 public:
  /// Throws Error{not_found} where there is no driver, Error{ep_fail} where it does not start.
  static const System& of(const Vendor& vendor);

  const Vendor& vendor() const { return vendor_; }
  const DriverApi& api() const { return api_; }
  int driver_version() const { return version_; }  ///< as the vendor counts: 13020 is CUDA's 13.2
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
