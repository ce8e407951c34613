#include "module.h"

#include "ep_devices.h"

#include <array>

namespace rh::python {

namespace {

constexpr std::array kErrorNames = {"",
                                    "Fail",
                                    "InvalidArgument",
                                    "NoSuchFile",
                                    "NoModel",
                                    "EngineError",
                                    "RuntimeException",
                                    "InvalidProtobuf",
                                    "ModelLoaded",
                                    "NotImplemented",
                                    "InvalidGraph",
                                    "EPFail",
                                    "ModelLoadCanceled",
                                    "ModelRequiresCompilation",
                                    "NotFound",
                                    "DeviceReset"};

// The exception classes, by error code. Kept for the life of the process.
std::array<PyObject*, kErrorNames.size()> error_types{};

void bind_errors(nb::module_& module) {
  for (size_t code = 1; code < kErrorNames.size(); ++code) {
    const std::string qualified = std::string("roundhouse.") + kErrorNames[code];
    error_types[code] = PyErr_NewException(qualified.c_str(), PyExc_RuntimeError, nullptr);
    module.attr(kErrorNames[code]) = nb::borrow(error_types[code]);
  }
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Ort::Exception& error) {
      const size_t code = static_cast<size_t>(error.GetOrtErrorCode());
      PyErr_SetString(code > 0 && code < error_types.size() ? error_types[code] : PyExc_RuntimeError, error.what());
    }
  });
}

}  // namespace

Ort::Env& environment() {
  static Ort::Env* env = new Ort::Env(ORT_LOGGING_LEVEL_WARNING, "Default");
  return *env;
}

}  // namespace rh::python

NB_MODULE(_native, module) {
  nb::set_leak_warnings(false);
  rh::python::bind_errors(module);
  rh::python::bind_ep_devices(module);
  rh::python::bind_adapters(module);
  rh::python::bind_options(module);
  rh::python::bind_ort_value(module);
  rh::python::bind_sparse_tensor(module);
  rh::python::bind_memory(module);
  rh::python::bind_session(module);
  rh::python::bind_ort_value_vector(module);
  rh::python::bind_io_binding(module);
  rh::python::bind_devices(module);
  rh::python::bind_compile(module);
  module.def("get_version_string", [] { return Ort::GetVersionString(); });
  module.def("get_build_info", [] { return Ort::GetBuildInfoString(); });
  module.def("get_available_providers", [] { return Ort::GetAvailableProviders(); });
  module.def("set_default_logger_severity", [](int severity) {
    if (severity < 0 || severity > 4)
      throw std::runtime_error("the severity is " + std::to_string(severity) + ", expected 0 (verbose) to 4 (fatal)");
    rh::python::environment().UpdateEnvWithCustomLogLevel(static_cast<OrtLoggingLevel>(severity));
  });
}
