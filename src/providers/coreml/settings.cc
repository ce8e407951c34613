#include "providers/coreml/settings.h"

namespace rh::coreml {

namespace {

int units_of(std::string_view name) {
  if (name == "CPUOnly" || name == "CPU_ONLY") return 0;
  if (name == "CPUAndGPU" || name == "CPU_AND_GPU") return 1;
  return name == "ALL" ? 2 : 3;
}

}  // namespace

Settings settings_of(const kit::Options& options) {
  if (options.flag("ProfileComputePlan")) {
    fail(ErrorCode::invalid_argument,
         "CoreMLExecutionProvider: ProfileComputePlan is not offered, for Core ML tells its plan to code of its own language alone: leave "
         "it out, or take "
         "the Core ML instrument of Xcode");
  }
  Settings settings;
  settings.compute_units = units_of(options.text("MLComputeUnits"));
  settings.static_shapes = options.flag("RequireStaticInputShapes");
  settings.low_precision_on_gpu = options.flag("AllowLowPrecisionAccumulationOnGPU");
  settings.fast_prediction = options.text("SpecializationStrategy") == "FastPrediction";
  settings.cache = options.text("ModelCacheDirectory");
  settings.most_programs = static_cast<size_t>(options.integer("most_programs"));
  settings.precision.floats = options.text("precision") == "fp16" ? DType::float16 : DType::float32;
  for (std::string_view rest = options.text(kit::kKeepFloat32Option.name); !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    if (end > 0) settings.precision.keep_float32.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return settings;
}

}  // namespace rh::coreml
