#pragma once

#include "providers/kernel.h"
#include "settings/rules.h"

namespace rh {

/// The numbers are those of GraphOptimizationLevel.
enum class OptimizationLevel : int { none = 0, basic = 1, extended = 2, layout = 3, all = 99 };

enum class ExecutionMode : int { sequential = 0, parallel = 1 };

/// What a session does where it cannot have a provider: it is an error, or it goes on without.
enum class Fallback : uint8_t { error, warn };

/// What counts more: the speed of runs, or the memory that weights take.
enum class MemoryPolicy : uint8_t { fast, lean };

/// How constant matrices of products are kept: as they are, or in fewer bytes.
enum class WeightForm : uint8_t { automatic, plain, compact };

enum class ModelFormat : uint8_t { onnx, ort };

/// The last two axes of the values that GroupQueryAttention keeps: sequence and head size, or the other way around.
enum class ValueLayout : uint8_t { bnsh, bnhs };

/// Optimisations for builds of ONNX Runtime without optimisers: saved for them, or carried out.
enum class MinimalBuildUse : uint8_t { save, apply };

/// Which weights a compiled model does without.
enum class WeightlessMode : uint8_t { none = 0, external_only = 1, all = 2 };

namespace setting {

// The names of each choice, as entries have them.
inline constexpr auto kPrecisions =
    one_of<Precision>({{"strict", Precision::strict}, {"fp32", Precision::fp32}, {"fast", Precision::fast}, {"bf16", Precision::bf16}});
inline constexpr auto kFallbacks = one_of<Fallback>({{"error", Fallback::error}, {"warn", Fallback::warn}});
inline constexpr auto kMemoryPolicies = one_of<MemoryPolicy>({{"fast", MemoryPolicy::fast}, {"lean", MemoryPolicy::lean}});
inline constexpr auto kWeightForms =
    one_of<WeightForm>({{"auto", WeightForm::automatic}, {"plain", WeightForm::plain}, {"compact", WeightForm::compact}});
inline constexpr auto kModelFormats = one_of<ModelFormat>({{"ONNX", ModelFormat::onnx}, {"ORT", ModelFormat::ort}});
inline constexpr auto kValueLayouts = one_of<ValueLayout>({{"BNSH", ValueLayout::bnsh}, {"BNHS", ValueLayout::bnhs}});
inline constexpr auto kMinimalBuildUses = one_of<MinimalBuildUse>({{"save", MinimalBuildUse::save}, {"apply", MinimalBuildUse::apply}});
inline constexpr auto kWeightlessModes =
    one_of<WeightlessMode>({{"0", WeightlessMode::none}, {"1", WeightlessMode::external_only}, {"2", WeightlessMode::all}});
inline constexpr auto kOptimizationLevels = one_of<OptimizationLevel>({{"disable_all", OptimizationLevel::none},
                                                                       {"enable_basic", OptimizationLevel::basic},
                                                                       {"enable_extended", OptimizationLevel::extended},
                                                                       {"enable_layout", OptimizationLevel::layout},
                                                                       {"enable_all", OptimizationLevel::all}});
inline constexpr auto kExecutionModes = one_of<ExecutionMode>({{"sequential", ExecutionMode::sequential},
                                                               {"parallel", ExecutionMode::parallel},
                                                               {"ort_sequential", ExecutionMode::sequential},
                                                               {"ort_parallel", ExecutionMode::parallel}});

}  // namespace setting

}  // namespace rh
