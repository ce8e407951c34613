#include "session/run_helpers.h"

namespace rh::test {
namespace {

SessionOptions with(std::initializer_list<std::pair<const char*, const char*>> entries) {
  SessionOptions options;
  for (const auto& [key, value] : entries) options.config[key] = value;
  return options;
}

const char* const kStrict = "session.strict_shape_type_inference";
const char* const kNoFusions = "session.disable_quant_qdq";
const char* const kCleanup = "session.enable_quant_qdq_cleanup";

TEST(StrictShapes, a_declared_shape_that_contradicts_gives_way_or_is_refused) {
  const struct {
    const char *declared, *message;
  } rows[] = {
      {"float[2, 4] y) {", "dimension 1 of 'y' is declared as 4 but its operator gives 3"},
      {"float[6] y) {", "'y' is declared with rank 1 ([6]) but its operator gives rank 2 ([2, 3])"},
  };
  for (const auto& row : rows) {
    const std::string text = std::string("<opset_import: [\"\" : 17]> g (float[2, 3] x) => (") + row.declared + " y = Relu (x) }";
    for (const char* loose : {"0", "2", "true"}) EXPECT_NO_THROW(make_session(text, with({{kStrict, loose}}))) << loose;
    EXPECT_NO_THROW(make_session(text));
    try {
      make_session(text, with({{kStrict, "1"}}));
      ADD_FAILURE() << row.declared;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::fail);
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << error.what();
    }
  }
}

TEST(StrictShapes, names_and_numbers_that_a_run_may_bring_together_are_no_contradiction) {
  for (const char* shapes : {"float[N, 3] x) => (float[2, 3] y", "float[N, 3] x) => (float[M, 3] y", "float[2, 3] x) => (float[M, 3] y"}) {
    const std::string text = std::string("<opset_import: [\"\" : 17]> g (") + shapes + ") { y = Relu (x) }";
    EXPECT_NO_THROW(make_session(text, with({{kStrict, "1"}}))) << shapes;
  }
}

/// A quantised convolution, and beside it a pair between operators of floats.
const char* const kQuantized = R"(
<opset_import: ["" : 17]>
g (float[1, 2, 6] x) => (float[1, 2, 5] y, float[1, 2, 6] z)
<
  int8[2, 2, 2] w = {100, -20, 30, 40, -50, 60, 70, 80},
  float s = {0.03125},
  uint8 o = {128},
  float t = {0.015625},
  int8 p = {0}
>
{
  q = QuantizeLinear (x, s, o)
  d = DequantizeLinear (q, s, o)
  v = DequantizeLinear (w, t, p)
  c = Conv (d, v)
  r = QuantizeLinear (c, s, o)
  y = DequantizeLinear (r, s, o)
  a = Exp (x)
  e = QuantizeLinear (a, s, o)
  f = DequantizeLinear (e, s, o)
  z = Neg (f)
}
)";

std::vector<Tensor> results(const SessionOptions& options, int64_t nodes) {
  auto session = make_session(kQuantized, options);
  EXPECT_EQ(session->statistics().nodes, nodes);
  Tensor x(DType::float32, Shape{1, 2, 6});
  for (int i = 0; i < 12; ++i) x.data<float>()[i] = 0.27f * static_cast<float>(i % 5) - 0.5f;
  std::vector<std::pair<const char*, Value>> inputs;
  inputs.emplace_back("x", x.clone());
  std::vector<Tensor> tensors;
  for (const Value& value : run(*session, inputs, {"y", "z"})) tensors.push_back(value.tensor().clone());
  return tensors;
}

TEST(QuantizationKeys, say_whether_pairs_are_fused_stay_or_go) {
  // Quantised: QuantizeLinear, QLinearConv, DequantizeLinear; Exp, QuantizeLinear, DequantizeLinear, Neg.
  const auto fused = results({}, 7), plain = results(with({{kNoFusions, "1"}}), 9);
  const auto cleaned = results(with({{kCleanup, "1"}}), 5), floats = results(with({{kNoFusions, "1"}, {kCleanup, "1"}}), 3);
  const auto same = results(with({{kNoFusions, "0"}, {kCleanup, "0"}}), 7);
  double rounded = 0, kept = 0;
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_FLOAT_EQ(fused[0].data<float>()[i], plain[0].data<float>()[i]) << i;
    EXPECT_FLOAT_EQ(fused[0].data<float>()[i], cleaned[0].data<float>()[i]) << i;
    EXPECT_FLOAT_EQ(fused[0].data<float>()[i], same[0].data<float>()[i]) << i;
    rounded += std::fabs(fused[0].data<float>()[i] - floats[0].data<float>()[i]);
  }
  EXPECT_GT(rounded, 0.01);
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(fused[1].data<float>()[i], plain[1].data<float>()[i]) << i;
    EXPECT_EQ(cleaned[1].data<float>()[i], floats[1].data<float>()[i]) << i;
    EXPECT_NEAR(cleaned[1].data<float>()[i], -std::exp(0.27f * static_cast<float>(i % 5) - 0.5f), 1e-5) << i;
    kept += std::fabs(fused[1].data<float>()[i] - cleaned[1].data<float>()[i]);
  }
  EXPECT_GT(kept, 0.01);
}

TEST(QuantizationKeys, functions_of_bytes_stay_functions_of_floats) {
  const char* const text = R"(
<opset_import: ["" : 17]>
g (uint8[4] x) => (uint8[4] y)
<
  float s = {0.03125},
  uint8 o = {128}
>
{
  d = DequantizeLinear (x, s, o)
  e = Exp (d)
  y = QuantizeLinear (e, s, o)
}
)";
  EXPECT_EQ(make_session(text, with({{kNoFusions, "1"}}))->statistics().nodes, 3);
}

}  // namespace
}  // namespace rh::test
