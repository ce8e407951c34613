#include "providers/rocm/vendor.h"

#include <algorithm>

#include "base/error.h"

namespace rh::rocm {

namespace {

constexpr gpu::DriverNames kDriver = {
    .init = "hipInit",
    .version = "hipDriverGetVersion",
    .device_count = "hipGetDeviceCount",
    .device = "hipDeviceGet",
    .device_name = "hipDeviceGetName",
    .device_attribute = "hipDeviceGetAttribute",
    .device_memory = "hipDeviceTotalMem",
    .retain_context = "hipDevicePrimaryCtxRetain",
    .release_context = "hipDevicePrimaryCtxRelease",
    .set_context = "hipCtxSetCurrent",
    .wait_for_all = "hipDeviceSynchronize",
    .allocate = "hipMalloc",
    .free = "hipFree",
    .allocate_pinned = "hipHostMalloc",
    .free_pinned = "hipHostFree",
    .copy_in = "hipMemcpyHtoD",
    .copy_out = "hipMemcpyDtoH",
    .copy_in_on = "hipMemcpyHtoDAsync",
    .copy_out_on = "hipMemcpyDtoHAsync",
    .copy_within_on = "hipMemcpyDtoDAsync",
    .make_stream = "hipStreamCreateWithFlags",
    .destroy_stream = "hipStreamDestroy",
    .wait_stream = "hipStreamSynchronize",
    .stream_wait = "hipStreamWaitEvent",
    .make_event = "hipEventCreateWithFlags",
    .destroy_event = "hipEventDestroy",
    .record = "hipEventRecord",
    .wait_event = "hipEventSynchronize",
    .error_text = "hipDrvGetErrorString",
    .load_module = "hipModuleLoadData",
    .unload_module = "hipModuleUnload",
    .function = "hipModuleGetFunction",
    .launch = "hipModuleLaunchKernel",
    .device_uuid = "hipDeviceGetUuid",
    .properties = "hipGetDevicePropertiesR0600",
    .memory_state = "hipMemGetInfo",
    .begin_capture = "hipStreamBeginCapture",
    .end_capture = "hipStreamEndCapture",
    .is_capturing = "hipStreamIsCapturing",
    .instantiate = "hipGraphInstantiateWithFlags",
    .launch_graph = "hipGraphLaunch",
    .destroy_graph = "hipGraphDestroy",
    .destroy_instance = "hipGraphExecDestroy",
    .elapsed = "hipEventElapsedTime",
};

constexpr gpu::CompilerNames kCompiler = {
    .version = "hiprtcVersion",
    .create = "hiprtcCreateProgram",
    .compile = "hiprtcCompileProgram",
    .log_size = "hiprtcGetProgramLogSize",
    .log = "hiprtcGetProgramLog",
    .image_size = "hiprtcGetCodeSize",
    .image = "hiprtcGetCode",
    .destroy = "hiprtcDestroyProgram",
};

constexpr gpu::Vendor::Hint kHints[] = {
    {35, "the kernel's driver is older than this ROCm: update amdgpu, or install the ROCm that the driver came with"},
    {98, "the kernels were compiled for another GPU: clear the cache of compiled kernels"},
    {100, "it sees no GPU: see rocminfo, HIP_VISIBLE_DEVICES, and whether this user may open /dev/kfd (the groups render and video)"},
    {209, "the kernels were compiled for another GPU: clear the cache of compiled kernels"},
    {700, "a kernel failed, and the device with it: all sessions on the device have to be closed"},
    {719, "a kernel failed, and the device with it: all sessions on the device have to be closed"},
};

constexpr std::string_view kFlags[] = {"-std=c++17", "-O3"};

/// GPUs with matrix cores, by how their names begin, and the wavefronts for which kernels/mma.cuh has a form.
struct MatrixCores {
  std::string_view architecture;
  int lanes;
};
constexpr MatrixCores kMatrixCores[] = {{"gfx90a", 64}, {"gfx94", 64}, {"gfx950", 64}, {"gfx11", 32}, {"gfx120", 32}};

// The name of the architecture is known from the struct of properties alone, hipDeviceProp_tR0600 of ROCm 6 and 7.
void describe(gpu::DeviceFacts& facts, std::span<const char> properties) {
  constexpr size_t kNameAt = 1160, kNameBytes = 256;
  if (properties.size() < kNameAt + kNameBytes) {
    fail(ErrorCode::not_found, "ROCMExecutionProvider: HIP's library has no function {}: install ROCm 6 or newer", kDriver.properties);
  }
  const std::span<const char> name = properties.subspan(kNameAt, kNameBytes);
  facts.architecture.assign(name.begin(), std::ranges::find(name, '\0'));
  const std::string_view architecture = facts.architecture;
  if (!architecture.starts_with("gfx")) {
    fail(ErrorCode::ep_fail,
         "ROCMExecutionProvider: HIP's library calls the architecture of device {} '{}', expected a name like gfx90a: install ROCm 6 or 7",
         facts.number, architecture);
  }
  facts.has_matrix_cores = std::ranges::any_of(
      kMatrixCores, [&](const MatrixCores& row) { return architecture.starts_with(row.architecture) && row.lanes == facts.warp_size; });
}

}  // namespace

const gpu::Vendor kVendor = {
    .provider = "ROCMExecutionProvider",
    .memory = "Hip",
    .vendor_id = 0x1002,
    .driver = "rocm",
    .compiler = "hiprtc",
    .compiler_option = "hiprtc_path",
    .driver_names = kDriver,
    .compiler_names = kCompiler,
    .numbers = {.out_of_memory = 2,
                .multiprocessors = 63,
                .major = 23,
                .minor = 61,
                .pci_bus = 67,
                .pci_device = 68,
                .pci_domain = 69,
                .warp_size = 87,
                .no_timing_event = 2,
                .non_blocking_stream = 1,
                .relaxed_capture = 2},
    .uuid_is_text = true,
    .hints = kHints,
    .describe = describe,
    .architecture_flag = "--offload-arch=",
    .flags = kFlags,
};

}  // namespace rh::rocm
