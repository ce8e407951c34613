#pragma once

#include "providers/gpu/device/system.h"

namespace rh::rocm {

/// HIP's runtime and hiprtc of ROCm 6 and 7, found by their files (base/vendor_files.h) and opened when they are first needed.
extern const gpu::Vendor kVendor;

}  // namespace rh::rocm
