#pragma once

#include <string>

#include "providers/kit/host/options.h"
#include "providers/kit/regions/precision.h"

namespace rh::coreml {

inline constexpr std::string_view kUnits[] = {"ALL", "CPUAndNeuralEngine", "CPUAndGPU", "CPUOnly", "CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY"};
inline constexpr std::string_view kFormats[] = {"MLProgram", "NeuralNetwork"};
inline constexpr std::string_view kStrategies[] = {"Default", "FastPrediction"};
inline constexpr std::string_view kFloats[] = {"fp32", "fp16"};

/// ONNX Runtime's names, and ours for what it has none. Each has its effect, or is refused by settings_of with the reason.
inline constexpr kit::OptionRow kOptions[] = {
    {"library_path", kit::OptionRow::Type::text, "", "a library that stands in for Core ML in tests; else the system's", 0, 0, {}, false},
    {"MLComputeUnits", kit::OptionRow::Type::choice, "ALL",
     "what Core ML may compute on; CPU_AND_NE, CPU_AND_GPU and CPU_ONLY are the same as the names before them", 0, 0, kUnits, false},
    {"ModelFormat", kit::OptionRow::Type::choice, "MLProgram", "nothing: with either name regions become ML Programs", 0, 0, kFormats,
     false},
    {"RequireStaticInputShapes", kit::OptionRow::Type::flag, "0", "nodes with sizes that only a run tells are left to others"},
    {"EnableOnSubgraphs", kit::OptionRow::Type::flag, "0",
     "nothing: nodes within the bodies of Loop, Scan and If are taken with either value"},
    {"SpecializationStrategy", kit::OptionRow::Type::choice, "Default",
     "FastPrediction: Core ML takes longer to load a program, and less to run it", 0, 0, kStrategies, false},
    {"ProfileComputePlan", kit::OptionRow::Type::flag, "0", "refused: Core ML's plan is told to a program's own code alone"},
    {"AllowLowPrecisionAccumulationOnGPU", kit::OptionRow::Type::flag, "0", "sums on the GPU may be in float16", 0, 0, {}, false},
    {"ModelCacheDirectory",
     kit::OptionRow::Type::text,
     "",
     "a folder in which compiled programs are kept, by their content",
     0,
     0,
     {},
     false},
    {"precision", kit::OptionRow::Type::choice, "fp32", "fp16: float32 is computed in float16 where that pays and loses little", 0, 0,
     kFloats},
    kit::kKeepFloat32Option,
    {"most_programs",
     kit::OptionRow::Type::integer,
     "16",
     "of a region, for sizes that differ; a run of further sizes is the CPU's",
     1,
     4096,
     {},
     false},
};

struct Settings {
  int compute_units = 2;  ///< as MLComputeUnits counts
  bool static_shapes = false, low_precision_on_gpu = false, fast_prediction = false;
  std::string cache;  ///< a folder; empty: none
  kit::PrecisionSettings precision;
  size_t most_programs = 0;  ///< of a region
};

/// Throws Error{invalid_argument} that says why for what has no effect here.
Settings settings_of(const kit::Options& options);

}  // namespace rh::coreml
