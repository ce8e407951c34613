#include "context_data.h"
#include "options.h"
#include "values.h"

namespace rh::python {

namespace {

/// Where the data of an initializer lies outside of a model file.
struct PyExternalInfo {
  std::string filepath;
  int64_t file_offset = 0;
  size_t byte_size = 0;
};

OrtStatus* write_to(void* state, const void* data, size_t bytes) {
  return called_back(ORT_FAIL, [&] { (*static_cast<nb::object*>(state))(nb::bytes(static_cast<const char*>(data), bytes)); });
}

OrtStatus* locate(void* state, const char* name, const OrtValue* value, const OrtExternalInitializerInfo* before,
                  OrtExternalInitializerInfo** out) {
  *out = nullptr;
  return called_back(ORT_FAIL, [&] {
    const Ort::ConstValue tensor(value);
    const auto info = tensor.GetTensorTypeAndShapeInfo();
    PyValue borrowed;
    borrowed.value = tensor_over_memory(const_cast<void*>(tensor.GetTensorRawData()), tensor.GetTensorSizeInBytes(), info.GetShape(),
                                        info.GetElementType());
    nb::object given = nb::none();
    if (before) {
      const Ort::ConstExternalInitializerInfo location(before);
      given = nb::cast(PyExternalInfo{utf8(location.GetFilePath()), location.GetFileOffset(), location.GetByteSize()});
    }
    const nb::object answer = (*static_cast<nb::object*>(state))(name, nb::cast(std::move(borrowed)), given);
    if (answer.is_none()) return;
    const auto& place = nb::cast<const PyExternalInfo&>(answer);
    *out = Ort::ExternalInitializerInfo(as_path(place.filepath).c_str(), place.file_offset, place.byte_size).release();
  });
}

/// A model to compile and how; each call compiles it to one kind of output.
class ModelCompiler {
 public:
  ModelCompiler(const SessionSettings& settings, nb::object model, bool is_path, bool embed, const std::string& external_file,
                size_t external_threshold, uint32_t flags, GraphOptimizationLevel level, nb::object locate_function)
      : model_(std::move(model)),
        locate_(std::move(locate_function)),
        context_reader_(settings.context_reader),
        options_(environment(), settings.build()) {
    if (!is_path) {
      const auto bytes = nb::cast<nb::bytes>(model_);
      options_.SetInputModelFromBuffer(bytes.data(), bytes.size());
    } else {
      options_.SetInputModelPath(as_path(nb::cast<std::string>(model_)).c_str());
    }
    options_.SetEpContextEmbedMode(embed).SetFlags(flags).SetGraphOptimizationLevel(level);
    if (!external_file.empty()) options_.SetOutputModelExternalInitializersFile(as_path(external_file).c_str(), external_threshold);
    if (!locate_.is_none()) options_.SetOutputModelGetInitializerLocationFunc(&locate, &locate_);
  }

  void to_file(const std::string& path) {
    options_.SetOutputModelPath(as_path(path).c_str());
    run();
  }
  nb::bytes to_bytes() {
    const Ort::AllocatorWithDefaultOptions allocator;
    void* buffer = nullptr;
    size_t bytes = 0;
    options_.SetOutputModelBuffer(allocator, &buffer, &bytes);
    run();
    const std::unique_ptr<void, Ort::detail::AllocatedFree> owned(buffer, Ort::detail::AllocatedFree(allocator));
    return nb::bytes(static_cast<const char*>(buffer), bytes);
  }
  void to_stream(nb::object write) {
    options_.SetOutputModelWriteFunc(&write_to, &write);
    run();
  }
  void set_context_binary_information(const std::string& folder, const std::string& name) {
    options_.SetEpContextBinaryInformation(as_path(folder).c_str(), as_path(name).c_str());
  }
  void set_context_writer(nb::object write) {
    context_writer_ = std::move(write);
    options_.SetEpContextDataWriteFunc(context_writer_.is_none() ? nullptr : &write_context, &context_writer_);
  }

 private:
  // Providers may call from threads of theirs.
  void run() const {
    const Ort::Env& env = environment();
    const nb::gil_scoped_release released;
    Ort::ThrowOnError(Ort::CompileModel(env, options_));
  }

  nb::object model_, locate_, context_writer_ = nb::none();
  std::shared_ptr<ContextReader> context_reader_;  ///< of the session options
  Ort::ModelCompilationOptions options_;
};

}  // namespace

void bind_compile(nb::module_& module) {
  nb::class_<PyExternalInfo>(module, "OrtExternalInitializerInfo",
                             "Where the data of an initializer lies: a file, the place in it, and the bytes.")
      .def(nb::init<std::string, int64_t, size_t>(), nb::arg("filepath"), nb::arg("file_offset"), nb::arg("byte_size"))
      .def_ro("filepath", &PyExternalInfo::filepath)
      .def_ro("file_offset", &PyExternalInfo::file_offset)
      .def_ro("byte_size", &PyExternalInfo::byte_size);
  nb::class_<ModelCompiler>(module, "ModelCompiler", "Compiles a model ahead of time.")
      .def(nb::init<const SessionSettings&, nb::object, bool, bool, const std::string&, size_t, uint32_t, GraphOptimizationLevel,
                    nb::object>(),
           nb::arg("session_options"), nb::arg("model"), nb::arg("is_path"), nb::arg("embed_compiled_data"),
           nb::arg("external_initializers_file_path"), nb::arg("external_initializers_size_threshold"), nb::arg("flags"),
           nb::arg("graph_optimization_level"), nb::arg("get_initializer_location_func").none() = nb::none())
      .def("compile_to_file", &ModelCompiler::to_file)
      .def("compile_to_bytes", &ModelCompiler::to_bytes)
      .def("compile_to_stream", &ModelCompiler::to_stream)
      .def("set_ep_context_binary_information", &ModelCompiler::set_context_binary_information)
      .def("set_ep_context_data_write_func", &ModelCompiler::set_context_writer, nb::arg("write_func"))
      .def("clear_ep_context_data_write_func", [](ModelCompiler& compiler) { compiler.set_context_writer(nb::none()); });
}

}  // namespace rh::python
