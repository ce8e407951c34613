#include "session/run_helpers.h"
#include "support/model_case.h"
#include "support/op_case.h"

namespace rh::test {
namespace {

Input whole(int64_t value) {
  Input input = ints({value});
  input.shape = {};
  return input;
}
Input real(double value) { return values({}, {value}); }

const std::vector<OpCase> kDFT = {
    {17, {}, {normal({2, 10, 1})}, "real", {}, 1, 1e-6},
    {17, {}, {normal({2, 10, 2})}, "complex", {}, 1, 1e-6},
    {17, {attr("inverse", 1)}, {normal({2, 12, 2})}, "inverse", {}, 1, 1e-6},
    {17, {attr("onesided", 1)}, {normal({2, 9, 1})}, "half a spectrum", {}, 1, 1e-6},
    {17, {attr("axis", 2)}, {normal({2, 3, 7, 4, 2})}, "axis between others", {}, 1, 1e-6},
    {20, {}, {normal({3, 16, 1})}, "the last signal axis", {}, 1, 1e-6},
    {20, {}, {normal({3, 16, 5, 1}), absent(), whole(1)}, "axis as input", {}, 1, 1e-6},
    {20, {}, {normal({3, 16, 5, 1}), whole(8), whole(-3).constant()}, "cut off", {}, 1, 1e-6},
    {20, {attr("onesided", 1)}, {normal({3, 16, 1}), whole(21).constant()}, "filled up with zeros", {}, 1, 1e-6},
    {20, {}, {normal({2, 97, 2})}, "a prime length", {}, 1, 2e-5},
    {20, {}, {normal({2, 34, 2})}, "a length with a great prime factor", {}, 1, 2e-5},
    {20, {}, {normal({0, 4, 1})}, "nothing"},
    {20, {}, {normal({4})}, "no last dimension", {"DFT(", "[4]"}},
    {20, {}, {normal({2, 4, 3})}, "three parts", {"DFT(", "[2, 4, 3]"}},
    {20, {}, {normal({2, 4, 1}), absent(), whole(2)}, "axis of the parts", {"DFT(", "axis"}},
    {20, {}, {normal({2, 4, 1}), absent(), whole(-9)}, "axis outside", {"DFT(", "axis"}},
    {20, {}, {normal({2, 4, 1}), whole(0)}, "no length", {"DFT(", "length is 0"}},
    {20, {}, {normal({2, 4, 1}), whole(int64_t{1} << 62)}, "a wild length", {"DFT(", "4611686018427387904"}},
    {20, {}, {normal({2, 0, 1})}, "no signal"},
    {20, {attr("onesided", 1)}, {normal({2, 0, 1})}, "half of no signal", {"DFT(", "length is 0"}},
};
RH_OP_TEST(DFT, kDFT, FloatingTypes::set)

const std::vector<OpCase> kHalfSpectrum = {
    {20, {attr("inverse", 1), attr("onesided", 1)}, {values({1, 3, 2}, {10, 0, -2, 2, -2, 0})}, "1, 2, 3, 4", {}, 1, 1e-6},
    {20, {attr("inverse", 1), attr("onesided", 1)}, {values({1, 3, 2}, {15, 0, -2.5, 3.44, -2.5, 0.81}), whole(5)}, "odd", {}, 1, 1e-6},
};
TEST(OpCases, DftOfHalfSpectra) { run_op_cases("DFT", kHalfSpectrum, Types<double>::set); }

const std::vector<ModelCase> kRfft = {
    {"a line",
     R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[N] x) => (float[M, 2] y) { y = com.microsoft.Rfft <signal_ndim = 1> (x) })",
     {floats({4}, {1, 2, 3, 4})},
     {},
     {floats({3, 2}, {10, 0, -2, 2, -2, 0})}},
    {"a line back",
     R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[M, 2] x) => (float[N] y) { y = com.microsoft.Irfft <signal_ndim = 1> (x) })",
     {floats({3, 2}, {10, 0, -2, 2, -2, 0})},
     {},
     {floats({4}, {1, 2, 3, 4})}},
    {"planes there and back",
     R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[B, H, W] x) => (float[B, H, W] y) {
  s = com.microsoft.Rfft <signal_ndim = 2> (x)
  y = com.microsoft.Irfft <signal_ndim = 2> (s)
})",
     {floats({2, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 0, 0, 0, 0, -4})},
     {},
     {floats({2, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 0, 0, 0, 0, -4})}},
    {"too few dimensions",
     R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[4] x) => (float[...] y) { y = com.microsoft.Rfft <signal_ndim = 2> (x) })",
     {floats({4}, {1, 2, 3, 4})},
     {"[4]", "2 signal dimensions"}},
    {"no complex numbers",
     R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[M, N] x) => (float[...] y) { y = com.microsoft.Irfft <signal_ndim = 1> (x) })",
     {floats({2, 3}, {1, 2, 3, 4, 5, 6})},
     {"[2, 3]"}},
};
TEST(ModelCases, Rfft) { run_model_cases(kRfft); }

const std::vector<OpCase> kSTFT = {
    {17, {}, {normal({2, 128, 1}), whole(8).constant(), absent(), whole(16).constant()}, "frames", {}, 1, 1e-6},
    {17, {}, {normal({1, 50, 1}), whole(7), uniform({12}, 0, 1)}, "a window", {}, 1, 1e-6},
    {17, {}, {normal({3, 50}), whole(7), uniform({12}, 0, 1)}, "without a dimension of parts", {}, 1, 1e-6},
    {17, {attr("onesided", 0)}, {normal({1, 50, 2}), whole(5), uniform({10}, 0, 1), whole(10)}, "complex", {}, 1, 1e-6},
    {17, {}, {normal({1, 50, 2}), whole(5), uniform({10}, 0, 1)}, "half of a complex spectrum", {"STFT(", "complex"}},
    {17, {}, {normal({1, 50, 1}), whole(0), uniform({10}, 0, 1)}, "no step", {"STFT(", "frame_step is 0"}},
    {17, {}, {normal({1, 5, 1}), whole(1), uniform({10}, 0, 1)}, "shorter than a frame", {"STFT(", "10"}},
    {17, {}, {normal({1, 50, 1}), whole(1), uniform({10}, 0, 1), whole(8)}, "another frame than the window", {"STFT(", "[10]", "8"}},
    {17, {}, {normal({50}), whole(1), uniform({10}, 0, 1)}, "no batch", {"STFT(", "[50]"}},
    {17, {}, {normal({50, 1}), whole(1), uniform({10}, 0, 1)}, "a signal of one value", {"STFT(", "10"}},
};
RH_OP_TEST(STFT, kSTFT, FloatingTypes::set)

const std::vector<OpCase> kWindowFunction = {
    {17, {}, {whole(10)}, "Hann", {}, 1, 1e-6, "", "HannWindow"},
    {17, {attr("periodic", 0)}, {whole(9).constant()}, "symmetric Hann", {}, 1, 1e-6, "", "HannWindow"},
    {17, {}, {whole(10)}, "Hamming", {}, 1, 1e-6, "", "HammingWindow"},
    {17, {attr("periodic", 0), attr("output_datatype", 11)}, {whole(7)}, "Hamming in double", {}, 1, 1e-6, "", "HammingWindow"},
    {17, {}, {whole(10)}, "Blackman", {}, 1, 1e-6, "", "BlackmanWindow"},
    {17, {}, {whole(700)}, "Blackman of several blocks", {}, 1, 1e-6, "", "BlackmanWindow"},
    {17, {attr("periodic", 0)}, {whole(33)}, "symmetric Blackman", {}, 1, 1e-6, "", "BlackmanWindow"},
    {17, {}, {whole(0)}, "nothing", {}, 1, 0, "", "HannWindow"},
    {17, {}, {whole(-1)}, "below 0", {"HannWindow(", "-1"}, 1, 0, "", "HannWindow"},
    {17, {}, {ints({1, 2})}, "two sizes", {"HannWindow(", "2 elements"}, 1, 0, "", "HannWindow"},
    {17, {attr("output_datatype", 99)}, {whole(1)}, "no such type", {"output_datatype", "99"}, 1, 0, "", "HannWindow"},
};
RH_OP_TEST(WindowFunction, kWindowFunction, Types<int64_t>::set)

TEST(HannWindow, HasNothingBelow0) {
  const auto session = make_session(R"(<opset_import: ["" : 17]> main (int64 n) => (double[size] w)
{ w = HannWindow <periodic = 0, output_datatype = 11> (n) })");
  for (const int64_t size : {1, 2, 267, 511, 685}) {
    Tensor n(DType::int64, Shape{});
    *n.data<int64_t>() = size;
    const auto results = run(*session, {{"n", n}}, {"w"});
    for (const double w : results[0].tensor().span<double>()) EXPECT_GE(w, 0) << size;
  }
}

TEST(BlackmanWindow, IsOneInItsMiddle) {
  const auto session = make_session(R"(<opset_import: ["" : 17]> main (int64 n) => (int32[size] w)
{ w = BlackmanWindow <output_datatype = 6> (n) })");
  for (const int64_t size : {2, 10, 256, 700, 5000}) {
    Tensor n(DType::int64, Shape{});
    *n.data<int64_t>() = size;
    const auto results = run(*session, {{"n", n}}, {"w"});
    EXPECT_EQ(results[0].tensor().span<int32_t>()[static_cast<size_t>(size / 2)], 1) << size;
  }
}

const std::vector<OpCase> kMelWeightMatrix = {
    {17, {}, {whole(8), whole(16), whole(8192), real(0), real(4096)}, "the standard's example", {}, 1, 1e-6},
    {17, {attr("output_datatype", 11)}, {whole(20), whole(400), whole(16000), real(20), real(7600)}, "of speech", {}, 1, 1e-6},
    {17, {}, {whole(0), whole(16), whole(8192), real(0), real(4096)}, "no bins", {"MelWeightMatrix(", "num_mel_bins is 0"}},
    {17, {}, {whole(8), whole(16), whole(0), real(0), real(4096)}, "no rate", {"MelWeightMatrix(", "sample_rate 0"}},
    {17, {}, {whole(8), whole(16), whole(100), real(0), real(4096)}, "an edge above half the rate", {"MelWeightMatrix(", "4096"}},
    {17, {}, {whole(int64_t{1} << 60), whole(int64_t{1} << 60), whole(8192), real(0), real(4096)}, "too large", {"MelWeightMatrix("}},
};
RH_OP_TEST(MelWeightMatrix, kMelWeightMatrix, Types<float>::set)

}  // namespace
}  // namespace rh::test
