#include "providers/openvino/runtime.h"

#include <cstdlib>

#include "base/error.h"
#include "base/paths.h"
#include "base/vendor_files.h"

namespace rh::openvino {

namespace {

constexpr int kLeastYear = 2025;
constexpr size_t kLongestMessage = 400;

kit::VendorLibrary open(std::string_view given) {
  const VendorFiles& vendor = *vendor_files("openvino");
  const VendorFilesState state = look_for_vendor(vendor, given);
  if (!state.problem.empty()) fail(ErrorCode::not_found, "{}", state.problem);
  const std::string found = utf8(state.file);
  return kit::VendorLibrary({.title = "OpenVINO",
                             .file = vendor.file,
                             .given = given,
                             .option = "library_path",
                             .variable = vendor.variable,
                             .found = found,
                             .stays_loaded = true});
}

/// OpenVINO's messages have a line a level, of which those that name its own sources say nothing to others.
std::string one_line(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const size_t end = std::min(message.find('\n'), message.size());
    std::string_view line = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    if (line.starts_with("Exception from ")) continue;
    if (line.starts_with("Check ") && line.ends_with(':')) continue;
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (line.empty()) continue;
    text += text.empty() ? "" : " ";
    text += line;
  }
  if (text.size() > kLongestMessage) text.replace(kLongestMessage, std::string::npos, "...");
  return text;
}

}  // namespace

Runtime::Runtime(std::string_view given) : library_(open(given)), api_(library_), core_(nullptr, api_.core_free) {
  VendorVersion version{};
  check(api_.get_openvino_version(&version), "ov_get_openvino_version");
  version_ = version.build_number ? version.build_number : "";
  api_.version_free(&version);
  if (std::atoi(version_.c_str()) < kLeastYear) {
    fail(ErrorCode::not_found, "OpenVINO ('{}') is of version {}, expected {}.0 or newer: pip install --upgrade openvino", library_.path(),
         version_, kLeastYear);
  }
  Core* core = nullptr;
  check(api_.core_create(&core), "ov_core_create");
  core_.reset(core);
}

bool Runtime::reads_in_place() const {
  const int year = std::atoi(version_.c_str());
  const size_t point = version_.find('.');
  const int release = point == version_.npos ? 0 : std::atoi(version_.c_str() + point + 1);
  return std::pair(year, release) >= std::pair(2025, 4);
}

void Runtime::check(VendorStatus status, std::string_view what) const {
  if (status == 0) return;
  const char* message = api_.get_last_err_msg();
  const std::string text = one_line(message ? message : "");
  fail(ErrorCode::ep_fail, "OpenVINO's {} failed ({}): {}", what, status, text.empty() ? "it gives no message" : text);
}

void Runtime::set_property(const std::string& device, const std::string& name, const std::string& value) const {
  const VendorStatus status = api_.core_set_property(core_.get(), device.c_str(), name.c_str(), value.c_str(), static_cast<char*>(nullptr));
  check(status, fmt::format("property {} of {} = '{}'", name, device, value));
}

bool Runtime::try_property(const std::string& device, const std::string& name, const std::string& value) const {
  return api_.core_set_property(core_.get(), device.c_str(), name.c_str(), value.c_str(), static_cast<char*>(nullptr)) == 0;
}

std::optional<std::string> Runtime::property(const std::string& device, const std::string& name) const {
  char* value = nullptr;
  if (api_.core_get_property(core_.get(), device.c_str(), name.c_str(), &value) != 0 || !value) return {};
  std::string text = value;
  api_.free(value);
  return text;
}

}  // namespace rh::openvino
