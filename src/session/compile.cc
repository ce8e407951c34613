#include "session/compile.h"

#include <algorithm>
#include <chrono>

#include "base/fork_mutex.h"
#include "base/shared_bytes.h"
#include "base/thread_memory.h"
#include "graph/check.h"
#include "graph/row_tables.h"
#include "partition/assignment.h"
#include "partition/copies.h"
#include "partition/sealed_nodes.h"
#include "passes/driver/driver.h"
#include "passes/pass_lists.h"
#include "providers/cpu/cpu_provider.h"
#include "providers/custom_operators.h"
#include "session/compact_weights.h"
#include "session/constant_evaluator.h"
#include "session/model_options.h"
#include "session/optimized_model.h"
#include "session/pass_settings.h"
#include "session/plan_builder.h"

namespace rh {

namespace {

class Stopwatch {
 public:
  /// Milliseconds since the last call, or since it was made.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return ms;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::vector<std::shared_ptr<Provider>> make_providers(const SessionOptions& options, const std::shared_ptr<const ModelInfo>& model,
                                                      std::vector<MissingProvider>& missing) {
  const auto fallback = options.config.find("roundhouse.fallback");
  const bool only_warn = fallback != options.config.end() && fallback->second == "warn";
  std::vector<std::shared_ptr<Provider>> providers;
  std::shared_ptr<Provider> cpu;
  const bool choose = options.providers.empty() && options.choose_providers;
  for (const ProviderChoice& choice : choose ? options.choose_providers(*model) : options.providers) {
    std::shared_ptr<Provider> provider;
    try {
      provider = choice.make ? choice.make(model) : provider_registry().make(choice.name, choice.options);
    } catch (const Error& error) {
      if (!only_warn) throw;
      if (options.log) options.log->log(LogSeverity::warning, "session", fmt::format("goes on without {}: {}", choice.name, error.what()));
      missing.push_back({choice.name, error.what()});
      continue;
    }
    const bool is_cpu = provider->name() == cpu::kProviderName;
    const auto same = [&](const std::shared_ptr<Provider>& other) { return other->name() == provider->name(); };
    if (is_cpu ? cpu != nullptr : std::ranges::any_of(providers, same)) {
      fail(ErrorCode::fail, "Provider {} has already been registered: append each provider once, with all of its devices",
           provider->name());
    }
    if (is_cpu) {
      cpu = std::move(provider);
    } else {
      providers.push_back(std::move(provider));
    }
  }
  providers.push_back(cpu ? std::move(cpu) : provider_registry().make(cpu::kProviderName, {}));
  if (options.custom_operators) {
    for (auto& provider : providers) provider = options.custom_operators->added_to(provider);
  }
  return providers;
}

/// Runs one list of passes; names of the other list may be disabled too.
PassReport simplify(Graph& graph, std::span<const Pass> list, std::span<const Pass> other, const SessionOptions& options,
                    const Parallel& parallel) {
  CpuConstantEvaluator evaluator(parallel);
  PassOptions settings = pass_settings(options, list, other);
  settings.inference.custom = [custom = std::move(settings.inference.custom)](const NodeView& node, InferenceContext& context) {
    return SealedNodes::infer(node, context) || (custom && custom(node, context));
  };
  return run_passes(graph, list, settings, &evaluator);
}

void add(const PassReport& passes, std::vector<EliminatedNode>& eliminated) {
  eliminated.insert(eliminated.end(), passes.eliminated.begin(), passes.eliminated.end());
}

// "session.disable_cpu_ep_fallback": only providers that were asked for may run nodes.
void check_fallback(const Graph& graph, const Assignment& assignment, const SessionOptions& options,
                    const std::vector<std::shared_ptr<Provider>>& providers) {
  const auto key = options.config.find("session.disable_cpu_ep_fallback");
  if (key == options.config.end() || key->second != "1") return;
  const auto is_cpu = [](const ProviderChoice& choice) { return provider_registry().canonical_name(choice.name) == cpu::kProviderName; };
  if (std::any_of(options.providers.begin(), options.providers.end(), is_cpu)) {
    fail(ErrorCode::invalid_argument, "'{}' is 1, but {} is among the providers asked for: leave out one of the two", key->first,
         cpu::kProviderName);
  }
  for (NodeId id : graph.nodes()) {
    if (assignment.of(graph, id).provider != static_cast<int>(providers.size()) - 1) continue;
    throw Error(ErrorCode::fail, fmt::format("'{}' is 1, but only {} takes this node", key->first, cpu::kProviderName),
                graph.node(id).where());
  }
}

// Claims that cannot be are warnings, or an error where "roundhouse.fallback" says so.
void tell_void_claims(const Assignment& assignment, const SessionOptions& options) {
  for (const VoidClaim& claim : assignment.void_claims) {
    const std::string text = fmt::format("{}: {}", claim.provider, claim.reason);
    if (options.config_entry("roundhouse.fallback") == "error") throw Error(ErrorCode::ep_fail, text, claim.where);
    if (options.log) {
      options.log->log(LogSeverity::warning, "session",
                       text + ": the claim does not count as it is; 'roundhouse.fallback' of \"error\" makes this an error");
    }
  }
}

// "roundhouse.tuning" and "roundhouse.variant".
Tuning tuning_of(const SessionOptions& options, int threads) {
  Tuning tuning;
  if (const std::string path(options.config_entry("roundhouse.tuning")); !path.empty()) {
    std::string ignored;
    tuning = read_tuning(path, threads, ignored);
    if (!ignored.empty() && options.log) options.log->log(LogSeverity::warning, "session", ignored + ": the session does without it");
  }
  tuning.preferred = options.config_entry("roundhouse.variant");
  return tuning;
}

Precision precision_named(std::string_view text) {
  return text == "strict" ? Precision::strict : text == "fast" ? Precision::fast : text == "bf16" ? Precision::bf16 : Precision::fp32;
}

PlanOptions plan_options(const Graph& graph, const SessionOptions& options, MemoryAccount& account, int threads) {
  return {.plan_memory = options.memory_pattern,
          .reuse_memory = options.config_entry("roundhouse.memory.reuse") != "0",
          .parts_in_place = options.optimization_level != OptimizationLevel::none,
          .compile_units = options.config_entry("session.disable_model_compile") != "1",
          .kernels = {.precision = precision_named(precision_of(options)),
                      .tuning = tuning_of(options, threads),
                      .lean_memory = options.config_entry("roundhouse.memory") == "lean",
                      .compact_weights = wants_compact_weights(graph, options),
                      .random_kernels = std::make_shared<std::atomic<uint64_t>>(0)},
          .cancel = options.cancel_load.get(),
          .max_tensor_bytes = max_tensor_bytes(options),
          .account = &account};
}

}  // namespace

const ProviderRegistry& provider_registry() {
  static constinit ForkOnce<const ProviderRegistry> registry;
  return registry.get([] {
    ProviderRegistry made;
    made.add(cpu::kProviderName, cpu::make_provider);
    return made;
  });
}

bool is_cpu_choice(const ProviderChoice& choice) {
  return !choice.make && provider_registry().canonical_name(choice.name) == cpu::kProviderName;
}

PlacedModel place(Model model, const SessionOptions& options, const Parallel& parallel) {
  Stopwatch watch;
  PlacedModel placed;
  Graph& graph = *model.graph;
  apply_model_options(graph, options);
  placed.signature = declared_signature(graph);
  name_unknown_dims(graph);
  turn_shapes_into_hints(graph);
  check(graph);
  OriginalNodes originals = options.record_placement ? collect_originals(graph) : OriginalNodes();
  std::vector<EliminatedNode> eliminated;
  add(simplify(graph, standard_passes(), cpu_passes(), options, parallel), eliminated);
  complete_signature(placed.signature, graph);
  if (!options.optimized_model_path.empty()) write_optimized_model(model, options);
  placed.providers = make_providers(options, std::make_shared<const ModelInfo>(model), placed.missing);
  const auto align = [&graph] {  // tables that passes gave other nodes
    align_constants(graph, [](const Tensor& tensor) { return tensor.clone(); });
  };
  align();
  placed.passes_ms = watch.lap();

  double cpu_passes_ms = 0;
  const auto rewrite_left = [&](Graph& left) {
    Stopwatch own;
    add(simplify(left, cpu_passes(), standard_passes(), options, parallel), eliminated);
    cpu_passes_ms = own.lap();
  };
  placed.assignment = assign(graph, placed.providers, wants_context_model(options) ? &placed.for_file : nullptr, rewrite_left);
  align();
  tell_void_claims(placed.assignment, options);
  if (options.record_placement) {
    placed.placement = PlacementRecord(std::move(originals), graph, placed.assignment, placed.providers, std::move(eliminated));
  }
  placed.passes_ms += cpu_passes_ms;
  placed.assign_ms = watch.lap() - cpu_passes_ms;
  placed.model = std::move(model);
  return placed;
}

CompiledModel compile(Model model, const SessionOptions& options, const Parallel& parallel) {
  const ThreadMemoryUse folding;
  CompiledModel compiled;
  compiled.account = std::make_shared<MemoryAccount>(options.memory_budget, options.host_memory);
  PlacedModel placed = place(std::move(model), options, parallel);
  Graph& graph = *placed.model.graph;
  Assignment& assignment = placed.assignment;
  compiled.providers = std::move(placed.providers);
  compiled.missing = std::move(placed.missing);
  compiled.for_file = std::move(placed.for_file);
  compiled.placement = std::move(placed.placement);
  compiled.load.passes_ms = placed.passes_ms;
  Stopwatch watch;
  check_all_assigned(graph, assignment);
  check_fallback(graph, assignment, options, compiled.providers);
  compiled.copies = place_copies(graph, assignment, compiled.providers);
  compiled.load.partition_ms = placed.assign_ms + watch.lap();

  const PackingScope packing(parallel, graph.constant_bytes());
  compiled.plan = build_plan(graph, assignment, compiled.providers, plan_options(graph, options, *compiled.account, parallel.threads()));
  if (compiled.for_file) {
    compiled.file_metadata = compatibility_metadata(*compiled.for_file, compiled.providers);
    compiled.context_nodes = place_context_nodes(*compiled.for_file, graph, assignment, compiled.providers);
  }
  for (const auto& provider : compiled.providers) provider->finish();
  compiled.load.compile_ms = watch.lap();

  compiled.inputs = std::move(placed.signature.inputs);
  compiled.outputs = std::move(placed.signature.outputs);
  compiled.overridable_initializers = std::move(placed.signature.overridable_initializers);
  compiled.model = std::move(placed.model);
  return compiled;
}

FileModel compile_for_file(Model model, SessionOptions options) {
  apply_config(options);
  FileModel result{model, nullptr, model.keep_alive};
  if (!std::ranges::all_of(options.providers, is_cpu_choice)) {
    options.config["ep.context_enable"] = std::string("1");
    CompiledModel compiled = compile(std::move(model), options, Parallel());
    result.graph = compiled.for_file;
    add_metadata(result.info, compiled.file_metadata);
    return result;
  }
  apply_model_options(*model.graph, options);
  turn_shapes_into_hints(*model.graph);
  check(*model.graph);
  simplify(*model.graph, standard_passes(), cpu_passes(), options, Parallel());
  result.graph = std::move(model.graph);
  return result;
}

}  // namespace rh
