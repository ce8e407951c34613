#include "providers/migraphx/settings.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "providers/kit/cache/artifact_cache.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::migraphx {

namespace {

constexpr std::string_view kName = "MIGraphXExecutionProvider";
constexpr size_t kProgramBytes = size_t{4} << 30;

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  fail(ErrorCode::invalid_argument, "{}: {}", kName, fmt::format(text, std::forward<Args>(args)...));
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string_view text_of(const kit::Options& options, const char* option, const char* variable) {
  const std::string_view given = environment(variable);
  return given.empty() ? options.text(option) : given;
}

bool flag_of(const kit::Options& options, const char* option, const char* variable) {
  const std::string_view given = environment(variable);
  if (given.empty()) return options.flag(option);
  if (given != "0" && given != "1") refuse("the environment's {} is '{}', expected 0 or 1", variable, given);
  return given == "1";
}

void refuse_what_has_no_effect(const kit::Options& options) {
  if (flag_of(options, "migraphx_fp8_enable", "ORT_MIGRAPHX_FP8_ENABLE")) {
    refuse("migraphx_fp8_enable is not offered: no float32 is computed in 8 bits of floats: leave it out, or take migraphx_fp16_enable");
  }
  for (const char* name : {"migraphx_external_alloc", "migraphx_external_free", "migraphx_external_empty_cache"}) {
    if (const std::string_view given = options.text(name); !given.empty() && given != "0") {
      refuse("{} is not used: MIGraphX makes its memory on the device itself: leave it out", name);
    }
  }
}

/// The table, in the folder of ORT_MIGRAPHX_CACHE_PATH where its name says none.
std::string calibration_table(const kit::Options& options) {
  const std::string_view name = text_of(options, "migraphx_int8_calibration_table_name", "ORT_MIGRAPHX_INT8_CALIBRATION_TABLE_NAME");
  if (name.empty()) {
    refuse("migraphx_int8_enable needs migraphx_int8_calibration_table_name, the file of the scales, since nothing is calibrated here");
  }
  const std::string_view folder = environment("ORT_MIGRAPHX_CACHE_PATH");
  const std::filesystem::path file(name);
  return read_file(folder.empty() || file.is_absolute() ? file.string() : (std::filesystem::path(folder) / file).string());
}

void add_precision(Settings& settings, const kit::Options& options) {
  const bool half = flag_of(options, "migraphx_fp16_enable", "ORT_MIGRAPHX_FP16_ENABLE");
  const bool bfloat = flag_of(options, "migraphx_bf16_enable", "ORT_MIGRAPHX_BF16_ENABLE");
  if (half && bfloat) refuse("migraphx_fp16_enable and migraphx_bf16_enable are both set: leave one out");
  settings.precision.floats = half ? DType::float16 : bfloat ? DType::bfloat16 : DType::float32;
  settings.key += fmt::format("floats={}\n", to_string(settings.precision.floats));
  for (std::string_view rest = options.text(kit::kKeepFloat32Option.name); !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    if (end > 0) settings.precision.keep_float32.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!flag_of(options, "migraphx_int8_enable", "ORT_MIGRAPHX_INT8_ENABLE")) return;
  const std::string table = calibration_table(options);
  settings.precision.scales = precision::parse_calibration(table);
  settings.key += fmt::format("scales={}\n", kit::hash_of(table));
}

/// "18446744073709551615" is what programs give that want no limit.
size_t program_bytes(std::string_view text) {
  uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size())) {
    refuse("migraphx_mem_limit is '{}', expected a number of bytes", text);
  }
  return text.empty() ? kProgramBytes : bytes == 0 ? std::numeric_limits<size_t>::max() : bytes;
}

/// One cache does both: what is there is loaded, what is new is saved.
std::string cache_folder(const kit::Options& options) {
  std::string folder(text_of(options, "cache_dir", "ORT_MIGRAPHX_MODEL_CACHE_PATH"));
  for (const auto& [flag, path] : {std::pair{"migraphx_save_compiled_model", "migraphx_save_model_path"},
                                   std::pair{"migraphx_load_compiled_model", "migraphx_load_model_path"}}) {
    if (!options.flag(flag)) continue;
    const std::string_view given = options.text(path);
    if (given.empty()) refuse("{} is set, and {} names no folder", flag, path);
    if (!folder.empty() && folder != given) {
      refuse("{} is '{}', and another option names '{}': compiled regions are kept in one folder", path, given, folder);
    }
    folder = given;
  }
  return folder;
}

kit::CacheSettings cache_of(const kit::Options& options) {
  const std::string_view wanted = options.text("cache");
  if (wanted == "0") return {};
  std::string folder = cache_folder(options);
  if (folder.empty() && (wanted == "1" || std::getenv("ROUNDHOUSE_CACHE_DIR"))) folder = kit::default_cache_folder();
  return {.folder = folder, .limit_bytes = static_cast<uint64_t>(options.integer(kit::kCacheLimitOption.name)) << 20};
}

}  // namespace

Settings settings_of(const kit::Options& options) {
  refuse_what_has_no_effect(options);
  Settings settings;
  add_precision(settings, options);
  settings.is_tuned = flag_of(options, "migraphx_exhaustive_tune", "ORT_MIGRAPHX_EXHAUSTIVE_TUNE");
  settings.key += fmt::format("tuned={}\n", settings.is_tuned);
  settings.program_bytes = program_bytes(options.text("migraphx_mem_limit"));
  settings.most_programs = static_cast<size_t>(options.integer("most_programs"));
  settings.cache = cache_of(options);
  return settings;
}

}  // namespace rh::migraphx
