#include "providers/cuda/settings.h"

#include <charconv>

namespace rh::cuda {

namespace {

/// An option that would have an effect here that it does not have, its value where it has none, and what to do.
struct Refused {
  std::string_view name, harmless, reason;
};
constexpr Refused kRefused[] = {
    {"do_copy_in_default_stream", "1", "copies go by the stream of the run"},
    {"gpu_external_alloc", "0", "memory is the driver's"},
    {"gpu_external_free", "0", "memory is the driver's"},
    {"gpu_external_empty_cache", "0", "memory is the driver's"},
    {"tunable_op_enable", "0", "nothing is tuned"},
    {"tunable_op_tuning_enable", "0", "nothing is tuned"},
};

bool is_harmless(const kit::Options& options, const Refused& row) {
  const std::string_view given = options.text(row.name);
  const bool is_true = given == "true" || given == "True", is_false = given == "false" || given == "False" || given.empty();
  return given == row.harmless || (row.harmless == "1" ? is_true : is_false);
}

/// "18446744073709551615" is what programs give that want no limit.
size_t limit_of(std::string_view text) {
  uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size())) {
    fail(ErrorCode::invalid_argument, "CUDAExecutionProvider: gpu_mem_limit is '{}', expected a number of bytes", text);
  }
  return bytes == UINT64_MAX ? 0 : bytes;
}

kit::StreamHandle stream_of(std::string_view text) {
  uintptr_t address = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size())) {
    fail(ErrorCode::invalid_argument, "CUDAExecutionProvider: user_compute_stream is '{}', expected an address as a decimal number", text);
  }
  return reinterpret_cast<kit::StreamHandle>(address);
}

}  // namespace

gpu::Settings settings_of(const kit::Options& options) {
  for (const Refused& row : kRefused) {
    if (is_harmless(options, row)) continue;
    fail(ErrorCode::invalid_argument, "CUDAExecutionProvider: {} is '{}', which is not offered: {}: leave it out", row.name,
         options.text(row.name), row.reason);
  }
  gpu::Settings settings;
  settings.compiler = options.text("nvrtc_path");
  settings.captures = options.flag("capture");
  settings.recognises = options.flag("recognise");
  settings.arena.max_bytes = limit_of(options.text("gpu_mem_limit"));
  if (options.text("arena_extend_strategy") == "kSameAsRequested") settings.arena.growth = ArenaSettings::Growth::same_as_requested;
  settings.stream = stream_of(options.text("user_compute_stream"));
  settings.cache = kit::cache_settings(options);
  return settings;
}

}  // namespace rh::cuda
