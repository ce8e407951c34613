// Inputs and outputs of a session, bound once for many runs.
#include "options.h"
#include "ort_value_vector.h"
#include "session.h"

namespace rh::python {

namespace {

/// Keeps what it was given alive.
class PyBinding {
 public:
  explicit PyBinding(nb::object session) : session_(std::move(session)), binding_(native_session(session_)) {}

  void bind_input(const std::string& name, nb::handle object) {
    if (nb::isinstance<PyValue>(object)) {
      binding_.BindInput(name.c_str(), nb::cast<PyValue&>(object).value);
      inputs_[name] = nb::borrow(object);
      return;
    }
    nb::object holder;
    const Ort::Value value = value_from_object(object, holder, declared_input(session_, name));
    binding_.BindInput(name.c_str(), value);
    inputs_[name] = holder;
  }

  void bind_input_pointer(const std::string& name, nb::handle device, nb::handle type, const std::vector<int64_t>& shape,
                          uintptr_t pointer) {
    bind_input(name, nb::cast(value_over_pointer(place_of(device), type, shape, pointer)));
  }

  void bind_output_value(const std::string& name, nb::object value) {
    binding_.BindOutput(name.c_str(), static_cast<OrtValue*>(nb::cast<PyValue&>(value).value));
    outputs_[name] = std::move(value);
  }

  void bind_output(const std::string& name, nb::handle device) {
    binding_.BindOutput(name.c_str(), memory_at(place_of(device)));
    outputs_.erase(name);
  }

  void bind_output_pointer(const std::string& name, nb::handle device, nb::handle type, const std::vector<int64_t>& shape,
                           uintptr_t pointer) {
    bind_output_value(name, nb::cast(value_over_pointer(place_of(device), type, shape, pointer)));
  }

  PyValueVector outputs() const {
    PyValueVector results;
    for (Ort::Value& value : binding_.GetOutputValues()) results.values.push_back(nb::cast(PyValue{std::move(value), nb::none()}));
    return results;
  }

  nb::list copy_outputs_to_cpu() const {
    nb::list results;
    for (Ort::Value& value : binding_.GetOutputValues()) {
      if (dlpack_kind(place_of(value)) != 1) {
        results.append(value_to_object(copy_on_host(value)));
        continue;
      }
      nb::object array = value_to_object(std::move(value));
      results.append(nb::hasattr(array, "copy") ? nb::object(array.attr("copy")()) : array);
    }
    return results;
  }

  void run(RunSettings* settings) {
    Ort::Session& session = native_session(session_);
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
  void synchronize_inputs() { binding_.SynchronizeInputs(); }
  void synchronize_outputs() { binding_.SynchronizeOutputs(); }

 private:
  nb::object session_;
  Ort::IoBinding binding_;
  std::map<std::string, nb::object> inputs_, outputs_;
};

}  // namespace

void bind_io_binding(nb::module_& module) {
  nb::class_<PyBinding>(module, "SessionIOBinding", "The native part of IOBinding.")
      .def(nb::init<nb::object>())
      .def("bind_input", &PyBinding::bind_input)
      .def("bind_input", &PyBinding::bind_input_pointer)
      .def("bind_ortvalue_input", [](PyBinding& b, const std::string& name, nb::handle_t<PyValue> value) { b.bind_input(name, value); })
      .def("bind_output", &PyBinding::bind_output)
      .def("bind_output", &PyBinding::bind_output_pointer)
      .def("bind_ortvalue_output",
           [](PyBinding& b, const std::string& name, nb::handle_t<PyValue> value) { b.bind_output_value(name, nb::borrow(value)); })
      .def("get_outputs", &PyBinding::outputs)
      .def("copy_outputs_to_cpu", &PyBinding::copy_outputs_to_cpu)
      .def("synchronize_inputs", &PyBinding::synchronize_inputs)
      .def("synchronize_outputs", &PyBinding::synchronize_outputs)
      .def("clear_binding_inputs", &PyBinding::clear_inputs)
      .def("clear_binding_outputs", &PyBinding::clear_outputs)
      .def("run", &PyBinding::run, nb::arg("run_options").none());
}

}  // namespace rh::python
