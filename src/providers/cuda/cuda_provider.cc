// CUDAExecutionProvider: NVIDIA's driver and NVRTC (vendor.cc) under what all GPUs share (providers/gpu).
#include "providers/cuda/settings.h"
#include "providers/cuda/vendor.h"
#include "providers/kit/ep.h"

namespace rh::cuda {

namespace {

class CudaProvider final : public gpu::Provider {
 public:
  explicit CudaProvider(const kit::Setup& setup) : Provider(setup, kVendor, gpu::read_settings(setup.options, kVendor, kRefused)) {}
};

std::vector<kit::DeviceSpec> devices() { return gpu::list_devices(kVendor); }

std::shared_ptr<kit::DeviceDriver> open(int device_id) { return std::make_shared<gpu::Driver>(gpu::System::of(kVendor), device_id); }

constexpr kit::ProviderKind kCuda = {.name = "CUDAExecutionProvider",
                                     .vendor = "NVIDIA",
                                     .vendor_id = 0x10de,
                                     .version = "1.0.0",
                                     .options = kOptions,
                                     .make = kit::make<CudaProvider>,
                                     .devices = devices,
                                     .open = open};

}  // namespace

}  // namespace rh::cuda

RH_EXPORT_KIT_PROVIDER(rh::cuda::kCuda)
