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

Tensor filled_halves(DType dtype, const Shape& shape, float value) {
  const Tensor floats = filled(shape, value);
  Tensor halves(dtype, shape);
  convert_elements(floats.view(), halves.mutable_view(), 0, halves.elements());
  return halves;
}

// Floats times weights of a half type, as models of these types become.
TEST_F(CompactWeights, HalvesAreCompactWhateverTheModel) {
  for (const char* const type : {"float16", "bfloat16"}) {
    const auto model = [&](const char* value, const char* variant) {
      SessionOptions options;
      options.config["roundhouse.variant"] = variant;
      const std::string text = fmt::format(R"(<opset_import: ["" : 17]>
main ({0}[n, 192] x) => ({0}[n, 320] y)
< {0}[192, 320] w = {{{1}, ...}} >
{{
  y = MatMul (x, w)
}})",
                                           type, value);
      return make_session(text.c_str(), options);
    };
    const auto compact = model("0.375", ""), plain = model("0.375", "gemm"), zeros = model("0", "");
    const size_t halves = 192 * 320 * 2;
    EXPECT_EQ(compact->variants()[0].second.variant, "compact");
    EXPECT_EQ(plain->variants()[0].second.variant, "gemm");
    EXPECT_EQ(zeros->variants()[0].second.variant, "gemm") << "zeros are exceptions, of which there are too many";
    EXPECT_LT(compact->forecast({}, {}).packed_bytes, halves + halves / 3);
    for (const int64_t rows : {1, 3, 12, 40}) {
      const Tensor x = filled_halves(dtype_from_string(type), {rows, 192}, 0.5f);
      const auto expected = run(*plain, {{"x", x}}, {"y"}), found = run(*compact, {{"x", x}}, {"y"}), none = run(*zeros, {{"x", x}}, {"y"});
      for (int64_t i = 0; i < found[0].tensor().elements(); ++i) {
        const double wanted = element_as_float(expected[0].tensor().view(), i);
        ASSERT_NEAR(element_as_float(found[0].tensor().view(), i), wanted, 0.01 * std::abs(wanted) + 0.01)
            << type << ", " << rows << " rows, " << i;
        ASSERT_EQ(element_as_float(none[0].tensor().view(), i), 0) << type;
      }
    }
  }
}

}  // namespace
}  // namespace rh::test
