#include "compute/conv/nhwc/nhwc_depthwise.h"

#include <cmath>

#include "compute/support.h"

namespace rh::compute {
namespace {

struct Case {
  const char* what;
  int64_t batch, channels;
  int64_t size[2], taps[2], stride[2], pads[4];  // pads: top, left, bottom, right
  int64_t dilation[2] = {1, 1};
};

const Case kCases[] = {
    {"3x3, vectors of every width", 1, 32, {14, 14}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"3x3, a few channels beyond", 2, 37, {9, 16}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"3x3, fewer channels than the widest vectors", 1, 13, {5, 8}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"3x3, channels of the narrowest vectors", 1, 5, {6, 6}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"3x3, no padding", 1, 16, {8, 25}, {3, 3}, {1, 1}, {0, 0, 0, 0}},
    {"3x3, one row", 1, 24, {1, 9}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"3x3, one column", 1, 24, {7, 1}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"3x3, a pixel", 3, 20, {1, 1}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"3x3, padding on one side", 1, 19, {6, 7}, {3, 3}, {1, 1}, {2, 0, 0, 2}},
    {"3x3, more padding than taps", 1, 18, {3, 3}, {3, 3}, {1, 1}, {4, 3, 5, 4}},
    {"3x3, cropped", 1, 18, {9, 9}, {3, 3}, {1, 1}, {-1, -2, -1, 0}},
    {"3x3, stride 2", 1, 33, {17, 28}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
    {"3x3, stride 2, the end not read", 2, 16, {16, 31}, {3, 3}, {2, 2}, {0, 0, 0, 0}},
    {"5x5", 1, 40, {7, 7}, {5, 5}, {1, 1}, {2, 2, 2, 2}},
    {"5x5, stride 2", 1, 30, {14, 15}, {5, 5}, {2, 2}, {2, 2, 2, 2}},
    {"7x7", 1, 96, {11, 14}, {7, 7}, {1, 1}, {3, 3, 3, 3}},
    {"7x7, a plane of fewer rows", 2, 17, {4, 9}, {7, 7}, {1, 1}, {3, 3, 3, 3}},
    {"7x7, stride 2", 1, 17, {15, 9}, {7, 7}, {2, 2}, {3, 3, 3, 3}},
    {"9x9", 1, 21, {12, 10}, {9, 9}, {1, 1}, {4, 4, 4, 4}},
    {"1x1", 1, 21, {5, 6}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {"2x2, stride 2", 1, 21, {6, 8}, {2, 2}, {2, 2}, {0, 0, 0, 0}},
    {"1x11", 1, 24, {5, 30}, {1, 11}, {1, 1}, {0, 5, 0, 5}},
    {"11x1", 1, 24, {30, 5}, {11, 1}, {1, 1}, {5, 0, 5, 0}},
    {"31 taps of a line", 1, 48, {1, 50}, {1, 31}, {1, 1}, {0, 15, 0, 15}},
    {"65 taps of a line, in several pieces", 2, 37, {1, 200}, {1, 65}, {1, 1}, {0, 64, 0, 64}},
    {"3 taps of a line, in several pieces", 2, 20, {1, 150}, {1, 3}, {1, 1}, {0, 1, 0, 1}},
    {"3x3, one row in several pieces", 1, 20, {1, 150}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
    {"17 taps of a line, stride 2, dilated, several pieces", 1, 20, {1, 300}, {1, 17}, {1, 2}, {0, 9, 0, 5}, {1, 3}},
    {"257 taps of a line", 1, 24, {1, 270}, {1, 257}, {1, 1}, {0, 0, 0, 0}},
    {"20 taps of some lines", 1, 24, {5, 30}, {1, 20}, {1, 1}, {0, 5, 0, 5}},
    {"3x3, dilated", 1, 20, {12, 13}, {3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
    {"3x5, strides and dilations of their own", 1, 20, {17, 23}, {3, 5}, {2, 3}, {1, 4, 2, 0}, {3, 2}},
    {"many rows", 1, 16, {61, 5}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
};

Window window_of(const Case& c) {
  Window w;
  for (size_t d = 0; d < 2; ++d) {
    w.input[d + 1] = c.size[d];
    w.kernel[d + 1] = c.taps[d];
    w.stride[d + 1] = c.stride[d];
    w.dilation[d + 1] = c.dilation[d];
    w.pad_begin[d + 1] = c.pads[d];
    w.output[d + 1] = (c.size[d] + c.pads[d] + c.pads[d + 2] - (c.taps[d] - 1) * c.dilation[d] - 1) / c.stride[d] + 1;
  }
  return w;
}

/// [batch, channels, plane] as [batch, plane, channels].
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

using Values = std::vector<double>;

/// Plainly and in float64; magnitudes of the products where `absolute`.
Values plain(const Case& c, const std::vector<float>& x, const std::vector<float>& weights, const std::vector<float>& bias, bool absolute) {
  const auto wide = [&](const std::vector<float>& values) {
    Values result(values.begin(), values.end());
    for (double& v : result) v = absolute ? std::fabs(v) : v;
    return result;
  };
  const Window w = window_of(c);
  const Values a = wide(x), b = wide(weights), d = wide(bias);
  Values y(static_cast<size_t>(c.batch * c.channels * w.output_size()));
  conv_reference<double>({c.channels, c.channels, c.channels}, w, c.batch, a.data(), b.data(), d.data(), y.data(), {});
  return channels_last(y, c.batch, c.channels);
}

class NhwcDepthwiseTest : public EveryIsa {};

TEST_P(NhwcDepthwiseTest, within_the_bound_of_float_sums) {
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    ASSERT_TRUE(NhwcDepthwise::fits({c.channels, c.channels, c.channels}, w)) << c.what;
    const int64_t taps = w.kernel_size();
    const std::vector<float> x = random_values(c.batch * c.channels * w.input_size(), 1), weights = random_values(c.channels * taps, 2),
                             bias = random_values(c.channels, 3);
    const Values expected = plain(c, x, weights, bias, false), magnitude = plain(c, x, weights, bias, true);
    const NhwcDepthwise conv(c.channels, w, weights.data(), bias.data(), {});
    EXPECT_GE(conv.weight_bytes(), weights.size() * sizeof(float));
    const std::vector<float> last = channels_last(x, c.batch, c.channels);
    std::vector<float> y(expected.size(), 99), serial(expected.size(), 99);
    conv.run(w, c.batch, last.data(), nullptr, y.data(), three_threads());
    conv.run(w, c.batch, last.data(), nullptr, serial.data(), {});
    ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_LE(std::fabs(y[i] - expected[i]), static_cast<double>(taps + 2) * 0x1p-24 * magnitude[i]) << c.what << ", at " << i;
  }
}

/// Of many taps: than those that add up one after the other.
TEST_P(NhwcDepthwiseTest, rounds_less_than_one_long_sum) {
  for (const Case& c :
       {Case{"7x7", 1, 32, {14, 14}, {7, 7}, {1, 1}, {0, 0, 0, 0}}, Case{"9x9", 1, 32, {14, 14}, {9, 9}, {1, 1}, {0, 0, 0, 0}}}) {
    const Window w = window_of(c);
    const int64_t taps = w.kernel_size(), outputs = w.output_size();
    const std::vector<float> x = random_values(c.channels * w.input_size(), 1), weights = random_values(c.channels * taps, 2),
                             bias = random_values(c.channels, 3);
    const Values expected = plain(c, x, weights, bias, false);
    std::vector<float> y(expected.size());
    NhwcDepthwise(c.channels, w, weights.data(), bias.data(), {}).run(w, 1, channels_last(x, 1, c.channels).data(), nullptr, y.data(), {});
    double error = 0, of_one_sum = 0;
    for (int64_t at = 0; at < outputs * c.channels; ++at) {
      const int64_t channel = at % c.channels, pixel = at / c.channels;
      float sum = bias[channel];
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t row = pixel / w.output[2] + tap / c.taps[1], column = pixel % w.output[2] + tap % c.taps[1];
        sum = std::fma(x[channel * w.input_size() + row * c.size[1] + column], weights[channel * taps + tap], sum);
      }
      error += (y[at] - expected[at]) * (y[at] - expected[at]);
      of_one_sum += (sum - expected[at]) * (sum - expected[at]);
    }
    EXPECT_LT(std::sqrt(error), 0.9 * std::sqrt(of_one_sum)) << c.what;
  }
}

TEST_P(NhwcDepthwiseTest, adds_a_sum_before_any_activation_or_behind_it) {
  const Activation activations[] = {{}, {ActivationKind::relu}, {ActivationKind::clip, -0.5f, 0.5f}, {ActivationKind::gelu_erf}};
  for (const Case& c : kCases) {
    const Window w = window_of(c);
    const std::vector<float> x = random_values(c.batch * c.channels * w.input_size(), 1),
                             weights = random_values(c.channels * w.kernel_size(), 2),
                             residual = random_values(c.batch * c.channels * w.output_size(), 3);
    for (const Activation& activation : activations) {
      std::vector<float> planes(residual.size()), y(residual.size());
      Convolution<float>({c.channels, c.channels, c.channels}, w, weights.data(), nullptr, activation)
          .run(w, c.batch, x.data(), residual.data(), planes.data(), {});
      NhwcDepthwise(c.channels, w, weights.data(), nullptr, activation)
          .run(w, c.batch, channels_last(x, c.batch, c.channels).data(), channels_last(residual, c.batch, c.channels).data(), y.data(),
               three_threads());
      const std::vector<float> expected = channels_last(planes, c.batch, c.channels);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 2e-5 * (1 + std::fabs(expected[i]))) << c.what << ", at " << i;
      const NhwcDepthwise conv(c.channels, w, weights.data(), nullptr, activation);
      const std::vector<float> from = channels_last(x, c.batch, c.channels), addend = channels_last(residual, c.batch, c.channels);
      std::vector<float> plain(residual.size());
      conv.run(w, c.batch, from.data(), nullptr, plain.data(), {});
      conv.run(w, c.batch, from.data(), nullptr, y.data(), three_threads(), addend.data());
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], plain[i] + addend[i]) << c.what << ", sum last, at " << i;
    }
  }
}

TEST(NhwcDepthwise, takes_planes_of_enough_channels_by_themselves) {
  Window w;
  w.kernel[1] = w.kernel[2] = 3;
  EXPECT_TRUE(NhwcDepthwise::fits({8, 8, 8}, w));
  EXPECT_FALSE(NhwcDepthwise::fits({3, 3, 3}, w));
  EXPECT_FALSE(NhwcDepthwise::fits({8, 16, 8}, w));
  EXPECT_FALSE(NhwcDepthwise::fits({8, 8, 4}, w));
  w.kernel[0] = 3;
  EXPECT_FALSE(NhwcDepthwise::fits({8, 8, 8}, w));
}

RH_EVERY_ISA(NhwcDepthwiseTest);

}  // namespace
}  // namespace rh::compute
