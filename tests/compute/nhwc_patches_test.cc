#include "compute/conv/nhwc/nhwc_patches.h"

#include <cmath>

#include "compute/support.h"

namespace rh::compute {
namespace {

struct Case {
  const char* what;
  int64_t batch, in, out, size[2], taps[2];
  int64_t stride[2] = {0, 0};      // 0: the taps
  int64_t pads[4] = {0, 0, 0, 0};  // top, left, bottom, right
};

const Case kCases[] = {
    {"4x4 of an image", 1, 3, 96, {32, 32}, {4, 4}},
    {"2x2", 2, 24, 40, {14, 14}, {2, 2}},
    {"8x8, many bands", 1, 20, 33, {160, 72}, {8, 8}},
    {"2x2, an edge that is not read", 1, 5, 17, {15, 13}, {2, 2}},
    {"1x2, a line", 3, 16, 8, {1, 30}, {1, 2}},
    {"3x5", 1, 7, 9, {9, 20}, {3, 5}},
    {"16x16", 1, 3, 64, {48, 64}, {16, 16}},
    {"one patch", 1, 30, 20, {7, 7}, {7, 7}},
    {"7x7 / 4", 2, 3, 32, {40, 44}, {7, 7}, {4, 4}, {3, 3, 3, 3}},
    {"3x3 / 2", 1, 32, 64, {29, 30}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
    {"5x5, wide padding on one side", 1, 4, 10, {6, 7}, {5, 5}, {1, 1}, {7, 0, 2, 9}},
    {"3x3, a line", 1, 9, 10, {1, 1}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"3x3, cropped", 2, 5, 12, {12, 13}, {3, 3}, {2, 2}, {-1, -2, 0, -1}},
    {"1x1 / 2", 1, 9, 10, {9, 12}, {1, 1}, {2, 2}},
};

Window window_of(const Case& c) {
  Window w;
  for (size_t d = 0; d < 2; ++d) {
    w.input[d + 1] = c.size[d];
    w.kernel[d + 1] = c.taps[d];
    w.stride[d + 1] = c.stride[d] > 0 ? c.stride[d] : c.taps[d];
    w.pad_begin[d + 1] = c.pads[d];
    w.output[d + 1] = (c.size[d] + c.pads[d] + c.pads[d + 2] - c.taps[d]) / w.stride[d + 1] + 1;
  }
  return w;
}

template <typename T>
std::vector<T> channels_last(const std::vector<T>& x, int64_t batch, int64_t channels) {
  const int64_t plane = static_cast<int64_t>(x.size()) / (batch * channels);
  std::vector<T> y(x.size());
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < plane; ++i)
        y[static_cast<size_t>((n * plane + i) * channels + c)] = x[static_cast<size_t>((n * channels + c) * plane + i)];
  return y;
}

class NhwcPatchesTest : public EveryIsa {};

TEST_P(NhwcPatchesTest, within_the_bound_of_float_sums) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const ConvChannels channels{c.in, c.out, 1};
    ASSERT_TRUE(NhwcPatches::fits(channels, w)) << c.what;
    const int64_t taps = c.in * w.kernel_size();
    const std::vector<float> x = random_values(c.batch * c.in * w.input_size(), 1), weights = random_values(c.out * taps, 2),
                             bias = random_values(c.out, 3), residual = random_values(c.batch * c.out * w.output_size(), 4);
    const auto plain = [&](bool absolute) {
      const auto wide = [&](const std::vector<float>& values) {
        std::vector<double> result(values.begin(), values.end());
        for (double& v : result) v = absolute ? std::fabs(v) : v;
        return result;
      };
      std::vector<double> y(residual.size());
      conv_reference<double>(channels, w, c.batch, wide(x).data(), wide(weights).data(), wide(bias).data(), y.data(), {});
      y = channels_last(y, c.batch, c.out);
      for (size_t i = 0; i < y.size(); ++i) y[i] += absolute ? std::fabs(residual[i]) : static_cast<double>(residual[i]);
      return y;
    };
    const std::vector<double> expected = plain(false), magnitude = plain(true);
    for (const auto input : {ChannelsOfInput::last, ChannelsOfInput::first}) {
      const std::vector<float> from = input == ChannelsOfInput::last ? channels_last(x, c.batch, c.in) : x;
      const NhwcPatches conv(channels, w, weights.data(), bias.data(), {}, input);
      EXPECT_GE(conv.weight_bytes(), weights.size() * sizeof(float));
      std::vector<float> y(expected.size(), 99), serial(expected.size(), 99);
      conv.run(w, c.batch, from.data(), residual.data(), y.data(), three_threads());
      conv.run(w, c.batch, from.data(), residual.data(), serial.data(), {});
      ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_LE(std::fabs(y[i] - expected[i]), static_cast<double>(taps + 2) * 0x1p-24 * magnitude[i]) << c.what << ", at " << i;
      const NhwcPatches activated(channels, w, weights.data(), bias.data(), {ActivationKind::hard_swish}, input);
      activated.run(w, c.batch, from.data(), nullptr, serial.data(), {});
      activated.run(w, c.batch, from.data(), nullptr, y.data(), three_threads(), residual.data());
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], serial[i] + residual[i]) << c.what << ", sum last, at " << i;
    }
  }
}

/// Root mean square of how far sums are off `expected`.
double error_of(const std::vector<float>& y, const std::vector<double>& expected) {
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += (y[i] - expected[i]) * (y[i] - expected[i]);
  return std::sqrt(sum / static_cast<double>(y.size()));
}

/// A patch of one pixel is a row of a product.
TEST_P(NhwcPatchesTest, rounds_less_than_a_product_of_long_sums) {
  constexpr int64_t kIn = 768, kOut = 48, kPixels = 64;
  Window w;
  w.input[2] = w.output[2] = kPixels;
  const std::vector<float> x = random_values(kPixels * kIn, 1), weights = random_values(kOut * kIn, 2);
  std::vector<float> y(kPixels * kOut), product = y;
  NhwcPatches({kIn, kOut, 1}, w, weights.data(), nullptr, {}, ChannelsOfInput::last).run(w, 1, x.data(), nullptr, y.data(), {});
  gemm({.m = kPixels, .n = kOut, .k = kIn}, x.data(), PackedMatrix<float>(weights.data(), kIn, kOut, true), product.data(), {});
  std::vector<double> expected(y.size());
  for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
    for (int64_t out = 0; out < kOut; ++out)
      for (int64_t i = 0; i < kIn; ++i) expected[pixel * kOut + out] += double{x[pixel * kIn + i]} * weights[out * kIn + i];
  }
  EXPECT_LT(error_of(y, expected), 0.85 * error_of(product, expected));
}

TEST_P(NhwcPatchesTest, activates) {
  const Case& c = kCases[1];
  const Window w = window_of(c);
  const std::vector<float> x = random_values(c.batch * c.in * w.input_size(), 1),
                           weights = random_values(c.out * c.in * w.kernel_size(), 2);
  std::vector<float> plain(static_cast<size_t>(c.batch * c.out * w.output_size())), y = plain;
  NhwcPatches({c.in, c.out, 1}, w, weights.data(), nullptr, {}, ChannelsOfInput::first)
      .run(w, c.batch, x.data(), nullptr, plain.data(), {});
  NhwcPatches({c.in, c.out, 1}, w, weights.data(), nullptr, {ActivationKind::relu}, ChannelsOfInput::first)
      .run(w, c.batch, x.data(), nullptr, y.data(), {});
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], std::max(0.0f, plain[i])) << i;
}

TEST(NhwcPatches, takes_one_group_without_dilation) {
  const auto with = [](auto change) {
    Window w;
    w.kernel[1] = w.kernel[2] = w.stride[1] = w.stride[2] = 2;
    change(w);
    return NhwcPatches::fits({8, 16, 1}, w);
  };
  EXPECT_TRUE(with([](Window&) {}));
  EXPECT_TRUE(with([](Window& w) { w.stride[1] = 1; }));
  EXPECT_TRUE(with([](Window& w) { w.pad_begin[1] = 1; }));
  EXPECT_FALSE(with([](Window& w) { w.dilation[2] = 2; }));
  EXPECT_FALSE(with([](Window& w) { w.kernel[0] = w.stride[0] = 2; }));
  EXPECT_FALSE(NhwcPatches::fits({8, 8, 2}, window_of(kCases[1])));
}

RH_EVERY_ISA(NhwcPatchesTest);

}  // namespace
}  // namespace rh::compute
