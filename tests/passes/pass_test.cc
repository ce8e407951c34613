#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "passes/driver/driver.h"
#include "passes/pass_cases.h"
#include "passes/pass_lists.h"

namespace rh {
namespace {

using test::all_passes;
using test::PassCase;
using test::read_cases;
using test::select;
using test::SmallEvaluator;

const PrintOptions kWhole{.types = false, .max_elements = -1};

class PassText : public testing::TestWithParam<PassCase> {};

TEST_P(PassText, GivesTheGraphAfter) {
  const PassCase& c = GetParam();
  const bool unchanged = c.after == "unchanged\n";
  auto graph = parse_graph(c.before);
  check(*graph);
  const auto expected = parse_graph(unchanged ? c.before : c.after);
  infer_types(*expected);
  const auto passes = select(c.passes);
  ASSERT_EQ(passes.size(), c.passes.size());
  SmallEvaluator evaluator;
  const PassReport report = run_passes(*graph, passes, {}, &evaluator);
  check(*graph);
  EXPECT_EQ(print(*graph, kWhole), print(*expected, kWhole));
  EXPECT_EQ(report.edits.empty(), unchanged);
  EXPECT_TRUE(report.reached_fixed_point);
}

/// Adds, for each node, one with the same inputs whose results are left out: all of them, and where there are several the first alone.
void add_nodes_without_results(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    bool has_subgraph = false;
    Graph::for_each_subgraph(node, [&](const Graph&) { has_subgraph = true; });
    if (has_subgraph) continue;
    const auto without = [&](bool first_alone) {
      Node copy;
      copy.op_type = node.op_type;
      copy.domain = node.domain;
      copy.opset = node.opset;
      copy.inputs = node.inputs;
      copy.attributes = node.attributes;
      copy.outputs.resize(node.outputs.size(), kNoValue);
      for (size_t i = 1; first_alone && i < copy.outputs.size(); ++i) copy.outputs[i] = graph.add_value("part");
      graph.add_node(std::move(copy));
    };
    without(false);
    if (node.outputs.size() > 1) without(true);
  }
}

TEST_P(PassText, NodesWithoutResultsDoNoHarm) {
  const PassCase& c = GetParam();
  const auto expected = parse_graph(c.before);
  SmallEvaluator evaluator;
  run_passes(*expected, all_passes(), {}, &evaluator);
  for (const auto& disabled : std::initializer_list<std::vector<std::string>>{{}, {"eliminate_dead_nodes"}}) {
    auto graph = parse_graph(c.before);
    add_nodes_without_results(*graph);
    run_passes(*graph, all_passes(), {.disabled = disabled}, &evaluator);
    check(*graph);
    if (disabled.empty()) {
      EXPECT_EQ(graph->node_count(), expected->node_count());
    }
  }
}

TEST_P(PassText, InputsThatAreLeftOutDoNoHarm) {
  const auto whole = parse_graph(GetParam().before);
  SmallEvaluator evaluator;
  for (NodeId id : whole->nodes()) {
    for (size_t i = 0; i < whole->node(id).inputs.size(); ++i) {
      const auto graph = whole->clone();
      graph->set_input(id, i, kNoValue);
      try {
        run_passes(*graph, all_passes(), {}, &evaluator);
        check(*graph);
      } catch (const Error& error) {  // where the operator needs the input
        EXPECT_TRUE(error.code() == ErrorCode::invalid_graph || error.code() == ErrorCode::fail) << error.what();
      }
    }
  }
}

TEST_P(PassText, ConstantsThatComeWithTheRunDoNoHarm) {
  const auto whole = parse_graph(GetParam().before);
  SmallEvaluator evaluator;
  for (ValueId id = 0; id < whole->value_count(); ++id) {
    if (!whole->value(id).constant_tensor() || whole->value(id).is_input) continue;
    const auto graph = whole->clone();
    graph->make_input(id);
    ASSERT_EQ(graph->value(id).constant_tensor(), nullptr);
    try {
      run_passes(*graph, all_passes(), {}, &evaluator);
      check(*graph);
    } catch (const Error& error) {
      ADD_FAILURE() << whole->value(id).name << ": " << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PassText, testing::ValuesIn(read_cases()), [](const auto& info) {
  std::string name = info.param.pass + "_" + std::to_string(info.index);
  return name;
});

TEST(Driver, EveryPassHasItsCases) {
  const auto passes = all_passes();
  const auto cases = read_cases();
  for (const Pass& pass : passes) {
    const auto count = [&](bool unchanged) {
      return std::count_if(cases.begin(), cases.end(),
                           [&](const PassCase& c) { return c.pass == pass.name && (c.after == "unchanged\n") == unchanged; });
    };
    EXPECT_GT(count(true), 0) << pass.name << " has no case in which it must not fire";
    EXPECT_GT(count(false), 0) << pass.name << " has no case in which it fires";
  }
}

constexpr const char* kChain = R"(<opset_import: ["" : 17]>
g (float[2] x) => (float[2] y)
{
  [one] a = Identity (x)
  [two] b = Identity (a)
  [three] c = Neg (b)
  [four] y = Identity (c)
  [five] d = Abs (x)
}
)";

TEST(Driver, ReportsEditsAndWhatBecameOfNodes) {
  auto graph = parse_graph(kChain);
  const PassReport report = run_passes(*graph, standard_passes());
  EXPECT_EQ(graph->node_count(), 1u);
  ASSERT_EQ(report.edits.size(), 2u);
  EXPECT_EQ(report.edits[0].pass, "eliminate_identities");
  EXPECT_EQ(report.edits[0].rewrites, 3);
  EXPECT_EQ(report.edits[0].graph, "g");
  EXPECT_EQ(report.edits[1].pass, "eliminate_dead_nodes");
  std::string eliminated;
  for (const EliminatedNode& entry : report.eliminated) eliminated += entry.node->name + ":" + std::string(entry.pass) + " ";
  EXPECT_EQ(eliminated, "one:eliminate_identities two:eliminate_identities four:eliminate_identities five:eliminate_dead_nodes ");
  EXPECT_EQ(report.rounds, 2);
}

TEST(Driver, LevelsAndNamesSwitchPassesOff) {
  const struct {
    PassOptions options;
    size_t nodes;
  } rows[] = {
      {{.level = 0}, 5},
      {{.level = 1}, 1},
      {{.disabled = {"eliminate_identities"}}, 4},
      {{.disabled = {"eliminate_identities", "eliminate_dead_nodes"}}, 5},
      {{.disabled = {"eliminate_dead_nodes"}}, 2},
  };
  for (const auto& row : rows) {
    auto graph = parse_graph(kChain);
    run_passes(*graph, standard_passes(), row.options);
    EXPECT_EQ(graph->node_count(), row.nodes);
  }
  auto graph = parse_graph(kChain);
  EXPECT_THROW(run_passes(*graph, standard_passes(), {.disabled = {"no_such_pass"}}), Error);
}

TEST(Driver, ConditionsSwitchPassesOff) {
  using Names = std::vector<std::string_view>;
  const struct {
    RewriteSettings rewrite;
    Names off;  // of the passes of either list, in order
  } rows[] = {
      {{}, {}},
      {{.avx512 = false}, {"fuse_expand_depthwise"}},
      {{.strict_precision = true}, {"fuse_dequantized_matmul"}},
      {{.int8_matmuls = false}, {"fuse_dequantized_matmul"}},
      {{.lean_memory = true}, {"convert_half_to_float", "fold_dequantized_weights"}},
      {{.minimal_build = true}, {"convert_to_channels_last", "convert_to_blocked_channels", "convert_bytes_to_channels_last"}},
      {{.basic_file = true},
       {"convert_einsum_to_matmul", "eliminate_known_sequences", "eliminate_inserted_dimensions", "eliminate_implied_expands",
        "convert_expanded_indices_to_slices", "convert_scattered_slices_to_concat", "unstack_sums", "fold_clip_scale_into_weights",
        "fold_input_scale_into_weights", "merge_parallel_convolutions"}},
      {{.quantized_operators = false}, {"convert_byte_functions_to_tables", "fuse_quantized_operators", "fuse_dequantized_matmul"}},
      {{.quantization_cleanup = false}, {"eliminate_quantization_pairs"}},
      {{.cast_chain_elimination = false}, {"eliminate_cast_chains"}},
      {{.gelu_approximation = false}, {"approximate_gelu"}},
  };
  const auto run_under = [](const RewriteSettings& rewrite) {
    Names ran;
    for (const auto list : {standard_passes(), cpu_passes()}) {
      auto graph = parse_graph(kChain);
      for (const PassTime& time : run_passes(*graph, list, {.rewrite = rewrite}).times) ran.push_back(time.pass);
    }
    return ran;
  };
  Names all;
  for (const auto list : {standard_passes(), cpu_passes()}) {
    for (const Pass& pass : list) all.push_back(pass.name);
  }
  for (const auto& row : rows) {
    Names off = all;
    for (const std::string_view name : run_under(row.rewrite)) off.erase(std::ranges::find(off, name));
    EXPECT_EQ(std::erase(off, "recognise_layer_normalizations"), row.rewrite.basic_file ? 0u : 1u);  // for such files alone
    EXPECT_EQ(off, row.off);
  }
}

TEST(Driver, StopsAfterSoManyRewrites) {
  for (int64_t most = 0; most <= 4; ++most) {
    auto graph = parse_graph(kChain);
    run_passes(*graph, standard_passes(), {.max_rewrites = most});
    check(*graph);
    EXPECT_EQ(graph->node_count(), static_cast<size_t>(5 - most));
  }
}

// A result of 40 bytes beside constants of 4 and 4,000: what may be folded grows with the model.
TEST(Driver, FoldsMoreWhereTheModelIsLarger) {
  for (const bool large : {false, true}) {
    auto graph = parse_graph(std::string(R"(<opset_import: ["" : 17]>
g (float[10] x) => (float[10] y, float[)") +
                             (large ? "1000" : "1") + R"(] z)
<
  float[] one = {1},
  int64[1] ten = {10},
  float[)" + (large ? "1000" : "1") +
                             R"(] zeros = {0, ...}
>
{
  t = Expand (one, ten)
  y = Add (x, t)
  z = Neg (zeros)
}
)");
    SmallEvaluator evaluator;
    run_passes(*graph, standard_passes(), {.disabled = {"eliminate_dead_nodes", "eliminate_implied_expands"}, .fold_limit_bytes = 16},
               &evaluator);
    const auto is_expand = [&](NodeId id) { return graph->node(id).op_type == "Expand"; };
    EXPECT_EQ(std::ranges::any_of(graph->topological_order(), is_expand), !large);
  }
}

// 100 results of 40 bytes in a row with a budget of a third of them: those that only the next one takes are given back, outputs are not.
TEST(Driver, FoldsAsManyInARowAsThereAre) {
  constexpr int kNodes = 100;
  for (const bool are_outputs : {false, true}) {
    std::string outputs = "float[10] y", nodes = "  t0 = Expand (one, ten)\n";
    for (int i = 1; i < kNodes; ++i) {
      nodes += fmt::format("  t{} = Neg (t{})\n", i, i - 1);
      if (are_outputs) outputs += fmt::format(", float[10] t{}", i);
    }
    auto graph = parse_graph(fmt::format(R"(<opset_import: ["" : 17]>
g (float[10] x) => ({})
<
  float[] one = {{1}},
  int64[1] ten = {{10}}
>
{{
{}  y = Add (x, t{})
}}
)",
                                         outputs, nodes, kNodes - 1));
    SmallEvaluator evaluator;
    run_passes(*graph, standard_passes(), {.disabled = {"eliminate_dead_nodes", "eliminate_implied_expands"}, .fold_limit_bytes = 40},
               &evaluator);
    const auto left = std::ranges::count_if(graph->topological_order(), [&](NodeId id) { return graph->node(id).op_type == "Neg"; });
    EXPECT_TRUE(are_outputs ? left > kNodes / 2 : left == 0) << left;
  }
}

TEST(Driver, DumpsTheGraphAroundEachEdit) {
  const std::string folder = testing::TempDir() + "rh_pass_dump";
  auto graph = parse_graph(kChain);
  run_passes(*graph, standard_passes(), {.disabled = {"eliminate_dead_nodes"}, .dump_folder = folder});
  const auto read = [&](const char* name) {
    std::ifstream file(folder + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  EXPECT_EQ(print(*parse_graph(read("0001_eliminate_identities.before.txt"))), kChain);
  EXPECT_EQ(parse_graph(read("0001_eliminate_identities.after.txt"))->node_count(), 2u);
}

TEST(Driver, NamesThePassThatBreaksTheGraph) {
  const auto breaks = [](const Graph& graph, PassContext&) {
    Edit edit(graph);
    edit.remove_node(graph.nodes().front());
    return edit;
  };
  const Pass passes[] = {{"vandal", PassLevel::basic, breaks}};
  auto graph = parse_graph(kChain);
  try {
    run_passes(*graph, passes);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("pass 'vandal' failed"), std::string::npos) << error.message();
  }
}

TEST(Driver, ProvenanceFollowsTheWork) {
  auto graph = parse_graph(R"(<opset_import: ["" : 17]>
g (float[1, 1, 4] x) => (float[1, 1, 4] y)
<float[1, 1, 1] w = {2}, float[1] s = {3}, float[1] b = {0}, float[1] m = {0}, float[1] v = {1}>
{
  [conv] t = Conv (x, w)
  [norm] y = BatchNormalization <epsilon = 0.0> (t, s, b, m, v)
})");
  const PassReport report = run_passes(*graph, standard_passes());
  ASSERT_EQ(graph->node_count(), 1u);
  const Node& node = graph->node(graph->nodes()[0]);
  ASSERT_EQ(node.provenance.size(), 2u);
  EXPECT_EQ(node.provenance[0]->name, "conv");
  EXPECT_EQ(node.provenance[1]->name, "norm");
  EXPECT_TRUE(report.eliminated.empty());
}

TEST(Driver, EvaluatesEachNodeOnceInALongChain) {
  std::string text = "<opset_import: [\"\" : 17]>\ng () => (float[1] y) <float[1] v0 = {1}> {\n";
  const int length = 2000;
  for (int i = 0; i < length; ++i) text += (i + 1 < length ? "v" + std::to_string(i + 1) : "y") + " = Neg (v" + std::to_string(i) + ")\n";
  auto graph = parse_graph(text + "}");
  SmallEvaluator evaluator;
  run_passes(*graph, standard_passes(), {}, &evaluator);
  EXPECT_EQ(graph->node_count(), 0u);
  EXPECT_EQ(evaluator.calls, length);
  EXPECT_EQ(*graph->value(graph->outputs()[0]).initializer.tensor().data<float>(), 1.0f);
}

}  // namespace
}  // namespace rh
