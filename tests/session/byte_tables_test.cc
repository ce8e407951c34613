#include <algorithm>

#include "session/run_helpers.h"

namespace rh::test {
namespace {

/// A swish of bytes, a depthwise convolution of it with zeros around it, and a function of its means.
constexpr const char* kSwish = R"(<opset_import: ["" : 17]>
g (uint8[1, 20, 9, 8] x) => (int8[1, 20, 9, 8] swish, int8[1, 20, 9, 8] filtered, uint8[1, 20, 1, 1] scaled)
<
  float s = {0.031}, uint8 z = {120}, float t = {0.0039}, uint8 none = {0}, float u = {0.017}, int8 low = {-100},
  float v = {0.0213}, int8 zero = {0}, int64[8] sizes = {0, 0, 1, 1, 0, 0, 1, 1},
  int8[20, 1, 3, 3] w = {WEIGHTS}
>
{
  fx = DequantizeLinear (x, s, z)
  gate = Sigmoid (fx)
  qgate = QuantizeLinear (gate, t, none)
  fgate = DequantizeLinear (qgate, t, none)
  product = Mul (fx, fgate)
  swish = QuantizeLinear (product, u, low)
  fswish = DequantizeLinear (swish, u, low)
  padded = Pad (fswish, sizes)
  qpadded = QuantizeLinear (padded, u, low)
  fpadded = DequantizeLinear (qpadded, u, low)
  fw = DequantizeLinear (w, v, zero)
  sums = Conv <group = 20> (fpadded, fw)
  filtered = QuantizeLinear (sums, u, low)
  ffiltered = DequantizeLinear (filtered, u, low)
  means = GlobalAveragePool (ffiltered)
  qmeans = QuantizeLinear (means, u, low)
  fmeans = DequantizeLinear (qmeans, u, low)
  opened = HardSigmoid (fmeans)
  qopened = QuantizeLinear (opened, t, none)
  fopened = DequantizeLinear (qopened, t, none)
  half = Mul (fopened, fopened)
  scaled = QuantizeLinear (half, t, none)
}
)";

std::vector<Tensor> results(const SessionOptions& options, int64_t nodes) {
  std::string text = kSwish, weights = "3";
  for (int i = 1; i < 180; ++i) weights += ", " + std::to_string(i * 11 % 19 - 8);
  text.replace(text.find("WEIGHTS"), 7, weights);
  auto session = make_session(text, options);
  EXPECT_EQ(session->statistics().nodes, nodes);
  Tensor x(DType::uint8, Shape{1, 20, 9, 8});
  for (int64_t i = 0; i < x.elements(); ++i) x.data<uint8_t>()[i] = static_cast<uint8_t>(i * 37 + i / 7);
  std::vector<std::pair<const char*, Value>> inputs;
  inputs.emplace_back("x", x.clone());
  std::vector<Tensor> tensors;
  for (const Value& value : run(*session, inputs, {"swish", "filtered", "scaled"})) tensors.push_back(value.tensor().clone());
  return tensors;
}

/// Integers may be rounded to a neighbour where a float is near to a tie.
TEST(ByteTables, give_what_the_operators_on_floats_do) {
  SessionOptions floats;
  floats.config["session.disable_quant_qdq"] = "1";
  // A table, the convolution with its own pads, the means, a table.
  const auto found = results({}, 4), expected = results(floats, 21);
  int64_t differences = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].dtype(), expected[i].dtype());
    int least = 255, most = 0;
    for (int64_t k = 0; k < found[i].elements(); ++k) {
      const auto code = [&](const Tensor& tensor) { return static_cast<int>(element_as_int(tensor.view(), k)) & 255; };
      differences += code(found[i]) != code(expected[i]);
      least = std::min(least, code(found[i]));
      most = std::max(most, code(found[i]));
    }
    EXPECT_GT(most - least, 10) << i;
    if (i == 0) {
      EXPECT_EQ(differences, 0);  // of the table alone
    }
  }
  EXPECT_LE(differences, 4);
}

}  // namespace
}  // namespace rh::test
