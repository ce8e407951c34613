#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/precision/calibration.h"
#include "passes/precision/report.h"
#include "providers/kit/host/options.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// In which types regions compute.
struct PrecisionSettings {
  DType floats = DType::float32;                      ///< or float16, bfloat16: where that pays and loses little
  std::optional<precision::Calibration> scales = {};  ///< operators of tensors with scales compute on int8
  std::vector<std::string> keep_float32 = {};         ///< operators ("Softmax") and nodes by name that stay
  bool changes() const { return floats != DType::float32 || scales; }
};

/// Rows for the options of a provider that lets its sessions choose, which precision_settings() reads.
inline constexpr std::string_view kPrecisions[] = {"fp32", "fp16", "bf16"};
inline constexpr OptionRow kPrecisionOption = {
    .name = "precision",
    .type = OptionRow::Type::choice,
    .otherwise = "fp32",
    .effect = "in which type float32 is computed: products, and what takes their results; what would lose much stays",
    .choices = kPrecisions};
inline constexpr OptionRow kCalibrationOption = {.name = "calibration",
                                                 .type = OptionRow::Type::file,
                                                 .otherwise = "",
                                                 .effect = "a table of scales, by which operators compute on int8"};
inline constexpr OptionRow kKeepFloat32Option = {
    .name = "keep_float32",
    .otherwise = "",
    .effect = "operators and names of nodes, with commas between, that stay in float32; a name that no node has changes nothing"};
/// Throws Error for a table that cannot be read.
PrecisionSettings precision_settings(const Options& options);

/// The region with a graph that computes so (passes/precision); what it takes and gives stays of its types and names. Of a device its new
/// constants last until the region's call of compile() ends, as the others do.
Region in_precision(const Region& region, const PrecisionSettings& settings, precision::Report* report = nullptr);

}  // namespace rh::kit
