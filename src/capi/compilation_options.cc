// Options of compiling a model ahead of time.
#include "capi/compilation.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "capi/table.h"

namespace rh::capi::compile {

namespace {

template <typename F>
OrtStatus* change(OrtModelCompilationOptions* options, F&& body) {
  return guard([&] { body(checked(options, "model_compile_options")); });
}

std::string path_of(const ORTCHAR_T* path, const char* argument) {
  std::string text = utf8(&checked(path, argument));
  if (text.empty()) fail(ErrorCode::invalid_argument, "argument '{}' must not be empty", argument);
  return text;
}

void forget_output(OrtModelCompilationOptions& options) {
  options.output_path.clear();
  options.output_allocator = nullptr;
  options.output_buffer = nullptr;
  options.output_bytes = nullptr;
  options.write = nullptr;
}

void forget_input(OrtModelCompilationOptions& options) {
  options.input_path.clear();
  options.input_data = nullptr;
  options.input_bytes = 0;
  options.input_model = nullptr;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateModelCompilationOptionsFromSessionOptions(const OrtEnv* env, const OrtSessionOptions* session_options,
                                                                        OrtModelCompilationOptions** out) {
  return guard([&] {
    OrtModelCompilationOptions*& result = checked(out, "out");
    checked(env, "env");
    auto options = std::make_unique<OrtModelCompilationOptions>();
    options->session = checked(session_options, "session_options");
    options->session.optimization_level = ORT_DISABLE_ALL;
    options->session.optimized_model_path.clear();
    result = options.release();
  });
}

void ORT_API_CALL ReleaseModelCompilationOptions(OrtModelCompilationOptions* options) { delete options; }

// The input

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetInputModelPath(OrtModelCompilationOptions* options, const ORTCHAR_T* path) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    std::string text = path_of(path, "input_model_path");
    forget_input(o);
    o.input_path = std::move(text);
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetInputModelFromBuffer(OrtModelCompilationOptions* options, const void* data,
                                                                        size_t bytes) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    if (bytes == 0) fail(ErrorCode::invalid_argument, "argument 'input_model_data_size' is 0, expected the bytes of a model");
    checked(static_cast<const char*>(data), "input_model_data");
    forget_input(o);
    o.input_data = data;
    o.input_bytes = bytes;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetInputModel(OrtModelCompilationOptions* options, const OrtModel* model) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    checked(model, "model");
    forget_input(o);
    o.input_model = model;
  });
}

// The output

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelPath(OrtModelCompilationOptions* options, const ORTCHAR_T* path) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    std::string text = path_of(path, "output_model_path");
    forget_output(o);
    o.output_path = std::move(text);
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelBuffer(OrtModelCompilationOptions* options, OrtAllocator* allocator,
                                                                     void** buffer, size_t* bytes) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    checked(allocator, "allocator");
    checked(buffer, "output_model_buffer_ptr");
    checked(bytes, "output_model_buffer_size_ptr");
    forget_output(o);
    o.output_allocator = allocator;
    o.output_buffer = buffer;
    o.output_bytes = bytes;
    *buffer = nullptr;
    *bytes = 0;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelWriteFunc(OrtModelCompilationOptions* options, OrtWriteBufferFunc write,
                                                                        void* state) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    if (!write) fail(ErrorCode::invalid_argument, "argument 'write_func' must not be null");
    forget_output(o);
    o.write = write;
    o.write_state = state;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelExternalInitializersFile(OrtModelCompilationOptions* options,
                                                                                       const ORTCHAR_T* path, size_t threshold) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    o.external_file = path_of(path, "external_initializers_file_path");
    o.external_threshold = threshold;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(OrtModelCompilationOptions* options,
                                                                                         OrtGetInitializerLocationFunc locate,
                                                                                         void* state) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    if (!locate) fail(ErrorCode::invalid_argument, "argument 'get_initializer_location_func' must not be null");
    o.locate = locate;
    o.locate_state = state;
  });
}

// How to compile

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetEpContextEmbedMode(OrtModelCompilationOptions* options, bool embed) {
  return change(options, [&](OrtModelCompilationOptions& o) { o.embed_context = embed; });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetEpContextBinaryInformation(OrtModelCompilationOptions* options, const ORTCHAR_T* folder,
                                                                              const ORTCHAR_T* name) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    std::string folder_text = path_of(folder, "output_directory"), name_text = path_of(name, "model_name");
    o.context_folder = std::move(folder_text);
    o.context_name = std::move(name_text);
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetEpContextDataWriteFunc(OrtModelCompilationOptions* options,
                                                                          OrtWriteNamedBufferFunc write, void* state) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    o.session.write_ep_context = write;
    o.session.write_ep_context_state = state;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetFlags(OrtModelCompilationOptions* options, uint32_t flags) {
  return change(options, [&](OrtModelCompilationOptions& o) {
    constexpr uint32_t kKnown = OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED | OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS;
    if (flags & ~kKnown) fail(ErrorCode::invalid_argument, "argument 'flags' is {:#x}, expected bits of {:#x}", flags, kKnown);
    o.flags = flags;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetGraphOptimizationLevel(OrtModelCompilationOptions* options,
                                                                          GraphOptimizationLevel level) {
  return guard([&] { return SetSessionGraphOptimizationLevel(&checked(options, "model_compile_options").session, level); });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetWeightlessEnabled(OrtModelCompilationOptions* options, bool enabled) {
  return change(options, [&](OrtModelCompilationOptions& o) { o.session.config.set("ep.enable_weightless", enabled ? "1" : "0"); });
}

}  // namespace rh::capi::compile
