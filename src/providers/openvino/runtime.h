#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "providers/openvino/api.h"

namespace rh::openvino {

using Properties = std::vector<std::pair<std::string, std::string>>;

/// OpenVINO as one session has it: its library, which stays loaded once it was, and a core of its own.
class Runtime {
 public:
  /// Throws Error{not_found} with one sentence where there is no OpenVINO, or none that is new enough or whole. `given`: a file or a folder
  /// by option "library_path"; empty: it is looked for.
  explicit Runtime(std::string_view given);

  const Api& api() const { return api_; }
  Core* core() const { return core_.get(); }
  const std::string& version() const { return version_; }  ///< "2026.4.1-..."

  /// Whether it reads weights where they lie in memory, as 2025.4 and newer do.
  bool reads_in_place() const;

  /// Throws Error{ep_fail} with OpenVINO's message, on one line and without its source's places.
  void check(VendorStatus status, std::string_view what) const;
  /// Of a device, for all that this session compiles.
  void set_property(const std::string& device, const std::string& name, const std::string& value) const;
  /// One that not every version has: whether it is set.
  bool try_property(const std::string& device, const std::string& name, const std::string& value) const;
  /// Nothing where the device does not tell it.
  std::optional<std::string> property(const std::string& device, const std::string& name) const;

 private:
  kit::VendorLibrary library_;
  Api api_;
  std::string version_;
  std::unique_ptr<Core, void (*)(Core*)> core_;
};

}  // namespace rh::openvino
