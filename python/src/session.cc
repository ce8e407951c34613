// A session, as the native module of the package has it: made from options and a model, then initialised with providers.
#include "session.h"

#include <nanobind/stl/set.h>
#include <roundhouse/roundhouse_c_api.h>

#include <algorithm>
#include <utility>

#include "model_info.h"
#include "options.h"
#include "ort_value_vector.h"
#include "runs.h"

namespace rh::python {

namespace {

using ProviderOptions = std::map<std::string, std::string>;

class PySession {
 public:
  PySession(const SessionSettings& settings, nb::object model, bool is_path, bool read_config_from_model)
      : settings_(settings), model_(std::move(model)), read_config_from_model_(read_config_from_model) {
    if (is_path ? !nb::isinstance<nb::str>(model_) : !nb::isinstance<nb::bytes>(model_)) {
      throw nb::type_error(is_path ? "the path of the model is no string" : "the model is no bytes object");
    }
  }

  /// `fallback`, where it is given, counts instead of the entry "roundhouse.fallback".
  void initialize(const std::vector<std::string>& names, const std::vector<ProviderOptions>& options,
                  const std::set<std::string>& disabled_optimizers, const std::optional<std::string>& fallback) {
    if (!options.empty() && options.size() != names.size()) {
      throw nb::value_error("initialize_session takes one dict of options for each provider, or none");
    }
    SessionSettings settings = settings_;
    if (!names.empty()) settings.providers.clear();
    for (size_t i = 0; i < names.size(); ++i) settings.providers.emplace_back(names[i], options.empty() ? ProviderOptions() : options[i]);
    if (fallback) settings.config["roundhouse.fallback"] = *fallback;
    if (read_config_from_model_) settings.config.emplace("roundhouse.config_from_model", "1");
    if (!disabled_optimizers.empty()) {
      std::string& list = settings.config["optimization.disable_specified_optimizers"];
      for (const std::string& name : disabled_optimizers) list += (list.empty() ? "" : ";") + name;
    }
    if (session_) throw std::runtime_error("the session is initialised already");
    open(settings);
    model_ = nb::none();
    providers_ = settings.providers;
    output_names_ = session_.GetOutputNames();
    const std::vector<std::string> inputs = session_.GetInputNames();
    for (size_t i = 0; i < inputs.size(); ++i) declared_[inputs[i]] = declared_type(session_.GetInputTypeInfo(i));
  }

  std::vector<PyNodeArg> inputs() const {
    return args(native().GetInputNames(), [&](size_t i) { return session_.GetInputTypeInfo(i); });
  }
  std::vector<PyNodeArg> outputs() const {
    return args(native().GetOutputNames(), [&](size_t i) { return session_.GetOutputTypeInfo(i); });
  }
  std::vector<PyNodeArg> overridable_initializers() const {
    return args(native().GetOverridableInitializerNames(), [&](size_t i) { return session_.GetOverridableInitializerTypeInfo(i); });
  }
  PyMetadata metadata() const { return metadata_of(native()); }

  std::vector<std::string> providers() const {
    std::vector<std::string> names;
    for (const char* name = nullptr;; names.emplace_back(name)) {
      Ort::ThrowOnError(RhSessionGetProvider(native(), names.size(), &name));
      if (!name) return names;
    }
  }
  /// Of each provider the options that were given for it.
  std::map<std::string, ProviderOptions> provider_options() const {
    std::map<std::string, ProviderOptions> options;
    for (const std::string& name : providers()) {
      const auto given = std::ranges::find(providers_, name, [](const auto& provider) { return provider.first; });
      options[name] = given == providers_.end() ? ProviderOptions() : given->second;
    }
    return options;
  }

  nb::list run(const std::vector<std::string>& wanted, const nb::dict& feed, RunSettings* settings) {
    return run_values(wanted, feed, settings, [](Ort::Value value) { return value_to_object(std::move(value)); });
  }

  PyValueVector run_with_ort_values(const nb::dict& feed, const std::vector<std::string>& wanted, RunSettings* settings) {
    PyValueVector results;
    const nb::list list =
        run_values(wanted, feed, settings, [](Ort::Value value) { return nb::cast(PyValue{std::move(value), nb::none()}); });
    for (nb::handle value : list) results.values.push_back(nb::borrow(value));
    return results;
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
    Ort::Session& session = native();
    const OrtRunOptions* run_options = options.is_none() ? nullptr : static_cast<OrtRunOptions*>(nb::cast<RunSettings&>(options).options);
    auto run = std::make_unique<AsyncRun>(AsyncRun{Feed(dict, declared_), Wanted(names.empty() ? output_names_ : names), std::move(self),
                                                   std::move(callback), std::move(user_data), std::move(options)});
    std::vector<const char*> in_names;
    for (const std::string& name : run->feed.names) in_names.push_back(name.c_str());
    count_async_run(1);
    AsyncRun* pending = run.release();
    OrtStatus* status = Ort::GetApi().RunAsync(session, run_options, in_names.data(), pending->feed.values.data(), in_names.size(),
                                               pending->wanted.distinct.data(), pending->wanted.distinct.size(), pending->wanted.raw.data(),
                                               &AsyncRun::finished, pending);
    if (!status) return;
    run.reset(pending);
    count_async_run(-1);
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
    for (const Ort::ConstEpAssignedSubgraph& subgraph : native().GetEpGraphAssignmentInfo()) {
      auto& nodes = list.emplace_back(subgraph.GetEpName(), std::vector<AssignedNode>()).second;
      for (const auto& node : subgraph.GetNodes()) nodes.emplace_back(node.GetName(), node.GetDomain(), node.GetOperatorType());
    }
    return list;
  }

  std::string report() const {
    Ort::AllocatorWithDefaultOptions allocator;
    char* text = nullptr;
    Ort::ThrowOnError(RhSessionGetReport(native(), allocator, &text));
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
    Ort::ThrowOnError(RhSessionGetMemoryPlan(native(), inputs.data(), inputs.size(), values.data(), values.size(), allocator, &text));
    return Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get();
  }

  size_t trim() {
    Ort::Session& session = native();
    nb::gil_scoped_release released;
    size_t bytes = 0;
    Ort::ThrowOnError(RhSessionTrim(session, &bytes));
    return bytes;
  }

  void set_ep_dynamic_options(const std::map<std::string, std::string>& options) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    native().SetEpDynamicOptions(keys.data(), values.data(), keys.size());
  }

  std::string end_profiling() {
    Ort::AllocatorWithDefaultOptions allocator;
    return native().EndProfilingAllocated(allocator).get();
  }

  /// Throws RuntimeError before it is initialised.
  const Ort::Session& native() const {
    if (!session_) throw std::runtime_error("the session is not initialised: call initialize_session first");
    return session_;
  }
  Ort::Session& native() { return const_cast<Ort::Session&>(std::as_const(*this).native()); }
  const SessionSettings& settings() const { return settings_; }

 private:
  void open(const SessionSettings& settings) {
    environment();  // where the libraries of providers are looked up
    Ort::SessionOptions options = settings.build();
    const LoadCancellation::Load load(*settings.cancellation, options);
    if (nb::isinstance<nb::bytes>(model_)) {
      const nb::bytes bytes = nb::cast<nb::bytes>(model_);
      nb::gil_scoped_release released;
      session_ = Ort::Session(environment(), bytes.c_str(), bytes.size(), options);
    } else {
      const std::string path = nb::cast<std::string>(model_);
      nb::gil_scoped_release released;
      session_ = Ort::Session(environment(), as_path(path).c_str(), options);
    }
  }

  template <typename Type>
  static std::vector<PyNodeArg> args(const std::vector<std::string>& names, Type&& type) {
    std::vector<PyNodeArg> result;
    for (size_t i = 0; i < names.size(); ++i) result.push_back(node_arg(names[i], type(i)));
    return result;
  }

  // Runs once for each distinct name; a name asked for again gets the same object.
  template <typename Convert>
  nb::list run_values(const std::vector<std::string>& wanted, const nb::dict& dict, RunSettings* settings, Convert&& convert) {
    Ort::Session& session = native();
    const Feed feed(dict, declared_);
    Wanted asked(wanted.empty() ? output_names_ : wanted);
    std::vector<const char*> in_names;
    for (const std::string& name : feed.names) in_names.push_back(name.c_str());
    {
      nb::gil_scoped_release released;
      const OrtRunOptions* options = settings ? static_cast<OrtRunOptions*>(settings->options) : nullptr;
      Ort::ThrowOnError(Ort::GetApi().Run(session, options, in_names.data(), feed.values.data(), feed.values.size(), asked.distinct.data(),
                                          asked.distinct.size(), asked.raw.data()));
    }
    return asked.results(convert);
  }

  SessionSettings settings_;
  nb::object model_;
  bool read_config_from_model_;
  std::vector<std::pair<std::string, ProviderOptions>> providers_;  ///< as they were asked for
  Ort::Session session_{nullptr};
  std::vector<std::string> output_names_;
  std::map<std::string, DeclaredType> declared_;
};

void bind_running(nb::class_<PySession>& type) {
  type.def("run", &PySession::run, nb::arg("output_names"), nb::arg("input_feed"), nb::arg("run_options").none() = nb::none())
      .def("run_with_ort_values", &PySession::run_with_ort_values, nb::arg("input_feed"), nb::arg("output_names"),
           nb::arg("run_options").none() = nb::none())
      .def("run_with_values", &PySession::run_with_values, nb::arg("output_names"), nb::arg("input_feed"))
      .def(
          "run_async",
          [](nb::handle_t<PySession> self, const std::vector<std::string>& names, const nb::dict& feed, nb::object callback,
             nb::object user_data, nb::object options) {
            nb::cast<PySession&>(self).run_async(nb::borrow(self), names, feed, std::move(callback), std::move(user_data),
                                                 std::move(options));
          },
          nb::arg("output_names"), nb::arg("input_feed"), nb::arg("callback"), nb::arg("user_data").none() = nb::none(),
          nb::arg("run_options").none() = nb::none());
}

}  // namespace

Ort::Session& native_session(nb::handle session) { return nb::cast<PySession&>(session).native(); }

const DeclaredType* declared_input(nb::handle session, const std::string& name) { return nb::cast<PySession&>(session).declared(name); }

void bind_session(nb::module_& module) {
  bind_model_info(module);
  nb::class_<PySession> type(module, "InferenceSession", "The native part of InferenceSession.");
  type.def(nb::init<const SessionSettings&, nb::object, bool, bool>(), nb::arg("session_options"), nb::arg("model"), nb::arg("is_path"),
           nb::arg("read_config_from_model") = false)
      .def("initialize_session", &PySession::initialize, nb::arg("providers"), nb::arg("provider_options"), nb::arg("disabled_optimizers"),
           nb::arg("fallback").none() = nb::none())
      .def_prop_ro("session_options", &PySession::settings, nb::rv_policy::copy)
      .def_prop_ro("inputs_meta", &PySession::inputs)
      .def_prop_ro("outputs_meta", &PySession::outputs)
      .def_prop_ro("overridable_initializers", &PySession::overridable_initializers)
      .def_prop_ro("model_meta", &PySession::metadata)
      .def_prop_ro("get_profiling_start_time_ns", [](const PySession& s) { return s.native().GetProfilingStartTimeNs(); })
      .def("get_providers", &PySession::providers)
      .def("get_provider_options", &PySession::provider_options)
      .def("set_ep_dynamic_options", &PySession::set_ep_dynamic_options, nb::arg("options"))
      .def("release_captured_graph",
           [](PySession& s, int id) { Ort::ThrowOnError(Ort::GetApi().SessionReleaseCapturedGraph(s.native(), id)); })
      .def("end_profiling", &PySession::end_profiling)
      .def("assigned_subgraphs", &PySession::assigned_subgraphs)
      .def("report", &PySession::report)
      .def("memory_plan", &PySession::memory_plan)
      .def("trim", &PySession::trim);
  bind_running(type);
  module.def("finish_async_runs", &finish_async_runs);
}

}  // namespace rh::python
