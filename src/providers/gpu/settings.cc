#include "providers/gpu/settings.h"

#include <charconv>

#include "base/error.h"

namespace rh::gpu {

namespace {

/// What is without effect: the value of the row, and other words for it.
bool is_harmless(const kit::Options& options, const RefusedOption& row) {
  const std::string_view given = options.text(row.name);
  const bool is_true = given == "true" || given == "True", is_false = given == "false" || given == "False" || given.empty();
  return given == row.harmless || (row.harmless == "1" ? is_true : is_false);
}

/// 0 where there is none.
template <typename Number>
Number number_of(const Vendor& vendor, const kit::Options& options, std::string_view name, std::string_view expected) {
  const std::string_view text = options.text(name);
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size())) {
    fail(ErrorCode::invalid_argument, "{}: {} is '{}', expected {}", vendor.provider, name, text, expected);
  }
  return number;
}

}  // namespace

Settings read_settings(const kit::Options& options, const Vendor& vendor, std::span<const RefusedOption> refused) {
  for (const RefusedOption& row : refused) {
    if (is_harmless(options, row)) continue;
    fail(ErrorCode::invalid_argument, "{}: {} is '{}', which is not offered: {}: leave it out", vendor.provider, row.name,
         options.text(row.name), row.reason);
  }
  Settings settings;
  settings.compiler = options.text(vendor.compiler_option);
  settings.captures = options.flag("capture");
  settings.recognises = options.flag("recognise");
  // "18446744073709551615" is what programs give that want no limit.
  const auto limit = number_of<uint64_t>(vendor, options, "gpu_mem_limit", "a number of bytes");
  settings.arena.max_bytes = limit == UINT64_MAX ? 0 : limit;
  if (options.text("arena_extend_strategy") == kStrategies[1]) settings.arena.growth = ArenaSettings::Growth::same_as_requested;
  settings.stream =
      reinterpret_cast<kit::StreamHandle>(number_of<uintptr_t>(vendor, options, "user_compute_stream", "an address as a decimal number"));
  settings.cache = kit::cache_settings(options);
  return settings;
}

}  // namespace rh::gpu
