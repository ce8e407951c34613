// ROCMExecutionProvider: HIP and hiprtc (vendor.cc) under what all GPUs share (providers/gpu).
#include "providers/kit/ep.h"
#include "providers/rocm/settings.h"
#include "providers/rocm/vendor.h"

namespace rh::rocm {

namespace {

class RocmProvider final : public gpu::Provider {
 public:
  explicit RocmProvider(const kit::Setup& setup) : Provider(setup, kVendor, gpu::read_settings(setup.options, kVendor, kRefused)) {}
};

std::vector<kit::DeviceSpec> devices() { return gpu::list_devices(kVendor); }

std::shared_ptr<kit::DeviceDriver> open(int device_id) { return std::make_shared<gpu::Driver>(gpu::System::of(kVendor), device_id); }

constexpr kit::ProviderKind kRocm = {.name = "ROCMExecutionProvider",
                                     .vendor = "AMD",
                                     .vendor_id = 0x1002,
                                     .version = "1.0.0",
                                     .options = kOptions,
                                     .make = kit::make<RocmProvider>,
                                     .devices = devices,
                                     .open = open};

}  // namespace

}  // namespace rh::rocm

RH_EXPORT_KIT_PROVIDER(rh::rocm::kRocm)
