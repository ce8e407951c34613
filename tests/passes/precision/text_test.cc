#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "ops/inference.h"
#include "passes/precision/convert_floats.h"
#include "passes/precision/insert_quantization.h"

namespace rh::precision {
namespace {

/// One case of tests/passes/precision/<file>.txt:
///   === what it is for (words: options of the function, name=low:high or name=scale@zero_point of the calibration table)
///   <graph before>
///   ---
///   <graph after>
///   ---
///   <node: why it stays>, a line each
struct TextCase {
  std::string file, title, parts[3];
  std::vector<std::string> words;
  friend void PrintTo(const TextCase& c, std::ostream* out) { *out << c.file << ": " << c.title; }
};

void read_words(TextCase& c) {
  const size_t open = c.title.rfind('(');
  if (open == std::string::npos || !c.title.ends_with(')')) return;
  std::istringstream words(c.title.substr(open + 1, c.title.size() - open - 2));
  for (std::string word; words >> word;) c.words.push_back(word);
}

std::vector<TextCase> read_cases() {
  std::vector<TextCase> cases;
  for (const char* name : {"convert_floats", "insert_quantization"}) {
    std::ifstream file(std::string(RH_TEST_DATA) + "/../passes/precision/" + name + ".txt");
    EXPECT_TRUE(file.good()) << name;
    size_t part = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("=== ")) {
        cases.push_back({name, line.substr(4), {}, {}});
        read_words(cases.back());
        part = 0;
      } else if (line == "---") {
        ++part;
      } else if (!cases.empty() && part < 3) {
        cases.back().parts[part] += line + "\n";
      }
    }
  }
  return cases;
}

/// What the words of a title ask for.
struct Asked {
  FloatConversion floats;
  QuantizationOptions codes;
  Calibration table;

  explicit Asked(const std::vector<std::string>& words) {
    for (const std::string& word : words) take(word);
    floats.ranges = table.empty() ? nullptr : &table;
  }

 private:
  void take(const std::string& word) {
    if (word == "asymmetric") codes.symmetric = false;
    if (word == "per_tensor") codes.per_channel = false;
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return;
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "to") {
      floats.to = codes.activations = dtype_from_string(value);
    } else if (key == "keep_inputs") {
      floats.keep_inputs = value == "1";
    } else if (key == "keep_outputs") {
      floats.keep_outputs = value == "1";
    } else if (key == "keep_value") {
      floats.keep_values.push_back(value);
    } else if (key == "keep_node") {
      floats.keep_nodes.push_back(value), codes.keep_nodes.push_back(value);
    } else if (key == "keep_operator") {
      floats.keep_operators.push_back(value), codes.keep_operators.push_back(value);
    } else if (key == "convert_operator") {
      floats.convert_operators.push_back(value);
    } else {
      table[key] = entry_of(value);
    }
  }

  static TensorScale entry_of(const std::string& value) {
    TensorScale entry;
    if (const size_t at = value.find('@'); at != std::string::npos) {
      entry.scale = std::stof(value);
      entry.zero_point = std::stoi(value.substr(at + 1));
    } else {
      entry.low = std::stod(value);
      entry.high = std::stod(value.substr(value.find(':') + 1));
    }
    return entry;
  }
};

const PrintOptions kWhole{.types = false, .max_elements = -1};

std::string text_of(const Report& report) {
  std::string text;
  for (const KeptNode& node : report.kept) text += node.node + ": " + node.reason + "\n";
  return text;
}

Report run(Graph& graph, const TextCase& c) {
  const Asked asked(c.words);
  infer_types(graph);
  return c.file == "convert_floats" ? convert_floats(graph, asked.floats) : insert_quantization(graph, asked.table, asked.codes);
}

/// What a case of the file should hold, for a file that is written anew (RH_WRITE_PASS_TEXTS=1).
void write_case(const TextCase& c, const Graph& graph, const Report& report) {
  std::ofstream file(std::string(RH_BUILD_DIR) + "/" + c.file + ".txt", std::ios::app);
  file << "=== " << c.title << "\n" << c.parts[0] << "---\n" << print(graph, kWhole);
  if (!report.kept.empty()) file << "---\n" << text_of(report);
}

class PrecisionText : public testing::TestWithParam<TextCase> {};

TEST_P(PrecisionText, GivesTheGraphAfterAndTheReasons) {
  const TextCase& c = GetParam();
  auto graph = parse_graph(c.parts[0]);
  check(*graph);
  const Report report = run(*graph, c);
  check(*graph);
  if (std::getenv("RH_WRITE_PASS_TEXTS")) return write_case(c, *graph, report);
  const auto expected = parse_graph(c.parts[1]);
  infer_types(*expected);
  EXPECT_EQ(print(*graph, kWhole), print(*expected, kWhole));
  EXPECT_EQ(text_of(report), c.parts[2]);
}

/// Types that are inferred from nothing but the inputs are those that the conversion left.
TEST_P(PrecisionText, TypesAreThoseThatInferenceGives) {
  const TextCase& c = GetParam();
  auto graph = parse_graph(c.parts[0]);
  run(*graph, c);
  auto again = graph->clone();
  for (NodeId id : again->nodes()) {
    for (ValueId value : again->node(id).outputs) {
      if (value != kNoValue) again->set_type(value, {});
    }
  }
  infer_types(*again);
  check(*again, {.types = c.parts[0].find("some.domain") == std::string::npos});
  for (NodeId id : graph->nodes()) {
    for (ValueId value : graph->node(id).outputs) {
      if (value == kNoValue || again->value(value).type.is_unknown()) continue;
      EXPECT_EQ(onnx_type_string(again->value(value).type), onnx_type_string(graph->value(value).type)) << graph->value(value).name;
    }
  }
}

TEST_P(PrecisionText, DoneAgainItAddsNothing) {
  const TextCase& c = GetParam();
  if (c.file != "convert_floats" ||
      !std::ranges::none_of(c.words, [](const auto& w) { return w.starts_with("keep_") || w.find(':') != w.npos; }))
    return;
  auto graph = parse_graph(c.parts[0]);
  run(*graph, c);
  const std::string once = print(*graph, kWhole);
  FloatConversion options = Asked(c.words).floats;
  options.convert_operators.clear();
  convert_floats(*graph, options);
  EXPECT_EQ(print(*graph, kWhole), once);
}

INSTANTIATE_TEST_SUITE_P(All, PrecisionText, testing::ValuesIn(read_cases()),
                         [](const auto& info) { return info.param.file + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace rh::precision
