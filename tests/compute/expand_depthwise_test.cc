#include "compute/conv/expand_depthwise.h"

#include <cmath>

#include "compute/conv/blocked/blocked_expand_depthwise.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

struct Case {
  const char* what;
  int64_t batch, in, hidden, height, width, taps, stride;
  int64_t pads[4];  // top, left, bottom, right
  int64_t dilation = 1;
};

Window square_window(const Case& c) {
  Window w;
  const int64_t sizes[] = {c.height, c.width};
  for (int d = 1; d < 3; ++d) {
    w.input[d] = sizes[d - 1];
    w.kernel[d] = c.taps;
    w.stride[d] = c.stride;
    w.dilation[d] = c.dilation;
    w.pad_begin[d] = c.pads[d - 1];
    w.output[d] = (w.input[d] + c.pads[d - 1] + c.pads[d + 1] - (c.taps - 1) * c.dilation - 1) / c.stride + 1;
  }
  return w;
}

const Case kCases[] = {
    {"3x3, whole panels", 1, 16, 64, 14, 14, 3, 1, {1, 1, 1, 1}},
    {"3x3, a few channels in the last panel", 2, 24, 72, 9, 30, 3, 1, {1, 1, 1, 1}},
    {"3x3, stride 2, even and odd sizes", 1, 16, 40, 17, 28, 3, 2, {1, 1, 1, 1}},
    {"3x3, stride 2, padding at the end", 1, 5, 33, 16, 31, 3, 2, {0, 0, 1, 1}},
    {"5x5, 7x7", 2, 160, 96, 7, 7, 5, 1, {2, 2, 2, 2}},
    {"5x5, stride 2", 1, 30, 47, 14, 15, 5, 2, {2, 2, 2, 2}},
    {"5x5, stride 2, one side", 1, 9, 17, 13, 12, 5, 2, {4, 1, 0, 3}},
    {"7x7", 1, 12, 20, 19, 23, 7, 1, {3, 3, 3, 3}},
    {"7x7, stride 2, no padding", 1, 3, 8, 21, 16, 7, 2, {0, 0, 0, 0}},
    {"sums in many parts", 1, 400, 34, 5, 6, 3, 1, {1, 1, 1, 1}},
    {"one column", 1, 7, 9, 6, 1, 3, 1, {1, 1, 1, 1}},
    {"a pixel", 3, 20, 50, 1, 1, 3, 1, {1, 1, 1, 1}},
    {"input not read to its end", 1, 6, 12, 8, 10, 3, 2, {0, 0, 0, 0}},
    {"more padding than is read", 1, 6, 12, 2, 3, 5, 2, {4, 4, 0, 0}},
    {"many rows", 1, 4, 16, 61, 5, 3, 1, {1, 1, 1, 1}},
    {"5x5, dilated", 1, 12, 40, 20, 21, 5, 1, {4, 4, 4, 4}, 2},
    {"3x3, strongly dilated, one side", 2, 5, 18, 9, 10, 3, 1, {8, 0, 0, 7}, 4},
    {"3x3, dilated beyond the plane", 1, 5, 18, 2, 2, 3, 1, {3, 3, 3, 3}, 3},
    {"one panel that threads share", 1, 48, 30, 60, 40, 5, 2, {2, 2, 2, 2}},
};

using Values = std::vector<double>;

/// Both stages, plainly and in float64; with `absolute` values of all, relu changes nothing.
Values plain(const Case& c, const std::vector<float> (&given)[5], bool absolute) {
  Values values[5];
  for (int i = 0; i < 5; ++i) {
    values[i].assign(given[i].begin(), given[i].end());
    for (double& v : values[i]) v = absolute ? std::fabs(v) : v;
  }
  const Window w = square_window(c);
  Window pixels;
  std::copy_n(w.input, 3, pixels.input);
  std::copy_n(w.input, 3, pixels.output);
  Values wide(static_cast<size_t>(c.batch * c.hidden * w.input_size())), y(static_cast<size_t>(c.batch * c.hidden * w.output_size()));
  conv_reference<double>({c.in, c.hidden, 1}, pixels, c.batch, values[0].data(), values[1].data(), values[2].data(), wide.data(), {});
  for (double& v : wide) v = std::max(v, 0.0);
  conv_reference<double>({c.hidden, c.hidden, c.hidden}, w, c.batch, wide.data(), values[3].data(), values[4].data(), y.data(), {});
  return y;
}

class ExpandDepthwiseTest : public EveryIsa {};

TEST_P(ExpandDepthwiseTest, within_the_bound_of_float_sums) {
  for (const Case& c : kCases) {
    const Window w = square_window(c);
    ASSERT_TRUE(ExpandDepthwise::fits(w)) << c.what;
    const std::vector<float> given[5] = {random_values(c.batch * c.in * w.input_size(), 1), random_values(c.hidden * c.in, 2),
                                         random_values(c.hidden, 3), random_values(c.hidden * c.taps * c.taps, 4),
                                         random_values(c.hidden, 5)};
    const Values expected = plain(c, given, false), magnitude = plain(c, given, true);
    const ExpandDepthwise both(c.in, c.hidden, w, {given[1].data(), given[2].data(), {ActivationKind::relu}},
                               {given[3].data(), given[4].data(), {}});
    EXPECT_GE(both.weight_bytes(), (given[1].size() + given[3].size()) * sizeof(float));
    std::vector<float> y(expected.size(), 99), serial(expected.size(), 99);
    both.run(w, c.batch, given[0].data(), y.data(), three_threads());
    both.run(w, c.batch, given[0].data(), serial.data(), {});
    ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
    const double terms = static_cast<double>(c.in + c.taps * c.taps + 8);
    const auto expect_near = [&](const std::vector<float>& result, const char* layout) {
      for (size_t i = 0; i < result.size(); ++i)
        ASSERT_LE(std::fabs(result[i] - expected[i]), terms * 0x1p-24 * magnitude[i]) << c.what << ", " << layout << ", at " << i;
    };
    expect_near(y, "planes");
    if (!BlockedExpandDepthwise::fits(w)) continue;
    const BlockedExpandDepthwise blocked(c.in, c.hidden, w, {given[1].data(), given[2].data(), {ActivationKind::relu}},
                                         {given[3].data(), given[4].data(), {}});
    const auto blocks = [&](int64_t channels, int64_t plane) {
      return std::vector<float>(static_cast<size_t>(c.batch * channel_blocks(channels) * plane * kChannelBlock), 99.0f);
    };
    std::vector<float> from = blocks(c.in, w.input_size()), to = blocks(c.hidden, w.output_size()), alone = to;
    to_blocked(given[0].data(), c.batch, c.in, w.input_size(), from.data(), {});
    blocked.run(w, c.batch, from.data(), to.data(), nullptr, three_threads());
    blocked.run(w, c.batch, from.data(), alone.data(), nullptr, {});
    ASSERT_EQ(to, alone) << c.what << ": the bits depend on the number of threads";
    std::vector<float> means(static_cast<size_t>(c.batch * channel_blocks(c.hidden) * kChannelBlock), 99), means_alone = means;
    blocked.run(w, c.batch, from.data(), alone.data(), means.data(), three_threads());
    ASSERT_EQ(to, alone) << c.what << ": with means";
    blocked.run(w, c.batch, from.data(), alone.data(), means_alone.data(), {});
    ASSERT_EQ(means, means_alone) << c.what << ": means depend on the number of threads";
    expect_means(to, w.output_size(), means, c.what);
    from_blocked(to.data(), c.batch, c.hidden, w.output_size(), y.data(), {});
    expect_near(y, "blocks");
  }
}

TEST_P(ExpandDepthwiseTest, is_two_convolutions_with_any_activation) {
  const std::vector<float> slopes = random_values(96, 6);
  const Activation activations[] = {{},
                                    {ActivationKind::clip, -0.5f, 0.5f},
                                    {ActivationKind::hard_swish},
                                    {ActivationKind::silu, 1},
                                    {.kind = ActivationKind::prelu, .slopes = slopes.data()}};
  for (const Case& c : kCases) {
    const Window w = square_window(c);
    Window pixels;
    std::copy_n(w.input, 3, pixels.input);
    std::copy_n(w.input, 3, pixels.output);
    const std::vector<float> x = random_values(c.batch * c.in * w.input_size(), 1), expand = random_values(c.hidden * c.in, 2),
                             depthwise = random_values(c.hidden * c.taps * c.taps, 4);
    for (const Activation& first : activations) {
      for (const Activation& second : activations) {
        std::vector<float> wide(static_cast<size_t>(c.batch * c.hidden * w.input_size())),
            expected(static_cast<size_t>(c.batch * c.hidden * w.output_size())), y = expected;
        Convolution<float>({c.in, c.hidden, 1}, pixels, expand.data(), nullptr, first)
            .run(pixels, c.batch, x.data(), nullptr, wide.data(), {});
        Convolution<float>({c.hidden, c.hidden, c.hidden}, w, depthwise.data(), nullptr, second)
            .run(w, c.batch, wide.data(), nullptr, expected.data(), {});
        ExpandDepthwise(c.in, c.hidden, w, {expand.data(), nullptr, first}, {depthwise.data(), nullptr, second})
            .run(w, c.batch, x.data(), y.data(), three_threads());
        for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 2e-5 * (1 + std::fabs(expected[i]))) << c.what << ", at " << i;
      }
    }
  }
}

TEST(ExpandDepthwise, takes_square_kernels_of_some_strides_and_dilations) {
  const Window good = square_window({"", 1, 1, 1, 9, 9, 3, 2, {1, 1, 1, 1}});
  EXPECT_TRUE(ExpandDepthwise::fits(good));
  const auto with = [&](auto change) {
    Window w = good;
    change(w);
    return ExpandDepthwise::fits(w);
  };
  EXPECT_FALSE(with([](Window& w) { w.kernel[1] = 5; }));
  EXPECT_FALSE(with([](Window& w) { w.kernel[1] = w.kernel[2] = 4; }));
  EXPECT_FALSE(with([](Window& w) { w.kernel[0] = 3; }));
  EXPECT_FALSE(with([](Window& w) { w.stride[1] = 1; }));
  EXPECT_FALSE(with([](Window& w) { w.stride[1] = w.stride[2] = 3; }));
  EXPECT_FALSE(with([](Window& w) { w.dilation[1] = w.dilation[2] = 2; }));
  const auto dilated = [&](int64_t height, int64_t width) {
    return with([&](Window& w) {
      w.stride[1] = w.stride[2] = 1;
      w.dilation[1] = height;
      w.dilation[2] = width;
    });
  };
  EXPECT_TRUE(dilated(4, 4));
  EXPECT_FALSE(dilated(2, 1));
  EXPECT_FALSE(dilated(5, 5));
}

RH_EVERY_ISA(ExpandDepthwiseTest);

}  // namespace
}  // namespace rh::compute
