#include "session/compile/pass_settings.h"

#include <algorithm>

#include "base/cpu_features.h"
#include "passes/pass_names.h"
#include "providers/custom_operators.h"

namespace rh {

namespace {

bool writes_basic_file(const SessionOptions& options) {
  return !options.optimized_model_path.empty() && options.optimization_level == OptimizationLevel::basic;
}

/// The passes of this list that the options name. What it does not have is another list's, or has no counterpart here.
std::vector<std::string> disabled_of(const SessionOptions& options, std::span<const Pass> list) {
  std::vector<std::string> disabled;
  const auto add = [&](std::string_view name) {
    if (find_pass(list, name)) disabled.emplace_back(name);
    for (const std::string_view pass : passes_named(name)) {
      if (pass != name && find_pass(list, pass)) disabled.emplace_back(pass);
    }
  };
  for (const std::string& name : options.disabled_passes) add(name);
  for (const std::string& name : options.settings.disabled_optimizers) add(name);
  return disabled;
}

RewriteSettings rewrite_settings(const SessionOptions& options) {
  const Settings& settings = options.settings;
  return {.avx512 = cpu_features().avx512,
          .strict_precision = precision_of(options) == Precision::strict,
          .lean_memory = settings.memory == MemoryPolicy::lean,
          .minimal_build = settings.minimal_build == MinimalBuildUse::apply,
          .basic_file = writes_basic_file(options),
          .quantized_operators = !settings.keeps_quantization_pairs,
          .quantization_cleanup = settings.quantization_cleanup,
          .int8_matmuls = settings.nbits_accuracy_level == 4 && !settings.nbits_with_floats,
          .cast_chain_elimination = settings.cast_chain_elimination,
          .gelu_approximation = settings.gelu_approximation};
}

}  // namespace

PassOptions pass_settings(const SessionOptions& options, std::span<const Pass> list) {
  const Settings& settings = options.settings;
  PassOptions passes;
  // The other half of the memory is for the packed forms of those weights, and for all else.
  passes.weight_budget_bytes = std::min(passes.weight_budget_bytes, max_tensor_bytes(options) / 2);
  passes.level = static_cast<int>(options.optimization_level);
  passes.disabled = disabled_of(options, list);
  passes.rewrite = rewrite_settings(options);
  if (settings.most_folded_bytes > 0) passes.most_folded_bytes = settings.most_folded_bytes;
  passes.inference.contradictory_shapes_are_errors = settings.strict_shapes;
  passes.for_runs = true;
  passes.for_tools = writes_basic_file(options);
  const auto is_sharing = [](std::string_view name) { return name == "ConstantSharing"; };
  passes.shares_constants =
      std::ranges::none_of(options.disabled_passes, is_sharing) && std::ranges::none_of(settings.disabled_optimizers, is_sharing);
  passes.dump_folder = settings.dump_folder;
  if (settings.max_rewrites) passes.max_rewrites = *settings.max_rewrites;
  if (options.custom_operators) {
    passes.inference.custom = [&](const NodeView& node, InferenceContext& context) {
      return options.custom_operators->infer(node, context);
    };
  }
  return passes;
}

}  // namespace rh
