#include "providers/cuda/vendor.h"

#include "base/error.h"
#include "base/vendor_files.h"

namespace rh::cuda {

namespace {

std::shared_ptr<kit::VendorLibrary> open(std::string_view key, std::string_view option, std::string_view given) {
  const VendorFiles& vendor = *vendor_files(key);
  const VendorFilesState state = look_for_vendor(vendor, given);
  if (!state.problem.empty()) fail(ErrorCode::not_found, "{}", state.problem);
  return std::make_shared<kit::VendorLibrary>(kit::VendorLibrarySpec{.title = vendor.title,
                                                                     .file = vendor.file,
                                                                     .given = given,
                                                                     .option = option,
                                                                     .variable = vendor.variable,
                                                                     .found = state.file.native(),
                                                                     .stays_loaded = true});
}

std::shared_ptr<kit::VendorLibrary> open_driver(gpu::DriverApi& api) {
  auto library = open("cuda", {}, {});
#define RH_CUDA_DRIVER(member, name) api.member = library->function(name);
#define RH_CUDA_NEWER(member, name) api.member = library->optional_function(name);
#define RH_CUDA_COMPILER(member, name)
#include "providers/cuda/functions.inc"
#undef RH_CUDA_DRIVER
#undef RH_CUDA_NEWER
#undef RH_CUDA_COMPILER
  return library;
}

std::shared_ptr<kit::VendorLibrary> open_compiler(gpu::CompilerApi& api, std::string_view given) {
  auto library = open("nvrtc", "nvrtc_path", given);
#define RH_CUDA_DRIVER(member, name)
#define RH_CUDA_NEWER(member, name)
#define RH_CUDA_COMPILER(member, name) api.member = library->function(name);
#include "providers/cuda/functions.inc"
#undef RH_CUDA_DRIVER
#undef RH_CUDA_NEWER
#undef RH_CUDA_COMPILER
  return library;
}

std::string_view hint(gpu::Result result) {
  switch (result) {
    case 100: return "it sees no GPU: see nvidia-smi, and CUDA_VISIBLE_DEVICES";
    case 222: return "NVRTC is newer than the driver: update the driver, or install NVRTC of the driver's CUDA version";
    case 209: return "the kernels were compiled for another GPU: clear the cache of compiled kernels";
    case 700:
    case 719: return "a kernel failed, and the device's context with it: all sessions on the device have to be closed";
    case 803: return "the driver's parts are of different versions: restart the machine after an update of the driver";
    default: return {};
  }
}

std::vector<std::string> compiler_options(int major, int minor) {
  return {fmt::format("--gpu-architecture=sm_{}{}", major, minor), "--std=c++17", "-default-device"};
}

}  // namespace

const gpu::Vendor kVendor = {
    .provider = "CUDAExecutionProvider",
    .memory = "Cuda",
    .vendor_id = 0x10de,
    .numbers = {.multiprocessors = 16,
                .major = 75,
                .minor = 76,
                .pci_bus = 33,
                .pci_device = 34,
                .pci_domain = 50,
                .no_timing_event = 2,
                .non_blocking_stream = 1,
                .relaxed_capture = 2},
    .open_driver = open_driver,
    .open_compiler = open_compiler,
    .hint = hint,
    .compiler_options = compiler_options,
};

}  // namespace rh::cuda
