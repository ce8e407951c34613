#include "session/optimized_model.h"

#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "onnx/tensor_writer.h"
#include "onnx/writer.h"

namespace rh {

namespace {

constexpr const char* kFileKey = "session.optimized_model_external_initializers_file_name";
constexpr const char* kSizeKey = "session.optimized_model_external_initializers_min_size_in_bytes";
constexpr size_t kUsualLeastBytes = 1024;

size_t least_bytes(const SessionOptions& options) {
  const std::string_view text = options.config_entry(kSizeKey);
  if (text.empty()) return kUsualLeastBytes;
  size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected a number of bytes", kSizeKey, text);
  }
  return bytes;
}

// Empty: the model holds its weights.
std::string external_file(const Model& model, const SessionOptions& options) {
  std::string name(options.config_entry(kFileKey));
  if (name.empty()) return onnx::fits_in_a_message(*model.graph) ? name : file_name(options.optimized_model_path) + ".data";
  const std::filesystem::path path(name);
  for (const auto& part : path) {
    if (!path.is_absolute() && part != "..") continue;
    fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected a file in the folder of the optimized model", kFileKey, name);
  }
  return name;
}

void warn(const SessionOptions& options, const std::string& text) {
  if (options.log) options.log->log(LogSeverity::warning, "session", text);
}

}  // namespace

void write_optimized_model(const Model& model, const SessionOptions& options) {
  const std::string& path = options.optimized_model_path;
  const std::string_view format = options.config_entry("session.save_model_format");
  if (format == "ORT" || (format.empty() && path.ends_with(".ort"))) {
    warn(options, fmt::format("the optimized model is written to '{}' in the ONNX format: the ORT format is only read", path));
  }
  if (options.config_entry("session.save_external_prepacked_constant_initializers") == "1") {
    warn(options, "weights are saved as the model has them, not as kernels pack them: that is done at each load");
  }
  const std::string file = external_file(model, options);
  if (file.empty()) return onnx::write_model_file(model, path);
  onnx::FileSink sink(join_path(parent_folder(path), file), file, least_bytes(options));
  const std::string bytes = onnx::write_model(model, {}, &sink);
  sink.commit();
  write_file(path, bytes);
}

}  // namespace rh
