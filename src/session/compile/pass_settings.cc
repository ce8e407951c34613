#include "session/compile/pass_settings.h"

#include <algorithm>
#include <cstdlib>

#include "base/cpu_features.h"
#include "passes/pass_names.h"
#include "providers/custom_operators.h"

namespace rh {

namespace {

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
  for (const std::string_view name : names_in(options.config_entry("optimization.disable_specified_optimizers"))) add(name);
  return disabled;
}

RewriteSettings rewrite_settings(const SessionOptions& options) {
  const auto is_on = [&](const char* key) { return options.config_entry(key) == "1"; };
  const std::string_view level = options.config_entry("session.qdq_matmulnbits_accuracy_level");
  return {.avx512 = cpu_features().avx512,
          .strict_precision = options.config_entry("roundhouse.precision") == "strict",
          .lean_memory = options.config_entry("roundhouse.memory") == "lean",
          .minimal_build = options.config_entry("optimization.minimal_build_optimizations") == "apply",
          .quantized_operators = !is_on("session.disable_quant_qdq"),
          .quantization_cleanup = is_on("session.enable_quant_qdq_cleanup"),
          .int8_matmuls = (level.empty() || level == "4") && !is_on("mlas.qnbit.force_fp32"),
          .cast_chain_elimination = is_on("optimization.enable_cast_chain_elimination"),
          .gelu_approximation = is_on("optimization.enable_gelu_approximation")};
}

}  // namespace

PassOptions pass_settings(const SessionOptions& options, std::span<const Pass> list) {
  PassOptions passes;
  // The other half of the memory is for the packed forms of those weights, and for all else.
  passes.weight_budget_bytes = std::min(passes.weight_budget_bytes, max_tensor_bytes(options) / 2);
  passes.level = static_cast<int>(options.optimization_level);
  passes.disabled = disabled_of(options, list);
  passes.rewrite = rewrite_settings(options);
  const std::string most(options.config_entry("optimization.constant_folding_max_output_size_in_bytes"));
  if (const size_t bytes = std::strtoull(most.c_str(), nullptr, 10); bytes > 0) passes.most_folded_bytes = bytes;
  passes.inference.contradictory_shapes_are_errors = options.config_entry("session.strict_shape_type_inference") == "1";
  passes.dump_folder = options.config_entry("roundhouse.dump_graphs");
  if (const std::string limit(options.config_entry("roundhouse.max_rewrites")); !limit.empty()) {
    passes.max_rewrites = std::atoll(limit.c_str());
  }
  if (options.custom_operators) {
    passes.inference.custom = [&](const NodeView& node, InferenceContext& context) {
      return options.custom_operators->infer(node, context);
    };
  }
  return passes;
}

}  // namespace rh
