#include "session/compile/compile.h"

#include <algorithm>
#include <chrono>

#include "base/file.h"
#include "base/shared_bytes.h"
#include "base/thread_memory.h"
#include "graph/check.h"
#include "session/compile/alignment.h"
#include "session/compile/plan_settings.h"
#include "session/compile/rewriter.h"
#include "session/compile/session_providers.h"
#include "session/optimized_model.h"

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

// What the options and the file say of sizes, before inference tells them.
Signature prepare(Graph& graph, const SessionOptions& options) {
  apply_model_options(graph, options);
  Signature signature = declared_signature(graph);
  name_unknown_dims(graph);
  turn_shapes_into_hints(graph);
  check(graph);
  return signature;
}

// What a provider has compiled it has uploaded or packed.
void drop_constants(Graph& body) {
  for (ValueId id = 0; id < body.value_count(); ++id) {
    const Value& initializer = body.value(id).initializer;
    if (initializer.empty()) continue;
    if (initializer.is_tensor()) forget_mapped_pages(initializer.tensor().raw(), initializer.tensor().bytes());
    body.set_initializer(id, Value());
  }
  for (NodeId id : body.nodes()) Graph::for_each_subgraph(body.mutable_node(id), [](Graph& inner) { drop_constants(inner); });
}

}  // namespace

PlacedModel place(Model model, const SessionOptions& options, const Parallel& parallel) {
  Stopwatch watch;
  PlacedModel placed;
  Graph& graph = *model.graph;
  placed.signature = prepare(graph, options);
  OriginalNodes originals = options.record_placement ? collect_originals(graph) : OriginalNodes();

  Rewriter rewriter(options, parallel);
  rewriter.run_standard(graph);
  complete_signature(placed.signature, graph);
  if (!options.optimized_model_path.empty()) write_optimized_model(model, options);
  Alignment alignment;
  alignment.for_placement(graph);
  placed.providers = make_providers(options, std::make_shared<const ModelInfo>(model), placed.missing);
  check_disabled_passes(options, placed.providers);
  placed.load.passes_ms = watch.lap();

  const auto rewrite = [&](Graph& given, const Provider& provider) {
    alignment.for_passes(given);
    rewriter.run_of(provider, given);
  };
  placed.assignment = assign(graph, placed.providers, wants_context_model(options) ? &placed.for_file : nullptr, rewrite);
  alignment.for_kernels(graph, placed.assignment, placed.providers);
  tell_void_claims(placed.assignment, options);
  if (options.record_placement) {
    placed.placement = PlacementRecord(std::move(originals), graph, placed.assignment, placed.providers, rewriter.take_eliminated());
  }
  placed.load.partition_ms = watch.lap() - rewriter.providers_ms();
  placed.load.passes_ms += rewriter.providers_ms();
  placed.model = std::move(model);
  return placed;
}

CompiledModel compile(Model model, const SessionOptions& options, const Parallel& parallel) {
  const ThreadMemoryUse folding;
  CompiledModel compiled{place(std::move(model), options, parallel)};
  compiled.account = std::make_shared<MemoryAccount>(options.memory_budget, options.host_memory);
  Graph& graph = *compiled.model.graph;
  Stopwatch watch;
  check_all_assigned(graph, compiled.assignment);
  check_fallback(graph, compiled.assignment, options, compiled.providers);
  compiled.copies = place_copies(graph, compiled.assignment, compiled.providers);
  compiled.load.partition_ms += watch.lap();

  const PackingScope packing(parallel, graph.constant_bytes());
  compiled.plan =
      build_plan(graph, compiled.assignment, compiled.providers, plan_settings(graph, options, *compiled.account, parallel.threads()));
  if (compiled.for_file) {
    compiled.file_metadata = compatibility_metadata(*compiled.for_file, compiled.providers);
    compiled.context_nodes = place_context_nodes(*compiled.for_file, graph, compiled.assignment, compiled.providers);
  }
  for (const auto& provider : compiled.providers) provider->finish();
  for (const auto& unit : compiled.plan->units) {
    if (unit->drops_constants) drop_constants(*unit->body);
  }
  compiled.assignment = {};  // the plan has its kernels and units
  compiled.load.compile_ms = watch.lap();
  return compiled;
}

FileModel compile_for_file(Model model, SessionOptions options) {
  apply_config(options);
  FileModel result{model, nullptr, model.keep_alive};
  if (!std::ranges::all_of(options.providers, is_cpu_choice)) {
    options.settings.write_context_model = true;
    CompiledModel compiled = compile(std::move(model), options, Parallel());
    result.graph = compiled.for_file;
    add_metadata(result.info, compiled.file_metadata);
    return result;
  }
  apply_model_options(*model.graph, options);
  turn_shapes_into_hints(*model.graph);
  check(*model.graph);
  const Parallel alone;
  std::vector<MissingProvider> missing;
  check_disabled_passes(options, make_providers(options, std::make_shared<const ModelInfo>(result.info), missing));
  Rewriter(options, alone).run_standard(*model.graph);
  result.graph = std::move(model.graph);
  return result;
}

}  // namespace rh
