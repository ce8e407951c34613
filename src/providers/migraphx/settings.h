#pragma once

#include <string>

#include "providers/kit/cache/artifact_maker.h"
#include "providers/kit/host/options.h"
#include "providers/kit/regions/precision.h"

namespace rh::migraphx {

inline constexpr std::string_view kTargets[] = {"gpu", "ref"};
inline constexpr std::string_view kStrategies[] = {"kNextPowerOfTwo", "kSameAsRequested"};
inline constexpr std::string_view kCaching[] = {"", "0", "1"};

/// ONNX Runtime's names, and ours for what it has none. Each has its effect, or is refused by settings_of with the reason.
inline constexpr kit::OptionRow kOptions[] = {
    {"library_path",
     kit::OptionRow::Type::text,
     "",
     "MIGraphX's C library, or the folder that has it; else it is looked for",
     0,
     0,
     {},
     false},
    {"target", kit::OptionRow::Type::choice, "gpu", "gpu, or ref: MIGraphX's slow interpreter on the CPU, for tests", 0, 0, kTargets},
    {"device_id", kit::OptionRow::Type::integer, "0", "of the GPU", 0, 1023, {}, false},
    {"migraphx_fp16_enable", kit::OptionRow::Type::flag, "0", "float32 is computed in float16 where that pays and loses little"},
    {"migraphx_bf16_enable", kit::OptionRow::Type::flag, "0", "the same in bfloat16"},
    {"migraphx_fp8_enable", kit::OptionRow::Type::flag, "0", "refused: no float32 is computed in 8 bits of floats"},
    {"migraphx_int8_enable", kit::OptionRow::Type::flag, "0", "tensors that the calibration table has are computed in int8"},
    {"migraphx_int8_calibration_table_name", kit::OptionRow::Type::text, "", "the table's file: JSON, or lines as calibrators write them"},
    {"migraphx_int8_use_native_calibration_table", kit::OptionRow::Type::flag, "0", "nothing: the table's form is seen by its content"},
    kit::kKeepFloat32Option,
    {"migraphx_exhaustive_tune", kit::OptionRow::Type::flag, "0",
     "compiling tries every kernel that MIGraphX has for a node, which takes long"},
    {"most_programs",
     kit::OptionRow::Type::integer,
     "16",
     "of a region, for sizes that differ; a run of further sizes is the CPU's",
     1,
     4096,
     {},
     false},
    {"migraphx_mem_limit",
     kit::OptionRow::Type::text,
     "",
     "bytes of a region's programs for other sizes, together; 0: as many as come",
     0,
     0,
     {},
     false},
    {"migraphx_arena_extend_strategy", kit::OptionRow::Type::choice, "kNextPowerOfTwo", "nothing: MIGraphX makes its memory itself", 0, 0,
     kStrategies, false},
    {"migraphx_external_alloc", kit::OptionRow::Type::text, "0", "refused: MIGraphX makes its memory itself"},
    {"migraphx_external_free", kit::OptionRow::Type::text, "0", "refused: MIGraphX makes its memory itself"},
    {"migraphx_external_empty_cache", kit::OptionRow::Type::text, "0", "refused: MIGraphX makes its memory itself"},
    {"migraphx_save_compiled_model",
     kit::OptionRow::Type::flag,
     "0",
     "compiled regions are kept in the folder of the next",
     0,
     0,
     {},
     false},
    {"migraphx_save_model_path", kit::OptionRow::Type::text, "", "a folder, as cache_dir names one", 0, 0, {}, false},
    {"migraphx_load_compiled_model",
     kit::OptionRow::Type::flag,
     "0",
     "compiled regions are taken from the folder of the next",
     0,
     0,
     {},
     false},
    {"migraphx_load_model_path", kit::OptionRow::Type::text, "", "a folder, as cache_dir names one", 0, 0, {}, false},
    {"cache", kit::OptionRow::Type::choice, "", "whether compiled regions are kept: 1, 0, or where a folder is named", 0, 0, kCaching,
     false},
    {"cache_dir",
     kit::OptionRow::Type::text,
     "",
     "a folder in which compiled regions are kept",
     0,
     0,
     {},
     false,
     "migraphx_model_cache_dir"},
    kit::kCacheLimitOption,
};

struct Settings {
  kit::PrecisionSettings precision;
  bool is_tuned = false;
  size_t program_bytes = 0;  ///< of a region's programs together
  size_t most_programs = 0;  ///< of a region
  kit::CacheSettings cache;
  std::string key;  ///< what compiled regions depend on
};

/// The environment's ORT_MIGRAPHX_* stand before the options. Throws Error{invalid_argument} or Error{not_implemented} that says why, for
/// what has no effect here.
Settings settings_of(const kit::Options& options);

}  // namespace rh::migraphx
