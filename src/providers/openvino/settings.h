#pragma once

#include <memory>

#include "providers/kit/cache/artifact_maker.h"
#include "providers/kit/host/options.h"
#include "providers/openvino/compiled.h"

namespace rh::openvino {

inline constexpr std::string_view kPrecisions[] = {"", "FP32", "FP16", "ACCURACY"};
inline constexpr std::string_view kPriorities[] = {"DEFAULT", "LOW", "MEDIUM", "HIGH"};
inline constexpr std::string_view kCaching[] = {"", "0", "1"};
inline constexpr int64_t kMostThreads = 4096;

/// ONNX Runtime's names. Each has its effect, or is refused by settings_of with the reason.
inline constexpr kit::OptionRow kOptions[] = {
    {"library_path",
     kit::OptionRow::Type::text,
     "",
     "OpenVINO's C library, or the folder that has it; else it is looked for",
     0,
     0,
     {},
     false},
    {"cache", kit::OptionRow::Type::choice, "", "whether compiled regions are kept: 1, 0, or where cache_dir says so", 0, 0, kCaching,
     false},
    {"device_type", kit::OptionRow::Type::text, "", "CPU, GPU, GPU.1, NPU, AUTO:..., HETERO:..., MULTI:...; CPU_FP32, GPU_FP16 and so on"},
    {"device_id", kit::OptionRow::Type::text, "", "an older name of device_type"},
    {"device_luid", kit::OptionRow::Type::text, "", "refused: devices are named by device_type"},
    {"cache_dir", kit::OptionRow::Type::text, "", "a folder in which compiled regions are kept", 0, 0, {}, false},
    kit::kCacheLimitOption,
    {"precision", kit::OptionRow::Type::choice, "", "of inference: FP32, FP16, or ACCURACY, the model's own", 0, 0, kPrecisions},
    {"load_config", kit::OptionRow::Type::text, "", "JSON, or a file of it: OpenVINO's properties by device"},
    {"context", kit::OptionRow::Type::text, "0", "refused: no OpenCL context of the caller is used"},
    {"num_of_threads", kit::OptionRow::Type::integer, "0", "of the CPU; 0: the session's intra_op_num_threads", 0, kMostThreads},
    {"model_priority", kit::OptionRow::Type::choice, "DEFAULT", "of this model on its device", 0, 0, kPriorities},
    {"num_streams", kit::OptionRow::Type::integer, "1", "how many runs go side by side", 1, kMostThreads},
    {"enable_opencl_throttling", kit::OptionRow::Type::flag, "false", "of the GPU: less of the CPU while it waits"},
    {"enable_qdq_optimizer", kit::OptionRow::Type::flag, "false",
     "refused: QuantizeLinear and DequantizeLinear go to OpenVINO as they are"},
    {"enable_causallm", kit::OptionRow::Type::flag, "false", "refused: models keep their inputs and outputs"},
    {"disable_dynamic_shapes", kit::OptionRow::Type::flag, "false", "compiles for each set of sizes that comes; of NPU always"},
    {"reshape_input", kit::OptionRow::Type::text, "", "sizes that inputs have: 'x[1,3,60..100],y[1..8]'"},
    {"layout", kit::OptionRow::Type::text, "", "refused: the layouts of inputs and outputs are the model's"},
};

/// `session_threads`: 0 where they are not known. Throws Error{invalid_argument} or Error{not_implemented} that says why, for what has no
/// effect here.
CompileSettings settings_of(const kit::Options& options, int session_threads, const Runtime& runtime);

/// Of single devices; others keep what they compile themselves, in the folder of cache_dir.
kit::CacheSettings cache_of(const kit::Options& options, const CompileSettings& settings);
/// What of the settings the options do not say as they are written.
std::string key_of(const CompileSettings& settings);

}  // namespace rh::openvino
