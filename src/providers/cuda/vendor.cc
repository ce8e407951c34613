#include "providers/cuda/vendor.h"

#include "base/error.h"

namespace rh::cuda {

namespace {

constexpr gpu::DriverNames kDriver = {
    .init = "cuInit",
    .version = "cuDriverGetVersion",
    .device_count = "cuDeviceGetCount",
    .device = "cuDeviceGet",
    .device_name = "cuDeviceGetName",
    .device_attribute = "cuDeviceGetAttribute",
    .device_memory = "cuDeviceTotalMem_v2",
    .retain_context = "cuDevicePrimaryCtxRetain",
    .release_context = "cuDevicePrimaryCtxRelease_v2",
    .set_context = "cuCtxSetCurrent",
    .wait_for_all = "cuCtxSynchronize",
    .allocate = "cuMemAlloc_v2",
    .free = "cuMemFree_v2",
    .allocate_pinned = "cuMemHostAlloc",
    .free_pinned = "cuMemFreeHost",
    .copy_in = "cuMemcpyHtoD_v2",
    .copy_out = "cuMemcpyDtoH_v2",
    .copy_in_on = "cuMemcpyHtoDAsync_v2",
    .copy_out_on = "cuMemcpyDtoHAsync_v2",
    .copy_within_on = "cuMemcpyDtoDAsync_v2",
    .make_stream = "cuStreamCreate",
    .destroy_stream = "cuStreamDestroy_v2",
    .wait_stream = "cuStreamSynchronize",
    .stream_wait = "cuStreamWaitEvent",
    .make_event = "cuEventCreate",
    .destroy_event = "cuEventDestroy_v2",
    .record = "cuEventRecord",
    .wait_event = "cuEventSynchronize",
    .error_text = "cuGetErrorString",
    .load_module = "cuModuleLoadData",
    .unload_module = "cuModuleUnload",
    .function = "cuModuleGetFunction",
    .launch = "cuLaunchKernel",
    .device_uuid = "cuDeviceGetUuid_v2",
    .memory_state = "cuMemGetInfo_v2",
    .begin_capture = "cuStreamBeginCapture_v2",
    .end_capture = "cuStreamEndCapture",
    .is_capturing = "cuStreamIsCapturing",
    .instantiate = "cuGraphInstantiateWithFlags",
    .launch_graph = "cuGraphLaunch",
    .destroy_graph = "cuGraphDestroy",
    .destroy_instance = "cuGraphExecDestroy",
    .elapsed = "cuEventElapsedTime",
};

constexpr gpu::CompilerNames kCompiler = {
    .version = "nvrtcVersion",
    .create = "nvrtcCreateProgram",
    .compile = "nvrtcCompileProgram",
    .log_size = "nvrtcGetProgramLogSize",
    .log = "nvrtcGetProgramLog",
    .image_size = "nvrtcGetCUBINSize",
    .image = "nvrtcGetCUBIN",
    .destroy = "nvrtcDestroyProgram",
};

constexpr gpu::Vendor::Hint kHints[] = {
    {100, "it sees no GPU: see nvidia-smi, and CUDA_VISIBLE_DEVICES"},
    {222, "NVRTC is newer than the driver: update the driver, or install NVRTC of the driver's CUDA version"},
    {209, "the kernels were compiled for another GPU: clear the cache of compiled kernels"},
    {700, "a kernel failed, and the device's context with it: all sessions on the device have to be closed"},
    {719, "a kernel failed, and the device's context with it: all sessions on the device have to be closed"},
    {803, "the driver's parts are of different versions: restart the machine after an update of the driver"},
};

constexpr std::string_view kFlags[] = {"--std=c++17", "-default-device"};

void describe(gpu::DeviceFacts& facts, std::span<const char>) {
  constexpr int kLeastMajor = 8;  // whose tensor cores have mma.m16n8k16
  facts.architecture = fmt::format("sm_{}{}", facts.major, facts.minor);
  facts.has_matrix_cores = facts.major >= kLeastMajor;
}

}  // namespace

const gpu::Vendor kVendor = {
    .provider = "CUDAExecutionProvider",
    .memory = "Cuda",
    .vendor_id = 0x10de,
    .driver = "cuda",
    .compiler = "nvrtc",
    .compiler_option = "nvrtc_path",
    .driver_names = kDriver,
    .compiler_names = kCompiler,
    .numbers = {.out_of_memory = 2,
                .multiprocessors = 16,
                .major = 75,
                .minor = 76,
                .pci_bus = 33,
                .pci_device = 34,
                .pci_domain = 50,
                .warp_size = 10,
                .no_timing_event = 2,
                .non_blocking_stream = 1,
                .relaxed_capture = 2},
    .uuid_is_text = false,
    .hints = kHints,
    .describe = describe,
    .architecture_flag = "--gpu-architecture=",
    .flags = kFlags,
};

}  // namespace rh::cuda
