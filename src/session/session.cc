#include "session/session.h"

#include <algorithm>
#include <chrono>

#include "base/denormals.h"
#include "base/file.h"
#include "onnx/denotations.h"
#include "onnx/reader.h"
#include "session/compile.h"
#include "session/executor.h"
#include "session/feeds.h"
#include "session/model_options.h"
#include "session/profiler.h"

namespace rh {

namespace {

/// A run in flight: its frame, and lists that go with the plan's inputs and outputs.
struct RunState {
  explicit RunState(const Plan& plan) : frame(plan), inputs(plan.inputs.size()), outputs(plan.outputs.size()), given(plan.outputs.size()) {}

  Frame frame;
  std::vector<const Value*> inputs;
  std::vector<Value> outputs;
  std::vector<int32_t> given;  ///< by output: position in what the caller asks for; -1: not asked for
  std::vector<bool> steps;
};

std::string_view config_of(const std::map<std::string, std::string>& config, const char* key) {
  const auto at = config.find(key);
  return at == config.end() ? std::string_view() : at->second;
}

bool spins(const SessionOptions& options) { return config_of(options.config, "session.intra_op.allow_spinning") != "0"; }
bool flushes_denormals(const SessionOptions& options) { return config_of(options.config, "session.set_denormal_as_zero") != "0"; }

bool own_pool_asked(const SessionOptions& options) {
  return !spins(options) || !flushes_denormals(options) || !config_of(options.config, "session.intra_op_thread_affinities").empty();
}

std::shared_ptr<ThreadPool> choose_pool(const SessionOptions& options) {
  if (options.shared_pool) return options.shared_pool;
  if (options.intra_op_threads == 1) return nullptr;
  const auto& shared = ThreadPool::process_wide();
  if (options.intra_op_threads <= shared->threads() && !own_pool_asked(options)) return shared;
  ThreadPool::Options pool{.threads = options.intra_op_threads, .flush_denormals = flushes_denormals(options)};
  if (!spins(options)) pool.spin_microseconds = 0;
  return std::make_shared<ThreadPool>(pool);
}

// Steps on which the outputs asked for depend, from the last back to the first.
void mark_needed(const Plan& plan, const std::vector<int32_t>& given, std::vector<bool>& steps) {
  std::vector<bool> needed(plan.slots.size(), false);
  for (size_t k = 0; k < plan.outputs.size(); ++k) {
    if (given[k] >= 0) needed[static_cast<size_t>(plan.outputs[k])] = true;
  }
  steps.assign(plan.steps.size(), false);
  size_t subplans_end = plan.subplans.size();
  for (size_t s = plan.steps.size(); s-- > 0;) {
    const Step& step = plan.steps[s];
    for (int32_t o = 0; o < step.output_count; ++o) {
      const int32_t slot = plan.step_outputs[static_cast<size_t>(step.first_output + o)];
      if (slot != kNoSlot && needed[static_cast<size_t>(slot)]) steps[s] = true;
    }
    const auto need = [&](int32_t slot) {
      if (slot != kNoSlot) needed[static_cast<size_t>(slot)] = true;
    };
    if (steps[s]) {
      for (int32_t i = 0; i < step.input_count; ++i) need(plan.step_inputs[static_cast<size_t>(step.first_input + i)]);
      for (size_t k = static_cast<size_t>(step.first_subplan); k < subplans_end; ++k) {
        std::ranges::for_each(plan.subplans[k]->captured, need);
      }
    }
    subplans_end = static_cast<size_t>(step.first_subplan);
  }
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (ValueId id : values) names.push_back(graph.value(id).name);
  return names;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

struct Session::Impl {
  SessionOptions options;
  std::shared_ptr<ThreadPool> pool;
  Parallel parallel;
  std::unique_ptr<Profiler> profiler;
  bool flush_denormals = true;
  CompiledModel compiled;
  ModelMetadata metadata;
  std::vector<std::string> providers;
  std::vector<ValueInfo> input_infos;  ///< by input of the plan, overridable initializers among them
  NameIndex inputs, outputs;

  std::mutex mutex;
  std::vector<std::unique_ptr<RunState>> idle;
  std::atomic<int64_t> runs{0};

  explicit Impl(const SessionOptions& given) : options(given) {
    apply_config(options);
    pool = choose_pool(options);
    parallel = pool ? Parallel(pool.get(), options.intra_op_threads > 0 ? options.intra_op_threads : pool->threads()) : Parallel();
    flush_denormals = flushes_denormals(options);
    if (options.profiling) profiler = std::make_unique<Profiler>(options.profile_prefix);
  }

  void load(Model model, double read_ms) {
    const uint64_t begin = profiler ? profiler->now_us() : 0;
    metadata = {model.producer_name,     model.graph->name,   model.domain,  model.description,
                model.graph_description, model.model_version, model.metadata};
    compiled = compile(std::move(model), options, parallel);
    compiled.load.read_ms = read_ms;
    for (const auto& provider : compiled.providers) providers.emplace_back(provider->name());
    const Graph& graph = *compiled.model.graph;
    inputs = NameIndex(names_of(graph, graph.inputs()));
    outputs = NameIndex(names_of(graph, graph.outputs()));
    input_infos.resize(graph.inputs().size());
    const auto place = [&](const ValueInfo& info) { input_infos[static_cast<size_t>(inputs.find(info.name))] = info; };
    std::ranges::for_each(compiled.inputs, place);
    std::ranges::for_each(compiled.overridable_initializers, place);
    if (profiler) profiler->record_session("session_initialization", begin);
    log_load();
  }

  void log_load() const {
    if (!options.log || !options.log->enabled(LogSeverity::info)) return;
    const SessionStatistics& load = compiled.load;
    options.log->log(
        LogSeverity::info, "session",
        fmt::format("loaded '{}': {} steps; read {:.1f} ms, passes {:.1f} ms, placement {:.1f} ms, compile {:.1f} ms", metadata.graph_name,
                    compiled.plan->step_count(), load.read_ms, load.passes_ms, load.partition_ms, load.compile_ms));
  }

  std::unique_ptr<RunState> take_state() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto state = std::move(idle.back());
        idle.pop_back();
        return state;
      }
    }
    return std::make_unique<RunState>(*compiled.plan);
  }

  void give_back(std::unique_ptr<RunState> state, const RunOptions& run_options) {
    std::fill(state->outputs.begin(), state->outputs.end(), Value());
    if (!options.cpu_arena || !config_of(run_options.config, "memory.enable_memory_arena_shrinkage").empty()) return;
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(state));
  }

  Status feed(RunState& state, std::span<const char* const> names, std::span<const Value* const> values) const {
    std::fill(state.inputs.begin(), state.inputs.end(), nullptr);
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i] || !values[i]) return error_status(ErrorCode::invalid_argument, "input {} is null", i);
      const int at = inputs.find(names[i]);
      if (at < 0) {
        return error_status(ErrorCode::invalid_argument, "the model has no input '{}', expected: {}", names[i], inputs.list());
      }
      const size_t position = static_cast<size_t>(at);
      if (state.inputs[position]) return error_status(ErrorCode::invalid_argument, "input '{}' is given twice", names[i]);
      RH_RETURN_IF_ERROR(check_input(input_infos[position], *values[i]));
      state.inputs[position] = values[i];
    }
    for (size_t i = 0; i < state.inputs.size(); ++i) {
      if (!state.inputs[i] && !compiled.plan->defaults[static_cast<size_t>(compiled.plan->inputs[i])]) {
        static const Value none{NoneValue{}};
        if (input_infos[i].type.kind() == ValueType::Kind::optional) {
          state.inputs[i] = &none;
          continue;
        }
        return error_status(ErrorCode::invalid_argument, "input '{}' is missing, expected {}", input_infos[i].name,
                            input_infos[i].type.to_string());
      }
    }
    return {};
  }

  Status ask(RunState& state, std::span<const char* const> names, std::span<Value> values) const {
    std::fill(state.given.begin(), state.given.end(), -1);
    for (size_t i = 0; i < names.size(); ++i) {
      const int at = names[i] ? outputs.find(names[i]) : -1;
      if (at < 0) {
        return error_status(ErrorCode::invalid_argument, "the model has no output '{}', expected: {}", names[i] ? names[i] : "(null)",
                            outputs.list());
      }
      const size_t position = static_cast<size_t>(at);
      if (state.given[position] >= 0) return error_status(ErrorCode::invalid_argument, "output '{}' is asked for twice", names[i]);
      state.given[position] = static_cast<int32_t>(i);
      state.outputs[position] = values[i];
    }
    return {};
  }

  Status run(RunState& state, const RunOptions& run_options, std::span<const char* const> input_names, std::span<const Value* const> values,
             std::span<const char* const> output_names, std::span<Value> results) {
    RH_RETURN_IF_ERROR(feed(state, input_names, values));
    RH_RETURN_IF_ERROR(ask(state, output_names, results));
    RunControls controls{parallel, run_options.terminate, profiler.get(), nullptr};
    if (run_options.only_execute_path_to_fetches) {
      mark_needed(*compiled.plan, state.given, state.steps);
      controls.steps = &state.steps;
    }
    const FlushDenormals flush(flush_denormals);
    RH_RETURN_IF_ERROR(execute(state.frame, state.inputs, state.outputs, controls, Level::top));
    for (size_t k = 0; k < state.given.size(); ++k) {
      if (state.given[k] >= 0) results[static_cast<size_t>(state.given[k])] = std::move(state.outputs[k]);
    }
    return {};
  }
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

std::unique_ptr<Session> Session::create(const std::string& path, const SessionOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  auto impl = std::make_unique<Impl>(options);
  Model model = onnx::read_model(path, {.folder = impl->options.external_data_folder});
  if (!options.dims_by_denotation.empty()) {
    apply_dim_denotations(*model.graph, onnx::read_dim_denotations(MappedFile(InputFile(path)).bytes()), options);
  }
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
  Model model =
      onnx::read_model(bytes, {.buffer_use = options.borrow_bytes ? Use::borrow : Use::copy, .folder = impl->options.external_data_folder});
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
    const uint64_t begin = impl_->profiler ? impl_->profiler->now_us() : 0;
    auto state = impl_->take_state();
    Status status = impl_->run(*state, options, input_names, inputs, output_names, outputs);
    impl_->give_back(std::move(state), options);
    impl_->runs.fetch_add(1, std::memory_order_relaxed);
    if (impl_->profiler) impl_->profiler->record_session("model_run", begin);
    return status;
  } catch (...) {
    return status_of_current_exception();
  }
}

const std::vector<ValueInfo>& Session::inputs() const { return impl_->compiled.inputs; }
const std::vector<ValueInfo>& Session::outputs() const { return impl_->compiled.outputs; }
const std::vector<ValueInfo>& Session::overridable_initializers() const { return impl_->compiled.overridable_initializers; }
const ModelMetadata& Session::metadata() const { return impl_->metadata; }
const SessionOptions& Session::options() const { return impl_->options; }
const std::vector<std::string>& Session::providers() const { return impl_->providers; }
const std::vector<NodePlacement>& Session::placement() const { return impl_->compiled.placement; }

SessionStatistics Session::statistics() const {
  const Plan& plan = *impl_->compiled.plan;
  SessionStatistics statistics = impl_->compiled.load;
  statistics.nodes = plan.step_count();
  statistics.plan_bindings = plan.bindings_made();
  statistics.planned_peak_bytes = static_cast<size_t>(plan.bindings.peak_bytes());
  statistics.constant_bytes = plan.constant_bytes();
  statistics.runs = impl_->runs.load(std::memory_order_relaxed);
  const std::lock_guard lock(impl_->mutex);
  for (const auto& state : impl_->idle) {
    statistics.frame_bytes += state->frame.bytes();
    statistics.late_allocations += state->frame.allocations();
  }
  return statistics;
}

std::string Session::end_profiling() { return impl_->profiler ? impl_->profiler->finish() : std::string(); }
uint64_t Session::profiling_start_ns() const { return impl_->profiler ? impl_->profiler->start_ns() : 0; }

}  // namespace rh
