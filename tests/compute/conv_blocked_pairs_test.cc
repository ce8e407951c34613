#include "compute/conv/blocked/conv_blocked_pairs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "compute/conv/blocked/conv_blocked.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

/// Single pixels, in whole vectors and by halves, on every processor with AVX-512.
class BlockedPairsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!cpu_features().avx512) GTEST_SKIP() << "no AVX-512 here";
    CpuFeatures cpu = cpu_features();
    cpu.own_adders = true;
    cpu.half_vectors = GetParam();
    scope_.emplace(cpu);
  }

 private:
  std::optional<ScopedCpuFeatures> scope_;
};
INSTANTIATE_TEST_SUITE_P(, BlockedPairsTest, testing::Bool(), [](const auto& info) { return info.param ? "halves" : "whole"; });

struct Case {
  int64_t in, out, height, width, batch = 1;

  ConvChannels channels() const { return {in, out, 1}; }
  int64_t plane() const { return height * width; }
  Window window() const {
    Window w;
    w.input[1] = w.output[1] = height;
    w.input[2] = w.output[2] = width;
    return w;
  }
};

std::vector<float> blocked(const std::vector<float>& planes, int64_t batch, int64_t channels, int64_t plane) {
  std::vector<float> blocks(static_cast<size_t>(batch * channel_blocks(channels) * plane * kChannelBlock), 99.0f);
  to_blocked(planes.data(), batch, channels, plane, blocks.data(), {});
  return blocks;
}

/// y [batch, out, plane] of planes x and weights [out, in], exactly.
std::vector<double> exact(const Case& c, const std::vector<float>& x, const std::vector<float>& weights, const std::vector<float>& bias,
                          const std::vector<float>& gates) {
  std::vector<double> y(static_cast<size_t>(c.batch * c.out * c.plane()));
  const int64_t in_channels = channel_blocks(c.in) * kChannelBlock;
  for (int64_t i = 0; i < c.batch * c.out * c.plane(); ++i) {
    const int64_t image = i / c.plane() / c.out, out = i / c.plane() % c.out, pixel = i % c.plane();
    double sum = bias[static_cast<size_t>(out)];
    for (int64_t k = 0; k < c.in; ++k) {
      const float gate = gates.empty() ? 1 : gates[static_cast<size_t>(image * in_channels + k)];
      sum += double{x[static_cast<size_t>((image * c.in + k) * c.plane() + pixel)] * gate} * weights[static_cast<size_t>(out * c.in + k)];
    }
    y[static_cast<size_t>(i)] = sum;
  }
  return y;
}

/// What BlockedPairs gives, as planes; the same with any number of threads.
std::vector<float> run(const BlockedPairs& conv, const Case& c, const std::vector<float>& x, const std::vector<float>& residual,
                       const std::vector<float>& gates, FetchList ahead = {}, bool sum_last = false) {
  const std::vector<float> from = blocked(x, c.batch, c.in, c.plane());
  const std::vector<float> added = residual.empty() ? residual : blocked(residual, c.batch, c.out, c.plane());
  std::vector<float> y(static_cast<size_t>(c.batch * channel_blocks(c.out) * c.plane() * kChannelBlock), 99), serial = y;
  std::vector<float> planes(static_cast<size_t>(c.batch * c.out * c.plane()));
  const Window w = c.window();
  for (std::vector<float>* to : {&serial, &y}) {
    const float* sum = added.empty() ? nullptr : added.data();
    const ConvCall<float> call{w, c.batch, from.data(), sum_last ? nullptr : sum, to->data(), {}, sum_last ? sum : nullptr};
    conv.run(call, gates.empty() ? nullptr : gates.data(), ahead, to == &y ? three_threads() : Parallel());
  }
  from_blocked(serial.data(), c.batch, c.out, c.plane(), planes.data(), {});
  const std::vector<float> of_one = planes;
  from_blocked(y.data(), c.batch, c.out, c.plane(), planes.data(), {});
  EXPECT_EQ(std::memcmp(planes.data(), of_one.data(), planes.size() * sizeof(float)), 0)
      << c.in << " -> " << c.out << ": the bits depend on the number of threads";
  return planes;
}

TEST_P(BlockedPairsTest, within_a_small_multiple_of_the_bound_of_a_float_sum) {
  const std::vector<std::byte> ahead(50'000);
  const std::span<const std::byte> pieces[] = {ahead, {ahead.data() + 64, 640}};
  for (const Case& c : {Case{16, 32, 4, 4}, Case{17, 33, 3, 3}, Case{96, 64, 7, 7}, Case{24, 144, 5, 9}, Case{130, 250, 7, 7, 2},
                        Case{520, 48, 6, 5}, Case{1030, 40, 9, 11}, Case{64, 100, 1, 1, 9}}) {
    const std::vector<float> x = random_values(c.batch * c.in * c.plane(), 1), weights = random_values(c.out * c.in, 2);
    const std::vector<float> bias = random_values(c.out, 3), residual = random_values(c.batch * c.out * c.plane(), 4);
    const std::vector<float> slopes = random_values(c.out, 6);
    for (const ActivationKind kind : {ActivationKind::none, ActivationKind::relu, ActivationKind::hard_swish, ActivationKind::prelu}) {
      const bool with_residual = kind == ActivationKind::relu;
      const std::vector<float> gates =
          kind == ActivationKind::none ? std::vector<float>() : random_values(c.batch * channel_blocks(c.in) * kChannelBlock, 5);
      const auto conv = BlockedPairs::make(c.channels(), weights.data(), bias.data(), {.kind = kind, .slopes = slopes.data()});
      ASSERT_TRUE(conv);
      const std::vector<double> sums = exact(c, x, weights, bias, gates);
      const std::vector<float> y = run(*conv, c, x, with_residual ? residual : std::vector<float>(), gates, pieces);
      const std::vector<float> plain = run(*conv, c, x, {}, gates), last = run(*conv, c, x, residual, gates, pieces, true);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(last[i], plain[i] + residual[i]) << c.in << " -> " << c.out << ", sum last, at " << i;
      for (size_t i = 0; i < y.size(); ++i) {
        double expected = sums[i] + (with_residual ? residual[i] : 0);
        if (kind == ActivationKind::relu) expected = std::max(expected, 0.0);
        if (kind == ActivationKind::prelu && expected < 0) expected *= double{slopes[i / static_cast<size_t>(c.plane()) % slopes.size()]};
        if (kind == ActivationKind::hard_swish) expected *= std::clamp(expected / 6 + 0.5, 0.0, 1.0);
        ASSERT_NEAR(y[i], expected, 6e-7 * (std::sqrt(static_cast<double>(c.in)) + std::fabs(expected)))
            << c.in << " -> " << c.out << ", " << c.batch << " images, at " << i;
      }
    }
  }
}

/// Pixels of huge, tiny or no values and such as are not finite leave the others as they are.
TEST_P(BlockedPairsTest, pixels_that_cannot_be_paired_are_multiplied_plainly) {
  const Case c{64, 64, 3, 7};
  std::vector<float> x = random_values(c.in * c.plane(), 1);
  const std::vector<float> weights = random_values(c.out * c.in, 2), bias(static_cast<size_t>(c.out));
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto conv = BlockedPairs::make(c.channels(), weights.data(), bias.data(), {});
  ASSERT_TRUE(conv);
  const std::vector<float> before = run(*conv, c, x, {}, {});
  const auto at = [&](int64_t channel, int64_t pixel) { return static_cast<size_t>(channel * c.plane() + pixel); };
  for (int64_t k = 0; k < c.in; ++k) {
    x[at(k, 1)] *= 1e30f;
    x[at(k, 3)] *= 1e-30f;
    x[at(k, 8)] = 0;
  }
  x[at(5, 12)] = infinity;
  x[at(6, 17)] = nan;
  const std::vector<float> y = run(*conv, c, x, {}, {});
  const std::vector<double> expected = exact(c, x, weights, bias, {});
  for (int64_t channel = 0; channel < c.out; ++channel) {
    for (int64_t pixel = 0; pixel < c.plane(); ++pixel) {
      const float value = y[at(channel, pixel)];
      const double wanted = expected[at(channel, pixel)];
      switch (pixel) {
        case 1: ASSERT_NEAR(value / 1e30, wanted / 1e30, 1e-5); break;
        case 3: ASSERT_NEAR(value * 1e30, wanted * 1e30, 1e-5); break;
        case 8: ASSERT_EQ(value, 0); break;
        case 12: ASSERT_EQ(value, wanted); break;
        case 17: ASSERT_TRUE(std::isnan(value)); break;
        default: ASSERT_EQ(value, before[at(channel, pixel)]) << channel << ", " << pixel;
      }
    }
  }
}

/// Channels whose scales and whose weights' are opposite, and values of one sign, round about as much as plain sums do.
TEST_P(BlockedPairsTest, rounds_about_as_much_as_plain_sums) {
  const Case c{480, 96, 12, 12};
  std::vector<float> x = random_values(c.in * c.plane(), 1), weights = random_values(c.out * c.in, 2);
  const std::vector<float> bias(static_cast<size_t>(c.out));
  for (int64_t k = 0; k < c.in; ++k) {
    const float scale = std::exp2(static_cast<float>(k % 9) - 4);
    for (int64_t i = 0; i < c.plane(); ++i) {
      float& value = x[static_cast<size_t>(k * c.plane() + i)];
      value = std::max(value, 0.0f) * scale * std::exp2(static_cast<float>(i % 30) - 15);
    }
    for (int64_t out = 0; out < c.out; ++out) weights[static_cast<size_t>(out * c.in + k)] /= scale;
  }
  const auto pairs = BlockedPairs::make(c.channels(), weights.data(), bias.data(), {});
  ASSERT_TRUE(pairs);
  const BlockedConvolution plain(c.channels(), c.window(), weights.data(), bias.data(), {}, BlockedInput::blocks);
  std::vector<float> y(static_cast<size_t>(c.out * c.plane())), by_blocks = y;
  plain.run(c.window(), 1, blocked(x, 1, c.in, c.plane()).data(), nullptr, by_blocks.data(), {});
  from_blocked(by_blocks.data(), 1, c.out, c.plane(), y.data(), {});
  const std::vector<double> expected = exact(c, x, weights, bias, {});
  const auto error = [&](const std::vector<float>& values) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double scale = std::exp2(static_cast<double>(static_cast<int64_t>(i) % c.plane() % 30) - 15);
      sum += std::pow((values[i] - expected[i]) / scale, 2);
    }
    return std::sqrt(sum);
  };
  EXPECT_LT(error(run(*pairs, c, x, {}, {})) / error(y), 1.3);
}

/// Taken where they pay and may be; pixels that a stride skips are left out first.
TEST_P(BlockedPairsTest, blocked_convolutions_take_them_where_they_pay) {
  const auto variant = [](const Case& c, ConvAccuracy accuracy) {
    const std::vector<float> weights = random_values(c.out * c.in, 2);
    return BlockedConvolution(c.channels(), c.window(), weights.data(), nullptr, {}, BlockedInput::blocks, accuracy).variant();
  };
  EXPECT_EQ(variant({256, 256, 14, 14}, ConvAccuracy::usual), "blocked_fip");
  EXPECT_EQ(variant({256, 256, 14, 14}, ConvAccuracy::strict), "blocked");
  EXPECT_EQ(variant({256, 24, 14, 14}, ConvAccuracy::usual), "blocked") << "few outputs a pixel";
  EXPECT_EQ(variant({256, 256, 1, 1}, ConvAccuracy::usual), "blocked") << "few pixels";
  const Case c{192, 256, 12, 15};
  constexpr int64_t kHeight = 23, kWidth = 30;
  const std::vector<float> x = random_values(c.in * kHeight * kWidth, 1), weights = random_values(c.out * c.in, 2);
  Window w = c.window();
  w.input[1] = kHeight;
  w.input[2] = kWidth;
  w.stride[1] = w.stride[2] = 2;
  const BlockedConvolution conv(c.channels(), w, weights.data(), nullptr, {}, BlockedInput::blocks, ConvAccuracy::usual);
  EXPECT_EQ(conv.variant(), "blocked_fip");
  std::vector<float> y(static_cast<size_t>(c.out * c.plane())), picked(static_cast<size_t>(c.in * c.plane())), planes = y;
  conv.run(w, 1, blocked(x, 1, c.in, kHeight * kWidth).data(), nullptr, y.data(), three_threads());
  from_blocked(y.data(), 1, c.out, c.plane(), planes.data(), {});
  for (int64_t i = 0; i < c.in * c.plane(); ++i) {
    const int64_t row = i % c.plane() / c.width, column = i % c.width;
    picked[static_cast<size_t>(i)] = x[static_cast<size_t>((i / c.plane() * kHeight + 2 * row) * kWidth + 2 * column)];
  }
  EXPECT_EQ(planes, run(*BlockedPairs::make(c.channels(), weights.data(), nullptr, {}), c, picked, {}, {}));
}

/// Weights that cannot be scaled are not paired.
TEST_P(BlockedPairsTest, weights_that_are_not_finite_are_refused) {
  std::vector<float> weights = random_values(64 * 64, 1);
  weights[77] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(BlockedPairs::make({64, 64, 1}, weights.data(), nullptr, {}));
}

}  // namespace
}  // namespace rh::compute
