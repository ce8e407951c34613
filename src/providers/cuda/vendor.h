#pragma once

#include "providers/gpu/device/system.h"

namespace rh::cuda {

/// NVIDIA's driver and NVRTC, found by their files (base/vendor_files.h) and opened when they are first needed.
extern const gpu::Vendor kVendor;

}  // namespace rh::cuda
