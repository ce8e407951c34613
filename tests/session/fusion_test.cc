#include <cmath>
#include <map>
#include <random>

#include "base/cpu_features.h"
#include "passes/pass_lists.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

/// A model, the sizes with which it is run, and how many of its nodes remain when the passes of the CPU did their work.
struct FusionCase {
  const char* purpose;
  std::string text;
  std::vector<std::vector<Shape>> sizes;  ///< of the inputs, by run
  int64_t steps;
  double tolerance = 2e-6;    ///< relative to the largest magnitude
  int64_t rounded_block = 0;  ///< elements of rows of the first input that the fused model rounds to 8 bits together; 0: none
};

/// Those that this processor and build tell apart.
std::vector<const char*> instruction_sets() {
  std::vector<const char*> sets{"sse2"};
  if (cpu_features().avx2) sets.push_back("avx2");
  if (cpu_features().avx512) sets.push_back("avx512");
  return sets;
}

/// What is asked for again is kept: to draw it takes longer than most models run.
const Tensor& random_tensor(const Shape& shape, uint32_t seed) {
  static std::map<std::pair<std::string, uint32_t>, Tensor> kept;
  const auto [at, is_new] = kept.try_emplace({shape.to_string(), seed}, DType::float32, shape);
  if (!is_new) return at->second;
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 2);
  float* const first = at->second.data<float>();
  for (float *value = first, *end = first + at->second.elements(); value != end; ++value) *value = normal(random);
  return at->second;
}

/// An initializer of the text form with random values.
std::string weights(const std::string& name, const Shape& shape, float scale = 0.3f) {
  const Tensor& tensor = random_tensor(shape, static_cast<uint32_t>(std::hash<std::string>()(name)));
  std::string text = "float" + shape.to_string() + " " + name + " = {";
  for (int64_t i = 0; i < tensor.elements(); ++i) text += (i ? ", " : "") + std::to_string(scale * tensor.data<float>()[i]);
  return text + "}";
}

std::string repeated(const char* number, int64_t count) {
  std::string text = number;
  for (int64_t i = 1; i < count; ++i) text += std::string(", ") + number;
  return text;
}

/// Rows as MatMulNBits takes them where it rounds them: in blocks, to whole multiples of 1/127 of the largest magnitude in each.
Tensor rounded(const Tensor& x, int64_t block) {
  Tensor y = x.clone();
  const int64_t length = x.shape()[x.shape().rank() - 1];
  for (int64_t row = 0; row < x.elements(); row += length) {
    for (int64_t begin = row; begin < row + length; begin += block) {
      float* const first = y.data<float>() + begin;
      const int64_t count = std::min(block, row + length - begin);
      float largest = 0;
      for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(first[i]));
      const float factor = 127 / largest, scale = largest / 127;
      for (int64_t i = 0; i < count; ++i) first[i] = std::nearbyint(first[i] * factor) * scale;
    }
  }
  return y;
}

/// Whether it rounds them at all: with AVX2 few rows, in blocks that are not short.
bool rounds_rows(const Shape& x, int64_t block) {
  const int64_t rows = x.elements() / x[x.rank() - 1];
  return block > 0 && (cpu_features().avx512_vnni || (cpu_features().avx2 && block >= 32 && rows <= 4));
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
    const auto found = run(*fused, inputs, outputs);
    if (rounds_rows(shapes[0], c.rounded_block)) inputs[0].second = rounded(inputs[0].second.tensor(), c.rounded_block);
    const auto expected = run(*plain, inputs, outputs);
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

std::string squeeze_model(const Shape& x, const Shape& w1, const Shape& w2, const std::string& body) {
  const std::string type = x.to_string().replace(1, 1, "N");
  return "<opset_import: [\"\" : 17]>\ng (float" + type + " x) => (float" + type + " y)\n<int64[4] shape = {-1, " + std::to_string(x[1]) +
         ", 1, 1}, " + weights("w1", w1, 0.1f) + ", " + weights("b1", {16}) + ", " + weights("w2", w2, 0.1f) + ", " +
         weights("b2", {x[1]}) + ">\n{\n" + body + "\n}";
}

TEST(Fusion, SqueezeAndExcite) {
  const std::vector<std::vector<Shape>> small = {{{1, 40, 7, 7}}, {{3, 40, 7, 7}}, {{0, 40, 7, 7}}}, line = {{{2, 40, 50}}};
  const std::vector<FusionCase> cases = {
      {"MobileNetV3, GlobalAveragePool",
       squeeze_model({1, 40, 7, 7}, {16, 40, 1, 1}, {40, 16, 1, 1},
                     "m = GlobalAveragePool (x)\nr = Conv (m, w1, b1)\na = Relu (r)\ne = Conv (a, w2, b2)\ng = HardSigmoid (e)\n"
                     "y = Mul (g, x)"),
       small, 1},
      {"EfficientNet, ReduceMean, SiLU written out",
       squeeze_model({1, 40, 7, 7}, {16, 40, 1, 1}, {40, 16, 1, 1},
                     "m = ReduceMean <axes = [2, 3]> (x)\nr = Conv (m, w1, b1)\ns = Sigmoid (r)\na = Mul (r, s)\ne = Conv (a, w2, b2)\n"
                     "g = Sigmoid (e)\ny = Mul (x, g)"),
       small, 1},
      {"SENet, linear layers",
       squeeze_model({1, 40, 7, 7}, {16, 40}, {40, 16},
                     "m = GlobalAveragePool (x)\nf = Flatten (m)\nr = Gemm <transB = 1> (f, w1, b1)\na = Relu (r)\n"
                     "e = Gemm <transB = 1> (a, w2, b2)\ng = Sigmoid (e)\nv = Reshape (g, shape)\ny = Mul (x, v)"),
       small, 1},
      {"linear layers, weights the other way round, no dimensions kept",
       squeeze_model({1, 40, 7, 7}, {40, 16}, {16, 40},
                     "m = ReduceMean <axes = [-1, -2], keepdims = 0> (x)\nr = Gemm (m, w1, b1)\na = Relu (r)\ne = Gemm (a, w2, b2)\n"
                     "g = Sigmoid (e)\nv = Reshape (g, shape)\ny = Mul (x, v)"),
       small, 1},
      {"one dimension",
       squeeze_model(
           {1, 40, 50}, {16, 40, 1}, {40, 16, 1},
           "m = GlobalAveragePool (x)\nr = Conv (m, w1, b1)\na = Relu (r)\ne = Conv (a, w2, b2)\ng = Sigmoid (e)\ny = Mul (x, g)"),
       line, 1},
  };
  for (const FusionCase& c : cases) check_case(c);
}

TEST(Fusion, SqueezeAndExciteBetweenBlockedConvolutions) {
  const std::string model =
      "<opset_import: [\"\" : 17]>\ng (float[N, 3, 224, 224] x) => (float[N, 24, 56, 56] y)\n<" + weights("wi", {48, 3, 3, 3}) + ", " +
      weights("bi", {48}) + ", " + weights("wd", {48, 1, 3, 3}) + ", " + weights("bd", {48}) + ", " + weights("w1", {16, 48, 1, 1}, 0.1f) +
      ", " + weights("b1", {16}) + ", " + weights("w2", {48, 16, 1, 1}, 0.1f) + ", " + weights("b2", {48}) + ", " +
      weights("wp", {24, 48, 1, 1}) +
      ">\n{\ni = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, wi, bi)\n"
      "d = Conv <group = 48, strides = [2, 2], pads = [1, 1, 1, 1]> (i, wd, bd)\nv = HardSwish (d)\nm = GlobalAveragePool (v)\n"
      "r = Conv (m, w1, b1)\na = Relu (r)\ne = Conv (a, w2, b2)\ng = HardSigmoid (e)\ns = Mul (v, g)\ny = Conv (s, wp)\n}";
  check_case({"three convolutions, squeeze-and-excite and the way back to planes", model, {{{1, 3, 224, 224}}, {{2, 3, 224, 224}}}, 5});
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
      {"SiLU, then a sum", conv_model(two, same, {8, 5, 3, 3}, "s = Sigmoid (t)\nu = Mul (t, s)\ny = Add (z, u)"), pairs, 1},
      {"Relu, then a sum whose memory is free afterwards", conv_model(two, same, {8, 5, 3, 3}, "n = Neg (z)\nr = Relu (t)\ny = Add (r, n)"),
       pairs, 2},
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

TEST(Fusion, NormalisationsOverChannels) {
  const auto model = [](const std::string& x, const std::string& body) {
    return "<opset_import: [\"\" : 17]>\ng (float" + x + " x) => (float" + x + " y)\n<" + weights("g", {37, 1, 1}) + ", " +
           weights("b", {37, 1, 1}) + ", float e = {0.001}, float two = {2}>\n{\nm = ReduceMean <axes = [1]> (x)\n" + body + "\n}";
  };
  const std::vector<std::vector<Shape>> sizes = {{{1, 37, 1, 1}}, {{2, 37, 9, 7}}, {{3, 37, 16, 17}}, {{0, 37, 3, 3}}};
  const std::string root = "w = Add (v, e)\nr = Sqrt (w)\nn = Div (d, r)\n", shift = "s = Mul (g, n)\ny = Add (s, b)";
  const std::vector<FusionCase> cases = {
      {"written out", model("[N, 37, H, W]", "d = Sub (x, m)\np = Pow (d, two)\nv = ReduceMean <axes = [1]> (p)\n" + root + shift), sizes,
       1, 1e-5},
      {"the mean of squares less the square of the mean",
       model("[N, 37, H, W]",
             "p = Mul (x, x)\nq = ReduceMean <axes = [1]> (p)\nk = Mul (m, m)\nv = Sub (q, k)\nd = Sub (x, m)\n" + root + shift),
       sizes, 1, 1e-5},
  };
  for (const FusionCase& c : cases) check_case(c);
}

TEST(Fusion, FirstConvolutionsWithTheirPool) {
  const std::string from = "(float[N, 3, 230, 231] x) => (float[N, M, K, L] y)", pool = "kernel_shape = [3, 3], strides = [2, 2]";
  const std::vector<std::vector<Shape>> sizes = {{{1, 3, 230, 231}}, {{2, 3, 230, 231}}, {{0, 3, 230, 231}}};
  const std::vector<FusionCase> cases = {
      {"Relu, padded",
       conv_model(from, "strides = [2, 2]", {24, 3, 7, 7}, "r = Relu (t)\ny = MaxPool <" + pool + ", pads = [1, 1, 1, 1]> (r)"), sizes, 1},
      {"no activation, rounded up", conv_model(from, "strides = [2, 2]", {24, 3, 3, 3}, "y = MaxPool <" + pool + ", ceil_mode = 1> (t)"),
       sizes, 1},
      {"one that clamps nothing", conv_model(from, "strides = [2, 2]", {24, 3, 3, 3}, "h = Tanh (t)\ny = MaxPool <" + pool + "> (h)"),
       sizes, 1},
  };
  for (const FusionCase& c : cases) check_case(c);
}

TEST(Fusion, ScaledChannelsAndReluBeforeConvolutions) {
  const std::vector<std::vector<Shape>> sizes = {
      {{1, 130, 7, 7}}, {{2, 130, 14, 15}}, {{0, 130, 3, 3}}, {{1, 130, 1, 1}}, {{1, 130, 40, 33}}};
  const std::string norm = ", " + weights("scale", {130}) + ", " + weights("shift", {130}) + ", " + weights("mean", {130}) +
                           ", float[130] var = {" + repeated("0.7", 130) + "}, " + weights("factor", {130, 1, 1}) + ", " +
                           weights("offset", {130, 1, 1});
  const auto model = [&](const char* attributes, const char* before, const char* after, int64_t channels) {
    return "<opset_import: [\"\" : 17]>\ng (float[N, 130, H, W] x) => (float[N, M, K, L] y)\n<" + weights("w", {channels, 130, 1, 1}) +
           ", " + weights("b", {channels}) + norm + ">\n{\n" + before + "\nt = Conv <" + attributes + "> (r, w, b)\n" + after + "\n}";
  };
  const char* const all = "n = BatchNormalization (x, scale, shift, mean, var)\nm = Mul (n, factor)\na = Add (m, offset)\nr = Relu (a)";
  const std::vector<FusionCase> cases = {
      {"all, Relu after", model("group = 1", all, "y = Relu (t)", 70), sizes, 1},
      {"stride 2", model("strides = [2, 2]", all, "y = Identity (t)", 40), sizes, 1},
      {"normalisation alone, few channels",
       model("group = 1", "n = BatchNormalization (x, scale, shift, mean, var)\nr = Relu (n)", "y = Tanh (t)", 3), sizes, 1},
  };
  for (const FusionCase& c : cases) check_case(c);
}

// Convolutions that cannot scale while they gather.
TEST(Fusion, ScaledInputsOfAnyConvolution) {
  for (const char* attributes : {"pads = [1, 1, 1, 1]", "pads = [0, 1, 1, 0], strides = [2, 1]"}) {
    const std::string constants = "<" + weights("w", {20, 24, 3, 3}) + ", " + weights("scale", {24}) + ", " + weights("shift", {24}) +
                                  ", int64[3] shape = {24, 1, 1}>\n";
    const std::string opsets = "<opset_import: [\"\" : 17, \"roundhouse\" : 1]>\ng (float[N, 24, H, W] x) => (float[N, 20, K, L] y)\n";
    auto joined =
        make_session(opsets + constants + "{\ny = roundhouse.PreactivatedConv <" + attributes + "> (x, w, _, _, scale, shift)\n}");
    auto plain =
        make_session(opsets + constants + "{\ns = Reshape (scale, shape)\nh = Reshape (shift, shape)\nm = Mul (x, s)\na = Add (m, h)\n" +
                         "r = Relu (a)\ny = Conv <" + attributes + "> (r, w)\n}",
                     without_cpu_passes());
    const Value x = random_tensor({2, 24, 9, 11}, 5);
    const auto found = elements(run(*joined, {{"x", x}}, {"y"})[0]), expected = elements(run(*plain, {{"x", x}}, {"y"})[0]);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-5) << attributes << " at " << i;
  }
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
      {"Gemm between reshapes, Gelu",
       "<opset_import: [\"\" : 20]>\ng (float[N, 3, 20] x) => (float[N, 3, 37] y)\n<" + weights("w", {37, 20}) + ", " + weights("b", {37}) +
           ", int64[2] flat = {-1, 20}, int64[3] whole = {-1, 3, 37}>\n{\nf = Reshape (x, flat)\nt = Gemm <transB = 1> (f, w, b)\n"
           "u = Reshape (t, whole)\ny = Gelu (u)\n}",
       {{{1, 3, 20}}, {{9, 3, 20}}},
       1},
      {"a batch of products and Sigmoid",
       "<opset_import: [\"\" : 17]>\ng (float[N, S, 20] x, float[N, 20, K] w) => (float[N, S, K] y)\n{\nt = MatMul (x, w)\ny = Sigmoid "
       "(t)\n}",
       {{{3, 5, 20}, {3, 20, 7}}, {{2, 40, 20}, {2, 20, 50}}},
       1},
  };
  for (const FusionCase& c : cases) check_case(c);
}

/// An initializer of integers from `least` to `most`.
std::string integers(const std::string& type, const std::string& name, const Shape& shape, int least, int most) {
  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>()(name + type)));
  std::uniform_int_distribution<int> any(least, most);
  std::string text = type + shape.to_string() + " " + name + " = {";
  for (int64_t i = 0; i < shape.elements(); ++i) text += (i ? ", " : "") + std::to_string(any(random));
  return text + "}";
}

std::string dequantized_product(const std::string& x, const std::string& constants, const std::string& body) {
  return "<opset_import: [\"\" : 21, \"com.microsoft\" : 1]>\ng (float" + x + " x) => (float[...] y)\n<" + constants + ">\n{\n" + body +
         "\n}";
}

// MatMulNBits rounds the left operand to 8 bits, and computes the product of that as exactly as of floats.
TEST(Fusion, ProductsByDequantizedWeights) {
  constexpr double kSums = 2e-6;
  constexpr int64_t kColumnBlock = 32;  // of weights without blocks of their own
  const std::vector<std::vector<Shape>> rows = {{{1, 96}}, {{3, 96}}, {{70, 96}}};
  const std::vector<FusionCase> cases = {
      {"int8, a scale for each column, a bias",
       dequantized_product("[N, 5, 96]", integers("int8", "w", {96, 64}, -128, 127) + ", " + weights("s", {64}) + ", " + weights("b", {64}),
                           "f = DequantizeLinear <axis = -1> (w, s)\nt = MatMul (x, f)\ny = Add (b, t)"),
       {{{1, 5, 96}}, {{4, 5, 96}}},
       1,
       kSums,
       kColumnBlock},
      {"uint8, zero points of columns",
       dequantized_product(
           "[N, 96]", integers("uint8", "w", {96, 50}, 0, 255) + ", " + integers("uint8", "z", {50}, 0, 255) + ", " + weights("s", {50}),
           "f = DequantizeLinear (w, s, z)\ny = MatMul (x, f)"),
       rows, 1, kSums, kColumnBlock},
      {"int4, zero points of blocks",
       dequantized_product(
           "[N, 96]", integers("int4", "w", {96, 50}, -8, 7) + ", " + integers("int4", "z", {3, 50}, -8, 7) + ", " + weights("s", {3, 50}),
           "f = DequantizeLinear <axis = 0, block_size = 32> (w, s, z)\ny = MatMul (x, f)"),
       rows, 1, kSums, 32},
      {"uint4, blocks of rows of which the last one is short, Gemm",
       dequantized_product("[N, 72]", integers("uint4", "w", {60, 72}, 0, 15) + ", " + weights("s", {60, 5}) + ", " + weights("b", {60}),
                           "f = DequantizeLinear <axis = 1, block_size = 16> (w, s)\ny = Gemm <transB = 1> (x, f, b)"),
       {{{1, 72}}, {{9, 72}}},
       1,
       kSums,
       16},
      {"int8, one scale, transposed",
       dequantized_product("[N, 96]", integers("int8", "w", {50, 96}, -128, 127) + ", float s = {0.01}, int8 z = {-7}",
                           "f = DequantizeLinear (w, s, z)\nt = Transpose <perm = [1, 0]> (f)\ny = MatMul (x, t)"),
       rows, 1, kSums, kColumnBlock},
  };
  for (const FusionCase& c : cases) check_case(c);
}

TEST(Fusion, Attention) {
  const auto model = [](const std::string& head, const std::string& body, const std::string& constants = "") {
    return "<opset_import: [\"\" : 17]>\ng " + head + "\n<float c = {0.35}" + constants + ">\n{\n" + body + "\n}";
  };
  const std::string core = "u = Mul (s, c)\np = Softmax <axis = -1> (u)\ny = MatMul (p, v)";
  const std::string masked = "u = Mul (s, c)\nw = Add (u, m)\np = Softmax <axis = -1> (w)\ny = MatMul (p, v)";
  const std::string heads = "float[B, H, S, D] q, float[B, H, T, D] k, float[B, H, T, V] v", result = ") => (float[B, H, S, V] y)";
  const std::string turned = "t = Transpose <perm = [0, 1, 3, 2]> (k)\ns = MatMul (q, t)\n";
  const std::vector<std::vector<Shape>> few = {{{1, 2, 5, 8}, {1, 2, 7, 8}, {1, 2, 7, 4}},
                                               {{2, 3, 1, 16}, {2, 3, 40, 16}, {2, 3, 40, 33}},
                                               {{2, 3, 33, 300}, {2, 3, 31, 300}, {2, 3, 31, 300}}};
  // By pairs where the processor has them. Scores of some tens then are other sums of the same products than those of the separate nodes,
  // and round by as much: both are up to some 3e-6 of the largest magnitude from exact results.
  const std::vector<std::vector<Shape>> many = {{{1, 1, 150, 64}, {1, 1, 700, 64}, {1, 1, 700, 64}}};
  constexpr double kManyKeys = 1e-5;
  const auto with_mask = [](std::vector<std::vector<Shape>> list, auto mask_of) {
    for (auto& shapes : list) shapes.push_back(mask_of(shapes[0][0], shapes[0][1], shapes[0][2], shapes[1][2]));
    return list;
  };
  std::vector<FusionCase> cases = {
      {"plain", model("(" + heads + result, turned + core), few, 1},
      {"plain, many keys", model("(" + heads + result, turned + core), many, 1, kManyKeys},
      {"three dimensions",
       model("(float[B, S, D] q, float[B, D, T] k, float[B, T, V] v) => (float[B, S, V] y)", "s = MatMul (q, k)\n" + core),
       {{{2, 5, 8}, {2, 8, 9}, {2, 9, 3}}, {{1, 2, 8}, {1, 8, 50}, {1, 50, 40}}},
       1},
      {"heads behind the length",
       model(
           "(float[B, S, 4, D] q0, float[B, T, 4, D] k0, float[B, T, 4, V] v0) => (float[B, S, 4, V] y)",
           "q = Transpose <perm = [0, 2, 1, 3]> (q0)\nt = Transpose <perm = [0, 2, 3, 1]> (k0)\nv = Transpose <perm = [0, 2, 1, 3]> (v0)\n"
           "s = MatMul (q, t)\nu = Mul (s, c)\np = Softmax <axis = -1> (u)\nz = MatMul (p, v)\ny = Transpose <perm = [0, 2, 1, 3]> (z)"),
       {{{2, 9, 4, 8}, {2, 11, 4, 8}, {2, 11, 4, 6}}, {{1, 1, 4, 20}, {1, 90, 4, 20}, {1, 90, 4, 20}}},
       1},
      {"heads that are repeated",
       model("(float[2, 6, S, 8] q, float[2, 3, 10, 8] k0, float[2, 3, 10, 8] v0) => (float[2, 6, S, 8] y)",
             "ku = Unsqueeze (k0, two)\nke = Expand (ku, wide)\nk = Reshape (ke, all)\nvu = Unsqueeze (v0, two)\nve = Expand (vu, wide)\n"
             "v = Reshape (ve, all)\n" +
                 turned + core,
             ", int64[1] two = {2}, int64[5] wide = {2, 3, 2, 10, 8}, int64[4] all = {2, 6, 10, 8}"),
       {{{2, 6, 5, 8}, {2, 3, 10, 8}, {2, 3, 10, 8}}, {{2, 6, 1, 8}, {2, 3, 10, 8}, {2, 3, 10, 8}}},
       1},
      {"parts of one product",
       "<opset_import: [\"\" : 17]>\ng (float[B, S, 3, 4, 8] x) => (float[B, S, 4, 8] y)\n"
       "<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}, int64[3] flat = {-1, 0, 8}>\n{\n"
       "t = Transpose <perm = [2, 0, 3, 1, 4]> (x)\na = Slice (t, zero, one, zero)\nb = Slice (t, one, two, zero)\n"
       "c = Slice (t, two, three, zero)\nq = Squeeze (a, zero)\nk = Squeeze (b, zero)\nv = Squeeze (c, zero)\n"
       "tk = Transpose <perm = [0, 1, 3, 2]> (k)\ns = MatMul (q, tk)\np = Softmax <axis = -1> (s)\nz = MatMul (p, v)\n"
       "y = Transpose <perm = [0, 2, 1, 3]> (z)\n}",
       {{{2, 9, 3, 4, 8}}, {{1, 130, 3, 4, 8}}, {{3, 1, 3, 4, 8}}},
       1},
      {"keys transposed as one of three dimensions",
       model("(float[2, 3, S, 8] q, float[2, 3, 10, 8] k, float[2, 3, 10, 8] v) => (float[2, 3, S, 8] y)",
             "f = Reshape (k, three)\ng = Transpose <perm = [0, 2, 1]> (f)\nt = Reshape (g, four)\ns = MatMul (q, t)\n" + core,
             ", int64[3] three = {-1, 10, 8}, int64[4] four = {2, 3, 8, 10}"),
       {{{2, 3, 5, 8}, {2, 3, 10, 8}, {2, 3, 10, 8}}},
       1},
      {"keys of which only the folded form is there",
       model("(float[2, 3, S, 8] q, float[6, 10, 8] k, float[2, 3, 10, 8] v) => (float[2, 3, S, 8] y)",
             "f = Reshape (k, three)\ng = Transpose <perm = [0, 2, 1]> (f)\nt = Reshape (g, four)\ns = MatMul (q, t)\n" + core,
             ", int64[3] three = {-1, 10, 8}, int64[4] four = {2, 3, 8, 10}"),
       {{{2, 3, 5, 8}, {6, 10, 8}, {2, 3, 10, 8}}, {{2, 3, 1, 8}, {6, 10, 8}, {2, 3, 10, 8}}},
       1},
      {"rows that are masked all over",
       model("(float[B, 2, S, D] q, float[B, 2, T, D] k, float[B, 2, T, V] v) => (float[B, 2, S, V] y)",
             turned + "w = Add (s, m)\np = Softmax <axis = -1> (w)\nn = IsNaN (p)\nr = Where (n, zero, p)\ny = MatMul (r, v)",
             ", float zero = {0}, float[2, 1, 1] m = {-inf, 0}"),
       {{{2, 2, 9, 8}, {2, 2, 11, 8}, {2, 2, 11, 6}}, {{1, 2, 1, 8}, {1, 2, 11, 8}, {1, 2, 11, 6}}},
       1},
  };
  const auto add_mask = [&](const char* purpose, const std::string& mask, auto mask_of) {
    const std::string text = model("(" + heads + ", " + mask + " m" + result, turned + masked);
    cases.push_back({purpose, text, with_mask(few, mask_of), 1});
    cases.push_back({purpose, text, with_mask(many, mask_of), 1, kManyKeys});
  };
  add_mask("a mask a batch and query", "float[B, 1, S, T]", [](int64_t b, int64_t, int64_t s, int64_t t) { return Shape{b, 1, s, t}; });
  add_mask("a mask a head, the same for all keys", "float[H, S, 1]", [](int64_t, int64_t h, int64_t s, int64_t) { return Shape{h, s, 1}; });
  add_mask("a mask a key", "float[T]", [](int64_t, int64_t, int64_t, int64_t t) { return Shape{t}; });
  for (const FusionCase& c : cases) check_case(c);
}

TEST(Fusion, AttentionWithDecomposedPositions) {
  const std::string model =
      "<opset_import: [\"\" : 17]>\ng (float[B, 12, 8] q, float[B, 8, 12] k, float[B, 12, 8] v, float[B, 3, 4, 3, 1] h, "
      "float[B, 3, 4, 1, 4] w) => (float[B, 12, 8] y)\n<int64[5] apart = {-1, 3, 4, 3, 4}, int64[3] whole = {-1, 12, 12}, "
      "float scale = {0.25}>\n{\n"
      "s = MatMul (q, k)\nt = Mul (s, scale)\na = Reshape (t, apart)\nb = Add (a, h)\nc = Add (b, w)\nd = Reshape (c, whole)\n"
      "p = Softmax <axis = -1> (d)\ny = MatMul (p, v)\n}";
  const auto shapes = [](int64_t batch) {
    return std::vector<Shape>{{batch, 12, 8}, {batch, 8, 12}, {batch, 12, 8}, {batch, 3, 4, 3, 1}, {batch, 3, 4, 1, 4}};
  };
  // The sum of the positions, as a mask of attention.
  check_case({"scores in five dimensions", model, {shapes(1), shapes(5)}, 3, 5e-6});
}

TEST(Fusion, NormalisationsOfGroupsWithSumsAndActivations) {
  const auto model = [](const std::string& body, const char* inputs = "") {
    return std::string("<opset_import: [\"\" : 24]>\ng (float[N, 6, L] x") + inputs + ") => (float[N, 6, L] y)\n<" + weights("s", {6}) +
           ", " + weights("b", {6}) + ", " + weights("slope", {6, 1}) + ", float low = {-0.25}, float high = {0.5}>\n{\n" + body + "\n}";
  };
  // Rows of one value, odd ones, and some that threads share.
  const std::vector<std::vector<Shape>> sizes = {{{1, 6, 1}}, {{2, 6, 37}}, {{3, 6, 1025}}, {{1, 6, 20011}}, {{0, 6, 5}}};
  const std::vector<std::vector<Shape>> pairs = {{{1, 6, 1}, {1, 6, 1}}, {{2, 6, 37}, {2, 6, 37}}, {{1, 6, 20011}, {1, 6, 20011}}};
  const std::string norms[] = {"n = InstanceNormalization (x, s, b)\n", "n = GroupNormalization <num_groups = 1> (x, s, b)\n",
                               "n = GroupNormalization <num_groups = 3> (x, s, b)\n",
                               "t = Transpose <perm = [0, 2, 1]> (x)\nl = LayerNormalization (t, s, b)\n"
                               "n = Transpose <perm = [0, 2, 1]> (l)\n"};
  const char* const activations[] = {"Relu (n)",
                                     "LeakyRelu <alpha = 0.3> (n)",
                                     "Clip (n, low, high)",
                                     "HardSigmoid (n)",
                                     "HardSwish (n)",
                                     "Sigmoid (n)",
                                     "Tanh (n)",
                                     "Elu (n)",
                                     "Softplus (n)",
                                     "Softsign (n)",
                                     "ThresholdedRelu <alpha = 0.25> (n)",
                                     "Swish (n)",
                                     "Gelu (n)",
                                     "Gelu <approximate = \"tanh\"> (n)",
                                     "Mish (n)",
                                     "PRelu (n, slope)"};
  for (const char* isa : instruction_sets()) {
    SCOPED_TRACE(isa);
    const ScopedCpuFeatures scope(lowered(cpu_features(), isa));
    for (const std::string& norm : norms) {
      SCOPED_TRACE(norm);
      for (const char* activation : activations) check_case({activation, model(norm + "y = " + activation), sizes, 1});
      check_case({"SiLU, written out", model(norm + "g = Sigmoid (n)\ny = Mul (n, g)"), sizes, 1});
      if (norm.starts_with("t")) continue;
      const char* const z = ", float[N, 6, L] z";
      check_case({"a sum", model(norm + "y = Add (z, n)", z), pairs, 1});
      check_case({"a sum and PRelu", model(norm + "a = Add (n, z)\ny = PRelu (a, slope)", z), pairs, 1});
      check_case({"a sum whose memory is free afterwards", model("v = Neg (z)\n" + norm + "a = Add (v, n)\ny = Relu (a)", z), pairs, 2});
    }
    check_case({"a sum with what is normalised", model("v = Neg (x)\nn = InstanceNormalization (v, s, b)\na = Add (v, n)\ny = Relu (a)"),
                sizes, 2});
    check_case({"float16",
                model("v = Cast <to = 10> (x)\nt = Cast <to = 10> (s)\nc = Cast <to = 10> (b)\nn = InstanceNormalization (v, t, c)\n"
                      "a = Add (n, v)\nr = Swish (a)\ny = Cast <to = 1> (r)"),
                sizes, 3, 2e-3});
  }
}

TEST(Fusion, BatchNormalisationsWithSumsAndActivations) {
  const std::string parameters = weights("s", {19}) + ", " + weights("b", {19}) + ", " + weights("m", {19}) +
                                 ", float[19] v = {0.5, ...}, " + weights("slope", {19, 1}) + ", " + weights("slopes", {19});
  const auto model = [&](const char* shape, const std::string& body, bool with_sum) {
    const std::string type = std::string("float[") + shape + "] ", more = with_sum ? ", " + type + "z" : "";
    return "<opset_import: [\"\" : 24]>\ng (" + type + "x" + more + ") => (" + type + "y)\n<" + parameters + ">\n{\n" + body + "\n}";
  };
  const std::string norm = "n = BatchNormalization (x, s, b, m, v)\n",
                    halves = "h = Cast <to = 10> (x)\nn = BatchNormalization (h, s, b, m, v)\n";
  const char* const activations[] = {
      "Relu (n)", "LeakyRelu <alpha = 0.3> (n)", "HardSwish (n)", "Sigmoid (n)", "Swish (n)", "Softplus (n)", "Gelu (n)", "Mish (n)"};
  // Rows of one value, odd ones, more and less than what is done at once, and channels side by side.
  const std::vector<std::vector<Shape>> sizes = {{{1, 19, 1}}, {{2, 19, 37}}, {{1, 19, 1500}}, {{1, 19, 5001}}, {{0, 19, 5}}};
  const std::vector<std::vector<Shape>> pairs = {{{1, 19, 1}, {1, 19, 1}}, {{2, 19, 37}, {2, 19, 37}}, {{1, 19, 5001}, {1, 19, 5001}}};
  const std::vector<std::vector<Shape>> rows = {{{1, 19}}, {{300, 19}}};
  for (const char* isa : instruction_sets()) {
    SCOPED_TRACE(isa);
    const ScopedCpuFeatures scope(lowered(cpu_features(), isa));
    for (const std::string activation : activations) {
      check_case({activation.c_str(), model("N, 19, L", norm + "y = " + activation, false), sizes, 1});
      check_case({activation.c_str(), model("N, 19", norm + "y = " + activation, false), rows, 1});
    }
    check_case({"PRelu", model("N, 19, L", norm + "y = PRelu (n, slope)", false), sizes, 1});
    check_case({"PRelu of rows", model("N, 19", norm + "y = PRelu (n, slopes)", false), rows, 1});
    check_case({"a sum", model("N, 19, L", norm + "y = Add (z, n)", true), pairs, 1});
    check_case({"a sum whose memory is free afterwards", model("N, 19, L", "w = Neg (z)\n" + norm + "a = Add (w, n)\ny = Relu (a)", true),
                pairs, 2});
    check_case({"a sum before", model("N, 19, L", "a = Add (x, z)\nn = BatchNormalization (a, s, b, m, v)\ny = Relu (n)", true), pairs, 1});
    check_case({"a sum before, whose memory is free afterwards",
                model("N, 19, L", "w = Neg (z)\na = Add (w, x)\nn = BatchNormalization (a, s, b, m, v)\ny = Swish (n)", true), pairs, 2});
    check_case({"float16", model("N, 19, L", halves + "a = Add (n, h)\nr = Swish (a)\ny = Cast <to = 1> (r)", false), sizes, 3, 4e-3});
  }
}

TEST(Fusion, BatchNormalisationsBetweenBlocks) {
  for (const int channels : {32, 28}) {
    const std::string c = std::to_string(channels);
    const std::string model = "<opset_import: [\"\" : 24]>\ng (float[N, 3, 128, 128] x) => (float[N, " + c + ", 32, 32] y)\n<" +
                              weights("w", {channels, 3, 3, 3}) + ", " + weights("d", {channels, 1, 3, 3}) + ", " +
                              weights("s", {channels}) + ", " + weights("b", {channels}) + ", " + weights("m", {channels}) + ", float[" +
                              c + "] v = {0.5, ...}>\n{\n" +
                              "a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w)\n"
                              "n = BatchNormalization (a, s, b, m, v)\n"
                              "r = Swish (n)\n"
                              "c = Conv <group = " +
                              c +
                              ", pads = [1, 1, 1, 1]> (r, d)\n"
                              "q = Neg (c)\n"
                              "k = BatchNormalization (q, b, s, m, v)\n"
                              "t = Add (k, a)\n"
                              "u = Relu (t)\n"
                              "y = Conv <group = " +
                              c + ", strides = [2, 2], pads = [1, 1, 1, 1]> (u, d)\n}";
    // Operators and a reordering at the end.
    check_case({"blocks", model, {{{1, 3, 128, 128}}, {{2, 3, 128, 128}}}, 7});
  }
}

TEST(Fusion, Normalisations) {
  const auto model = [](int opset, const std::string& body) {
    return "<opset_import: [\"\" : " + std::to_string(opset) + "]>\ng (float[N, S, 37] x) => (float[N, S, 37] y)\n<" + weights("g", {37}) +
           ", " + weights("b", {37}) + ", float e = {0.00001}, float two = {2}, int64[1] last = {-1}>\n{\n" + body + "\n}";
  };
  const std::vector<std::vector<Shape>> sizes = {{{1, 1, 37}}, {{2, 33, 37}}};
  const std::string layer =
      "m = ReduceMean <axes = [-1]> (x)\nd = Sub (x, m)\np = Pow (d, two)\nv = ReduceMean <axes = [-1]> (p)\n"
      "w = Add (v, e)\ns = Sqrt (w)\nn = Div (d, s)\nz = Mul (n, g)\ny = Add (z, b)";
  const std::string rms =
      "p = Mul (x, x)\nv = ReduceMean (p, last)\nw = Add (v, e)\ns = Sqrt (w)\ni = Reciprocal (s)\nn = Mul (x, i)\ny = Mul (g, n)";
  for (const FusionCase& c : {FusionCase{"with a mean", model(13, layer), sizes, 1}, FusionCase{"without", model(18, rms), sizes, 1}})
    check_case(c);
}

}  // namespace
}  // namespace rh::test
