#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <thread>

#include <roundhouse/roundhouse_c_api.h>

#include "module.h"
#include "options.h"
#include "session.h"

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

PyNodeArg node_arg(std::string name, const Ort::TypeInfo& info) {
  PyNodeArg arg{std::move(name), type_text(info), nb::list()};
  const OrtApi& api = Ort::GetApi();
  const OrtTypeInfo* type = info;
  Ort::TypeInfo content{nullptr};
  if (info.GetONNXType() == ONNX_TYPE_OPTIONAL) {
    const OrtOptionalTypeInfo* optional = nullptr;
    OrtTypeInfo* inner = nullptr;
    Ort::ThrowOnError(api.CastTypeInfoToOptionalTypeInfo(info, &optional));
    Ort::ThrowOnError(api.GetOptionalContainedTypeInfo(optional, &inner));
    content = Ort::TypeInfo(inner);
    type = content;
  }
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  Ort::ThrowOnError(api.CastTypeInfoToTensorInfo(type, &tensor));
  if (!tensor) return arg;
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

  /// None feeds nothing.
  Feed(const nb::dict& feed, const std::map<std::string, DeclaredType>& declared) {
    own.reserve(feed.size());
    for (auto [key, object] : feed) {
      if (object.is_none()) continue;
      const std::string& name = names.emplace_back(nb::cast<std::string>(key));
      if (nb::isinstance<PyValue>(object)) {
        values.push_back(nb::cast<PyValue&>(object).value);
        continue;
      }
      const auto type = declared.find(name);
      nb::object& holder = holders.emplace_back();
      own.push_back(value_from_object(object, holder, type == declared.end() ? nullptr : &type->second));
      values.push_back(own.back());
    }
  }
};

/// Copies what nodes give while a run goes on, without the interpreter.
struct ValueCollector {
  std::vector<std::pair<std::string, Ort::Value>> values;
  std::exception_ptr error;

  static void ORT_API_CALL call(void* state, const RhNodeRun* node) {
    auto& collector = *static_cast<ValueCollector*>(state);
    if (collector.error || node->depth > 0) return;
    try {
      for (size_t i = 0; i < node->output_count; ++i) collector.take(node->output_names[i], node->outputs[i]);
    } catch (...) {
      collector.error = std::current_exception();
    }
  }

 private:
  void take(const char* name, const OrtValue* raw) {
    if (!raw || !Ort::ConstValue(raw).IsTensor()) return;
    const Ort::ConstValue value(raw);
    const auto info = value.GetTensorTypeAndShapeInfo();
    if (info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return;
    const std::vector<int64_t> shape = info.GetShape();
    Ort::AllocatorWithDefaultOptions allocator;
    Ort::Value copy = Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), info.GetElementType());
    if (const size_t bytes = value.GetTensorSizeInBytes()) std::memcpy(copy.GetTensorMutableRawData(), value.GetTensorRawData(), bytes);
    values.emplace_back(name, std::move(copy));
  }
};

/// Asynchronous runs whose callback has not returned.
std::atomic<int64_t> g_async_runs{0};

/// The distinct names of what is asked for, and where each stands.
struct Wanted {
  explicit Wanted(const std::vector<std::string>& names) : names(names) {
    for (const std::string& name : this->names) {
      if (positions.emplace(name, distinct.size()).second) distinct.push_back(name.c_str());
    }
    raw.resize(distinct.size(), nullptr);
  }

  /// The results that stand in `raw`, which are taken over; a name asked for again gets the same object.
  template <typename Convert>
  nb::list results(Convert&& convert) {
    std::vector<Ort::Value> values;
    for (OrtValue*& value : raw) values.emplace_back(std::exchange(value, nullptr));
    std::vector<nb::object> objects;
    for (Ort::Value& value : values) objects.push_back(convert(std::move(value)));
    nb::list list;
    for (const std::string& name : names) list.append(objects[positions[name]]);
    return list;
  }

  const std::vector<std::string> names;
  std::map<std::string, size_t> positions;
  std::vector<const char*> distinct;
  std::vector<OrtValue*> raw;
};

/// What an asynchronous run and its callback need; used and destroyed under the interpreter's lock.
struct AsyncRun {
  Feed feed;
  Wanted wanted;
  nb::object session, callback, user_data, options;  // kept alive

  static void finished(void* data, OrtValue**, size_t, OrtStatusPtr failure) {
    nb::gil_scoped_acquire locked;
    {
      const std::unique_ptr<AsyncRun> run(static_cast<AsyncRun*>(data));
      const Ort::Status status(failure);
      try {
        const nb::list results =
            status.IsOK() ? run->wanted.results([](Ort::Value value) { return value_to_object(std::move(value)); }) : nb::list();
        run->callback(results, run->user_data, status.IsOK() ? std::string() : status.GetErrorMessage());
      } catch (nb::python_error& error) {
        error.discard_as_unraisable("the callback of run_async");
      } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
        PyErr_WriteUnraisable(run->callback.ptr());
      }
    }
    --g_async_runs;
  }
};

/// Returns when every callback has returned.
void finish_async_runs() {
  nb::gil_scoped_release released;
  while (g_async_runs > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class PySession {
 public:
  PySession(nb::object model, const SessionSettings& settings,
            const std::vector<std::pair<std::string, std::map<std::string, std::string>>>& providers, const std::string& fallback)
      : settings_(settings) {
    if (!providers.empty()) settings_.providers = providers;
    if (!fallback.empty()) settings_.config["roundhouse.fallback"] = fallback;
    environment();  // where the libraries of providers are looked up
    Ort::SessionOptions options = settings_.build();
    const LoadCancellation::Load load(*settings_.cancellation, options);
    if (nb::isinstance<nb::bytes>(model)) {
      const nb::bytes bytes = nb::cast<nb::bytes>(model);
      nb::gil_scoped_release released;
      session_ = Ort::Session(environment(), bytes.c_str(), bytes.size(), options);
    } else {
      const std::string path = nb::cast<std::string>(model);
      nb::gil_scoped_release released;
      session_ = Ort::Session(environment(), path.c_str(), options);
    }
    output_names_ = session_.GetOutputNames();
    const std::vector<std::string> names = session_.GetInputNames();
    for (size_t i = 0; i < names.size(); ++i) declared_[names[i]] = declared_type(session_.GetInputTypeInfo(i));
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

  nb::list run(const std::vector<std::string>& wanted, const nb::dict& feed, RunSettings* settings) {
    return run_values(wanted, feed, settings, [](Ort::Value value) { return value_to_object(std::move(value)); });
  }

  nb::list run_with_ort_values(const std::vector<std::string>& wanted, const nb::dict& feed, RunSettings* settings) {
    return run_values(wanted, feed, settings, [](Ort::Value value) { return nb::cast(PyValue{std::move(value), nb::none()}); });
  }

  /// The outputs, and by name the tensors that the nodes of the main graph gave on the way.
  std::pair<nb::list, nb::dict> run_with_values(const std::vector<std::string>& wanted, const nb::dict& feed) {
    RunSettings settings;
    ValueCollector collector;
    Ort::ThrowOnError(RhRunOptionsSetNodeCallback(settings.options, ValueCollector::call, &collector));
    nb::list outputs = run(wanted, feed, &settings);
    if (collector.error) std::rethrow_exception(collector.error);
    nb::dict values;
    for (auto& [name, value] : collector.values) values[name.c_str()] = value_to_object(std::move(value));
    return {std::move(outputs), std::move(values)};
  }

  ~PySession() {
    nb::gil_scoped_release released;  // asynchronous runs that are waited for take the lock for their callbacks
    session_ = Ort::Session(nullptr);
  }

  void run_async(nb::object self, const std::vector<std::string>& names, const nb::dict& dict, nb::object callback, nb::object user_data,
                 nb::object options) {
    const OrtRunOptions* run_options = options.is_none() ? nullptr : static_cast<OrtRunOptions*>(nb::cast<RunSettings&>(options).options);
    auto run = std::make_unique<AsyncRun>(AsyncRun{Feed(dict, declared_), Wanted(names.empty() ? output_names_ : names), std::move(self),
                                                   std::move(callback), std::move(user_data), std::move(options)});
    std::vector<const char*> in_names;
    for (const std::string& name : run->feed.names) in_names.push_back(name.c_str());
    ++g_async_runs;
    AsyncRun* pending = run.release();
    OrtStatus* status = Ort::GetApi().RunAsync(session_, run_options, in_names.data(), pending->feed.values.data(), in_names.size(),
                                               pending->wanted.distinct.data(), pending->wanted.distinct.size(), pending->wanted.raw.data(),
                                               &AsyncRun::finished, pending);
    if (!status) return;
    run.reset(pending);
    --g_async_runs;
    Ort::ThrowOnError(status);
  }

  /// What an input is declared as; null for a name that is none.
  const DeclaredType* declared(const std::string& name) const {
    const auto at = declared_.find(name);
    return at == declared_.end() ? nullptr : &at->second;
  }

  using AssignedNode = std::tuple<std::string, std::string, std::string>;  ///< name, domain, operator
  std::vector<std::pair<std::string, std::vector<AssignedNode>>> assigned_subgraphs() const {
    std::vector<std::pair<std::string, std::vector<AssignedNode>>> list;
    for (const Ort::ConstEpAssignedSubgraph& subgraph : session_.GetEpGraphAssignmentInfo()) {
      auto& nodes = list.emplace_back(subgraph.GetEpName(), std::vector<AssignedNode>()).second;
      for (const auto& node : subgraph.GetNodes()) nodes.emplace_back(node.GetName(), node.GetDomain(), node.GetOperatorType());
    }
    return list;
  }

  std::string report() const {
    Ort::AllocatorWithDefaultOptions allocator;
    char* text = nullptr;
    Ort::ThrowOnError(RhSessionGetReport(session_, allocator, &text));
    return Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get();
  }

  std::string memory_plan(const std::map<std::string, std::vector<int64_t>>& shapes,
                          const std::map<std::string, int64_t>& dimensions) const {
    std::vector<RhInputShape> inputs;
    for (const auto& [name, dims] : shapes) inputs.push_back({name.c_str(), dims.data(), dims.size()});
    std::vector<RhDimension> values;
    for (const auto& [name, value] : dimensions) values.push_back({name.c_str(), value});
    Ort::AllocatorWithDefaultOptions allocator;
    char* text = nullptr;
    Ort::ThrowOnError(RhSessionGetMemoryPlan(session_, inputs.data(), inputs.size(), values.data(), values.size(), allocator, &text));
    return Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get();
  }

  size_t trim() {
    nb::gil_scoped_release released;
    size_t bytes = 0;
    Ort::ThrowOnError(RhSessionTrim(session_, &bytes));
    return bytes;
  }

  void set_ep_dynamic_options(const std::map<std::string, std::string>& options) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    session_.SetEpDynamicOptions(keys.data(), values.data(), keys.size());
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

  // Runs once for each distinct name; a name asked for again gets the same object.
  template <typename Convert>
  nb::list run_values(const std::vector<std::string>& wanted, const nb::dict& dict, RunSettings* settings, Convert&& convert) {
    const Feed feed(dict, declared_);
    Wanted asked(wanted.empty() ? output_names_ : wanted);
    std::vector<const char*> in_names;
    for (const std::string& name : feed.names) in_names.push_back(name.c_str());
    {
      nb::gil_scoped_release released;
      const OrtRunOptions* options = settings ? static_cast<OrtRunOptions*>(settings->options) : nullptr;
      Ort::ThrowOnError(Ort::GetApi().Run(session_, options, in_names.data(), feed.values.data(), feed.values.size(), asked.distinct.data(),
                                          asked.distinct.size(), asked.raw.data()));
    }
    return asked.results(convert);
  }

  SessionSettings settings_;
  Ort::Session session_{nullptr};
  std::vector<std::string> output_names_;
  std::map<std::string, DeclaredType> declared_;
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
      .def_rw("producer_name", &PyMetadata::producer_name)
      .def_rw("graph_name", &PyMetadata::graph_name)
      .def_rw("domain", &PyMetadata::domain)
      .def_rw("description", &PyMetadata::description)
      .def_rw("graph_description", &PyMetadata::graph_description)
      .def_rw("version", &PyMetadata::version)
      .def_rw("custom_metadata_map", &PyMetadata::custom_metadata_map);
}

}  // namespace

Ort::Session& native_session(nb::handle session) { return nb::cast<PySession&>(session).native(); }

const DeclaredType* declared_input(nb::handle session, const std::string& name) { return nb::cast<PySession&>(session).declared(name); }

void bind_session(nb::module_& module) {
  bind_information(module);
  nb::class_<PySession>(module, "Session")
      .def(nb::init<nb::object, const SessionSettings&, const std::vector<std::pair<std::string, std::map<std::string, std::string>>>&,
                    const std::string&>())
      .def("get_inputs", &PySession::inputs)
      .def("get_outputs", &PySession::outputs)
      .def("get_overridable_initializers", &PySession::overridable_initializers)
      .def("get_modelmeta", &PySession::metadata)
      .def("get_session_options", &PySession::settings)
      .def("run", &PySession::run, nb::arg("output_names"), nb::arg("input_feed"), nb::arg("run_options").none())
      .def("run_with_ort_values", &PySession::run_with_ort_values, nb::arg("output_names"), nb::arg("input_feed"),
           nb::arg("run_options").none())
      .def("run_with_values", &PySession::run_with_values, nb::arg("output_names"), nb::arg("input_feed"))
      .def(
          "run_async",
          [](nb::handle_t<PySession> self, const std::vector<std::string>& names, const nb::dict& feed, nb::object callback,
             nb::object user_data, nb::object options) {
            nb::cast<PySession&>(self).run_async(nb::borrow(self), names, feed, std::move(callback), std::move(user_data),
                                                 std::move(options));
          },
          nb::arg("output_names"), nb::arg("input_feed"), nb::arg("callback"), nb::arg("user_data").none(), nb::arg("run_options").none())
      .def("assigned_subgraphs", &PySession::assigned_subgraphs)
      .def("report", &PySession::report)
      .def("memory_plan", &PySession::memory_plan)
      .def("trim", &PySession::trim)
      .def("set_ep_dynamic_options", &PySession::set_ep_dynamic_options, nb::arg("options"))
      .def("release_captured_graph",
           [](PySession& s, int id) { Ort::ThrowOnError(Ort::GetApi().SessionReleaseCapturedGraph(s.native(), id)); })
      .def("end_profiling", &PySession::end_profiling)
      .def("get_profiling_start_time_ns", [](PySession& s) { return s.native().GetProfilingStartTimeNs(); });
  module.def("finish_async_runs", &finish_async_runs);
}

}  // namespace rh::python
