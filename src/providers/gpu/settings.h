#pragma once

#include <span>
#include <string_view>

#include "providers/gpu/device/vendor.h"
#include "providers/gpu/provider.h"
#include "providers/kit/cache/artifact_maker.h"
#include "providers/kit/host/options.h"

namespace rh::gpu {

inline constexpr std::string_view kStrategies[] = {"kNextPowerOfTwo", "kSameAsRequested"};

/// Options that all vendors have.
inline constexpr kit::OptionRow kDeviceOption = {
    "device_id", kit::OptionRow::Type::integer, "0", "of the GPU, as the driver counts them", 0, 1023, {}, false};
inline constexpr kit::OptionRow kStrategyOption = {
    "arena_extend_strategy", kit::OptionRow::Type::choice, "kNextPowerOfTwo", "how the arena grows", 0, 0, kStrategies, false};
inline constexpr kit::OptionRow kCaptureOption = {
    "capture", kit::OptionRow::Type::flag, "1", "whether launches that come again become one graph, at their third run", 0, 0, {}, false};
inline constexpr kit::OptionRow kRecogniseOption = {
    "recognise", kit::OptionRow::Type::flag,
    "1",         "whether attention, normalisations and activations that nodes spell out are one kernel each",
    0,           0,
    {},          false};
inline constexpr kit::OptionRow kCopyOption = {"do_copy_in_default_stream", kit::OptionRow::Type::flag, "1",
                                               "refused where it is 0: copies go by the stream of the run"};
inline constexpr kit::OptionRow kHasStreamOption = {
    "has_user_compute_stream", kit::OptionRow::Type::flag, "0", "nothing: user_compute_stream says it", 0, 0, {}, false};
inline constexpr kit::OptionRow kTunableOption = {"tunable_op_enable", kit::OptionRow::Type::flag, "0", "refused: nothing is tuned"};
inline constexpr kit::OptionRow kTuningOption = {"tunable_op_tuning_enable", kit::OptionRow::Type::flag, "0", "refused: nothing is tuned"};
inline constexpr kit::OptionRow kTuningTimeOption = {
    "tunable_op_max_tuning_duration_ms", kit::OptionRow::Type::integer, "0", "nothing without tunable_op_enable", 0, 1 << 30, {}, false};

/// An option that would have an effect which it does not have here, its value where it has none, and what to do.
struct RefusedOption {
  std::string_view name, harmless, reason;
};
inline constexpr RefusedOption kRefusedCopy = {"do_copy_in_default_stream", "1", "copies go by the stream of the run"};
inline constexpr RefusedOption kRefusedTunable = {"tunable_op_enable", "0", "nothing is tuned"};
inline constexpr RefusedOption kRefusedTuning = {"tunable_op_tuning_enable", "0", "nothing is tuned"};

/// What the options say that all vendors have: those above, the vendor's compiler_option, gpu_mem_limit, user_compute_stream and the
/// cache's. Throws Error where one is refused, or is no number.
Settings read_settings(const kit::Options& options, const Vendor& vendor, std::span<const RefusedOption> refused);

}  // namespace rh::gpu
