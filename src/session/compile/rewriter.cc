#include "session/compile/rewriter.h"

#include <algorithm>
#include <chrono>

#include "partition/sealed_nodes.h"
#include "passes/pass_lists.h"
#include "passes/pass_names.h"
#include "session/compile/pass_settings.h"
#include "session/constant_evaluator.h"

namespace rh {

void Rewriter::run_standard(Graph& graph) { run(graph, standard_passes()); }

void Rewriter::run_of(const Provider& provider, Graph& graph) {
  const auto begin = std::chrono::steady_clock::now();
  run(graph, provider.passes());
  providers_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void Rewriter::run(Graph& graph, std::span<const Pass> list) {
  CpuConstantEvaluator evaluator(parallel_);
  PassOptions settings = pass_settings(options_, list);
  settings.inference.custom = [custom = std::move(settings.inference.custom)](const NodeView& node, InferenceContext& context) {
    return SealedNodes::infer(node, context) || (custom && custom(node, context));
  };
  settings.edits_before = edits_;
  if (settings.max_rewrites >= 0) settings.max_rewrites = std::max<int64_t>(0, settings.max_rewrites - rewrites_);
  const PassReport report = run_passes(graph, list, settings, &evaluator);
  edits_ += static_cast<int64_t>(report.edits.size());
  for (const AppliedEdit& edit : report.edits) rewrites_ += edit.rewrites;
  eliminated_.insert(eliminated_.end(), report.eliminated.begin(), report.eliminated.end());
}

void check_disabled_passes(const SessionOptions& options, std::span<const std::shared_ptr<Provider>> providers) {
  for (const std::string& name : options.disabled_passes) {
    const auto has = [&](const std::shared_ptr<Provider>& provider) { return find_pass(provider->passes(), name) != nullptr; };
    if (!passes_named(name).empty() || std::ranges::any_of(providers, has)) continue;
    fail(ErrorCode::invalid_argument, "passes: there is no pass '{}' to switch off", name);
  }
}

}  // namespace rh
