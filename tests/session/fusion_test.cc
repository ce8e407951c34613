#include <cmath>
#include <random>

#include "passes/pass.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

/// A model, the sizes with which it is run, and how many of its nodes remain when the passes of the CPU did their work.
struct FusionCase {
  const char* purpose;
  std::string text;
  std::vector<std::vector<Shape>> sizes;  ///< of the inputs, by run
  int64_t steps;
  double tolerance = 2e-6;  ///< relative to the largest magnitude
};

Tensor random_tensor(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 2);
  Tensor tensor(DType::float32, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = normal(random);
  return tensor;
}

/// An initializer of the text form with random values.
std::string weights(const std::string& name, const Shape& shape, float scale = 0.3f) {
  const Tensor tensor = random_tensor(shape, static_cast<uint32_t>(std::hash<std::string>()(name)));
  std::string text = "float" + shape.to_string() + " " + name + " = {";
  for (int64_t i = 0; i < tensor.elements(); ++i) text += (i ? ", " : "") + std::to_string(scale * tensor.data<float>()[i]);
  return text + "}";
}

SessionOptions without_cpu_passes() {
  SessionOptions options;
  for (const Pass& pass : cpu_passes()) options.disabled_passes.emplace_back(pass.name);
  return options;
}

void check_case(const FusionCase& c) {
  SCOPED_TRACE(c.purpose);
  auto fused = make_session(c.text), plain = make_session(c.text, without_cpu_passes());
  EXPECT_EQ(fused->statistics().nodes, c.steps);
  EXPECT_GT(plain->statistics().nodes, c.steps);
  for (const std::vector<Shape>& shapes : c.sizes) {
    std::vector<std::pair<const char*, Value>> inputs;
    std::vector<const char*> outputs;
    for (size_t i = 0; i < shapes.size(); ++i)
      inputs.emplace_back(fused->inputs()[i].name.c_str(), random_tensor(shapes[i], static_cast<uint32_t>(i + 1)));
    for (const ValueInfo& output : fused->outputs()) outputs.push_back(output.name.c_str());
    const auto found = run(*fused, inputs, outputs), expected = run(*plain, inputs, outputs);
    for (size_t o = 0; o < outputs.size(); ++o) {
      ASSERT_EQ(found[o].tensor().shape(), expected[o].tensor().shape());
      const auto x = elements(found[o]), y = elements(expected[o]);
      double largest = 0;
      for (const float value : y) largest = std::max(largest, static_cast<double>(std::fabs(value)));
      for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], c.tolerance * largest) << outputs[o] << " at " << i;
    }
  }
}

std::string conv_model(const std::string& head, const std::string& attributes, const Shape& shape, const std::string& body,
                       const std::string& constants = "") {
  return "<opset_import: [\"\" : 17]>\ng " + head + "\n<" + weights("w", shape) + ", " + weights("b", {shape[0]}) + constants +
         ">\n{\n  t = Conv <" + attributes + "> (x, w, b)\n" + body + "\n}";
}

TEST(Fusion, ConvolutionsWithActivationsAndSums) {
  const std::string one = "(float[N, 5, H, W] x) => (float[N, M, K, L] y)";
  const std::string two = "(float[N, 5, H, W] x, float[N, 8, H, W] z) => (float[N, 8, H, W] y)";
  const std::string same = "pads = [1, 1, 1, 1]";
  const std::vector<std::vector<Shape>> sizes = {{{1, 5, 9, 7}}, {{2, 5, 20, 17}}};
  const std::vector<std::vector<Shape>> pairs = {{{1, 5, 9, 7}, {1, 8, 9, 7}}, {{2, 5, 20, 17}, {2, 8, 20, 17}}};
  const std::vector<FusionCase> cases = {
      {"Relu", conv_model(one, same, {8, 5, 3, 3}, "y = Relu (t)"), sizes, 1},
      {"Sigmoid, strides", conv_model(one, "strides = [2, 2]", {8, 5, 3, 3}, "y = Sigmoid (t)"), sizes, 1},
      {"Tanh, 1x1", conv_model(one, "group = 1", {33, 5, 1, 1}, "y = Tanh (t)"), sizes, 1},
      {"Clip", conv_model(one, same, {8, 5, 3, 3}, "y = Clip (t, low, high)", ", float low = {-1}, float high = {2}"), sizes, 1},
      {"SiLU", conv_model(one, same, {8, 5, 3, 3}, "s = Sigmoid (t)\ny = Mul (t, s)"), sizes, 1},
      {"Mish", conv_model(one, same, {8, 5, 3, 3}, "s = Softplus (t)\nh = Tanh (s)\ny = Mul (t, h)"), sizes, 1},
      {"HardSwish", conv_model(one, same, {8, 5, 3, 3}, "y = HardSwish (t)"), sizes, 1},
      {"HardSwish, written out, depthwise",
       conv_model(one, same + ", group = 5", {5, 1, 3, 3}, "a = Add (t, three)\nc = Clip (a, zero, six)\nm = Mul (t, c)\ny = Div (m, six)",
                  ", float three = {3}, float zero = {0}, float six = {6}"),
       sizes, 1},
      {"Gelu, written out",
       conv_model(one, same, {8, 5, 3, 3}, "d = Div (t, r)\ne = Erf (d)\na = Add (e, one)\np = Mul (t, a)\ny = Mul (p, half)",
                  ", float r = {1.41421354}, float one = {1}, float half = {0.5}"),
       sizes, 1},
      {"a sum", conv_model(two, same, {8, 5, 3, 3}, "y = Add (z, t)"), pairs, 1},
      {"a sum and Relu", conv_model(two, same, {8, 5, 3, 3}, "s = Add (t, z)\ny = Relu (s)"), pairs, 1},
      {"a sum in the place of the other side",
       conv_model("(float[N, 5, H, W] x) => (float[N, 5, H, W] y)", same, {5, 5, 3, 3}, "r = Neg (x)\ns = Add (r, t)\ny = HardSwish (s)"),
       sizes, 2},
      {"a sum with what is convolved",
       "<opset_import: [\"\" : 17]>\ng (float[N, 5, H, W] v) => (float[N, 5, H, W] y)\n<" + weights("w", {5, 5, 3, 3}) +
           ">\n{\nx = Neg (v)\nt = Conv <pads = [1, 1, 1, 1]> (x, w)\ns = Add (x, t)\ny = Relu (s)\n}",
       sizes, 2},
  };
  for (const FusionCase& c : cases) check_case(c);
}

std::string product_model(const std::string& head, const std::string& body, const std::string& constants = "") {
  return "<opset_import: [\"\" : 17]>\ng " + head + "\n<" + weights("w", {20, 37}) + ", " + weights("b", {37}) + constants + ">\n{\n" +
         body + "\n}";
}

TEST(Fusion, ProductsWithBiasesSumsAndActivations) {
  const std::string one = "(float[N, S, 20] x) => (float[N, S, 37] y)",
                    two = "(float[N, S, 20] x, float[N, S, 37] z) => (float[N, S, 37] y)";
  const std::string flat = "(float[N, 20] x) => (float[N, 37] y)";
  const std::vector<std::vector<Shape>> sizes = {{{1, 1, 20}}, {{2, 33, 20}}};
  const std::vector<std::vector<Shape>> pairs = {{{1, 1, 20}, {1, 1, 37}}, {{2, 33, 20}, {2, 33, 37}}};
  const std::vector<std::vector<Shape>> rows = {{{1, 20}}, {{65, 20}}};
  const std::string gelu = ", float r = {1.41421354}, float one = {1}, float half = {0.5}";
  const std::vector<FusionCase> cases = {
      {"a bias", product_model(one, "t = MatMul (x, w)\ny = Add (b, t)"), sizes, 1},
      {"a bias and Gelu",
       product_model(one,
                     "t = MatMul (x, w)\nu = Add (t, b)\nd = Div (u, r)\ne = Erf (d)\na = Add (e, one)\np = Mul (u, a)\ny = Mul (p, half)",
                     gelu),
       sizes, 1},
      {"a bias and a sum", product_model(two, "t = MatMul (x, w)\nu = Add (t, b)\ny = Add (z, u)"), pairs, 1},
      {"a sum and SiLU", product_model(two, "t = MatMul (x, w)\nu = Add (t, z)\ns = Sigmoid (u)\ny = Mul (u, s)"), pairs, 1},
      {"a sum in place", product_model(two, "r = Neg (z)\nt = MatMul (x, w)\nu = Add (t, b)\nv = Add (r, u)\ny = Tanh (v)"), pairs, 2},
      {"Gemm and Relu", product_model(flat, "t = Gemm (x, w, b)\ny = Relu (t)"), rows, 1},
      {"Gemm and LeakyRelu", product_model(flat, "t = Gemm <beta = 0.5> (x, w, b)\ny = LeakyRelu <alpha = 0.3> (t)"), rows, 1},
      {"a batch of products and Sigmoid",
       "<opset_import: [\"\" : 17]>\ng (float[N, S, 20] x, float[N, 20, K] w) => (float[N, S, K] y)\n{\nt = MatMul (x, w)\ny = Sigmoid "
       "(t)\n}",
       {{{3, 5, 20}, {3, 20, 7}}, {{2, 40, 20}, {2, 20, 50}}},
       1},
  };
  for (const FusionCase& c : cases) check_case(c);
}

}  // namespace
}  // namespace rh::test
