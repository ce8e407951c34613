// LoRA adapters: their files, and what run options take.
#include "adapters.h"

#include <nanobind/stl/filesystem.h>

#include <roundhouse/roundhouse_c_api.h>

#include "values.h"

namespace rh::python {

AdapterHandle new_adapter() {
  OrtLoraAdapter* adapter = nullptr;
  Ort::ThrowOnError(RhCreateEmptyLoraAdapter(&adapter));
  return AdapterHandle(adapter);
}

namespace {

using Path = std::filesystem::path;

AdapterHandle loaded(const Path& path) {
  AdapterHandle adapter = new_adapter();
  nb::gil_scoped_release released;
  Ort::ThrowOnError(RhLoadLoraAdapter(adapter.get(), path.c_str()));
  return adapter;
}

/// A name as the C interface takes it.
std::string c_string(nb::handle name) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
  if (!text) throw nb::python_error();
  std::string copy(text, static_cast<size_t>(size));
  if (copy.find('\0') != std::string::npos) throw nb::value_error("the name of a parameter has a null character");
  return copy;
}

/// The content of an adapter's file in Python's hands: versions, and a dict of names and OrtValues.
class PyAdapterFormat {
 public:
  static PyAdapterFormat read(const Path& path) {
    const AdapterHandle adapter = loaded(path);
    RhLoraAdapterInfo info;
    Ort::ThrowOnError(RhGetLoraAdapterInfo(adapter.get(), &info));
    PyAdapterFormat format;
    format.adapter_version = info.adapter_version;
    format.model_version = info.model_version;
    for (size_t i = 0; i < info.parameter_count; ++i) {
      const char* name = nullptr;
      OrtValue* value = nullptr;
      Ort::ThrowOnError(RhGetLoraAdapterParameter(adapter.get(), i, &name, &value));
      PyValue held{Ort::Value(value), nb::none()};
      format.parameters_[nb::str(name)] = nb::cast(std::move(held));
    }
    return format;
  }

  void write(const Path& path) const {
    std::vector<std::string> names;
    std::vector<const char*> name_pointers;
    std::vector<const OrtValue*> values;
    const nb::dict held(parameters_);  // also while another thread sets others
    for (auto [name, value] : held) {
      names.push_back(c_string(name));
      values.push_back(nb::cast<PyValue&>(value).value);
    }
    for (const std::string& name : names) name_pointers.push_back(name.c_str());
    const RhLoraAdapterInfo info{format_version(), adapter_version, model_version, names.size()};
    nb::gil_scoped_release released;
    Ort::ThrowOnError(RhWriteLoraAdapter(path.c_str(), &info, name_pointers.data(), values.data()));
  }

  int32_t format_version() const { return 1; }
  nb::dict parameters() const { return nb::cast<nb::dict>(parameters_.attr("copy")()); }
  void set_parameters(nb::handle given) {
    nb::dict taken;
    for (nb::handle pair : given.attr("items")()) {
      const nb::object name = pair[0], value = pair[1];
      if (!nb::isinstance<nb::str>(name) || !nb::isinstance<PyValue>(value)) {
        const std::string text = "parameter " + nb::cast<std::string>(nb::repr(name)) + " is of type " +
                                 nb::cast<std::string>(value.type().attr("__name__")) + ", expected a string and an OrtValue";
        throw nb::type_error(text.c_str());
      }
      taken[name] = value;
    }
    parameters_ = std::move(taken);
  }

  int32_t adapter_version = 0, model_version = 0;

 private:
  nb::dict parameters_;
};

/// The methods that the package has, and the properties that its native module has.
void bind_format(nb::module_& module) {
  using F = PyAdapterFormat;
  const auto adapter_version = [](const F& f) { return f.adapter_version; };
  const auto model_version = [](const F& f) { return f.model_version; };
  const auto set_adapter_version = [](F& f, int32_t version) { f.adapter_version = version; };
  const auto set_model_version = [](F& f, int32_t version) { f.model_version = version; };
  const auto set_parameters = [](F& f, nb::handle parameters) { f.set_parameters(parameters); };
  nb::class_<F>(module, "AdapterFormat", "A file of LoRA adapters: parameters by name, and versions.", nb::dynamic_attr(),
                nb::is_weak_referenceable())
      .def(
          "__init__", [](F* self, const F* adapter) { new (self) F(adapter ? *adapter : F()); }, nb::arg("adapter").none() = nb::none())
      .def_static("read_adapter", &F::read, nb::arg("file_path"))
      .def("export_adapter", &F::write, nb::arg("file_path"))
      .def("get_format_version", &F::format_version)
      .def("get_adapter_version", adapter_version)
      .def("set_adapter_version", set_adapter_version, nb::arg("adapter_version"))
      .def("get_model_version", model_version)
      .def("set_model_version", set_model_version, nb::arg("model_version"))
      .def("get_parameters", &F::parameters)
      .def("set_parameters", set_parameters, nb::arg("params"))
      .def_prop_ro("_adapter", [](nb::handle self) { return nb::borrow(self); })
      .def_prop_ro("format_version", &F::format_version)
      .def_prop_rw("adapter_version", adapter_version, set_adapter_version)
      .def_prop_rw("model_version", model_version, set_model_version)
      .def_prop_rw("parameters", &F::parameters, set_parameters);
}

void load(PyLoraAdapter& adapter, const Path& path) {
  nb::gil_scoped_release released;
  Ort::ThrowOnError(RhLoadLoraAdapter(adapter.handle.get(), path.c_str()));
}

}  // namespace

void bind_adapters(nb::module_& module) {
  bind_format(module);
  nb::class_<PyLoraAdapter>(module, "LoraAdapter", "Parameters that runs take in the place of a model's own.", nb::is_weak_referenceable())
      .def(nb::init<>())
      .def("Load", &load, nb::arg("file_path"));
}

}  // namespace rh::python
