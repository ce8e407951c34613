#include "session/optimized_model.h"

#include <filesystem>

#include "base/file.h"
#include "base/paths.h"
#include "onnx/tensor_writer.h"
#include "onnx/writer.h"
#include "session/warn.h"
#include "settings/keys.h"

namespace rh {

namespace {

constexpr size_t kUsualLeastBytes = 1024;

// Empty: the model holds its weights.
std::string external_file(const Model& model, const SessionOptions& options) {
  const std::string& name = options.settings.optimized_weights_file;
  if (name.empty()) return onnx::fits_in_a_message(*model.graph) ? name : file_name(options.optimized_model_path) + ".data";
  const std::filesystem::path path = as_path(name);
  for (const auto& part : path) {
    if (!path.has_root_path() && part != "..") continue;
    fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected a file in the folder of the optimized model",
         kKeyOf<&Settings::optimized_weights_file>, name);
  }
  return name;
}

void warn(const SessionOptions& options, const std::string& text) { rh::warn(options.log.get(), text); }

}  // namespace

void write_optimized_model(const Model& model, const SessionOptions& options) {
  const std::string& path = options.optimized_model_path;
  const Settings& settings = options.settings;
  if (settings.save_format.value_or(path.ends_with(".ort") ? ModelFormat::ort : ModelFormat::onnx) == ModelFormat::ort) {
    warn(options, fmt::format("the optimized model is written to '{}' in the ONNX format: the ORT format is only read", path));
  }
  if (settings.save_packed_weights) {
    warn(options, "weights are saved as the model has them, not as kernels pack them: that is done at each load");
  }
  const std::string file = external_file(model, options);
  // As in ONNX Runtime's files: tools change nodes and would leave what is inferred of the old ones.
  const onnx::WriteOptions write{.declared_value_info_only = true};
  if (file.empty()) return write_file(path, onnx::write_model(model, write));
  onnx::FileSink sink(join_path(parent_folder(path), file), file, settings.least_optimized_weight_bytes.value_or(kUsualLeastBytes));
  const std::string bytes = onnx::write_model(model, write, &sink);
  sink.commit();
  write_file(path, bytes);
}

}  // namespace rh
