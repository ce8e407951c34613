// Compiling a model ahead of time: to a file, to memory or to the caller's function.
#include <cstring>
#include <filesystem>

#include "abi/allocator.h"
#include "base/file.h"
#include "capi/compilation.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "capi/table.h"
#include "onnx/reader.h"
#include "onnx/tensor_writer.h"
#include "session/compile/compile.h"
#include "settings/keys.h"

namespace rh::capi::compile {

namespace {

namespace fs = std::filesystem;

/// Asks the caller's function about each initializer.
class CallerSink final : public onnx::ExternalSink {
 public:
  CallerSink(const OrtModelCompilationOptions& options, const Graph& graph) : options_(options), graph_(graph) {}

  std::optional<ExternalLocation> place(const Tensor& tensor, std::string_view name) override {
    if (name.empty()) return std::nullopt;
    const ValueId id = graph_.find_value(name);
    const ExternalLocation* before = id == kNoValue ? nullptr : graph_.value(id).external.get();
    OrtExternalInitializerInfo given;
    if (before) given = {as_path(before->file), before->offset, before->bytes};
    const OrtValue value{Value(tensor)};
    OrtExternalInitializerInfo* answer = nullptr;
    const Status status =
        abi::take_status(options_.locate(options_.locate_state, std::string(name).c_str(), &value, before ? &given : nullptr, &answer));
    if (!status.ok()) throw Error(status.code(), std::string(status.message()));
    if (!answer) return std::nullopt;
    const std::unique_ptr<OrtExternalInitializerInfo> owned(answer);
    if (owned->bytes != tensor.bytes() || owned->offset < 0) {
      fail(ErrorCode::invalid_argument, "initializer '{}' was given {} bytes from offset {}, expected {} bytes", name, owned->bytes,
           owned->offset, tensor.bytes());
    }
    return ExternalLocation{utf8(owned->file), owned->offset, owned->bytes};
  }

 private:
  const OrtModelCompilationOptions& options_;
  const Graph& graph_;
};

Model read_input(const OrtModelCompilationOptions& options) {
  if (options.input_model) {
    const OrtGraph* graph = options.input_model->graph.get();
    if (graph && graph->outputs.empty())
      fail(ErrorCode::invalid_argument, "the graph of the model has no outputs: name them with SetGraphOutputs");
    return abi::build_model(*options.input_model);
  }
  const onnx::ReadOptions read{.folder = glance_at_settings(options.session.config.pairs()).external_data_folder.value_or("")};
  if (options.input_data) return onnx::read_model({static_cast<const std::byte*>(options.input_data), options.input_bytes}, read);
  if (options.input_path.empty()) {
    fail(ErrorCode::invalid_argument, "the input model is not set: name its path, its bytes or a model that was built");
  }
  if (!fs::exists(as_path(options.input_path)))
    fail(ErrorCode::invalid_argument, "Input model path does not exist: \"{}\"", options.input_path);
  return onnx::read_model(options.input_path, read);
}

/// "model.onnx" becomes "model_ctx.onnx".
std::string default_output(const std::string& input) {
  const fs::path path = as_path(input);
  return utf8(path.parent_path() / (path.stem() += "_ctx.onnx"));
}

std::string output_path(const OrtModelCompilationOptions& options) {
  if (options.has_output()) return options.output_path;
  if (options.input_path.empty()) {
    fail(ErrorCode::invalid_argument,
         "the output is not set, and the input has no path to name a file after: set a path, buffer or function");
  }
  return default_output(options.input_path);
}

/// What providers are to know of the compilation, as they know it of a session that writes its compiled model.
OrtSessionOptions with_context_keys(const OrtModelCompilationOptions& options, const std::string& path) {
  OrtSessionOptions session = options.session;
  session.config.set(kKeyOf<&Settings::write_context_model>, "1");
  session.config.set(kKeyOf<&Settings::compile_only>, "1");
  session.config.set(kKeyOf<&Settings::disable_model_compile>, "0");
  session.config.set("ep.context_embed_mode", options.embed_context ? "1" : "0");
  std::string context_path = path;
  if (!options.context_name.empty())
    context_path = utf8(as_path(options.context_folder) / (as_path(options.context_name).stem() += "_ctx.onnx"));
  if (!context_path.empty()) session.config.set(kKeyOf<&Settings::context_model_path>, context_path);
  return session;
}

std::string serialize(const FileModel& model, const OrtModelCompilationOptions& options, const std::string& path) {
  if (!options.external_file.empty() && options.locate) {
    fail(ErrorCode::invalid_argument,
         "a file for external initializers and a function that places them exclude each other: set one of them");
  }
  if (options.locate) {
    CallerSink sink(options, *model.graph);
    return onnx::write_model(model.info, *model.graph, {}, &sink);
  }
  if (options.external_file.empty()) return onnx::write_model(model.info, *model.graph);
  const std::string folder = path.empty() ? std::string() : parent_folder(path);
  const std::string location = is_absolute_path(options.external_file) ? file_name(options.external_file) : options.external_file;
  onnx::FileSink sink(join_path(folder, options.external_file), location, options.external_threshold);
  std::string bytes = onnx::write_model(model.info, *model.graph, {}, &sink);
  sink.commit();
  return bytes;
}

void deliver(const std::string& bytes, const OrtModelCompilationOptions& options, const std::string& path) {
  if (options.write) {
    const Status status = abi::take_status(options.write(options.write_state, bytes.data(), bytes.size()));
    if (!status.ok()) throw Error(status.code(), std::string(status.message()));
  } else if (options.output_buffer) {
    void* memory = abi::allocate(*options.output_allocator, bytes.size());
    std::memcpy(memory, bytes.data(), bytes.size());
    *options.output_buffer = memory;
    *options.output_bytes = bytes.size();
  } else {
    write_file(path, bytes);
  }
}

void compile(const OrtEnv& env, const OrtModelCompilationOptions& options) {
  const std::string path = output_path(options);
  if ((options.flags & OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS) && !path.empty() && fs::exists(path)) {
    fail(ErrorCode::fail, "the output file \"{}\" exists already: remove it, or leave out the flag ERROR_IF_OUTPUT_FILE_EXISTS", path);
  }
  Model input = read_input(options);
  const OrtSessionOptions session = with_context_keys(options, path);
  const FileModel model = compile_for_file(std::move(input), session_options(env, &session));
  if ((options.flags & OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED) && count_context_nodes(*model.graph) == 0) {
    fail(ErrorCode::fail, "Unable to compile any nodes: no provider of the session compiles a part of the model");
  }
  deliver(serialize(model, options, path), options, path);
}

}  // namespace

OrtStatus* ORT_API_CALL CompileModel(const OrtEnv* env, const OrtModelCompilationOptions* options) {
  return guard([&] { compile(checked(env, "env"), checked(options, "model_options")); });
}

}  // namespace rh::capi::compile
