#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "ops/inference.h"
#include "ops/schema.h"
#include "passes/precision/convert_floats.h"
#include "passes/precision/half_type.h"
#include "passes/precision/insert_quantization.h"
#include "passes/precision/operator_table.h"
#include "passes/precision/quantize_codes.h"

namespace rh::precision {
namespace {

constexpr const char* kTwoProducts = R"(<opset_import: ["" : 17]>
g (float[2, 2] x) => (float[2, 2] y)
{
  [first] t = MatMul (x, x)
  [second] y = MatMul (t, t)
}
)";

std::unique_ptr<Graph> typed(const char* text) {
  auto graph = parse_graph(text);
  infer_types(*graph);
  return graph;
}

TEST(OperatorTable, RowsNameOperatorsThatCouldConvert) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const OperatorRow& row : operator_rows()) {
    EXPECT_TRUE(seen.emplace(row.domain, row.op_type).second) << row.op_type << " has two rows";
    EXPECT_FALSE(row.reason.empty()) << row.op_type;
    const auto history = ops::schema_history(row.domain, row.op_type);
    ASSERT_FALSE(history.empty()) << row.op_type << " is no operator";
    bool takes_half = row.role == Role::reads_none;
    for (const ops::OpSchema& schema : history) {
      for (const ops::Port& port : schema.inputs) takes_half |= port.allowed->allows_tensor(DType::float16);
    }
    EXPECT_TRUE(takes_half) << row.op_type << " stays by its schema, the row is needless";
  }
}

TEST(ConvertFloats, OnlyTheRegionConverts) {
  auto graph = typed(kTwoProducts);
  FloatConversion options;
  options.in_region = [](const Graph&, const Node& node) { return node.name == "second"; };
  const Report report = convert_floats(*graph, options);
  EXPECT_EQ(report.converted, std::vector<std::string>{"second"});
  ASSERT_EQ(report.kept.size(), 1u);
  EXPECT_EQ(report.kept[0].reason, "the node is outside the region");
  EXPECT_EQ(report.added_nodes, 2u);
}

TEST(ConvertFloats, NamesAreHeldAgainstTheGraph) {
  const struct {
    const char* purpose;
    FloatConversion options;
    const char* message;
  } rows[] = {
      {"type", {.to = DType::float32}, "the type is float, expected float16 or bfloat16"},
      {"node", {.keep_nodes = {"secnd"}}, "no node 'secnd'; the nearest is 'second'"},
      {"operator", {.keep_operators = {"MatMull"}}, "no operator 'MatMull'; the nearest is 'MatMul'"},
      {"converted operator", {.convert_operators = {"Softmax"}}, "no operator 'Softmax'"},
      {"value", {.keep_values = {"t"}}, "no input or output 't'"},
  };
  for (const auto& row : rows) {
    auto graph = typed(kTwoProducts);
    const std::string before = print(*graph);
    try {
      convert_floats(*graph, row.options);
      ADD_FAILURE() << row.purpose << ": expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(error.message().find(row.message), std::string::npos) << error.message();
    }
    EXPECT_EQ(print(*graph), before) << row.purpose;
  }
}

TEST(ConvertFloats, NeedsACastToTheType) {
  const struct {
    int opset;
    DType half;
    const char* message;
  } rows[] = {{12, DType::bfloat16, "Cast of opset 12 does not give bfloat16, expected opset 13"},
              {5, DType::float16, "Cast of opset 5 does not give float16, expected opset 6"}};
  for (const auto& row : rows) {
    const std::string text =
        fmt::format("<opset_import: [\"\" : {}]>\ng (float[2] x) => (float[2] y)\n{{\n  y = Relu (x)\n}}\n", row.opset);
    auto graph = typed(text.c_str());
    try {
      convert_floats(*graph, {.to = row.half});
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(row.message), std::string::npos) << error.message();
    }
  }
}

TEST(HalfType, ConstantsAreHeldAgainstTheRange) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const struct {
    std::vector<float> elements;
    DType half;
    Needed needed;
    bool fits;
  } rows[] = {
      {{65504, -65504, 0}, DType::float16, Needed::each, true},
      {{65505}, DType::float16, Needed::finite, false},
      {{infinity, 1}, DType::float16, Needed::each, true},
      {{0x1p-14f, 1}, DType::float16, Needed::each, true},
      {{0x1p-15f, 1}, DType::float16, Needed::each, false},
      {{0x1p-15f, 1}, DType::float16, Needed::largest, true},
      {{0x1p-15f, 0}, DType::float16, Needed::largest, false},
      {{0x1p-15f}, DType::float16, Needed::finite, true},
      {{0, 0}, DType::float16, Needed::each, true},
      {{}, DType::float16, Needed::each, true},
      {{65505, 1e-30f}, DType::bfloat16, Needed::each, true},
      {{3.3895e38f}, DType::bfloat16, Needed::each, true},
      {{std::numeric_limits<float>::max()}, DType::bfloat16, Needed::finite, false},
  };
  for (const auto& row : rows) {
    const Tensor tensor = Tensor::from<float>({static_cast<int64_t>(row.elements.size())}, row.elements);
    EXPECT_EQ(why_unfit(tensor, row.half, row.needed).empty(), row.fits) << testing::PrintToString(row.elements);
  }
}

TEST(Calibration, ReadsBothForms) {
  const Calibration json = parse_calibration(R"({"x": {"low": -1, "high": 2.5}, "y": {"scale": 0.5, "zero_point": 3}, "z": {"scale": 1}})");
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json.at("x").low, -1);
  EXPECT_EQ(json.at("x").magnitude(), 2.5);
  EXPECT_EQ(json.at("y").scale, 0.5f);
  EXPECT_EQ(json.at("y").zero_point, 3);
  const Calibration lines = parse_calibration("TRT-8601-EntropyCalibration2\nx: 3f000000\r\nnamed: with colon: 3c010a14\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines.at("x").scale, 0.5f);
  EXPECT_NEAR(*lines.at("named: with colon").scale, 1 / 127.0, 1e-5);
}

TEST(Calibration, SaysWhatIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"", "is empty"},
      {"{", "no JSON object"},
      {R"({"x": 3})", "calibration of 'x': expected an object"},
      {R"({"x": {"low": 1}})", "'high' is missing or no number"},
      {R"({"x": {"low": 2, "high": 1}})", "the range is 2 to 1"},
      {R"({"x": {"scale": 0}})", "the scale is 0, expected a finite number above 0"},
      {R"({"x": {"scale": 1, "zero_point": 0.5}})", "the zero point is 0.5"},
      {R"({"x": {"scale": 1, "zero_point": 256}})", "the zero point is 256"},
      {"TRT-1\nx 3f000000\n", "line 2: 'x 3f000000'"},
      {"TRT-1\nx: 3f0000zz\n", "line 2"},
      {"TRT-1\nx: 7f800000\n", "the scale is inf"},
      {"not json\n", "line 1: 'not json', expected a JSON object, or TensorRT's table"},
      {"[]", "expected a JSON object, or TensorRT's table"},
  };
  for (const auto& row : rows) {
    try {
      parse_calibration(row.text);
      ADD_FAILURE() << row.text << ": expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(error.message().find(row.message), std::string::npos) << error.message();
    }
  }
}

TEST(InsertQuantization, ZeroPointsAreCodes) {
  auto graph = typed("<opset_import: [\"\" : 17]>\ng (float[2] x) => (float[2] y)\n{\n  y = Add (x, x)\n}\n");
  Calibration table;
  table["x"] = {.scale = 1.0f, .zero_point = 200};
  table["nobody"] = {.low = -1, .high = 1};
  EXPECT_THROW(insert_quantization(*graph, table, {}), Error);
  table["x"].zero_point = 3;
  table["y"] = table["x"];
  const Report report = insert_quantization(*graph, table, {});
  EXPECT_EQ(report.converted.size(), 1u);
  EXPECT_EQ(report.unused, std::vector<std::string>{"nobody"});
}

TEST(QuantizeCodes, RangesBecomeScalesAndZeroPoints) {
  const struct {
    TensorScale entry;
    DType codes;
    bool symmetric;
    float scale;
    int zero_point;
  } rows[] = {
      {{.low = -1.27, .high = 1}, DType::int8, true, 0.01f, 0},
      {{.low = -1.27, .high = 1}, DType::uint8, true, 0.01f, 128},
      {{.low = 0, .high = 2.55}, DType::uint8, false, 0.01f, 0},
      {{.low = 0, .high = 2.55}, DType::int8, false, 0.01f, -128},
      {{.low = 1, .high = 2.55}, DType::uint8, false, 0.01f, 0},  // 0 is always a code
      {{.low = -2.55, .high = -1}, DType::uint8, false, 0.01f, 255},
      {{.low = -0.55, .high = 2}, DType::uint8, false, 0.01f, 55},
      {{.low = 0, .high = 0}, DType::int8, true, 1, 0},
  };
  for (const auto& row : rows) {
    const Quantization q = quantization_of("x", row.entry, row.codes, row.symmetric);
    EXPECT_NEAR(q.scale, row.scale, 1e-6) << row.entry.low << " " << row.entry.high;
    EXPECT_EQ(q.zero_point, row.zero_point) << row.entry.low << " " << row.entry.high;
  }
}

}  // namespace
}  // namespace rh::precision
