#include <filesystem>
#include <span>

#include <roundhouse/roundhouse_c_api.h>

#include "module.h"
#include "options.h"
#include "values.h"

namespace rh::python {

namespace {

/// An input, output or overridable initializer: name, type text, and dimensions as numbers, names or None.
struct PyNodeArg {
  std::string name;
  std::string type;
  nb::list shape;
};

struct PyMetadata {
  std::string producer_name, graph_name, domain, description, graph_description;
  int64_t version = 0;
  std::map<std::string, std::string> custom_metadata_map;
};

template <typename Handle, typename Release>
auto owned(Handle* handle, Release release) {
  return std::unique_ptr<Handle, Release>(handle, release);
}

std::string type_text(const OrtTypeInfo* info) {
  const OrtApi& api = Ort::GetApi();
  ONNXType kind;
  Ort::ThrowOnError(api.GetOnnxTypeFromTypeInfo(info, &kind));
  const auto tensor_name = [&](const char* label) {
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    Ort::ThrowOnError(api.CastTypeInfoToTensorInfo(info, &tensor));
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    if (tensor) Ort::ThrowOnError(api.GetTensorElementType(tensor, &type));
    return std::string(label) + "(" + element_name(type) + ")";
  };
  OrtTypeInfo* element = nullptr;
  switch (kind) {
    case ONNX_TYPE_TENSOR: return tensor_name("tensor");
    case ONNX_TYPE_SPARSETENSOR: return tensor_name("sparse_tensor");
    case ONNX_TYPE_SEQUENCE: {
      const OrtSequenceTypeInfo* sequence = nullptr;
      Ort::ThrowOnError(api.CastTypeInfoToSequenceTypeInfo(info, &sequence));
      Ort::ThrowOnError(api.GetSequenceElementType(sequence, &element));
      return "seq(" + type_text(owned(element, api.ReleaseTypeInfo).get()) + ")";
    }
    case ONNX_TYPE_OPTIONAL: {
      const OrtOptionalTypeInfo* optional = nullptr;
      Ort::ThrowOnError(api.CastTypeInfoToOptionalTypeInfo(info, &optional));
      Ort::ThrowOnError(api.GetOptionalContainedTypeInfo(optional, &element));
      return "optional(" + type_text(owned(element, api.ReleaseTypeInfo).get()) + ")";
    }
    case ONNX_TYPE_MAP: {
      const OrtMapTypeInfo* map = nullptr;
      ONNXTensorElementDataType key;
      Ort::ThrowOnError(api.CastTypeInfoToMapTypeInfo(info, &map));
      Ort::ThrowOnError(api.GetMapKeyType(map, &key));
      Ort::ThrowOnError(api.GetMapValueType(map, &element));
      return std::string("map(") + element_name(key) + "," + type_text(owned(element, api.ReleaseTypeInfo).get()) + ")";
    }
    default: return "opaque";
  }
}

PyNodeArg node_arg(std::string name, const Ort::TypeInfo& info) {
  PyNodeArg arg{std::move(name), type_text(info), nb::list()};
  const OrtApi& api = Ort::GetApi();
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  if (info.GetONNXType() != ONNX_TYPE_TENSOR) return arg;
  Ort::ThrowOnError(api.CastTypeInfoToTensorInfo(info, &tensor));
  size_t rank = 0;
  Ort::ThrowOnError(api.GetDimensionsCount(tensor, &rank));
  std::vector<int64_t> dims(rank);
  std::vector<const char*> names(rank, nullptr);
  Ort::ThrowOnError(api.GetDimensions(tensor, dims.data(), rank));
  Ort::ThrowOnError(api.GetSymbolicDimensions(tensor, names.data(), rank));
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] >= 0) {
      arg.shape.append(dims[i]);
    } else if (names[i] && *names[i]) {
      arg.shape.append(nb::str(names[i]));
    } else {
      arg.shape.append(nb::none());
    }
  }
  return arg;
}

/// Values in the order of their names, with what they borrow.
struct Feed {
  std::vector<std::string> names;
  std::vector<Ort::Value> own;
  std::vector<const OrtValue*> values;
  std::vector<nb::object> holders;

  explicit Feed(const nb::dict& feed) {
    own.reserve(feed.size());
    for (auto [name, object] : feed) {
      names.push_back(nb::cast<std::string>(name));
      if (nb::isinstance<PyValue>(object)) {
        values.push_back(nb::cast<PyValue&>(object).value);
        continue;
      }
      nb::object& holder = holders.emplace_back();
      own.push_back(value_from_object(object, holder));
      values.push_back(own.back());
    }
  }
};

class PySession {
 public:
  PySession(nb::object model, const SessionSettings& settings,
            const std::vector<std::pair<std::string, std::map<std::string, std::string>>>& providers)
      : settings_(settings) {
    if (!providers.empty()) settings_.providers = providers;
    const Ort::SessionOptions options = settings_.build();
    if (nb::isinstance<nb::bytes>(model)) {
      const nb::bytes bytes = nb::cast<nb::bytes>(model);
      nb::gil_scoped_release released;
      session_ = Ort::Session(environment(), bytes.c_str(), bytes.size(), options);
    } else {
      const std::string path = nb::cast<std::string>(model);
      nb::gil_scoped_release released;
      session_ = Ort::Session(environment(), path.c_str(), options);
    }
    for (const std::string& name : session_.GetOutputNames()) output_names_.push_back(name);
  }

  std::vector<PyNodeArg> inputs() const {
    return args(session_.GetInputNames(), [&](size_t i) { return session_.GetInputTypeInfo(i); });
  }
  std::vector<PyNodeArg> outputs() const {
    return args(session_.GetOutputNames(), [&](size_t i) { return session_.GetOutputTypeInfo(i); });
  }
  std::vector<PyNodeArg> overridable_initializers() const {
    return args(session_.GetOverridableInitializerNames(), [&](size_t i) { return session_.GetOverridableInitializerTypeInfo(i); });
  }

  PyMetadata metadata() const {
    const Ort::ModelMetadata m = session_.GetModelMetadata();
    Ort::AllocatorWithDefaultOptions a;
    PyMetadata result{m.GetProducerNameAllocated(a).get(),
                      m.GetGraphNameAllocated(a).get(),
                      m.GetDomainAllocated(a).get(),
                      m.GetDescriptionAllocated(a).get(),
                      m.GetGraphDescriptionAllocated(a).get(),
                      m.GetVersion(),
                      {}};
    for (const auto& key : m.GetCustomMetadataMapKeysAllocated(a)) {
      result.custom_metadata_map[key.get()] = m.LookupCustomMetadataMapAllocated(key.get(), a).get();
    }
    return result;
  }

  std::vector<Ort::Value> run_values(const std::vector<std::string>& wanted, const nb::dict& dict, RunSettings* settings) {
    const Feed feed(dict);
    const std::vector<std::string>& outputs = wanted.empty() ? output_names_ : wanted;
    std::vector<const char*> in_names, out_names;
    for (const std::string& name : feed.names) in_names.push_back(name.c_str());
    for (const std::string& name : outputs) out_names.push_back(name.c_str());
    std::vector<OrtValue*> raw(outputs.size(), nullptr);
    {
      nb::gil_scoped_release released;
      const OrtRunOptions* options = settings ? static_cast<OrtRunOptions*>(settings->options) : nullptr;
      Ort::ThrowOnError(Ort::GetApi().Run(session_, options, in_names.data(), feed.values.data(), feed.values.size(), out_names.data(),
                                          out_names.size(), raw.data()));
    }
    std::vector<Ort::Value> results;
    for (OrtValue* value : raw) results.emplace_back(value);
    return results;
  }

  nb::list run(const std::vector<std::string>& wanted, const nb::dict& feed, RunSettings* settings) {
    nb::list results;
    for (Ort::Value& value : run_values(wanted, feed, settings)) results.append(value_to_object(std::move(value)));
    return results;
  }

  std::vector<PyValue> run_with_ort_values(const std::vector<std::string>& wanted, const nb::dict& feed, RunSettings* settings) {
    std::vector<PyValue> results;
    for (Ort::Value& value : run_values(wanted, feed, settings)) results.push_back({std::move(value), nb::none()});
    return results;
  }

  std::string report() const {
    Ort::AllocatorWithDefaultOptions allocator;
    char* text = nullptr;
    Ort::ThrowOnError(RhSessionGetReport(session_, allocator, &text));
    return Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get();
  }

  std::string end_profiling() {
    Ort::AllocatorWithDefaultOptions allocator;
    return session_.EndProfilingAllocated(allocator).get();
  }

  Ort::Session& native() { return session_; }
  const SessionSettings& settings() const { return settings_; }

 private:
  template <typename Type>
  static std::vector<PyNodeArg> args(const std::vector<std::string>& names, Type&& type) {
    std::vector<PyNodeArg> result;
    for (size_t i = 0; i < names.size(); ++i) result.push_back(node_arg(names[i], type(i)));
    return result;
  }

  SessionSettings settings_;
  Ort::Session session_{nullptr};
  std::vector<std::string> output_names_;
};

/// Inputs and outputs bound once for many runs. Keeps what it was given alive.
class PyBinding {
 public:
  explicit PyBinding(nb::object session) : session_(std::move(session)), binding_(nb::cast<PySession&>(session_).native()) {}

  void bind_input(const std::string& name, nb::handle object) {
    if (nb::isinstance<PyValue>(object)) {
      binding_.BindInput(name.c_str(), nb::cast<PyValue&>(object).value);
      inputs_[name] = nb::borrow(object);
      return;
    }
    nb::object holder;
    const Ort::Value value = value_from_object(object, holder);
    binding_.BindInput(name.c_str(), value);
    inputs_[name] = holder;
  }

  void bind_output_value(const std::string& name, nb::object value) {
    binding_.BindOutput(name.c_str(), static_cast<OrtValue*>(nb::cast<PyValue&>(value).value));
    outputs_[name] = std::move(value);
  }

  void bind_output(const std::string& name, const std::string& device) {
    if (device != "cpu") throw nb::value_error(("device type '" + device + "' is not available, expected cpu").c_str());
    binding_.BindOutput(name.c_str(), static_cast<const OrtMemoryInfo*>(host_));
    outputs_.erase(name);
  }

  static Ort::Value over_pointer(nb::handle type, const std::vector<int64_t>& shape, uintptr_t pointer) {
    const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
    const ONNXTensorElementDataType element = element_type_of(type);
    if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) throw nb::type_error("tensors of strings cannot be bound by address");
    const size_t bytes = bytes_of(element, shape);
    OrtValue* raw = nullptr;
    Ort::ThrowOnError(Ort::GetApi().CreateTensorWithDataAsOrtValue(memory, reinterpret_cast<void*>(pointer), bytes, shape.data(),
                                                                   shape.size(), element, &raw));
    return Ort::Value(raw);
  }

  std::vector<PyValue> outputs() const {
    std::vector<PyValue> results;
    for (Ort::Value& value : binding_.GetOutputValues()) results.push_back({std::move(value), nb::none()});
    return results;
  }

  nb::list copy_outputs_to_cpu() const {
    nb::list results;
    for (Ort::Value& value : binding_.GetOutputValues()) {
      nb::object array = value_to_object(std::move(value));
      results.append(nb::hasattr(array, "copy") ? nb::object(array.attr("copy")()) : array);
    }
    return results;
  }

  void run(RunSettings* settings) {
    Ort::Session& session = nb::cast<PySession&>(session_).native();
    nb::gil_scoped_release released;
    Ort::ThrowOnError(Ort::GetApi().RunWithBinding(session, settings ? static_cast<OrtRunOptions*>(settings->options) : nullptr, binding_));
  }

  void clear_inputs() {
    binding_.ClearBoundInputs();
    inputs_.clear();
  }
  void clear_outputs() {
    binding_.ClearBoundOutputs();
    outputs_.clear();
  }

  nb::object session_;
  Ort::IoBinding binding_;
  Ort::MemoryInfo host_ = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  std::map<std::string, nb::object> inputs_, outputs_;
};

std::string arg_text(const PyNodeArg& arg) {
  return "NodeArg(name='" + arg.name + "', type='" + arg.type + "', shape=" + nb::cast<std::string>(nb::repr(arg.shape)) + ")";
}

void bind_information(nb::module_& module) {
  nb::class_<PyNodeArg>(module, "NodeArg")
      .def_ro("name", &PyNodeArg::name)
      .def_ro("type", &PyNodeArg::type)
      .def_prop_ro("shape", [](const PyNodeArg& arg) { return nb::list(arg.shape); })
      .def("__str__", &arg_text)
      .def("__repr__", &arg_text);
  nb::class_<PyMetadata>(module, "ModelMetadata")
      .def_ro("producer_name", &PyMetadata::producer_name)
      .def_ro("graph_name", &PyMetadata::graph_name)
      .def_ro("domain", &PyMetadata::domain)
      .def_ro("description", &PyMetadata::description)
      .def_ro("graph_description", &PyMetadata::graph_description)
      .def_ro("version", &PyMetadata::version)
      .def_ro("custom_metadata_map", &PyMetadata::custom_metadata_map);
}

void bind_binding(nb::module_& module) {
  nb::class_<PyBinding>(module, "SessionIOBinding")
      .def(nb::init<nb::object>())
      .def("bind_input", &PyBinding::bind_input)
      .def("bind_input_pointer",
           [](PyBinding& b, const std::string& name, nb::handle type, const std::vector<int64_t>& shape, uintptr_t pointer) {
             b.bind_input(name, nb::cast(PyValue{PyBinding::over_pointer(type, shape, pointer), nb::none()}));
           })
      .def("bind_output", &PyBinding::bind_output)
      .def("bind_output_value", &PyBinding::bind_output_value)
      .def("bind_output_pointer",
           [](PyBinding& b, const std::string& name, nb::handle type, const std::vector<int64_t>& shape, uintptr_t pointer) {
             b.bind_output_value(name, nb::cast(PyValue{PyBinding::over_pointer(type, shape, pointer), nb::none()}));
           })
      .def("get_outputs", &PyBinding::outputs)
      .def("copy_outputs_to_cpu", &PyBinding::copy_outputs_to_cpu)
      .def("synchronize_inputs", [](PyBinding& b) { b.binding_.SynchronizeInputs(); })
      .def("synchronize_outputs", [](PyBinding& b) { b.binding_.SynchronizeOutputs(); })
      .def("clear_binding_inputs", &PyBinding::clear_inputs)
      .def("clear_binding_outputs", &PyBinding::clear_outputs)
      .def("run", &PyBinding::run, nb::arg("run_options").none());
}

}  // namespace

void bind_session(nb::module_& module) {
  bind_information(module);
  nb::class_<PySession>(module, "Session")
      .def(nb::init<nb::object, const SessionSettings&, const std::vector<std::pair<std::string, std::map<std::string, std::string>>>&>())
      .def("get_inputs", &PySession::inputs)
      .def("get_outputs", &PySession::outputs)
      .def("get_overridable_initializers", &PySession::overridable_initializers)
      .def("get_modelmeta", &PySession::metadata)
      .def("get_session_options", &PySession::settings)
      .def("run", &PySession::run, nb::arg("output_names"), nb::arg("input_feed"), nb::arg("run_options").none())
      .def("run_with_ort_values", &PySession::run_with_ort_values, nb::arg("output_names"), nb::arg("input_feed"),
           nb::arg("run_options").none())
      .def("report", &PySession::report)
      .def("end_profiling", &PySession::end_profiling)
      .def("get_profiling_start_time_ns", [](PySession& s) { return s.native().GetProfilingStartTimeNs(); });
  bind_binding(module);
}

}  // namespace rh::python
