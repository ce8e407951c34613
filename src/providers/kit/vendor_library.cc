#include "providers/kit/vendor_library.h"

#include <filesystem>
#include <mutex>
#include <vector>

#include "base/dynamic_library.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/fork_mutex.h"
#include "base/paths.h"

namespace rh::kit {

namespace {

/// A fork waits while a library is loaded or let go: the system's loader is locked meanwhile, and would stay so in the child.
ForkMutex s_loading;

}  // namespace

VendorLibrary::VendorLibrary(const VendorLibrarySpec& spec) : title_(spec.title), stays_loaded_(spec.stays_loaded) {
  std::vector<std::string> places;
  const std::string named = spec.variable ? environment_variable(spec.variable).value_or("") : "";
  if (!spec.found.empty()) {
    places.emplace_back(spec.found);
  } else if (!spec.given.empty()) {
    places.emplace_back(spec.given);  // who names one means that one
  } else if (!named.empty()) {
    places.push_back(named);
  } else {
    std::error_code ignored;
    const std::filesystem::path beside = own_library_folder() / spec.file;
    if (std::filesystem::exists(beside, ignored)) places.push_back(utf8(beside));
    places.emplace_back(spec.file);
  }
  std::string reason;
  for (const std::string& place : places) {
    try {
      const std::lock_guard lock(s_loading);
      handle_ = open_library(as_path(place).c_str());
      path_ = place;
      return;
    } catch (const Error& error) {
      reason = error.message();
    }
  }
  fail(ErrorCode::not_found, "{} does not load: {}: install it, or give its path by option '{}'{}{}", spec.title, reason, spec.option,
       spec.variable ? " or in the environment variable " : "", spec.variable ? spec.variable : "");
}

VendorLibrary::~VendorLibrary() {
  if (stays_loaded_) return;
  const std::lock_guard lock(s_loading);
  close_library(handle_);
}

VendorLibrary::Function VendorLibrary::function(const char* name) const {
  void* found = find_symbol(handle_, name);
  if (!found) fail(ErrorCode::not_found, "{} '{}' has no function {}: install a newer version", title_, path_, name);
  return {found};
}

VendorLibrary::Function VendorLibrary::optional_function(const char* name) const { return {find_symbol(handle_, name)}; }

}  // namespace rh::kit
