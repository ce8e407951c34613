#include "options.h"

#include <algorithm>

#include "adapters.h"
#include "ep_devices.h"
#include "lenient_values.h"
#include "values.h"

namespace rh::python {

void LoadCancellation::set(bool cancel) {
  cancel_ = cancel;
  for (Ort::SessionOptions* options : loading_) options->SetLoadCancellationFlag(cancel);
}

LoadCancellation::Load::Load(LoadCancellation& cancellation, Ort::SessionOptions& options)
    : cancellation_(cancellation), options_(&options) {
  options.SetLoadCancellationFlag(cancellation.cancel_);
  cancellation.loading_.push_back(&options);
}

Ort::SessionOptions SessionSettings::build() const {
  Ort::SessionOptions options;
  OrtSessionOptions* raw = options;
  const OrtApi& api = Ort::GetApi();
  const auto check = [](OrtStatus* status) { Ort::ThrowOnError(status); };
  check(enable_cpu_mem_arena ? api.EnableCpuMemArena(raw) : api.DisableCpuMemArena(raw));
  check(enable_mem_pattern ? api.EnableMemPattern(raw) : api.DisableMemPattern(raw));
  if (enable_profiling) check(api.EnableProfiling(raw, as_path(profile_file_prefix).c_str()));
  if (!optimized_model_filepath.empty()) check(api.SetOptimizedModelFilePath(raw, as_path(optimized_model_filepath).c_str()));
  if (!logid.empty()) check(api.SetSessionLogId(raw, logid.c_str()));
  if (log_severity_level < -1 || log_severity_level > ORT_LOGGING_LEVEL_FATAL)
    throw std::runtime_error("log_severity_level is " + std::to_string(log_severity_level) + ", expected 0 (verbose) to 4 (fatal)");
  if (log_severity_level >= 0) check(api.SetSessionLogSeverityLevel(raw, log_severity_level));
  check(api.SetSessionLogVerbosityLevel(raw, log_verbosity_level));
  if (!use_per_session_threads) check(api.DisablePerSessionThreads(raw));
  check(api.SetIntraOpNumThreads(raw, intra_op_num_threads));
  check(api.SetInterOpNumThreads(raw, inter_op_num_threads));
  check(api.SetSessionExecutionMode(raw, execution_mode));
  check(api.SetSessionGraphOptimizationLevel(raw, graph_optimization_level));
  if (use_deterministic_compute) check(api.SetDeterministicCompute(raw, true));
  if (!enable_mem_reuse) check(api.AddSessionConfigEntry(raw, "roundhouse.memory.reuse", "0"));
  if (execution_order == ExecutionOrder::memory_efficient) {
    throw Ort::Exception("execution_order is MEMORY_EFFICIENT, which is for training: expected DEFAULT or PRIORITY_BASED", ORT_FAIL);
  }
  for (const auto& [key, value] : config) check(api.AddSessionConfigEntry(raw, key.c_str(), value.c_str()));
  for (const auto& [name, size] : dimensions_by_name) check(api.AddFreeDimensionOverrideByName(raw, name.c_str(), size));
  for (const auto& [name, size] : dimensions_by_denotation) check(api.AddFreeDimensionOverride(raw, name.c_str(), size));
  for (const auto& [name, value] : initializers) check(api.AddInitializer(raw, name.c_str(), nb::cast<PyValue&>(value).value));
  std::vector<const char*> names;
  std::vector<const OrtValue*> values;
  for (const auto& [name, value] : external_initializers) {
    names.push_back(name.c_str());
    values.push_back(nb::cast<PyValue&>(value).value);
  }
  if (!names.empty()) check(api.AddExternalInitializers(raw, names.data(), values.data(), names.size()));
  for (const FileInMemory& file : external_files) {
    const std::filesystem::path path = as_path(file.name);
    const ORTCHAR_T* name = path.c_str();
    char* data = static_cast<char*>(file.buffer->buf);
    check(api.AddExternalInitializersFromFilesInMemory(raw, &name, &data, &file.bytes, 1));
  }
  for (const std::string& path : custom_op_libraries) check(api.RegisterCustomOpsLibrary_V2(raw, as_path(path).c_str()));
  for (const auto& [name, provider_options] : providers) {
    if (const auto at = devices.find(name); at != devices.end()) {
      append_devices(raw, at->second, provider_options);
      continue;
    }
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : provider_options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    check(api.SessionOptionsAppendExecutionProvider(raw, name.c_str(), keys.data(), values.data(), keys.size()));
  }
  if (context_reader) check(api.SessionOptionsSetEpContextDataReadFunc(raw, &ContextReader::read, context_reader.get()));
  apply_selection(raw, *this);
  return options;
}

namespace {

void check_ort_value(nb::handle value) {
  if (!nb::isinstance<PyValue>(value)) {
    throw std::runtime_error("an initializer is of type " + nb::cast<std::string>(nb::str(value.type())) + ", expected an OrtValue");
  }
}

/// The bytes of a contiguous buffer of Python, kept until the last copy of the pointer goes.
std::shared_ptr<Py_buffer> buffer_of(nb::handle object) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_SIMPLE) != 0) throw nb::python_error();
  return std::shared_ptr<Py_buffer>(view.release(), [](Py_buffer* held) {
    PyBuffer_Release(held);
    delete held;
  });
}

void add_external_files(SessionSettings& settings, const std::vector<std::string>& names, const nb::sequence& buffers,
                        const std::vector<size_t>& lengths) {
  if (names.size() != nb::len(buffers) || names.size() != lengths.size()) {
    throw std::runtime_error(std::to_string(nb::len(buffers)) + " buffers and " + std::to_string(lengths.size()) +
                             " lengths are given for " + std::to_string(names.size()) + " names");
  }
  std::vector<FileInMemory> files = settings.external_files;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::string what = "external data file '" + name + "'";
    if (name.empty()) throw std::runtime_error("the name of an external data file is empty");
    if (std::ranges::find(files, name, &FileInMemory::name) != files.end()) throw std::runtime_error(what + " was added before");
    auto buffer = buffer_of(nb::object(buffers[i]));
    const size_t held = static_cast<size_t>(buffer->len);
    if (lengths[i] > held) {
      throw std::runtime_error(what + " has " + std::to_string(held) + " bytes, its length is given as " + std::to_string(lengths[i]));
    }
    files.push_back({name, std::move(buffer), lengths[i]});
  }
  settings.external_files = std::move(files);
}

void bind_enums(nb::module_& module) {
  nb::enum_<GraphOptimizationLevel>(module, "GraphOptimizationLevel", "How much a model is rewritten when it is read.", nb::is_arithmetic())
      .value("ORT_DISABLE_ALL", ORT_DISABLE_ALL)
      .value("ORT_ENABLE_BASIC", ORT_ENABLE_BASIC)
      .value("ORT_ENABLE_EXTENDED", ORT_ENABLE_EXTENDED)
      .value("ORT_ENABLE_LAYOUT", ORT_ENABLE_LAYOUT)
      .value("ORT_ENABLE_ALL", ORT_ENABLE_ALL);
  nb::enum_<ExecutionMode>(module, "ExecutionMode", "Whether independent nodes run side by side.", nb::is_arithmetic())
      .value("ORT_SEQUENTIAL", ORT_SEQUENTIAL)
      .value("ORT_PARALLEL", ORT_PARALLEL);
  nb::enum_<ExecutionOrder>(module, "ExecutionOrder", "In which order nodes that could run next do.", nb::is_arithmetic())
      .value("DEFAULT", ExecutionOrder::default_order)
      .value("PRIORITY_BASED", ExecutionOrder::priority_based)
      .value("MEMORY_EFFICIENT", ExecutionOrder::memory_efficient);
}

void bind_session_fields(nb::class_<SessionSettings>& bound) {
  using S = SessionSettings;
  flag_field(bound, "enable_cpu_mem_arena", &S::enable_cpu_mem_arena);
  flag_field(bound, "enable_mem_pattern", &S::enable_mem_pattern);
  flag_field(bound, "enable_mem_reuse", &S::enable_mem_reuse);
  flag_field(bound, "enable_profiling", &S::enable_profiling);
  text_field(bound, "profile_file_prefix", &S::profile_file_prefix);
  text_field(bound, "optimized_model_filepath", &S::optimized_model_filepath);
  text_field(bound, "logid", &S::logid);
  whole_field(bound, "log_severity_level", &S::log_severity_level);
  whole_field(bound, "log_verbosity_level", &S::log_verbosity_level);
  flag_field(bound, "use_per_session_threads", &S::use_per_session_threads);
  whole_field(bound, "intra_op_num_threads", &S::intra_op_num_threads);
  whole_field(bound, "inter_op_num_threads", &S::inter_op_num_threads);
  enum_field(bound, "execution_mode", &S::execution_mode);
  enum_field(bound, "execution_order", &S::execution_order);
  enum_field(bound, "graph_optimization_level", &S::graph_optimization_level);
  flag_field(bound, "use_deterministic_compute", &S::use_deterministic_compute);
}

void bind_session_settings(nb::module_& module) {
  using S = SessionSettings;
  nb::class_<S> bound(module, "SessionOptions",
                      "What a session is made with: threads, optimization, files, entries of configuration, providers.",
                      nb::is_weak_referenceable());
  bound.def(nb::init<>());
  bind_session_fields(bound);
  bound
      .def("add_session_config_entry",
           [](S& s, const Text& key, Text value) {
             if (const size_t size = key.value.size(); size == 0 || size > 1024)
               throw std::runtime_error("a configuration key has " + std::to_string(size) + " characters, expected 1 to 1024");
             s.config[key] = std::move(value.value);
           })
      .def("_config_or",
           [](const S& s, const std::string& key, const std::string& otherwise) {
             const auto at = s.config.find(key);
             return at == s.config.end() ? otherwise : at->second;
           })
      .def("get_session_config_entry",
           [](const S& s, const Text& key) {
             const auto at = s.config.find(key);
             if (at == s.config.end()) throw std::runtime_error("SessionOptions does not have configuration with key: " + key.value);
             return at->second;
           })
      .def("add_free_dimension_override_by_name", [](S& s, const Text& name, Whole<int64_t> size) { s.dimensions_by_name[name] = size; })
      .def("add_free_dimension_override_by_denotation",
           [](S& s, const Text& name, Whole<int64_t> size) { s.dimensions_by_denotation[name] = size; })
      .def("add_initializer",
           [](S& s, Text name, nb::object value) {
             check_ort_value(value);
             if (std::ranges::find(s.initializers, name.value, [](const auto& given) { return given.first; }) != s.initializers.end())
               throw std::runtime_error("initializer '" + name.value + "' was given before");
             s.initializers.emplace_back(std::move(name.value), std::move(value));
           })
      .def("add_external_initializers",
           [](S& s, const std::vector<std::string>& names, const nb::list& values) {
             if (names.size() != nb::len(values)) {
               throw std::runtime_error(std::to_string(nb::len(values)) + " values are given for " + std::to_string(names.size()) +
                                        " names");
             }
             for (nb::handle value : values) check_ort_value(value);
             for (size_t i = 0; i < names.size(); ++i) s.external_initializers.emplace_back(names[i], values[i]);
           })
      .def("add_external_initializers_from_files_in_memory", &add_external_files)
      .def(
          "set_ep_context_data_read_func",
          [](S& s, nb::object function, size_t max_bytes) {
            if (function.is_none()) throw std::runtime_error("read_func is None; clear_ep_context_data_read_func() takes it away");
            if (!PyCallable_Check(function.ptr())) throw nb::type_error("read_func is not callable");
            if (max_bytes == 0) throw std::runtime_error("max_data_size is 0, expected a number of bytes");
            s.context_reader = std::make_shared<ContextReader>(ContextReader{std::move(function), max_bytes});
          },
          nb::arg("read_func").none(), nb::arg("max_data_size"))
      .def("clear_ep_context_data_read_func", [](S& s) { s.context_reader.reset(); })
      .def(
          "set_load_cancellation_flag", [](S& s, Flag cancel) { s.cancellation->set(cancel); }, nb::arg("cancel").none())
      .def("register_custom_ops_library",
           [](S& s, Text path) {
             Ort::SessionOptions trial;
             Ort::ThrowOnError(Ort::GetApi().RegisterCustomOpsLibrary_V2(trial, as_path(path.value).c_str()));
             s.custom_op_libraries.push_back(std::move(path.value));
           })
      .def("add_provider",
           [](S& s, std::string name, std::map<std::string, std::string> options) {
             s.providers.emplace_back(std::move(name), std::move(options));
           })
      .def("add_provider_for_devices", add_provider_for_devices)
      .def("set_provider_selection_policy",
           [](S& s, OrtExecutionProviderDevicePolicy policy) {
             s.selection_policy = policy;
             s.selection_delegate = nb::object();
           })
      .def(
          "set_provider_selection_policy_delegate",
          [](S& s, std::optional<nb::callable> delegate) {
            s.selection_policy.reset();
            s.selection_delegate = delegate ? nb::object(std::move(*delegate)) : nb::object();
          },
          nb::arg().none())
      .def("_providers", [](const S& s) { return s.providers; })
      .def("_devices",
           [](const S& s, const std::string& provider) {
             std::vector<PyEpDevice> devices;
             if (const auto found = s.devices.find(provider); found != s.devices.end()) {
               for (const OrtEpDevice* device : found->second) devices.push_back({Ort::ConstEpDevice(device)});
             }
             return devices;
           })
      .def("_copy", [](const S& s) { return S(s); })
      .def("has_selection_delegate", [](const S& s) { return s.selection_delegate.is_valid(); })
      .def("has_providers",
           [](const S& s) { return !s.providers.empty() || s.selection_policy.has_value() || s.selection_delegate.is_valid(); });
}

void bind_run_settings(nb::module_& module) {
  using R = RunSettings;
  const auto flag = nb::for_setter(nb::arg("value").none());
  nb::class_<R>(module, "RunOptions", "What a run goes by: a tag, its log, entries of configuration, whether it is to end.",
                nb::is_weak_referenceable())
      .def(nb::init<>())
      .def_prop_rw(
          "log_severity_level", [](const R& r) { return r.options.GetRunLogSeverityLevel(); },
          [](R& r, Whole<int> level) { r.options.SetRunLogSeverityLevel(level); })
      .def_prop_rw(
          "log_verbosity_level", [](const R& r) { return r.options.GetRunLogVerbosityLevel(); },
          [](R& r, Whole<int> level) { r.options.SetRunLogVerbosityLevel(level); })
      .def_prop_rw(
          "logid", [](const R& r) { return std::string(r.options.GetRunTag()); },
          [](R& r, const Text& tag) { r.options.SetRunTag(tag.value.c_str()); })
      .def_prop_rw(
          "terminate", [](const R& r) { return r.terminate; },
          [](R& r, Flag stop) {
            r.terminate = stop;
            stop ? r.options.SetTerminate() : r.options.UnsetTerminate();
          },
          flag)
      .def_prop_rw(
          "only_execute_path_to_fetches", [](const R& r) { return r.only_execute_path_to_fetches; },
          [](R& r, Flag only) {
            r.only_execute_path_to_fetches = only;
            r.options.AddConfigEntry("roundhouse.only_execute_path_to_fetches", only ? "1" : "0");
          },
          flag)
      .def_prop_rw(
          "enable_profiling", [](const R& r) { return r.enable_profiling; }, [](R& r, Flag enable) { r.set_profiling(enable); }, flag)
      .def_prop_rw(
          "profile_file_prefix", [](const R& r) { return r.profile_file_prefix; },
          [](R& r, Text prefix) { r.set_profile_prefix(std::move(prefix.value)); })
      .def(
          "add_active_adapter",
          [](R& r, nb::handle_t<PyLoraAdapter> adapter) {
            r.adapters.push_back(nb::borrow(adapter));
            Ort::ThrowOnError(Ort::GetApi().RunOptionsAddActiveLoraAdapter(r.options, nb::cast<PyLoraAdapter&>(adapter).handle.get()));
          },
          nb::arg("adapter"))
      .def("add_run_config_entry",
           [](R& r, const Text& key, const Text& value) { r.options.AddConfigEntry(key.value.c_str(), value.value.c_str()); })
      .def("get_run_config_entry", [](R& r, const Text& key) {
        const char* value = Ort::GetApi().GetRunConfigEntry(r.options, key.value.c_str());
        if (!value) throw std::runtime_error("RunOptions does not have configuration with key: " + key.value);
        return std::string(value);
      });
}

}  // namespace

void bind_options(nb::module_& module) {
  bind_enums(module);
  bind_session_settings(module);
  bind_run_settings(module);
}

}  // namespace rh::python
