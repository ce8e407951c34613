#pragma once

#include "providers/gpu/provider.h"
#include "providers/kit/cache/artifact_maker.h"
#include "providers/kit/host/options.h"

namespace rh::cuda {

inline constexpr std::string_view kStrategies[] = {"kNextPowerOfTwo", "kSameAsRequested"};
inline constexpr std::string_view kSearches[] = {"EXHAUSTIVE", "HEURISTIC", "DEFAULT"};

/// ONNX Runtime's names, and ours for what it has none. Each has its effect, or is refused by settings_of with the reason.
inline constexpr kit::OptionRow kOptions[] = {
    {"device_id", kit::OptionRow::Type::integer, "0", "of the GPU, as the driver counts them", 0, 1023, {}, false},
    {"nvrtc_path", kit::OptionRow::Type::text, "", "NVRTC's library, or the folder that has it; else it is looked for", 0, 0, {}, false},
    {"gpu_mem_limit",
     kit::OptionRow::Type::text,
     "",
     "bytes of the session's arena on the device, and of each region's plan",
     0,
     0,
     {},
     false},
    {"arena_extend_strategy", kit::OptionRow::Type::choice, "kNextPowerOfTwo", "how the arena grows", 0, 0, kStrategies, false},
    {"capture",
     kit::OptionRow::Type::flag,
     "1",
     "whether launches that come again become one CUDA graph, at their third run",
     0,
     0,
     {},
     false},
    {"recognise",
     kit::OptionRow::Type::flag,
     "1",
     "whether attention, normalisations and activations that nodes spell out are one kernel each",
     0,
     0,
     {},
     false},
    {"do_copy_in_default_stream", kit::OptionRow::Type::flag, "1", "refused where it is 0: copies go by the stream of the run"},
    {"has_user_compute_stream", kit::OptionRow::Type::flag, "0", "nothing: user_compute_stream says it", 0, 0, {}, false},
    {"user_compute_stream",
     kit::OptionRow::Type::text,
     "0",
     "the address of a CUstream on which runs work, as a decimal number",
     0,
     0,
     {},
     false},
    {"gpu_external_alloc", kit::OptionRow::Type::text, "0", "refused: memory is the driver's"},
    {"gpu_external_free", kit::OptionRow::Type::text, "0", "refused: memory is the driver's"},
    {"gpu_external_empty_cache", kit::OptionRow::Type::text, "0", "refused: memory is the driver's"},
    {"enable_cuda_graph", kit::OptionRow::Type::flag, "0", "nothing: launches are captured by themselves (capture)", 0, 0, {}, false},
    {"use_tf32", kit::OptionRow::Type::flag, "0", "nothing: products of float32 are computed in float32", 0, 0, {}, false},
    {"prefer_nhwc",
     kit::OptionRow::Type::flag,
     "0",
     "nothing: there are no kernels for channels last",
     0,
     0,
     {},
     false,
     "prefer_nhwc_layout"},
    {"cudnn_conv_algo_search", kit::OptionRow::Type::choice, "EXHAUSTIVE", "nothing: convolutions are kernels of our own", 0, 0, kSearches,
     false},
    {"cudnn_conv_use_max_workspace", kit::OptionRow::Type::flag, "1", "nothing: convolutions are kernels of our own", 0, 0, {}, false},
    {"cudnn_conv1d_pad_to_nc1d", kit::OptionRow::Type::flag, "0", "nothing: convolutions are kernels of our own", 0, 0, {}, false},
    {"enable_cudnn", kit::OptionRow::Type::flag, "1", "nothing: cuDNN is not used", 0, 0, {}, false},
    {"fuse_conv_bias", kit::OptionRow::Type::flag, "0", "nothing: biases are part of our convolutions", 0, 0, {}, false},
    {"sdpa_kernel", kit::OptionRow::Type::integer, "0", "nothing: there is no choice of kernels for attention", 0, 1 << 16, {}, false},
    {"tunable_op_enable", kit::OptionRow::Type::flag, "0", "refused: nothing is tuned"},
    {"tunable_op_tuning_enable", kit::OptionRow::Type::flag, "0", "refused: nothing is tuned"},
    {"tunable_op_max_tuning_duration_ms", kit::OptionRow::Type::integer, "0", "nothing without tunable_op_enable", 0, 1 << 30, {}, false},
    {"enable_skip_layer_norm_strict_mode", kit::OptionRow::Type::flag, "0", "nothing: sums are float32's", 0, 0, {}, false},
    {"use_ep_level_unified_stream", kit::OptionRow::Type::flag, "0", "nothing: a run works on one stream", 0, 0, {}, false},
    {"cudnn_conv_algo", kit::OptionRow::Type::text, "", "nothing: convolutions are kernels of our own", 0, 0, {}, false},
    {"min_num_runs_before_cuda_graph_capture",
     kit::OptionRow::Type::integer,
     "2",
     "nothing: launches are captured at their third run",
     0,
     1 << 20,
     {},
     false},
    {"fpa_intb_gemm", kit::OptionRow::Type::text, "0", "nothing: there are no such products", 0, 0, {}, false},
    {"fpa_intb_profile_m", kit::OptionRow::Type::text, "", "nothing: there are no such products", 0, 0, {}, false},
    {"qmoe_row_tile_size", kit::OptionRow::Type::text, "", "nothing: there are no such products", 0, 0, {}, false},
    kit::kCacheOption,
    kit::kCacheFolderOption,
    kit::kCacheLimitOption,
};

/// Throws Error where an option is refused.
gpu::Settings settings_of(const kit::Options& options);

}  // namespace rh::cuda
