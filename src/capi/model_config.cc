// Session options that a model brings with it: "ort_config" of its metadata, as ONNX Runtime reads it.
#include <fmt/ranges.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "capi/session.h"
#include "onnx/reader.h"

namespace rh::capi {

namespace {

using nlohmann::json;

constexpr const char* kMetadataKey = "ort_config";

int number_in(const json& settings, const char* key, std::initializer_list<int> allowed, int otherwise) {
  const auto at = settings.find(key);
  if (at == settings.end()) return otherwise;
  const bool is_number = at->is_number_integer();
  const int64_t number = is_number ? at->get<int64_t>() : -1;
  const bool fits = allowed.size() == 0 ? number >= 0 && number <= 1 << 20 : std::ranges::find(allowed, number) != allowed.end();
  if (!fits) {
    fail(ErrorCode::fail, "'{}' of the model's metadata gives '{}' as {}, expected {}", kMetadataKey, key, at->dump(),
         allowed.size() == 0 ? "a number of threads, 0 or more" : fmt::format("one of {}", fmt::join(allowed, ", ")));
  }
  return static_cast<int>(number);
}

void apply(const std::string& text, SessionOptions& options) {
  const json config = json::parse(text, nullptr, false);
  if (config.is_discarded() || !config.is_object()) {
    fail(ErrorCode::fail, "'{}' of the model's metadata is no JSON object: leave ORT_LOAD_CONFIG_FROM_MODEL out, or correct the model",
         kMetadataKey);
  }
  const auto settings = config.find("session_options");
  if (settings == config.end() || !settings->is_object()) return;
  options.intra_op_threads = number_in(*settings, "intra_op_num_threads", {}, options.intra_op_threads);
  options.inter_op_threads = number_in(*settings, "inter_op_num_threads", {}, options.inter_op_threads);
  options.execution_mode =
      static_cast<ExecutionMode>(number_in(*settings, "execution_mode", {0, 1}, static_cast<int>(options.execution_mode)));
  options.optimization_level = static_cast<OptimizationLevel>(
      number_in(*settings, "graph_optimization_level", {0, 1, 2, 3, 99}, static_cast<int>(options.optimization_level)));
  options.profiling = number_in(*settings, "enable_profiling", {0, 1}, options.profiling ? 1 : 0) == 1;
  if (options.profile_prefix.empty()) options.profile_prefix = "onnxruntime_profile_";
}

bool is_wanted(const SessionOptions& options) {
  const char* by_environment = std::getenv("ORT_LOAD_CONFIG_FROM_MODEL");
  return (by_environment && std::string_view(by_environment) == "1") || options.settings.config_from_model;
}

}  // namespace

void apply_model_config(std::span<const std::byte> model, SessionOptions& options) {
  if (!is_wanted(options)) return;
  for (const auto& [key, value] : onnx::read_metadata(model)) {
    if (key == kMetadataKey) apply(value, options);
  }
}

void apply_model_config(const std::string& path, SessionOptions& options) {
  if (is_wanted(options)) apply_model_config(MappedFile(InputFile(path)).bytes(), options);
}

}  // namespace rh::capi
