#include "session/session.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/ranges.h>

#include "base/cancellation.h"
#include "base/denormals.h"
#include "base/dynamic_blocks.h"
#include "base/file.h"
#include "base/known_words.h"
#include "base/pages.h"
#include "base/thread_memory.h"
#include "onnx/denotations.h"
#include "onnx/reader.h"
#include "partition/copies.h"
#include "providers/custom_operators.h"
#include "session/compile/compile.h"
#include "session/compile/session_providers.h"
#include "session/executor.h"
#include "session/feeds.h"
#include "session/interface_keys.h"
#include "session/model_options.h"
#include "session/node_memory.h"
#include "session/node_partition.h"
#include "session/prepare_memory.h"
#include "session/profiler.h"
#include "session/recordings.h"
#include "session/run_state.h"
#include "session/threads.h"
#include "settings/keys.h"
#include "tensor/arena.h"

namespace rh {

namespace {

SessionOptions with_config_applied(SessionOptions options) {
  apply_config(options);
  return options;
}

std::vector<Device> devices_of(const Plan& plan, const std::vector<int32_t>& slots, const std::vector<ValueInfo>& infos) {
  std::vector<Device> devices;
  for (const ValueInfo& info : infos) {
    const auto slot = std::ranges::find_if(slots, [&](int32_t s) { return plan.name_of(s) == info.name; });
    devices.push_back(slot == slots.end() ? Device{} : plan.device_of(*slot));
  }
  return devices;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// The failure of a run, with the model's file among the places that it names.
Status naming_model(const Status& status, const std::string& path) try {
  if (path.empty()) return status;
  std::string message(status.message());
  const bool names_places = message.ends_with(']') && message.rfind(" [node ") != std::string::npos;
  if (names_places) message.pop_back();
  return Status(status.code(), message + (names_places ? ", model " : " [model ") + path + "]");
} catch (const std::bad_alloc&) {
  return status;
}

// Of what loading freed, such as weights that were packed, the heap may hold on to so much.
constexpr size_t kMostLeftByLoading = size_t{16} << 20;

// What a provider may take to record a run: the first ones allocate.
constexpr int kMaxRunsToRecord = 16;

}  // namespace

struct Session::Impl {
  SessionOptions options;
  SessionThreads threads;
  std::unique_ptr<Profiler> profiler;
  CompiledModel compiled;
  ModelMetadata metadata;
  std::vector<std::string> providers;
  CallSignature signature;
  RunStates states;
  Recordings recordings;  ///< of the compiled model
  std::atomic<int64_t> runs{0};
  CopyCounters copies;
  std::string path;  ///< of the model's file; empty where it came as bytes
  size_t tensor_limit;
  std::vector<Device> input_devices, output_devices;
  std::unique_ptr<NodeMemory> node_memory;  ///< null: not wanted

  explicit Impl(const SessionOptions& given)
      : options(with_config_applied(given)), threads(options), tensor_limit(max_tensor_bytes(options)) {
    check_interface_keys(options.settings);
    if (options.profiling) profiler = std::make_unique<Profiler>(options.profile_prefix);
    const std::string& table = options.settings.node_memory_file;
    if (!table.empty()) node_memory = std::make_unique<NodeMemory>(table);
  }

  ~Impl() {
    if (compiled.account) compiled.account->drop_outputs(true);
  }

  /// `name`: of the event in a trace.
  template <typename Read>
  Model read(std::string_view name, Read&& read) {
    if (!profiler) return read();
    const Profiler::Mark begin = profiler->begin();
    Model model = read();
    profiler->record_session(name, begin);
    return model;
  }

  void load(Model model, double read_ms) {
    std::optional<Profiler::Mark> begin;
    if (profiler) begin = profiler->begin();
    if (wants_context_model(options)) context_model_path(model, options);
    metadata = {model.producer_name,     model.graph->name,   model.domain,  model.description,
                model.graph_description, model.model_version, model.metadata};
    const FlushDenormals flush(threads.flush_denormals);
    const Cancellation cancellation(options.cancel_load.get(), ErrorCode::load_canceled,
                                    "the load was stopped: its cancellation flag is set");
    const CancellationScope cancellable(&cancellation);
    const size_t free_before = free_heap_bytes();
    compiled = compile(std::move(model), options, threads.parallel);
    compiled.load.read_ms = read_ms;
    if (!options.cpu_arena) compiled.account->drop_outputs(true);
    if (compiled.context_nodes > 0) {
      ModelInfo info = compiled.model;
      add_metadata(info, compiled.file_metadata);
      write_context_model(info, *compiled.for_file, options);
    }
    compiled.for_file = nullptr;
    const bool holds_much = free_heap_bytes() > free_before + kMostLeftByLoading;
    const bool is_lean = options.settings.memory == MemoryPolicy::lean;
    if (holds_much || is_lean) trim_heap();
    for (const auto& provider : compiled.providers) providers.emplace_back(provider->name());
    signature = CallSignature(compiled);
    recordings.find_recorder(compiled);
    input_devices = devices_of(*compiled.plan, compiled.plan->inputs, compiled.signature.inputs);
    output_devices = devices_of(*compiled.plan, compiled.plan->outputs, compiled.signature.outputs);
    if (options.cpu_arena && compiled.account->budget() == 0 && !is_lean) {
      auto state = states.take(*compiled.plan, compiled.account);
      prepare_memory(state->frame, threads.parallel);
      states.give_back(std::move(state), true);
    }
    prepare_for_largest();
    write_node_partition(*compiled.plan, options);
    if (profiler) {
      profiler->record_session("session_initialization", *begin);
      profiler->attach(provider_profilers());
    }
    log_load();
  }

  // The arena of the first run, for the shapes that inputs have at most.
  void prepare_for_largest() {
    const ShapesByName& shapes = options.settings.max_shapes;
    if (shapes.empty()) return;
    check_max_shapes(shapes, compiled.signature.inputs);
    const Plan& plan = *compiled.plan;
    std::vector<int64_t> symbols(static_cast<size_t>(plan.sizes.symbols()), 0);
    for (const SymbolSource& source : plan.symbol_sources) {
      const size_t input = static_cast<size_t>(source.input);
      const auto given = input < compiled.signature.inputs.size() ? shapes.find(compiled.signature.inputs[input].name) : shapes.end();
      if (given == shapes.end()) continue;
      int64_t& symbol = symbols[static_cast<size_t>(source.symbol)];
      symbol = std::max(symbol, given->second.at(static_cast<size_t>(source.axis)));
    }
    auto state = states.take(plan, compiled.account);
    state->frame.prepare_arena(symbols);
    states.give_back(std::move(state), true);
  }

  std::vector<std::unique_ptr<ProviderProfiler>> provider_profilers() const {
    std::vector<std::unique_ptr<ProviderProfiler>> made;
    for (const auto& provider : compiled.providers) {
      if (auto own = provider->make_profiler()) made.push_back(std::move(own));
    }
    return made;
  }

  void log_load() const {
    if (!options.log) return;
    if (compiled.providers.size() > 1 && options.log->enabled(LogSeverity::warning)) {
      if (const std::string missed = compiled.placement.missed_preferred(); !missed.empty()) {
        options.log->log(LogSeverity::warning, "session", missed);
      }
    }
    if (!options.log->enabled(LogSeverity::info)) return;
    if (options.log->enabled(LogSeverity::verbose)) {
      for (const std::string& line : compiled.placement.log_lines()) options.log->log(LogSeverity::verbose, "session", line);
    }
    const SessionStatistics& load = compiled.load;
    options.log->log(
        LogSeverity::info, "session",
        fmt::format("loaded '{}': {} steps; read {:.1f} ms, passes {:.1f} ms, placement {:.1f} ms, compile {:.1f} ms", metadata.graph_name,
                    compiled.plan->step_count(), load.read_ms, load.passes_ms, load.partition_ms, load.compile_ms));
  }

  /// Messages about runs go by the run's level where it has one.
  void log_run(const RunOptions& run_options, const Status& status, std::chrono::steady_clock::time_point begin) const {
    const LogSeverity severity = status.ok() ? LogSeverity::verbose : LogSeverity::info;
    const int level = run_options.log_severity;
    if (!options.log || !(level >= 0 ? static_cast<int>(severity) >= level : options.log->enabled(severity))) return;
    options.log->log(
        severity, "run",
        fmt::format("{}'{}' {} after {:.3f} ms{}{}", run_options.tag.empty() ? "" : "[" + run_options.tag + "] ", metadata.graph_name,
                    status.ok() ? "ran" : "failed", milliseconds_since(begin), status.ok() ? "" : ": ", status.message()));
  }

  // Providers are told of the run; those that were told of its begin are told of its end, whatever comes between.
  Status execute(RunState& state, const RunControls& controls, const RunOptions& run_options) {
    const RunInfo info{run_options.handle, run_options.synchronize};
    Status status;
    size_t begun = 0;
    for (; begun < compiled.providers.size() && status.ok(); ++begun) status = compiled.providers[begun]->begin_run(info);
    if (status.ok()) {
      const Cancellation cancellation(run_options.terminate, ErrorCode::fail, words::kTerminated, run_options.time_limit);
      const CancellationScope cancellable(run_options.terminate || run_options.time_limit ? &cancellation : nullptr);
      const FlushDenormals flush(threads.flush_denormals);
      const DynamicBlocks blocks(threads.dynamic_block_base);
      const ThreadPoolUse use(threads.pool.get());
      status = rh::execute(state.frame, state.inputs, state.outputs, controls, Level::top);
    }
    for (const auto& stream : state.owned_streams) {
      Status ended = stream ? stream->end_run() : Status();
      if (status.ok()) status = std::move(ended);
    }
    for (size_t i = 0; i < begun; ++i) {
      Status ended = compiled.providers[i]->end_run(info);
      if (status.ok()) status = std::move(ended);
    }
    return status;
  }

  /// The arenas of devices. Error{invalid_argument} where the session has none of them.
  Status find_arenas(const std::vector<Device>& devices, std::vector<Allocator*>& arenas) const {
    for (const Device device : devices) {
      if (device.is_host() && device.id == 0 && options.cpu_arena) arenas.push_back(options.host_memory.get());
      for (const auto& provider : compiled.providers) {
        const Device own = provider->device();
        if (!device.is_host() && own.type == device.type && own.id == device.id) arenas.push_back(&provider->allocator());
      }
    }
    if (devices.empty() || !arenas.empty()) return {};
    std::vector<std::string> names;
    for (const Device device : devices) names.push_back(device.to_string());
    return error_status(ErrorCode::invalid_argument, "run config entry '{}' names {}, but the session keeps no memory of these devices",
                        kKeyOf<&RunSettings::arenas_to_shrink>, fmt::join(names, ", "));
  }

  /// With memory of runs before, which it gives back.
  Status run_pooled(const RunOptions& run_options, Profiler* trace, std::span<const char* const> input_names,
                    std::span<const Value* const> values, std::span<const char* const> output_names, std::span<Value> results) {
    std::vector<Allocator*> arenas;
    RH_RETURN_IF_ERROR(find_arenas(run_options.settings.arenas_to_shrink, arenas));
    auto state = states.take(*compiled.plan, compiled.account);
    Status status = run(*state, run_options, trace, input_names, values, output_names, results);
    states.give_back(std::move(state), options.cpu_arena && arenas.empty());
    if (!arenas.empty()) compiled.account->drop_outputs();
    for (Allocator* arena : arenas) {
      if (auto* shrinkable = dynamic_cast<ShrinkableAllocator*>(arena)) shrinkable->shrink();
    }
    return status;
  }

  /// A provider records the run, after as many as it needs for that, or replays it.
  Status run_recorded(const RunOptions& run_options, Profiler* trace, std::span<const char* const> input_names,
                      std::span<const Value* const> values, std::span<const char* const> output_names, std::span<Value> results) {
    const int number = run_options.settings.recording;
    if (number < 0) return run_pooled(run_options, trace, input_names, values, output_names, results);
    if (recordings.has(number)) return recordings.replay(number, signature, input_names, values, output_names, results);
    RH_RETURN_IF_ERROR(recordings.check_outputs(results));
    auto state = states.take(*compiled.plan, compiled.account);
    for (int i = 0; i < kMaxRunsToRecord && !recordings.has(number); ++i) {
      RH_RETURN_IF_ERROR(run(*state, run_options, trace, input_names, values, output_names, results));
    }
    if (recordings.has(number)) recordings.keep(number, std::move(state), results);
    return {};
  }

  /// A copy of an input or output in another memory.
  Value moved(std::string_view what, std::string_view name, const Tensor& given, Device wanted, std::atomic<int64_t>& counter) {
    const auto& providers = compiled.providers;
    const int owner = find_owner(providers, wanted);
    DataTransfer* transfer = find_transfer(providers, given.device(), wanted);
    if (!transfer || (owner < 0 && !wanted.is_host())) {
      fail(ErrorCode::invalid_argument, "{} '{}' is on {}, expected on {} or in another memory that a provider of the session copies from",
           what, name, given.device().to_string(), wanted.to_string());
    }
    Tensor there = wanted.is_host() ? Tensor(given.dtype(), given.shape())
                                    : device_tensor(providers[static_cast<size_t>(owner)], given.dtype(), given.shape());
    if (const Status status = transfer->copy(given, there, nullptr); !status.ok()) {
      fail(status.code(), "copying {} '{}' to {}: {}", what, name, wanted.to_string(), status.message());
    }
    counter.fetch_add(1, std::memory_order_relaxed);
    copies.bytes.fetch_add(static_cast<int64_t>(given.bytes()), std::memory_order_relaxed);
    return there;
  }

  /// Of providers whose memory one of the values, `slots`, lies in, or that alone take or give it.
  template <typename SlotsOf>
  Status synchronize(std::span<const int32_t> slots, const SlotsOf& slots_of) {
    const Plan& plan = *compiled.plan;
    const auto uses = [&](const Step& step, int32_t slot) { return std::ranges::find(slots_of(step), slot) != slots_of(step).end(); };
    for (const auto& provider : compiled.providers) {
      const Device own = provider->device();
      const auto works_on = [&](int32_t slot) {
        if (!own.is_host() && plan.device_of(slot) == own) return true;
        const auto is_other = [&](const Step& step) { return step.provider != provider->name() && !own.is_host() && uses(step, slot); };
        const auto is_its = [&](const Step& step) { return step.provider == provider->name() && uses(step, slot); };
        return std::ranges::any_of(plan.steps, is_its) && std::ranges::none_of(plan.steps, is_other);
      };
      if (std::ranges::any_of(slots, works_on)) RH_RETURN_IF_ERROR(provider->synchronize());
    }
    return {};
  }

  Status run(RunState& state, const RunOptions& run_options, Profiler* trace, std::span<const char* const> input_names,
             std::span<const Value* const> values, std::span<const char* const> output_names, std::span<Value> results) {
    RH_RETURN_IF_ERROR(signature.feed(state, input_names, values));
    RH_RETURN_IF_ERROR(signature.ask(state, output_names, results));
    RunControls controls{.parallel = threads.parallel,
                         .profiler = trace,
                         .copies = &copies,
                         .observer = run_options.observer.get(),
                         .max_tensor_bytes = tensor_limit};
    std::optional<NodeMemoryObserver> watched;
    if (node_memory) controls.observer = &watched.emplace(*node_memory, controls.observer);
    // Who watches sees the values of each step: they must be done then.
    if (compiled.plan->has_devices() && !controls.observer) {
      state.make_streams(compiled.providers);
      controls.streams = state.streams;
    }
    if (run_options.only_execute_path_to_fetches) {
      mark_needed_steps(*compiled.plan, state);
      controls.steps = &state.steps;
    }
    if (!run_options.stay_on_device.empty()) {
      state.stay.assign(state.given.size(), false);
      for (size_t k = 0; k < state.given.size(); ++k) {
        state.stay[k] = state.given[k] >= 0 && run_options.stay_on_device[static_cast<size_t>(state.given[k])];
      }
      controls.keep_on_device = &state.stay;
    }
    RH_RETURN_IF_ERROR(execute(state, controls, run_options));
    if (node_memory) node_memory->write();
    for (size_t k = 0; k < state.given.size(); ++k) {
      if (state.given[k] >= 0) results[static_cast<size_t>(state.given[k])] = std::move(state.outputs[k]);
    }
    return CallSignature::repeat(state, results);
  }
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

namespace {

bool only_cpu_runs(const SessionOptions& options) {
  return !options.choose_providers && std::ranges::all_of(options.providers, is_cpu_choice);
}

onnx::ReadOptions::Format format_of(const Settings& settings) {
  using Format = onnx::ReadOptions::Format;
  return !settings.load_format ? Format::any : *settings.load_format == ModelFormat::ort ? Format::ort : Format::onnx;
}

onnx::ReadOptions read_options(const SessionOptions& options) {
  const Settings& settings = options.settings;
  // The user's own kernels of the standard's operators read elements.
  const bool aligned = options.custom_operators && options.custom_operators->are_standard();
  return {.folder = options.external_data_folder,
          .files = options.external_files,
          .tables_in_place = !aligned,
          .weights_in_place = !aligned && !only_cpu_runs(options),
          .initializers = &options.initializers,
          .domains = options.custom_operators ? options.custom_operators->domains() : std::vector<std::string>(),
          .format = format_of(settings),
          .released_opsets_only = settings.released_opsets_only,
          .most_function_nodes = settings.most_function_nodes.value_or(0),
          .most_function_bytes = settings.most_function_bytes.value_or(0)};
}

}  // namespace

std::unique_ptr<Session> Session::create(const std::string& path, const SessionOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  auto impl = std::make_unique<Impl>(options);
  const InputFile file = onnx::open_model(path);
  Model model = impl->read("model_loading_uri", [&] { return onnx::read_model(file, read_options(impl->options)); });
  if (!options.dims_by_denotation.empty()) {
    apply_dim_denotations(*model.graph, onnx::read_dim_denotations(MappedFile(file).bytes()), options);
  }
  impl->path = path;
  try {
    impl->load(std::move(model), milliseconds_since(begin));
  } catch (Error& error) {
    error.add({.file = path, .node = {}, .op = {}, .tensor = {}});
    throw;
  }
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

std::unique_ptr<Session> Session::create(std::span<const std::byte> bytes, const SessionOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  auto impl = std::make_unique<Impl>(options);
  using Use = onnx::ReadOptions::BufferUse;
  Model model = impl->read("model_loading_array", [&] {
    onnx::ReadOptions read = read_options(impl->options);
    read.buffer_use = options.borrow_bytes ? Use::borrow : Use::copy;
    return onnx::read_model(bytes, read);
  });
  if (!options.dims_by_denotation.empty()) apply_dim_denotations(*model.graph, onnx::read_dim_denotations(bytes), options);
  impl->load(std::move(model), milliseconds_since(begin));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

std::unique_ptr<Session> Session::create(Model model, const SessionOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  impl->load(std::move(model), 0);
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Status Session::run(const RunOptions& options, std::span<const char* const> input_names, std::span<const Value* const> inputs,
                    std::span<const char* const> output_names, std::span<Value> outputs) {
  if (input_names.size() != inputs.size() || output_names.size() != outputs.size()) {
    return error_status(ErrorCode::invalid_argument,
                        "{} input names go with {} inputs and {} output names with {} outputs, expected as many", input_names.size(),
                        inputs.size(), output_names.size(), outputs.size());
  }
  if (output_names.empty()) return Status(ErrorCode::invalid_argument, "no output is asked for, expected at least one name");
  try {
    const auto begin = Profiler::Clock::now();
    std::unique_ptr<Profiler> own;
    if (options.profiling) {
      own = std::make_unique<Profiler>(options.profile_prefix, impl_->profiler.get());
      own->attach(impl_->provider_profilers());
    }
    Profiler* trace = own ? own.get() : impl_->profiler.get();
    std::optional<Profiler::Mark> mark;
    if (trace) mark = trace->begin();
    Status status = impl_->recordings.active() ? impl_->run_recorded(options, trace, input_names, inputs, output_names, outputs)
                                               : impl_->run_pooled(options, trace, input_names, inputs, output_names, outputs);
    // Of outputs that were made ready, a caller who gives memory of his own has no use for any.
    if (impl_->runs.fetch_add(1, std::memory_order_relaxed) == 0) impl_->compiled.account->drop_outputs();
    if (trace) trace->record_session("model_run", *mark);
    if (own) own->finish();
    impl_->log_run(options, status, begin);
    return status.ok() ? status : naming_model(status, impl_->path);
  } catch (...) {
    return naming_model(status_of_current_exception(), impl_->path);
  }
}

Value Session::place_input(std::string_view name, const Value& value) {
  const auto input = std::ranges::find(impl_->compiled.signature.inputs, name, &ValueInfo::name);
  if (input == impl_->compiled.signature.inputs.end() || !value.is_tensor() || value.tensor().dtype() == DType::string) return value;
  const Device wanted = impl_->input_devices[static_cast<size_t>(input - impl_->compiled.signature.inputs.begin())];
  if (value.tensor().device() == wanted) return value;
  if (const Status fits = check_input(*input, value); !fits.ok()) fail(fits.code(), "{}", fits.message());
  return impl_->moved("input", name, value.tensor(), wanted, impl_->copies.inputs);
}

Value Session::move_output(std::string_view name, const Value& value, Device device) {
  if (!value.is_tensor() || value.tensor().dtype() == DType::string || value.tensor().device() == device) return value;
  return impl_->moved("output", name, value.tensor(), device, impl_->copies.outputs);
}

std::shared_ptr<Provider> Session::provider_on(Device device) const {
  const int owner = device.is_host() ? -1 : find_owner(impl_->compiled.providers, device);
  return owner < 0 ? nullptr : impl_->compiled.providers[static_cast<size_t>(owner)];
}

const std::vector<ValueInfo>& Session::inputs() const { return impl_->compiled.signature.inputs; }
const std::vector<ValueInfo>& Session::outputs() const { return impl_->compiled.signature.outputs; }
const std::vector<ValueInfo>& Session::overridable_initializers() const { return impl_->compiled.signature.overridable_initializers; }
const ModelMetadata& Session::metadata() const { return impl_->metadata; }
const std::map<std::string, int>& Session::opset_imports() const { return impl_->compiled.model.graph->opset_imports; }
const SessionOptions& Session::options() const { return impl_->options; }
const std::vector<std::string>& Session::providers() const { return impl_->providers; }
const std::vector<MissingProvider>& Session::missing_providers() const { return impl_->compiled.missing; }
const PlacementRecord& Session::placement_record() const { return impl_->compiled.placement; }
const std::vector<Device>& Session::input_devices() const { return impl_->input_devices; }
const std::vector<Device>& Session::output_devices() const { return impl_->output_devices; }
const std::vector<CopyPlacement>& Session::copies() const { return impl_->compiled.copies; }

std::vector<std::pair<std::string, KernelVariant>> Session::variants() const {
  std::vector<std::pair<std::string, KernelVariant>> list;
  const std::function<void(const Plan&)> add = [&](const Plan& plan) {
    for (const Step& step : plan.steps) {
      KernelVariant variant = step.kernel->variant();
      if (!variant.variant.empty()) list.emplace_back(step.node->display_name(), std::move(variant));
    }
    for (const auto& subplan : plan.subplans) add(*subplan);
  };
  add(*impl_->compiled.plan);
  return list;
}

SessionStatistics Session::statistics() const {
  const Plan& plan = *impl_->compiled.plan;
  SessionStatistics statistics = impl_->compiled.load;
  statistics.nodes = plan.step_count();
  statistics.plan_bindings = plan.bindings_made();
  statistics.planned_peak_bytes = static_cast<size_t>(plan.bindings.peak_bytes());
  statistics.constant_bytes = plan.constant_bytes();
  statistics.memory_bytes = impl_->compiled.account->used();
  statistics.runs = impl_->runs.load(std::memory_order_relaxed);
  impl_->states.count(statistics);
  statistics.input_copies = impl_->copies.inputs.load(std::memory_order_relaxed);
  statistics.output_copies = impl_->copies.outputs.load(std::memory_order_relaxed);
  statistics.step_copies = impl_->copies.steps.load(std::memory_order_relaxed);
  statistics.copied_bytes = impl_->copies.bytes.load(std::memory_order_relaxed);
  return statistics;
}

Status Session::synchronize_inputs() {
  const Plan& plan = *impl_->compiled.plan;
  return impl_->synchronize({plan.inputs.data(), static_cast<size_t>(plan.graph_inputs)}, [&](const Step& step) {
    return std::span(plan.step_inputs).subspan(static_cast<size_t>(step.first_input), static_cast<size_t>(step.input_count));
  });
}

Status Session::synchronize_outputs() {
  const Plan& plan = *impl_->compiled.plan;
  return impl_->synchronize(plan.outputs, [&](const Step& step) {
    return std::span(plan.step_outputs).subspan(static_cast<size_t>(step.first_output), static_cast<size_t>(step.output_count));
  });
}

void Session::set_provider_options(const std::map<std::string, std::string>& options) {
  for (const auto& provider : impl_->compiled.providers) provider->set_options(options);
}

MemoryForecast Session::forecast(std::span<const InputShape> shapes, std::span<const std::pair<std::string, int64_t>> symbols) const {
  const MemoryAccount& account = *impl_->compiled.account;
  MemoryForecast forecast = forecast_memory(*impl_->compiled.plan, shapes, symbols);
  forecast.late_bytes = account.peak(MemoryUse::late);
  forecast.scratch_bytes = account.peak(MemoryUse::scratch);
  forecast.budget_bytes = account.budget();
  return forecast;
}

size_t Session::trim() {
  MemoryAccount& account = *impl_->compiled.account;
  const size_t before = account.used();
  impl_->states.trim();
  account.drop_outputs();
  const size_t freed = before - std::min(before, account.used());
  const size_t threads = trim_thread_memory();
  trim_heap();
  return freed + threads;
}

Status Session::forget_recording(int number) { return impl_->recordings.forget(number); }

std::string Session::end_profiling() { return impl_->profiler ? impl_->profiler->finish() : std::string(); }
int Session::threads() const { return impl_->threads.parallel.threads(); }
uint64_t Session::profiling_start_ns() const { return impl_->profiler ? impl_->profiler->start_ns() : 0; }

}  // namespace rh
