#pragma once

#include "providers/gpu/settings.h"

namespace rh::rocm {

/// Those of the last ONNX Runtime that had the provider, with their defaults, and ours for what it has none. Each has its effect, or is
/// refused with the reason (kRefused).
inline constexpr kit::OptionRow kOptions[] = {
    gpu::kDeviceOption,
    {"hiprtc_path", kit::OptionRow::Type::text, "", "hiprtc's library, or the folder that has it; else it is looked for", 0, 0, {}, false},
    {"gpu_mem_limit",
     kit::OptionRow::Type::text,
     "18446744073709551615",
     "bytes of the session's arena on the device, and of each region's plan",
     0,
     0,
     {},
     false},
    gpu::kStrategyOption,
    gpu::kCaptureOption,
    gpu::kRecogniseOption,
    gpu::kCopyOption,
    gpu::kHasStreamOption,
    {"user_compute_stream",
     kit::OptionRow::Type::text,
     "0",
     "the address of a hipStream_t on which runs work, as a decimal number",
     0,
     0,
     {},
     false},
    {"enable_hip_graph", kit::OptionRow::Type::flag, "0", "nothing: launches are captured by themselves (capture)", 0, 0, {}, false},
    {"miopen_conv_exhaustive_search", kit::OptionRow::Type::flag, "0", "nothing: convolutions are kernels of our own", 0, 0, {}, false},
    {"miopen_conv_use_max_workspace", kit::OptionRow::Type::flag, "1", "nothing: convolutions are kernels of our own", 0, 0, {}, false},
    gpu::kTunableOption,
    gpu::kTuningOption,
    gpu::kTuningTimeOption,
    kit::kCacheOption,
    kit::kCacheFolderOption,
    kit::kCacheLimitOption,
};

inline constexpr gpu::RefusedOption kRefused[] = {gpu::kRefusedCopy, gpu::kRefusedTunable, gpu::kRefusedTuning};

}  // namespace rh::rocm
