#include "onnx/nchwc_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/cpu_features.h"
#include "graph/text_parse.h"
#include "onnx/nchwc_weights.h"
#include "session/session.h"

namespace rh::onnx::test {
namespace {

std::mt19937& source() {
  static std::mt19937 generator(11);
  return generator;
}

Tensor normal(Shape shape) {
  std::normal_distribution<float> distribution;
  Tensor tensor(DType::float32, std::move(shape));
  std::generate_n(tensor.data<float>(), tensor.elements(), [&] { return distribution(source()); });
  return tensor;
}

int64_t up(int64_t channels, int64_t block) { return (channels + block - 1) / block * block; }

/// OIHW in the order of blocks, by the definition: of the outputs alone (OIHWBo), or of the inputs too (OIHWBiBo).
Tensor in_blocks(const Tensor& plain, int64_t block, bool inputs_too) {
  const Shape& shape = plain.shape();
  const int64_t outputs = up(shape[0], block), inputs = inputs_too ? up(shape[1], block) : shape[1], pixels = shape[2] * shape[3];
  Tensor blocked(DType::float32, {outputs, inputs, shape[2], shape[3]});
  std::fill_n(blocked.data<float>(), blocked.elements(), 0.0f);
  for (int64_t o = 0; o < shape[0]; ++o) {
    for (int64_t i = 0; i < shape[1]; ++i) {
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t bi = inputs_too ? block : 1;
        const int64_t at = ((((o / block) * (inputs / bi) + i / bi) * pixels + p) * bi + i % bi) * block + o % block;
        blocked.data<float>()[at] = plain.data<float>()[(o * shape[1] + i) * pixels + p];
      }
    }
  }
  return blocked;
}

Tensor filled_up(const Tensor& bias, int64_t block) {
  Tensor longer(DType::float32, {up(bias.elements(), block)});
  std::fill_n(longer.data<float>(), longer.elements(), 0.0f);
  std::copy_n(bias.data<float>(), bias.elements(), longer.data<float>());
  return longer;
}

struct Constants {
  std::vector<std::pair<const char*, Tensor>> values;
};

/// The graph of a text whose inputs of these names become initializers.
std::unique_ptr<Graph> graph_with(const std::string& text, const Constants& constants) {
  auto graph = parse_graph(text);
  for (const auto& [name, value] : constants.values) {
    const ValueId id = graph->find_value(name);
    if (id == kNoValue) continue;
    graph->set_initializer(id, value);
    graph->drop_input(id);
  }
  return graph;
}

Tensor run(std::unique_ptr<Graph> graph, const Tensor& x) {
  Model model;
  model.ir_version = 9;
  model.graph = std::move(graph);
  const auto session = Session::create(std::move(model), {});
  const Value input = x;
  const Value* inputs[] = {&input};
  const char *from[] = {"x"}, *to[] = {"y"};
  Value output[1];
  const Status status = session->run({}, from, inputs, to, output);
  EXPECT_TRUE(status.ok()) << status.message();
  return status.ok() ? output[0].tensor() : Tensor();
}

void expect_close(const Tensor& found, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.shape().to_string(), expected.shape().to_string()) << what;
  for (int64_t i = 0; i < found.elements(); ++i) {
    const float wanted = expected.data<float>()[i];
    ASSERT_NEAR(found.data<float>()[i], wanted, 1e-4f * std::max(1.0f, std::abs(wanted))) << what << ", element " << i;
  }
}

void expect_no_blocks(const Graph& graph) {
  for (NodeId id : graph.nodes()) {
    EXPECT_NE(graph.node(id).domain, "com.microsoft.nchwc") << graph.node(id).op_type;
    Graph::for_each_subgraph(graph.node(id), [](const Graph& subgraph) { expect_no_blocks(subgraph); });
  }
}

constexpr const char* kHead = "<opset_import: [\"\" : 18, \"com.microsoft\" : 1, \"com.microsoft.nchwc\" : 1]>\n";
// Of 20 channels come 40, of these 20. Weights: w [40, 20, 3, 3], v [20, 40, 1, 1], d [40, 1, 3, 3], r [40, 3, 3, 3], b [40].
constexpr const char* kInputs = "float[40, 20, 3, 3] w, float[20, 40, 1, 1] v, float[40, 1, 3, 3] d, float[40, 3, 3, 3] r, float[40] b";
constexpr const char* kBlockedInputs = "float[...] w, float[...] v, float[...] d, float[...] r, float[...] b";

struct Case {
  const char* purpose;
  int64_t channels;   // of x [2, channels, 6, 5]
  const char* plain;  // nodes that give y of x
  const char* blocked;
};

#define NCHWC "com.microsoft.nchwc."
#define IN "u = " NCHWC "ReorderInput (x) c = " NCHWC "Conv <pads = [1, 1, 1, 1]> (u, w, b) "
#define OUT " t = " NCHWC "Conv (s, v) y = " NCHWC "ReorderOutput <channels = 20> (t)"
#define PLAIN "c = Conv <pads = [1, 1, 1, 1]> (x, w, b) "
#define LAST " y = Conv (s, v)"

const Case kCases[] = {
    {"convolutions", 20, PLAIN "s = Identity (c)" LAST, IN "s = Identity (c)" OUT},
    {"an input that is not in blocks", 3, "s = Conv <strides = [2, 1]> (x, r, b)" LAST,
     "s = " NCHWC "Conv <strides = [2, 1]> (x, r, b)" OUT},
    {"each channel by itself", 20, PLAIN "s = Conv <group = 40> (c, d, b)" LAST, IN "s = " NCHWC "Conv <group = GROUP> (c, d, b)" OUT},
    {"a sum and a function behind it", 20,
     PLAIN "f = Conv <pads = [1, 1, 1, 1]> (x, w) g = Add (f, c) s = LeakyRelu <alpha = 0.25> (g)" LAST,
     IN "s = " NCHWC "Conv <pads = [1, 1, 1, 1], activation = \"LeakyRelu\", activation_params = [0.25]> (u, w, _, c)" OUT},
    {"Clip", 20, PLAIN "s = Clip (c, low, high)" LAST,
     "u = " NCHWC "ReorderInput (x) s = " NCHWC
     "Conv <pads = [1, 1, 1, 1], activation = \"Clip\", activation_params = [-0.5, 1.5]> (u, w, b)" OUT},
    {"HardSigmoid, 0.5 in the channels that fill up", 20, PLAIN "s = HardSigmoid <alpha = 0.125, beta = 0.5> (c)" LAST,
     "u = " NCHWC "ReorderInput (x) s = " NCHWC
     "Conv <pads = [1, 1, 1, 1], activation = \"HardSigmoid\", activation_params = [0.125, 0.5]> (u, w, b)" OUT},
    {"HardSwish", 20, PLAIN "s = HardSwish (c)" LAST,
     "u = " NCHWC "ReorderInput (x) s = " NCHWC "Conv <pads = [1, 1, 1, 1], activation = \"HardSwish\"> (u, w, b)" OUT},
    {"MaxPool", 20, PLAIN "s = MaxPool <kernel_shape = [3, 2], ceil_mode = 1, strides = [2, 2]> (c)" LAST,
     IN "s = " NCHWC "MaxPool <kernel_shape = [3, 2], ceil_mode = 1, strides = [2, 2]> (c)" OUT},
    {"AveragePool", 20, PLAIN "s = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 0, 0], count_include_pad = 1> (c)" LAST,
     IN "s = " NCHWC "AveragePool <kernel_shape = [2, 2], pads = [1, 1, 0, 0], count_include_pad = 1> (c)" OUT},
    {"GlobalMaxPool", 20, PLAIN "s = GlobalMaxPool (c)" LAST, IN "s = " NCHWC "GlobalMaxPool (c)" OUT},
    {"GlobalAveragePool that is added", 20, PLAIN "p = GlobalAveragePool (c) s = Add (c, p)" LAST,
     IN "p = " NCHWC "GlobalAveragePool (c) c5 = Reshape (c, five) p5 = Reshape (p, five) a5 = Add (c5, p5) s = Reshape (a5, four)" OUT},
    {"the same with numbers of channels", 20, PLAIN "p = GlobalAveragePool (c) s = Add (c, p)" LAST,
     IN "p = " NCHWC "GlobalAveragePool (c) c5 = Reshape (c, split) p5 = Reshape (p, split) a5 = Add (c5, p5) s = Reshape (a5, whole)" OUT},
    {"element-wise operators", 20, PLAIN "g = Sigmoid (c) s = Mul (g, c)" LAST, IN "s = com.microsoft.QuickGelu <alpha = 1.0> (c)" OUT},
    {"values are joined", 20, PLAIN "g = Relu (c) k = Concat <axis = 1> (c, g) y = Conv (k, z)",
     IN "g = Relu (c) k = Concat <axis = 1> (c, g) t = " NCHWC "Conv (k, z) y = " NCHWC "ReorderOutput <channels = 20> (t)"},
    {"nearest", 20, PLAIN "s = Resize <coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"> (c, _, scales)" LAST,
     IN "s = " NCHWC "Upsample <scales = [1, 1, 2, 3]> (c)" OUT},
    {"linear", 20, PLAIN "s = Resize <mode = \"linear\", coordinate_transformation_mode = \"half_pixel\"> (c, _, scales)" LAST,
     IN "s = " NCHWC "Upsample <mode = \"linear\", coordinate_transformation_mode = \"half_pixel\", scales = [1, 1, 2, 3]> (c)" OUT},
    {"channels come first and last", 20, PLAIN "s = Conv (c, v) y = Transpose <perm = [0, 2, 3, 1]> (s)",
     "l = Transpose <perm = [0, 2, 3, 1]> (x) u = " NCHWC "ReorderInput <channels_last = 1> (l) c = " NCHWC
     "Conv <pads = [1, 1, 1, 1]> (u, w, b) s = " NCHWC "Conv (c, v) y = " NCHWC "ReorderOutput <channels = 20, channels_last = 1> (s)"},
    {"fewer channels are given than are needed further on", 20,
     PLAIN "s = Slice (c, zero, n36, one) t = Conv (c, v) m = ReduceMean (s, one) y = Add (t, m)",
     IN "s = " NCHWC "ReorderOutput <channels = 36> (c) t = " NCHWC "Conv (c, v) o = " NCHWC
        "ReorderOutput <channels = 20> (t) m = ReduceMean (s, one) y = Add (o, m)"},
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

TEST(NchwcBlocks, give_what_the_plain_operators_give) {
  const Tensor w = normal({40, 20, 3, 3}), v = normal({20, 40, 1, 1}), d = normal({40, 1, 3, 3}), r = normal({40, 3, 3, 3}),
               b = normal({40});
  const Tensor scales = Tensor::from<float>({4}, std::vector<float>{1, 1, 2, 3});
  const auto numbers = [](std::vector<int64_t> values) { return Tensor::ints(values); };
  for (const int64_t block : {8, 16}) {
    Tensor z = normal({20, 2 * up(40, block), 1, 1});  // of two values of 40 channels and zeros
    Tensor plain_z(DType::float32, {20, 80, 1, 1});
    for (int64_t o = 0; o < 20; ++o) {
      for (int64_t i = 0; i < 2 * up(40, block); ++i) {
        float& weight = z.data<float>()[o * 2 * up(40, block) + i];
        const int64_t part = i / up(40, block), channel = i % up(40, block);
        if (channel >= 40) weight = 0;
        if (channel < 40) plain_z.data<float>()[o * 80 + part * 40 + channel] = weight;
      }
    }
    const Constants plain{{{"w", w},
                           {"v", v},
                           {"d", d},
                           {"r", r},
                           {"b", b},
                           {"z", plain_z},
                           {"scales", scales},
                           {"low", Tensor::scalar(-0.5f)},
                           {"high", Tensor::scalar(1.5f)},
                           {"zero", numbers({0})},
                           {"one", numbers({1})},
                           {"n36", numbers({36})}}};
    const Constants blocked{{{"w", in_blocks(w, block, true)},
                             {"v", in_blocks(v, block, true)},
                             {"d", in_blocks(d, block, false)},
                             {"r", in_blocks(r, block, false)},
                             {"b", filled_up(b, block)},
                             {"z", in_blocks(z, block, true)},
                             {"five", numbers({0, -1, 0, 0, block})},
                             {"four", numbers({0, -1, 0, 0})},
                             {"split", numbers({0, up(40, block) / block, 0, 0, block})},
                             {"whole", numbers({0, up(40, block), 0, 0})},
                             {"one", numbers({1})}}};
    for (const Case& row : kCases) {
      if (block == 8 && std::string_view(row.purpose).starts_with("fewer")) continue;  // 36 of 40
      const std::string what = std::string(row.purpose) + ", blocks of " + std::to_string(block);
      const std::string x = "(float[N, " + std::to_string(row.channels) + ", H, W] x, ";
      const Tensor input = normal({2, row.channels, 6, 5});
      auto undone =
          graph_with(kHead + ("g " + x) + kBlockedInputs +
                         ", float[...] z, int64[5] five, int64[4] four, int64[5] split, int64[4] whole, int64[1] one) => (float[...] y) {" +
                         replaced(row.blocked, "GROUP", std::to_string(up(40, block))) + "}",
                     blocked);
      undo_nchwc_blocks(*undone);
      expect_no_blocks(*undone);
      auto expected = graph_with(kHead + ("g " + x) + kInputs +
                                     ", float[20, 80, 1, 1] z, float[4] scales, float[] low, float[] high, int64[1] zero, int64[1] one, "
                                     "int64[1] n36) => (float[...] y) {" +
                                     row.plain + "}",
                                 plain);
      expect_close(run(std::move(undone), input), run(std::move(expected), input), what);
    }
  }
}

constexpr const char* kWithoutVotes = "g (float[N, 64, H, W] x, float[...] w) => (float[N, 64, H, W] y) { u = " NCHWC
                                      "ReorderInput (x) c = " NCHWC "Conv (u, w) y = " NCHWC "ReorderOutput <channels = 64> (c) }";

/// Weights with a factor for each output.
Tensor scaled(Tensor weights) {
  std::uniform_real_distribution<float> distribution(0.8f, 1.25f);
  const int64_t inner = weights.elements() / weights.shape()[0];
  for (int64_t o = 0; o < weights.shape()[0]; ++o) {
    const float factor = distribution(source());
    for (int64_t i = 0; i < inner; ++i) weights.data<float>()[o * inner + i] *= factor;
  }
  return weights;
}

TEST(NchwcBlocks, the_weights_tell_the_size_where_no_number_does) {
  const Tensor w = scaled(normal({64, 64, 3, 3}));
  for (const int64_t block : {8, 16}) {
    auto graph = graph_with(std::string(kHead) + kWithoutVotes, {{{"w", in_blocks(w, block, true)}}});
    undo_nchwc_blocks(*graph);
    auto plain = graph_with(std::string(kHead) + "g (float[N, 64, H, W] x, float[64, 64, 3, 3] w) => (float[...] y) { y = Conv (x, w) }",
                            {{{"w", w}}});
    const Tensor x = normal({1, 64, 5, 4});
    expect_close(run(std::move(graph), x), run(std::move(plain), x), "blocks of " + std::to_string(block));
  }
}

TEST(NchwcBlocks, channels_that_fill_up_tell_the_size) {
  BlockSizeEvidence evidence;
  evidence.add({in_blocks(normal({40, 4, 1, 1}), 16, false), false});
  EXPECT_EQ(evidence.block(), 16);
}

TEST(NchwcBlocks, else_the_processor_does) {
  const Tensor w = normal({64, 64, 3, 3});
  BlockSizeEvidence evidence;
  evidence.add({in_blocks(w, 8, true), true});
  Tensor ones = normal({64, 64, 1, 1});
  std::fill_n(ones.data<float>(), ones.elements(), 1.0f);
  evidence.add({ones, true});
  EXPECT_EQ(evidence.block(), std::nullopt);
  for (const int64_t block : {8, 16}) {
    CpuFeatures features;
    features.avx512 = block == 16;
    const ScopedCpuFeatures scope(features);
    auto graph = graph_with(std::string(kHead) + kWithoutVotes, {{{"w", in_blocks(w, block, true)}}});
    undo_nchwc_blocks(*graph);
    const Node* conv = nullptr;
    for (NodeId id : graph->nodes()) conv = graph->node(id).op_type == "Conv" ? &graph->node(id) : conv;
    ASSERT_NE(conv, nullptr);
    EXPECT_TRUE(identical(graph->value(conv->inputs[1]).constant_tensor()->view(), w.view())) << block;
  }
}

TEST(NchwcBlocks, of_subgraphs_go_too) {
  const auto graph = parse_graph(std::string(kHead) + R"(g (bool[] is, float[1, 3, 2, 2] x) => (float[...] y) {
    y = If <
      then_branch = then () => (float[...] t) < float[8, 3, 1, 1] q = {1, ...} > {
        i = com.microsoft.nchwc.Conv (x, q)
        t = com.microsoft.nchwc.ReorderOutput <channels = 5> (i) },
      else_branch = else () => (float[...] e) { e = Relu (x) }> (is) })");
  undo_nchwc_blocks(*graph);
  expect_no_blocks(*graph);
}

struct Refusal {
  const char* purpose;
  std::string text;
  std::vector<const char*> parts;
};

std::string with_weights(const std::string& nodes, const std::string& weights = "float[16, 16, 1, 1] w = {1, ...}") {
  return kHead +
         ("g (float[1, 16, 4, 4] x, float[1, 20, 4, 4] x20, float[1, 3, 4, 4] x3, bool[] is, float[16, 16, 1, 1] given) => (float[...] y) "
          "< " +
          weights + ", float[8, 3, 1, 1] w8 = {1, ...}, float[16, 12, 1, 1] w12 = {1, ...}, int64[2] shape = {16, -1} > {" + nodes + "}");
}

TEST(NchwcBlocks, what_is_not_as_onnx_runtime_writes_it_is_refused) {
  const std::string in = "u = " NCHWC "ReorderInput (x) ", conv = in + "c = " NCHWC "Conv (u, w) ",
                    out = "y = " NCHWC "ReorderOutput <channels = 16> (c)";
  const Refusal rows[] = {
      {"weights are no initializer",
       with_weights(in + "c = " NCHWC "Conv (u, given) " + out),
       {"'given' are not constant", "initializer", "ORT_ENABLE_EXTENDED"}},
      {"rank of the weights", with_weights(conv + out, "float[16, 16] w = {1, ...}"), {"'w' are", "4 dimensions"}},
      {"type of the weights", with_weights(conv + out, "double[16, 16, 1, 1] w = {1, ...}"), {"'w' are", "expected float"}},
      {"empty weights", with_weights(conv + out, "float[16, 16, 0, 4611686018427387904] w = {}"), {"that are not 0"}},
      {"weights that are no blocks", with_weights(conv + out, "float[20, 16, 1, 1] w = {1, ...}"), {"20 channels are stored", "multiple"}},
      {"inputs that are no blocks", with_weights(conv + out, "float[16, 12, 1, 1] w = {1, ...}"), {"12 channels", "multiple"}},
      {"inputs of another number", with_weights(conv + out, "float[16, 48, 1, 1] w = {1, ...}"), {"16 channels are stored as 48"}},
      {"bias", with_weights(in + "c = " NCHWC "Conv (u, w, shape) " + out), {"'shape' is int64[2]", "float[16]"}},
      {"groups", with_weights(in + "c = " NCHWC "Conv <group = 3> (u, w) " + out), {"group is 3", "16 output channels"}},
      {"no groups", with_weights(in + "c = " NCHWC "Conv <group = -9223372036854775808> (u, w) " + out), {"group is -9223372036854775808"}},
      {"many plain channels", with_weights("c = " NCHWC "Conv (x, w) " + out), {"16 channels that are not in blocks", "ReorderInput"}},
      {"sizes that contradict",
       with_weights("a = " NCHWC "Conv (x3, w8) c = " NCHWC "Conv (x, w12) " + out),
       {"blocks of 16 here", "blocks of 8"}},
      {"channels of the output", with_weights(conv + "y = " NCHWC "ReorderOutput <channels = 17> (c)"), {"17 channels are stored as 16"}},
      {"no channels", with_weights(conv + "y = " NCHWC "ReorderOutput <channels = 0> (c)"), {"channels is 0"}},
      {"channels are left out", with_weights(conv + "y = " NCHWC "ReorderOutput (c)"), {"channels"}},
      {"far too many channels",
       with_weights(in + "y = " NCHWC "ReorderOutput <channels = 9223372036854775807> (u)"),
       {"9223372036854775807 channels"}},
      {"an output in blocks", with_weights(in + "y = " NCHWC "Conv (u, w)"), {"output 'y'", "ReorderOutput"}},
      {"reordered twice", with_weights("u = " NCHWC "ReorderInput (x) c = " NCHWC "ReorderInput (u) " + out), {"in blocks already"}},
      {"not reordered", with_weights("y = " NCHWC "ReorderOutput <channels = 16> (x)"), {"input 0 is not"}},
      {"a pool of plain channels", with_weights("c = " NCHWC "MaxPool <kernel_shape = [1, 1]> (x) " + out), {"input 0 is not"}},
      {"another operator", with_weights(in + "y = Softmax (u)"), {"Softmax", "element-wise"}},
      {"one operand is plain", with_weights(in + "c = Add (u, x) " + out), {"input 1", "not in blocks"}},
      {"joined along another axis", with_weights(in + "c = Concat <axis = 2> (u, u) " + out), {"axis 2"}},
      {"another form", with_weights(in + "y = Reshape (u, shape)"), {"[0, -1, 0, 0, 8 or 16]"}},
      {"unknown operator", with_weights(in + "c = " NCHWC "Softmax (u) " + out), {"no such operator", "GlobalMaxPool"}},
      {"unknown function",
       with_weights(in + "c = " NCHWC "Conv <activation = \"Sine\"> (u, w) " + out),
       {"activation 'Sine'", "HardSwish"}},
      {"numbers of a function",
       with_weights(in + "c = " NCHWC "Conv <activation = \"Clip\"> (u, w) " + out),
       {"activation_params has 0 numbers"}},
      {"scales", with_weights(in + "c = " NCHWC "Upsample <scales = [1, 2, 0, 1]> (u) " + out), {"scales are", "[1, 1, height, width]"}},
      {"mode", with_weights(in + "c = " NCHWC "Upsample <scales = [1, 1, 2, 2], mode = \"cubic\"> (u) " + out), {"mode is cubic"}},
      {"indices of a pool", with_weights(in + "c, i = " NCHWC "MaxPool <kernel_shape = [1, 1]> (u) " + out), {"2 outputs"}},
      {"a subgraph",
       with_weights(
           in +
           "y = If <then_branch = a () => (float[...] t) { t = Relu (u) }, else_branch = b () => (float[...] e) { e = Relu (x) }> (is)"),
       {"a subgraph takes 'u'"}},
      {"no opset", replaced(with_weights(conv + out), "\"\" : 18, ", ""), {"no opset import of ai.onnx"}},
  };
  for (const Refusal& row : rows) {
    SCOPED_TRACE(row.purpose);
    try {
      const auto graph = parse_graph(row.text);
      undo_nchwc_blocks(*graph);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      for (const char* part : row.parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
    }
  }
}

// Slice, Clip, Resize and HardSwish have other forms in each.
TEST(NchwcBlocks, become_operators_of_the_opset_of_the_model) {
  const Tensor w = normal({20, 3, 1, 1}), x = normal({1, 3, 2, 3});
  const auto text = [](int opset, const char* nodes) {
    return fmt::format(
        "<opset_import: [\"\" : {}, \"com.microsoft.nchwc\" : 1]> g (float[N, 3, H, W] x, float[...] w) => (float[...] y) {{ {} }}", opset,
        nodes);
  };
  Tensor first;
  for (const int opset : {8, 9, 10, 11, 12, 13, 14, 18}) {
    auto graph =
        graph_with(text(opset, "c = " NCHWC "Conv <activation = \"Clip\", activation_params = [-1.0, 1.0]> (x, w) e = " NCHWC
                               "Conv <activation = \"HardSwish\"> (x, w) k = Add (c, e) u = " NCHWC "Upsample <scales = [1, 1, 3, 2]> (k) "
                               "s = " NCHWC "ReorderOutput <channels = 18> (u) t = " NCHWC "ReorderOutput <channels = 20> (u) "
                               "z = Concat <axis = 1> (s, t) y = Identity (z)"),
                   {{{"w", in_blocks(w, 8, false)}}});
    undo_nchwc_blocks(*graph);
    const Tensor found = run(std::move(graph), x);
    ASSERT_EQ(found.shape().to_string(), "[1, 38, 6, 6]") << opset;
    if (!first.defined()) first = found;
    expect_close(found, first, std::to_string(opset));
  }
}

// What joins double again and again would overflow.
TEST(NchwcBlocks, numbers_of_channels_have_a_bound) {
  std::string nodes = "c0 = " NCHWC "ReorderInput (x) ";
  for (int i = 1; i < 80; ++i) nodes += fmt::format("c{} = Concat <axis = 1> (c{}, c{}) ", i, i - 1, i - 1);
  const auto graph = parse_graph(with_weights(nodes + "d = " NCHWC "Conv (c0, w) y = " NCHWC "ReorderOutput <channels = 16> (c79)"));
  EXPECT_THROW(undo_nchwc_blocks(*graph), Error);
}

}  // namespace
}  // namespace rh::onnx::test
