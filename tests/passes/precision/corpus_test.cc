#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "ops/inference.h"
#include "passes/precision/convert_floats.h"
#include "passes/precision/insert_quantization.h"

namespace rh::precision {
namespace {

/// The graphs before of all text cases of passes: some hundreds of small graphs of all kinds of operators.
std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(RH_TEST_DATA) + "/../passes")) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path());
    bool is_before = false;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("=== ")) {
        texts.emplace_back();
        is_before = true;
      } else if (line == "---") {
        is_before = false;
      } else if (is_before) {
        texts.back() += line + "\n";
      }
    }
  }
  return texts;
}

/// Infers, changes, checks; opsets whose Cast does not give the type are passed over.
template <typename Change>
size_t change_all(const std::vector<std::string>& texts, Change change) {
  size_t changed = 0;
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    try {
      auto graph = parse_graph(text);
      infer_types(*graph);
      changed += change(*graph).converted.size();
      check(*graph);
      auto again = graph->clone();
      infer_types(*again);
    } catch (const Error& error) {
      EXPECT_NE(error.message().find("does not give"), std::string::npos) << error.what();
    }
  }
  return changed;
}

TEST(PrecisionCorpus, GraphsOfAllPassesStaySound) {
  const std::vector<std::string> texts = corpus();
  ASSERT_GT(texts.size(), 300u);
  for (const DType half : {DType::float16, DType::bfloat16}) {
    for (const bool keeps : {true, false}) {
      const FloatConversion options{.to = half, .keep_inputs = keeps, .keep_outputs = keeps};
      EXPECT_GT(change_all(texts, [&](Graph& graph) { return convert_floats(graph, options); }), 300u);
    }
  }
}

void add_ranges(const Graph& graph, Calibration& table) {
  for (ValueId id = 0; id < graph.value_count(); ++id) table[graph.value(id).name] = {.low = -1, .high = 2};
  for (NodeId id : graph.nodes()) Graph::for_each_subgraph(graph.node(id), [&](const Graph& body) { add_ranges(body, table); });
}

TEST(PrecisionCorpus, GraphsOfAllPassesStaySoundWithCodes) {
  const auto quantize = [](Graph& graph) {
    Calibration table;
    add_ranges(graph, table);
    return insert_quantization(graph, table, {.activations = DType::uint8, .symmetric = false});
  };
  EXPECT_GT(change_all(corpus(), quantize), 300u);
}

}  // namespace
}  // namespace rh::precision
