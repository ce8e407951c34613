#include "providers/gpu/device/vendor.h"

#include <algorithm>

#include "base/error.h"
#include "base/paths.h"
#include "base/vendor_files.h"

namespace rh::gpu {

namespace {

std::shared_ptr<kit::VendorLibrary> open(std::string_view key, std::string_view option, std::string_view given) {
  const VendorFiles& files = *vendor_files(key);
  const VendorFilesState state = look_for_vendor(files, given);
  if (!state.problem.empty()) fail(ErrorCode::not_found, "{}", state.problem);
  const std::string found = utf8(state.file);
  return std::make_shared<kit::VendorLibrary>(kit::VendorLibrarySpec{.title = files.title,
                                                                     .file = files.file,
                                                                     .given = given,
                                                                     .option = option,
                                                                     .variable = files.variable,
                                                                     .found = found,
                                                                     .stays_loaded = true});
}

}  // namespace

std::string_view Vendor::hint(Result result) const {
  const auto at = std::ranges::find(hints, result, &Hint::result);
  return at == hints.end() ? std::string_view() : at->says;
}

std::vector<std::string> Vendor::compiler_options(const DeviceFacts& facts) const {
  std::vector<std::string> options = {fmt::format("{}{}", architecture_flag, facts.architecture)};
  options.insert(options.end(), flags.begin(), flags.end());
  return options;
}

#define RH_GPU_FIND(member, arguments) api.member = library->function(names.member);
#define RH_GPU_FIND_NEWER(member, arguments) \
  if (names.member) api.member = library->optional_function(names.member);

std::shared_ptr<kit::VendorLibrary> Vendor::open_driver(DriverApi& api) const {
  auto library = open(driver, {}, {});
  const DriverNames& names = driver_names;
  RH_GPU_DRIVER_FUNCTIONS(RH_GPU_FIND)
  RH_GPU_NEWER_DRIVER_FUNCTIONS(RH_GPU_FIND_NEWER)
  return library;
}

std::shared_ptr<kit::VendorLibrary> Vendor::open_compiler(CompilerApi& api, std::string_view given) const {
  auto library = open(compiler, compiler_option, given);
  const CompilerNames& names = compiler_names;
  RH_GPU_COMPILER_FUNCTIONS(RH_GPU_FIND)
  return library;
}

#undef RH_GPU_FIND
#undef RH_GPU_FIND_NEWER

}  // namespace rh::gpu
