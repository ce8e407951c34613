// The names that passes had before: options take them, and what they switch off is what they did.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/text_parse.h"
#include "passes/driver/driver.h"
#include "passes/pass_cases.h"
#include "passes/pass_names.h"
#include "session/compile/pass_settings.h"
#include "session/compile/rewriter.h"

namespace rh {
namespace {

struct NamedPasses {
  std::string_view name, passes;
};

constexpr NamedPasses kOldNames[] = {
#define RH_OLD_PASS(name, passes) {name, passes},
#include "passes/old_pass_names.inc"
#undef RH_OLD_PASS
};

constexpr NamedPasses kOptimizers[] = {
#define RH_OPTIMIZER(name, level, passes) {name, passes},
#include "passes/optimizer_list.inc"
#undef RH_OPTIMIZER
};

/// All names until November 2026. This list is frozen.
constexpr std::string_view kFrozen =
    "constant_nodes,if_branches,einsum_products,identities,known_sequences,adjacent_views,inserted_dimensions,implied_expands,"
    "expanded_indices,shape_arithmetic,scattered_slices,constant_folding,computed_tables,common_subexpressions,stacked_sums,"
    "window_pads,transposes,output_scale,clip_scale,saturated_clips,input_scale,parallel_convolutions,dead_nodes,early_opsets,"
    "cast_chains,wide_floats,resized_projections,byte_tables,quantized_forms,integer_products,dequantized_products,quantization_pairs,"
    "dequantized_weights,activation_forms,gelu_approximation,normalization_forms,batch_statistics,group_normalization_forms,"
    "gathered_products,score_views,attention_forms,rotary_forms,joined_transposes,channels_last,fused_convolutions,"
    "preactivated_convolutions,fused_products,squeeze_excite,channel_normalizations,fused_normalizations,expand_depthwise,"
    "fused_elementwise,blocked_channels,gated_projections,byte_layouts,pooled_convolutions";

using Names = std::vector<std::string_view>;

/// Of both lists, what options that hold the name switch off, each once.
Names switched_off(const SessionOptions& options) {
  Names off;
  for (const std::span<const Pass> list : {standard_passes(), cpu_passes()}) {
    for (const std::string& name : pass_settings(options, list).disabled) {
      const Pass* pass = find_pass(list, name);
      EXPECT_NE(pass, nullptr) << name;
      if (pass && std::ranges::find(off, pass->name) == off.end()) off.push_back(pass->name);
    }
  }
  return off;
}

TEST(OldPassNames, StandForWhatThereIs) {
  for (const std::string_view name : names_in(kFrozen))
    EXPECT_NE(std::ranges::find(kOldNames, name, &NamedPasses::name), std::end(kOldNames)) << name;
  for (const NamedPasses& old : kOldNames) {
    EXPECT_EQ(passes_named(old.name), names_in(old.passes)) << old.name << " is the name of another pass by now";
    EXPECT_FALSE(names_in(old.passes).empty()) << old.name;
  }
  for (const NamedPasses& optimizer : kOptimizers) EXPECT_EQ(passes_named(optimizer.name), names_in(optimizer.passes)) << optimizer.name;
  EXPECT_TRUE(passes_named("no_such_pass").empty());
}

TEST(OldPassNames, SwitchOffTheSamePassesInEveryOption) {
  for (const NamedPasses& old : kOldNames) {
    const std::string name(old.name);
    SessionOptions by_field, by_entry;
    by_field.disabled_passes = {name};
    by_entry.config["optimization.disable_specified_optimizers"] = "NoSuchOptimizer;" + name;
    apply_config(by_entry);
    EXPECT_EQ(switched_off(by_field), names_in(old.passes)) << name;
    EXPECT_EQ(switched_off(by_entry), names_in(old.passes)) << name;
  }
}

/// How often the pass fires in its own cases where the options switch passes off.
size_t edits_of(std::string_view pass, const std::vector<test::PassCase>& cases, const Names& off) {
  size_t edits = 0;
  for (const test::PassCase& c : cases) {
    if (c.pass != pass) continue;
    const std::vector<Pass> passes = test::select(c.passes);
    PassOptions options;
    for (const std::string_view name : off)
      if (find_pass(passes, name)) options.disabled.emplace_back(name);
    const auto graph = parse_graph(c.before);
    test::SmallEvaluator evaluator;
    const PassReport report = run_passes(*graph, passes, options, &evaluator);
    edits += static_cast<size_t>(std::ranges::count(report.edits, pass, &AppliedEdit::pass));
  }
  return edits;
}

TEST(OldPassNames, KeepThePassesFromTheirOwnCases) {
  const auto cases = test::read_cases();
  for (const NamedPasses& old : kOldNames) {
    SessionOptions options;
    options.config["optimization.disable_specified_optimizers"] = std::string(old.name);
    apply_config(options);
    const Names off = switched_off(options);
    for (const std::string_view pass : names_in(old.passes)) {
      EXPECT_GT(edits_of(pass, cases, {}), 0u) << pass;
      EXPECT_EQ(edits_of(pass, cases, off), 0u) << old.name;
    }
  }
}

TEST(OldPassNames, AreErrorsWhereNothingEverHadThem) {
  SessionOptions options;
  options.disabled_passes = {"no_such_pass"};
  EXPECT_THROW(check_disabled_passes(options, {}), Error);
  options.disabled_passes = {"wide_floats", "fuse_conv_pool"};
  check_disabled_passes(options, {});
}

}  // namespace
}  // namespace rh
