#include "base/cpu_features.h"
#include "session/run_helpers.h"
#include "tensor/convert.h"

namespace rh::test {
namespace {

constexpr char kGenerating[] = R"(<opset_import: ["" : 17]>
main (float[1, 2, p, 4] past, float[n, 192] x) => (float[1, 2, q, 4] present, float[n, 320] y)
< float[192, 320] w = {0.5, ...}, float[1, 2, 1, 4] more = {1, ...} >
{
  present = Concat <axis = 2> (past, more)
  y = MatMul (x, w)
})";
constexpr char kOther[] = R"(<opset_import: ["" : 17]>
main (float[n, 192] x) => (float[n, 320] y)
< float[192, 320] w = {0.5, ...} >
{
  y = MatMul (x, w)
})";

class CompactWeights : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_features().avx512) GTEST_SKIP() << "no AVX-512 here";
  }

  /// Bytes of packed weights on a processor whose last cache has so many bytes.
  static size_t packed(const char* text, const char* key, const char* value, long l3_bytes = 64 << 10, bool own_adders = true) {
    CpuFeatures cpu = cpu_features();
    cpu.own_adders = own_adders;
    cpu.amx_bf16 = false;
    cpu.l3_bytes = l3_bytes;
    const ScopedCpuFeatures scope(cpu);
    SessionOptions options;
    options.config[key] = value;
    return make_session(text, options)->forecast({}, {}).packed_bytes;
  }
};

TEST_F(CompactWeights, AreThoseOfModelsThatGenerateOutOfMemory) {
  const char* const key = "roundhouse.weights";
  const size_t plain = packed(kGenerating, key, "plain"), compact = packed(kGenerating, key, "compact");
  EXPECT_GE(plain, size_t{192 * 320 * sizeof(float)});
  EXPECT_LT(static_cast<double>(compact), 0.9 * static_cast<double>(plain));
  EXPECT_EQ(packed(kGenerating, key, "auto"), compact);
  EXPECT_EQ(packed(kGenerating, key, "auto", 64 << 20), plain) << "weights that stay in the caches";
  EXPECT_EQ(packed(kGenerating, key, "auto", 64 << 10, false), packed(kGenerating, key, "plain", 64 << 10, false)) << "Intel's AVX-512";
  EXPECT_EQ(packed(kOther, key, "auto"), plain);
  EXPECT_EQ(packed(kOther, key, "compact"), compact);
  EXPECT_EQ(packed(kOther, "roundhouse.memory", "lean"), compact);
  EXPECT_THROW(packed(kOther, key, "small"), Error);
}

TEST_F(CompactWeights, AreAVariantOfTheirProducts) {
  SessionOptions options;
  options.config["roundhouse.weights"] = "compact";
  const auto variants = make_session(kOther, options)->variants();
  ASSERT_EQ(variants.size(), size_t{1});
  EXPECT_EQ(variants[0].second.variant, "compact");
  options.config["roundhouse.precision"] = "strict";
  EXPECT_EQ(make_session(kOther, options)->variants()[0].second.variant, "gemm");
}

TEST_F(CompactWeights, GiveWhatPlainOnesDo) {
  const auto with_weights = [&](const char* value) {
    SessionOptions options;
    options.config["roundhouse.weights"] = value;
    return make_session(kOther, options);
  };
  const auto plain = with_weights("plain"), compact = with_weights("compact");
  for (const int64_t rows : {1, 5, 12, 40}) {
    const auto expected = run(*plain, {{"x", filled({rows, 192}, 1)}}, {"y"}),
               found = run(*compact, {{"x", filled({rows, 192}, 1)}}, {"y"});
    for (int64_t i = 0; i < found[0].tensor().elements(); ++i) {
      ASSERT_NEAR(found[0].tensor().data<float>()[i], expected[0].tensor().data<float>()[i], 1e-4) << rows << " rows, " << i;
    }
  }
}

/// Numbers that half types hold, none of them 0.
double weight(int64_t i) { return static_cast<double>(i * 7 % 29 - 14) / 8 + 0.0625; }
double entry(int64_t i) { return static_cast<double>(i * 5 % 13 - 6) / 4; }

Tensor entries(DType dtype, const Shape& shape) {
  Tensor floats(DType::float32, shape), halves(dtype, shape);
  for (int64_t i = 0; i < floats.elements(); ++i) floats.data<float>()[i] = static_cast<float>(entry(i));
  convert_elements(floats.view(), halves.mutable_view(), 0, halves.elements());
  return halves;
}

constexpr int64_t kDepth = 96, kColumns = 64;

/// Products by one matrix in a model of the type, or, of floats, by a matrix each.
std::unique_ptr<Session> half_products(const char* type, bool batched, bool zeros, const char* variant) {
  std::string weights = zeros ? "0, ..." : "";
  for (int64_t i = 0; !zeros && i < (batched ? 2 : 1) * kDepth * kColumns; ++i) weights += fmt::format("{}{}", i ? ", " : "", weight(i));
  SessionOptions options;
  options.config["roundhouse.variant"] = variant;
  const char *const x = batched ? "float" : type, *const matrices = batched ? "2, " : "";
  return make_session(fmt::format(R"(<opset_import: ["" : 17, "roundhouse" : 1]>
main ({0}[2, n, 96] x) => ({0}[2, n, 64] y)
< {1}[{2}96, 64] w = {{{3}}} >
{{
  y = {4} (x, w)
}})",
                                  x, type, matrices, weights, batched ? "roundhouse.FusedMatMul" : "MatMul"),
                      options);
}

double product(int64_t rows, bool batched, int64_t at) {
  const int64_t column = at % kColumns, row = at / kColumns, matrix = batched ? row / rows : 0;
  double sum = 0;
  for (int64_t k = 0; k < kDepth; ++k) sum += entry(row * kDepth + k) * weight((matrix * kDepth + k) * kColumns + column);
  return sum;
}

// Floats times weights of a half type, as models of these types become.
TEST_F(CompactWeights, HalvesAreCompactWhateverTheModel) {
  for (const bool batched : {false, true}) {
    for (const auto& [type, rounding] : {std::pair("float16", 0x1p-10), std::pair("bfloat16", 0x1p-7)}) {
      SCOPED_TRACE(fmt::format("{}, {}", type, batched ? "a matrix each" : "one matrix"));
      const auto compact = half_products(type, batched, false, "");
      ASSERT_EQ(compact->variants()[0].second.variant, "compact") << compact->variants()[0].second.problem;
      EXPECT_EQ(half_products(type, batched, false, "gemm")->variants()[0].second.variant, "gemm");
      const size_t halves = (batched ? 2 : 1) * kDepth * kColumns * 2;
      EXPECT_LT(compact->forecast({}, {}).packed_bytes, halves + halves / 3);
      for (const int64_t rows : {1, 3, 12, 40}) {
        const auto found = run(*compact, {{"x", entries(batched ? DType::float32 : dtype_from_string(type), {2, rows, kDepth})}}, {"y"});
        for (int64_t i = 0; i < found[0].tensor().elements(); ++i) {
          const double expected = product(rows, batched, i);
          ASSERT_NEAR(element_as_float(found[0].tensor().view(), i), expected, rounding * std::abs(expected) + 1e-3)
              << rows << " rows, " << i;
        }
      }
    }
  }
}

TEST_F(CompactWeights, HalvesOfManyZerosStayAsTheyAre) {
  const auto zeros = half_products("float16", false, true, "");
  EXPECT_EQ(zeros->variants()[0].second.variant, "gemm");
  const auto found = run(*zeros, {{"x", entries(DType::float16, {2, 3, kDepth})}}, {"y"});
  for (int64_t i = 0; i < found[0].tensor().elements(); ++i) ASSERT_EQ(element_as_float(found[0].tensor().view(), i), 0);
}

}  // namespace
}  // namespace rh::test
