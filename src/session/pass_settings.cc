#include "session/pass_settings.h"

#include <algorithm>
#include <cstdlib>

#include "base/cpu_features.h"
#include "providers/custom_operators.h"

namespace rh {

namespace {

struct Optimizer {
  std::string_view name, passes;
};

constexpr Optimizer kOptimizers[] = {
#define RH_OPTIMIZER(name, passes) {name, passes},
#include "session/optimizer_list.inc"
#undef RH_OPTIMIZER
};

template <typename Visit>
void for_each_name(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find_first_of(",;"));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    visit(name);
  }
}

// Names that are none of ours are those of ONNX Runtime's optimizers; what has no counterpart here is never done.
void disable_listed(std::string_view list, std::vector<std::string>& disabled) {
  for_each_name(list, [&](std::string_view name) {
    if (find_pass(standard_passes(), name) || find_pass(cpu_passes(), name)) disabled.emplace_back(name);
    const auto known = std::ranges::find(kOptimizers, name, &Optimizer::name);
    if (known == std::end(kOptimizers)) return;
    for_each_name(known->passes, [&](std::string_view pass) { disabled.emplace_back(pass); });
  });
}

/// The passes that an entry of the options switches off, or keeps off unless it is 1.
void disable_by_entries(const SessionOptions& options, std::vector<std::string>& disabled) {
  const auto is_on = [&](const char* key) { return options.config_entry(key) == "1"; };
  const auto off = [&](std::initializer_list<const char*> passes) { disabled.insert(disabled.end(), passes.begin(), passes.end()); };
  // With shorter vectors the node takes longer than the two that it stands for.
  if (!cpu_features().avx512) off({"fuse_expand_depthwise"});
  const std::string_view level = options.config_entry("session.qdq_matmulnbits_accuracy_level");
  if (options.config_entry("roundhouse.precision") == "strict" || (!level.empty() && level != "4") || is_on("mlas.qnbit.force_fp32")) {
    off({"fuse_dequantized_matmul"});
  }
  if (is_on("session.disable_quant_qdq")) off({"convert_byte_functions_to_tables", "fuse_quantized_operators", "fuse_dequantized_matmul"});
  if (!is_on("session.enable_quant_qdq_cleanup")) off({"eliminate_quantization_pairs"});
  if (!is_on("optimization.enable_cast_chain_elimination")) off({"eliminate_cast_chains"});
  if (!is_on("optimization.enable_gelu_approximation")) off({"approximate_gelu"});
  if (options.config_entry("roundhouse.memory") == "lean") off({"convert_half_to_float", "fold_dequantized_weights"});
  // What is to go into a file for other machines has no layouts of this one.
  if (options.config_entry("optimization.minimal_build_optimizations") == "apply")
    off({"convert_to_blocked_channels", "convert_to_channels_last", "convert_bytes_to_channels_last"});
}

}  // namespace

PassOptions pass_settings(const SessionOptions& options, std::span<const Pass> list, std::span<const Pass> other) {
  PassOptions passes;
  // The other half of the memory is for the packed forms of those weights, and for all else.
  passes.weight_budget_bytes = std::min(passes.weight_budget_bytes, max_tensor_bytes(options) / 2);
  passes.level = static_cast<int>(options.optimization_level);
  passes.disabled = options.disabled_passes;
  disable_listed(options.config_entry("optimization.disable_specified_optimizers"), passes.disabled);
  disable_by_entries(options, passes.disabled);
  std::erase_if(passes.disabled, [&](const std::string& name) { return find_pass(other, name) && !find_pass(list, name); });
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
