#include <cmath>
#include <thread>

#include "compute/conv/conv.h"
#include "session/options.h"
#include "session/run_helpers.h"
#include "settings/keys.h"

// Weights that come with a run are packed into memory of the run, which the next one has again.
namespace rh::test {
namespace {

constexpr char kWeights[] = R"(<opset_import: ["" : 17]>
main (float[1, c, h, h] x, float[m, c, k, k] w, float[t, b, i] s, float[1, 64, i] g, float[1, 64, 16] r) => (float[1, m, p, p] y, float[1, c, q, q] z, float[t, 1, b, 16] l, float[t, 1, b, 16] u)
{
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
  z = ConvTranspose <strides = [2, 2]> (y, w)
  l = LSTM <hidden_size = 16> (s, g, r)
  sd = Cast <to = 11> (s)
  gd = Cast <to = 11> (g)
  rd = Cast <to = 11> (r)
  ld = LSTM <hidden_size = 16> (sd, gd, rd)
  v = Cast <to = 1> (ld)
  u = Sub (l, v)
})";

struct Sizes {
  int64_t channels, filters, size, kernel, steps, batch, input;
};

/// What one of them packs takes more memory or less than what the one before packed.
constexpr Sizes kSizes[] = {{32, 32, 16, 3, 9, 2, 20}, {3, 5, 5, 2, 1, 1, 8},     {48, 40, 9, 3, 40, 1, 64},
                            {4, 8, 30, 4, 3, 1, 24},   {64, 64, 24, 3, 2, 8, 40}, {64, 3, 12, 1, 5, 3, 100}};

Value wave(const Shape& shape, int64_t step) {
  Tensor made(DType::float32, shape);
  for (int64_t i = 0; i < made.elements(); ++i) made.data<float>()[i] = 0.1f * static_cast<float>(step * i % 11 - 5);
  return made;
}

std::vector<std::pair<const char*, Value>> inputs_of(const Sizes& z) {
  return {{"x", wave({1, z.channels, z.size, z.size}, 3)},
          {"w", wave({z.filters, z.channels, z.kernel, z.kernel}, 7)},
          {"s", wave({z.steps, z.batch, z.input}, 5)},
          {"g", wave({1, 64, z.input}, 2)},
          {"r", wave({1, 64, 16}, 9)}};
}
const std::vector<const char*> kOutputs{"y", "z", "l", "u"};

std::vector<std::vector<float>> results_of(Session& session, const Sizes& sizes) {
  std::vector<std::vector<float>> results;
  for (const Value& value : run(session, inputs_of(sizes), kOutputs)) results.push_back(elements(value));
  return results;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected, double terms) {
  ASSERT_EQ(found.size(), expected.size());
  double worst = 0, most = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
    most = std::max(most, std::abs(static_cast<double>(expected[i])));
  }
  EXPECT_LE(worst, 4e-7 * std::sqrt(terms) * most);
}

TEST(RunWeights, AreMultipliedAsPlainLoopsMultiplyThem) {
  auto session = make_session(kWeights);
  for (const Sizes& z : kSizes) {
    SCOPED_TRACE(z.size);
    const auto inputs = inputs_of(z);
    const auto results = results_of(*session, z);
    compute::Window window;
    for (int d = 1; d < 3; ++d) {
      window.input[d] = z.size;
      window.kernel[d] = z.kernel;
      window.pad_begin[d] = 1;
      window.output[d] = z.size + 3 - z.kernel;
    }
    const auto data = [&](size_t i) { return inputs[i].second.tensor().data<float>(); };
    std::vector<float> expected(static_cast<size_t>(z.filters * window.output_size()));
    compute::conv_reference<float>({z.channels, z.filters}, window, 1, data(0), data(1), nullptr, expected.data(), {});
    expect_near(results[0], expected, static_cast<double>(z.channels * z.kernel * z.kernel));
    compute::Window back;
    for (int d = 1; d < 3; ++d) {
      back.input[d] = window.output[d];
      back.kernel[d] = z.kernel;
      back.stride[d] = 2;
      back.output[d] = 2 * (window.output[d] - 1) + z.kernel;
    }
    expected.assign(static_cast<size_t>(z.channels * back.output_size()), 0.0f);
    compute::conv_transpose_reference<float>({z.filters, z.channels}, back, 1, results[0].data(), data(1), nullptr, expected.data(), {});
    expect_near(results[1], expected, static_cast<double>(z.filters * z.kernel * z.kernel));
    for (const float difference : results[3]) ASSERT_LE(std::abs(difference), 1e-5f);
  }
}

TEST(RunWeights, OfRunsSideBySideStayApart) {
  std::vector<std::vector<std::vector<float>>> expected;
  for (const Sizes& sizes : kSizes) expected.push_back(results_of(*make_session(kWeights), sizes));
  auto session = make_session(kWeights);
  std::vector<std::thread> threads;
  for (size_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (size_t i = first; i < first + 5 * std::size(kSizes); ++i)
        EXPECT_EQ(results_of(*session, kSizes[i % std::size(kSizes)]), expected[i % std::size(kSizes)]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RunWeights, ArePackedWhereTheLargestTensorAllowsIt) {
  SessionOptions options;
  options.config[kKeyOf<&Settings::max_tensor_bytes>] = std::to_string(64 * 64 * 9 * 4 + 32);  // the packed weights need a vector more
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[1, c, 5, 5] x, float[m, c, k, k] w) => (float[...] y)
{
  y = Conv (x, w)
})",
                              options);
  const auto status = [&](int64_t channels) {
    return try_run(*session, {{"x", wave({1, channels, 5, 5}, 3)}, {"w", wave({channels, channels, 3, 3}, 7)}}, {"y"});
  };
  EXPECT_TRUE(status(32).ok());
  EXPECT_FALSE(status(64).ok());
  EXPECT_TRUE(status(32).ok());
}

TEST(RunWeights, CountAsMemoryOfTheirFrame) {
  auto session = make_session(kWeights);
  results_of(*session, kSizes[1]);
  const size_t before = session->statistics().frame_bytes;
  results_of(*session, kSizes[4]);
  EXPECT_GE(session->statistics().frame_bytes, before + size_t{64} * 64 * 9 * sizeof(float));
  session->trim();
  EXPECT_EQ(session->statistics().frame_bytes, 0u);
}

struct KeptRow {
  const char* purpose;
  const char* nodes;   ///< from float[512, 512] x to y
  size_t least, most;  ///< of frame_bytes, in MiB
};

TEST(KeptValues, CountAsMemoryOfTheirFrame) {
  const KeptRow rows[] = {
      {"what a loop carries",
       "y = Loop (n, go, x) < body = step (int64[] i, bool[] k, float[512, 512] v) => (bool[] k2, float[512, 512] v2) { k2 = Identity (k) "
       "v2 = Exp (v) } >",
       1, 4},
      {"what a branch gave",
       "m = ReduceMax <keepdims = 0> (x) c = Greater (m, half) b = If (c) < then_branch = yes () => (float[512, 512] r) { r = Exp (x) }, "
       "else_branch = no () => (float[512, 512] q) { q = Neg (x) } > y = ReduceMax <keepdims = 0> (b)",
       1, 4},
      {"neither", "y = ReduceMax <keepdims = 0> (x)", 0, 1},
  };
  for (const KeptRow& row : rows) {
    SCOPED_TRACE(row.purpose);
    auto session = make_session(std::string("<opset_import: [\"\" : 17]>\nmain (float[512, 512] x) => (float[...] y)\n< int64[] n = {4}, "
                                            "bool[] go = {1}, float[] half = {0.5} >\n{ ") +
                                row.nodes + " }");
    for (int i = 0; i < 3; ++i) run(*session, {{"x", filled({512, 512}, 1)}}, {"y"});
    EXPECT_GE(session->statistics().frame_bytes, row.least << 20);
    EXPECT_LE(session->statistics().frame_bytes, row.most << 20);
    session->trim();
    EXPECT_EQ(session->statistics().frame_bytes, 0u);
  }
}

}  // namespace
}  // namespace rh::test
