#include "module.h"

#include <roundhouse/roundhouse_c_api.h>

#include <array>

#include "ep_devices.h"

namespace rh::python {

namespace {

struct ErrorClass {
  const char* name;
  const char* code;
  const char* doc;
};
constexpr std::array kErrors = {
    ErrorClass{"", "SUCCESS", ""},
    ErrorClass{"Fail", "FAIL", "What no other code says."},
    ErrorClass{"InvalidArgument", "INVALID_ARGUMENT", "An argument or a value of a run does not fit."},
    ErrorClass{"NoSuchFile", "NO_SUCHFILE", "A file is not there."},
    ErrorClass{"NoModel", "NO_MODEL", "There is no model."},
    ErrorClass{"EngineError", "ENGINE_ERROR", "The runtime of a provider failed."},
    ErrorClass{"RuntimeException", "RUNTIME_EXCEPTION", "A run failed."},
    ErrorClass{"InvalidProtobuf", "INVALID_PROTOBUF", "The bytes are no ONNX model."},
    ErrorClass{"ModelLoaded", "MODEL_LOADED", "The session has a model already."},
    ErrorClass{"NotImplemented", "NOT_IMPLEMENTED", "No provider runs an operator of the model."},
    ErrorClass{"InvalidGraph", "INVALID_GRAPH", "The model contradicts itself or the standard."},
    ErrorClass{"EPFail", "EP_FAIL", "A provider failed."},
    ErrorClass{"ModelLoadCanceled", "MODEL_LOAD_CANCELED", "The load was cancelled."},
    ErrorClass{"ModelRequiresCompilation", "MODEL_REQUIRES_COMPILATION", "A provider runs the model compiled alone."},
    ErrorClass{"NotFound", "NOT_FOUND", "A name is not known."},
    ErrorClass{"DeviceReset", "DEVICE_RESET", "A device was reset; its sessions are lost."}};

// The exception classes, by error code. Kept for the life of the process.
std::array<PyObject*, kErrors.size()> error_types{};

// Whether messages begin with the number and the name of their code.
bool messages_with_codes = false;

std::string text_of(const Ort::Exception& error) {
  const size_t code = static_cast<size_t>(error.GetOrtErrorCode());
  if (!messages_with_codes || code == 0 || code >= kErrors.size()) return error.what();
  return "[ONNXRuntimeError] : " + std::to_string(code) + " : " + kErrors[code].code + " : " + error.what();
}

void bind_errors(nb::module_& module) {
  for (size_t code = 1; code < kErrors.size(); ++code) {
    const std::string qualified = std::string("roundhouse.") + kErrors[code].name;
    error_types[code] = PyErr_NewExceptionWithDoc(qualified.c_str(), kErrors[code].doc, PyExc_RuntimeError, nullptr);
    module.attr(kErrors[code].name) = nb::borrow(error_types[code]);
  }
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Ort::Exception& error) {
      const size_t code = static_cast<size_t>(error.GetOrtErrorCode());
      PyErr_SetString(code > 0 && code < error_types.size() ? error_types[code] : PyExc_RuntimeError, text_of(error).c_str());
    }
  });
  module.def("set_messages_with_codes", [](bool with) { messages_with_codes = with; });
}

void set_global_thread_pool_sizes(int intra_op_threads, int inter_op_threads) {
  Ort::ThreadingOptions threading;
  threading.SetGlobalIntraOpNumThreads(intra_op_threads);
  threading.SetGlobalInterOpNumThreads(inter_op_threads);
  Ort::ThrowOnError(RhEnvMakeGlobalThreadPools(environment(), threading));
}

/// The function that takes messages; null: none. Read and changed with the GIL held.
PyObject* log_callback = nullptr;

/// Answers 0, for stderr, where Python cannot be asked: in threads that it does not know, inside of a callback, and when one has failed.
int ORT_API_CALL log_to_python(OrtLoggingLevel severity, const char* category, const char* logid, const char* location,
                               const char* message) {
  thread_local bool is_inside = false;
  if (is_inside || !nb::is_alive() || PyGILState_GetThisThreadState() == nullptr) return 0;
  is_inside = true;
  const nb::gil_scoped_acquire acquired;
  int taken = 0;
  if (log_callback) {
    const nb::error_scope kept;  // an error that is under way stays
    const nb::object callback = nb::borrow(log_callback);
    try {
      callback(static_cast<int>(severity), category, logid, location, message);
      taken = 1;
    } catch (nb::python_error& error) {
      error.discard_as_unraisable(callback);
    }
  }
  is_inside = false;
  return taken;
}

void set_default_logger_severity(int severity) {
  if (severity < 0 || severity > 4)
    throw std::runtime_error("the severity is " + std::to_string(severity) + ", expected 0 (verbose) to 4 (fatal)");
  environment().UpdateEnvWithCustomLogLevel(static_cast<OrtLoggingLevel>(severity));
}

void set_default_logger_callback(const nb::object& callback, int severity) {
  if (severity < 0 || severity > 4)
    throw std::runtime_error("the severity is " + std::to_string(severity) + ", expected 0 (verbose) to 4 (fatal)");
  if (!callback.is_none() && !PyCallable_Check(callback.ptr())) throw std::runtime_error("the callback cannot be called");
  PyObject* const before = log_callback;
  log_callback = callback.is_none() ? nullptr : nb::object(callback).release().ptr();
  RhSetLogFunction(log_callback ? &log_to_python : nullptr);
  if (log_callback) set_default_logger_severity(severity);
  Py_XDECREF(before);
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
  rh::python::bind_context_data(module);
  module.def("set_global_thread_pool_sizes", &rh::python::set_global_thread_pool_sizes, nb::arg("intra_op_num_threads") = 0,
             nb::arg("inter_op_num_threads") = 0);
  module.def("get_version_string", [] { return Ort::GetVersionString(); });
  module.def("get_build_info", [] { return Ort::GetBuildInfoString(); });
  module.def("get_available_providers", [] { return Ort::GetAvailableProviders(); });
  module.def("set_seed", [](int64_t seed) { Ort::ThrowOnError(RhSetRandomSeed(seed)); }, nb::arg("seed"));
  module.def("set_default_logger_severity", &rh::python::set_default_logger_severity);
  module.def("set_default_logger_callback", &rh::python::set_default_logger_callback, nb::arg("callback").none(),
             nb::arg("severity") = static_cast<int>(ORT_LOGGING_LEVEL_WARNING));
}
