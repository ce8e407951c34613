// In which way nodes compute, as a session says before it runs.
#include <fmt/format.h>

#include "base/cpu_features.h"
#include "compute/attention/attention_fip.h"
#include "compute/attention/attention_split.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

struct Row {
  const char* purpose;
  const char* text;     ///< of a graph
  const char* variant;  ///< of its one node that has several
};

constexpr Row kRows[] = {
    {"integers by a constant",
     "g (uint8[2, 64] x) => (int32[2, 32] y) < uint8[64, 32] w = {3, ...}, uint8[] z = {1} > { y = MatMulInteger (x, w, z, z) }",
     "prepacked"},
    {"integers by integers of the run", "g (uint8[2, 64] x, uint8[64, 3] w) => (int32[2, 3] y) { y = MatMulInteger (x, w) }",
     "packed_per_run"},
    {"a quantised product",
     "g (uint8[2, 64] x) => (uint8[2, 32] y) < uint8[64, 32] w = {3, ...}, uint8[] z = {1}, float[] s = {0.1} >\n"
     "{ y = QLinearMatMul (x, s, z, w, s, z, s, z) }",
     "prepacked"},
    {"a quantised product of 8-bit floats",
     "g (float8e4m3fn[2, 4] x) => (float8e4m3fn[2, 3] y) < float8e4m3fn[4, 3] w = {1, ...}, float8e4m3fn[] z = {0}, float[] s = {0.5} >\n"
     "{ y = QLinearMatMul (x, s, z, w, s, z, s, z) }",
     "plain"},
    {"QGemm",
     "g (uint8[2, 64] x) => (float[2, 32] y) < uint8[64, 32] w = {3, ...}, uint8[] z = {1}, float[] s = {0.1} >\n"
     "{ y = com.microsoft.QGemm (x, s, z, w, s, z) }",
     "prepacked"},
    {"DynamicQuantizeMatMul",
     "g (float[2, 64] x, uint8[64, 3] w, float[] s) => (float[2, 3] y) { y = com.microsoft.DynamicQuantizeMatMul (x, w, s) }",
     "packed_per_run"},
    {"a quantised convolution",
     "g (uint8[1, 4, 8, 8] x) => (uint8[...] y) < int8[8, 4, 3, 3] w = {3, ...}, uint8[] z = {1}, int8[] n = {0}, float[] s = {0.1} >\n"
     "{ y = QLinearConv (x, s, z, w, s, n, s, z) }",
     "direct"},
    {"a quantised convolution of single channels",
     "g (uint8[1, 8, 8, 8] x) => (int32[...] y) < int8[8, 1, 3, 3] w = {3, ...} > { y = ConvInteger <group = 8> (x, w) }", "depthwise"},
    {"a quantised convolution by weights of the run",
     "g (uint8[1, 4, 8, 8] x, int8[8, 4, 3, 3] w) => (int32[...] y) { y = ConvInteger (x, w) }", "packed_per_run"},
    {"attention of few keys",
     "g (float[1, 2, 100, 64] q, float[1, 2, 100, 64] k, float[1, 2, 100, 64] v) => (float[...] y) { y = Attention (q, k, v) }", "blocked"},
    {"attention of many keys",
     "g (float[1, 2, 500, 64] q, float[1, 2, 500, 64] k, float[1, 2, 500, 64] v) => (float[...] y) { y = Attention (q, k, v) }", "fip"},
    {"attention of 500 keys that see 250 each",
     "g (float[1, 500, 128] q, float[1, 500, 128] k, float[1, 500, 128] v) => (float[...] y)\n"
     "{ y = Attention <is_causal = 1, q_num_heads = 2, kv_num_heads = 2> (q, k, v) }",
     "blocked"},
    {"attention with a mask of columns",
     "g (float[1, 2, 500, 64] q, float[1, 2, 500, 64] k, float[1, 2, 500, 64] v, float[500, 500] m) => (float[...] y)\n"
     "{ y = Attention (q, k, v, m) }",
     "fip"},
    {"attention with a soft cap",
     "g (float[1, 2, 500, 64] q, float[1, 2, 500, 64] k, float[1, 2, 500, 64] v, float[500, 500] m) => (float[...] y)\n"
     "{ y = Attention <softcap = 2.0> (q, k, v, m) }",
     "blocked"},
    {"attention of sizes that a run tells",
     "g (float[1, 2, n, 64] q, float[1, 2, m, 64] k, float[1, 2, m, 64] v) => (float[...] y) { y = Attention (q, k, v) }",
     "blocked_or_fip"},
    {"attention after a cache",
     "g (float[1, 2, 1, 64] q, float[1, 2, 1, 64] k, float[1, 2, 1, 64] v, float[1, 2, p, 64] pk, float[1, 2, p, 64] pv) => (float[...] "
     "y,\n"
     "  float[...] nk, float[...] nv) { y, nk, nv = Attention (q, k, v, _, pk, pv) }",
     "blocked"},
    {"attention that gives its scores",
     "g (float[1, 2, 500, 64] q, float[1, 2, 500, 64] k, float[1, 2, 500, 64] v) => (float[...] y, float[...] s)\n"
     "{ y, _, _, s = Attention (q, k, v) }",
     "plain"},
    {"attention of doubles",
     "g (double[1, 2, 500, 64] q, double[1, 2, 500, 64] k, double[1, 2, 500, 64] v) => (double[...] y) { y = Attention (q, k, v) }",
     "plain"},
    {"attention that a pass found",
     "g (float[1, 2, 500, 64] q, float[1, 2, 64, 500] k, float[1, 2, 500, 64] v) => (float[...] y) < float[] c = {0.125} >\n"
     "{ p = MatMul (q, k) m = Mul (p, c) n = Softmax <axis = -1> (m) y = MatMul (n, v) }",
     "fip"},
    {"attention that a pass found, of unknown length",
     "g (float[1, 2, n, 64] q, float[1, 2, 64, n] k, float[1, 2, n, 64] v) => (float[...] y) < float[] c = {0.125} >\n"
     "{ p = MatMul (q, k) m = Mul (p, c) n = Softmax <axis = -1> (m) y = MatMul (n, v) }",
     "blocked_or_fip"},
    {"MultiHeadAttention",
     "g (float[1, 500, 128] q, float[1, 500, 128] k, float[1, 500, 128] v) => (float[...] y)\n"
     "{ y = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v) }",
     "fip"},
    {"GroupQueryAttention",
     "g (float[1, n, 256] q, float[1, n, 128] k, float[1, n, 128] v, float[1, 2, p, 64] pk, float[1, 2, p, 64] pv, int32[1] l, int32[] t)\n"
     "  => (float[...] y, float[...] nk, float[...] nv)\n"
     "{ y, nk, nv = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2> (q, k, v, pk, pv, l, t) }",
     "blocked_or_fip"},
};

std::string variant_of(const Row& row, const char* precision) {
  SessionOptions options;
  options.config["roundhouse.precision"] = precision;
  const auto variants =
      make_session("<ir_version: 10, opset_import: [\"\" : 23, \"com.microsoft\" : 1]>\n" + std::string(row.text), options)->variants();
  std::string found;
  for (const auto& [node, variant] : variants) found += (found.empty() ? "" : ", ") + std::string(variant.variant);
  return found;
}

bool has_pairs() {
  compute::AttentionArgs args;
  args.depth = args.value_depth = 64;
  return compute::can_attend_by_pairs(args);
}

bool has_tiles() {
  compute::AttentionArgs args;
  args.depth = args.value_depth = 64;
  return compute::can_attend_by_tiles(args);
}

/// Where pairs cannot be used, or may not, tiles are: their sums are exact enough for every precision. Their cost decides.
std::string without_pairs(const std::string& found) { return has_tiles() && found == "blocked_or_amx" ? found : "blocked"; }

TEST(Variants, AreKnownBeforeARun) {
  for (const Row& row : kRows) {
    const bool is_of_pairs = std::string_view(row.variant).ends_with("fip");
    const std::string plain = variant_of(row, "fp32"), strict = variant_of(row, "strict");
    EXPECT_EQ(plain, is_of_pairs && !has_pairs() ? without_pairs(plain) : row.variant) << row.purpose;
    EXPECT_EQ(strict, is_of_pairs ? without_pairs(strict) : row.variant) << row.purpose << ", strict";
  }
}

/// Rows times codes of 4 bits, `more` inputs after the scales.
std::string variant_of_codes(int level, const char* constants, const char* more, const char* precision) {
  const std::string text = fmt::format(
      "g (float[n, 64] x) => (float[...] y) < uint8[8, 2, 16] w = {{3, ...}}, float[16] s = {{0.1, ...}}{} >\n"
      "{{ y = com.microsoft.MatMulNBits <K = 64, N = 8, bits = 4, block_size = 32, accuracy_level = {}> (x, w, s{}) }}",
      constants, level, more);
  return variant_of({"", text.c_str(), ""}, precision);
}

TEST(Variants, ProductsOfCodesSayHowTheyReadTheLeftOperand) {
  const bool has_bytes = cpu_features().avx2, has_words = cpu_features().avx512_vnni;
  EXPECT_EQ(variant_of_codes(0, "", "", "fp32"), "float_rows");
  EXPECT_EQ(variant_of_codes(4, "", "", "fp32"), has_bytes ? "int8_rows" : "float_rows");
  EXPECT_EQ(variant_of_codes(4, "", "", "strict"), has_words ? "int16_rows" : "float_rows");
  EXPECT_EQ(variant_of_codes(4, ", uint8[8] z = {135, ...}", ", z", "fp32"), has_bytes ? "int8_rows" : "float_rows");
  EXPECT_EQ(variant_of_codes(4, ", float[16] z = {7.5, ...}", ", z", "fp32"), "float_rows");
  EXPECT_EQ(variant_of_codes(4, ", int32[64] g = {1, ...}", ", _, g", "fp32"), "float_rows");
}

TEST(Variants, convolutions_of_open_sizes_compute_as_those_of_likely_ones) {
  struct Sizes {
    const char *unknown, *ordinary, *weights, *attributes;
  };
  constexpr Sizes kSizes[] = {{"1, 64, h, w", "1, 64, 320, 320", "64, 64, 3, 3", "pads = [1, 1, 1, 1]"},
                              {"n, 64, 8, w", "1, 64, 8, 320", "64, 64, 3, 3", "pads = [1, 1, 1, 1]"},
                              {"1, 3, h, w", "1, 3, 320, 320", "64, 3, 7, 7", "pads = [3, 3, 3, 3], strides = [2, 2]"},
                              {"1, 64, n", "1, 64, 500", "64, 64, 3", "pads = [1, 1]"},
                              {"1, 32, d, h, w", "1, 32, 14, 14, 14", "32, 32, 3, 3, 3", "pads = [1, 1, 1, 1, 1, 1]"}};
  for (const Sizes& sizes : kSizes) {
    const auto variants = [&sizes](const char* input) {
      SessionOptions options;
      options.config["roundhouse.precision"] = "strict";
      return make_session(fmt::format("<ir_version: 10, opset_import: [\"\" : 17]>\n"
                                      "g (float[{}] x) => (float[...] y) < float[{}] w = {{0.5, ...}} > {{ y = Conv <{}> (x, w) }}",
                                      input, sizes.weights, sizes.attributes),
                          options)
          ->variants();
    };
    const auto unknown = variants(sizes.unknown), ordinary = variants(sizes.ordinary);
    ASSERT_EQ(unknown.size(), 1u) << sizes.unknown;
    ASSERT_EQ(ordinary.size(), 1u) << sizes.unknown;
    EXPECT_EQ(unknown[0].second.variant, ordinary[0].second.variant) << sizes.unknown;
    EXPECT_EQ(unknown[0].second.variants, ordinary[0].second.variants) << sizes.unknown;
    EXPECT_NE(unknown[0].second.problem.find("any size"), std::string::npos) << unknown[0].second.problem;
  }
}

TEST(Variants, columns_are_convolved_as_rows) {
  const auto variants = [](const char* input, const char* weights, const char* pads) {
    return make_session(fmt::format("<ir_version: 10, opset_import: [\"\" : 17]>\n"
                                    "g (float[{}] x) => (float[...] y) < float[{}] w = {{0.5, ...}} > {{ y = Conv <pads = [{}]> (x, w) }}",
                                    input, weights, pads))
        ->variants();
  };
  const auto column = variants("n, 64, 200, 1", "64, 64, 5, 1", "2, 0, 2, 0"),
             row = variants("n, 64, 1, 200", "64, 64, 1, 5", "0, 2, 0, 2");
  ASSERT_EQ(column.size(), 1u);
  ASSERT_EQ(row.size(), 1u);
  EXPECT_EQ(column[0].second.problem, row[0].second.problem);
  EXPECT_EQ(column[0].second.variant, row[0].second.variant);
}

TEST(Variants, columns_by_their_type_alone_may_be_wider) {
  const auto session = make_session(R"(<ir_version: 10, opset_import: ["" : 17]>
g (float[30] x, int64[4] s) => (float[...] y) < float[4, 2, 3, 1] w = {0.5, ...}, float[1, 2, h, 1] r > {
  r = Reshape (x, s)
  y = Conv (r, w)
})");
  const auto shape = [](int64_t width) { return Tensor::from<int64_t>({4}, std::vector<int64_t>{1, 2, 15 / width, width}); };
  const Value x = filled({30}, 2);
  EXPECT_EQ(elements(run(*session, {{"x", x}, {"s", shape(1)}}, {"y"})[0]), std::vector<float>(size_t{4 * 13}, 6));
  EXPECT_EQ(elements(run(*session, {{"x", x}, {"s", shape(3)}}, {"y"})[0]), std::vector<float>(size_t{4 * 3 * 3}, 6));
}

}  // namespace
}  // namespace rh::test
