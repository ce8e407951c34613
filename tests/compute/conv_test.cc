#include "compute/conv/conv.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "compute/conv/blocked/conv_blocked.h"
#include "compute/conv/blocked/conv_blocked_impl.h"
#include "compute/conv/parts/conv_parts.h"
#include "compute/conv_cases.h"
#include "compute/gemm/gemm_fip.h"
#include "compute/support.h"
#include "tensor/float_types.h"

namespace rh::compute {
namespace {

/// The result, and the same with absolute values, which scales the bound.
struct DoubleSums {
  std::vector<double> expected, magnitude;
};
const DoubleSums& sums_in_double(const ConvCase& c, const Window& w, const std::vector<float>& x, const std::vector<float>& weights,
                                 const std::vector<float>& bias) {
  const auto absolute = [](std::vector<double> values) {
    for (double& v : values) v = std::fabs(v);
    return values;
  };
  const auto sums = [&](const auto& values_of) {
    std::vector<double> y(static_cast<size_t>(c.batch * c.channels.out * w.output_size()));
    conv_reference<double>(c.channels, w, c.batch, values_of(widened(x)).data(), values_of(widened(weights)).data(),
                           values_of(widened(bias)).data(), y.data(), {});
    return y;
  };
  static std::map<std::pair<const ConvCase*, int64_t>, DoubleSums> made;
  return made_once(made, c, 0, [&] { return DoubleSums{sums([](const std::vector<double>& values) { return values; }), sums(absolute)}; });
}

class ConvTest : public EveryIsa {};

/// The sum comes behind an activation that kernels clamp to, one that is a pass of its own or one of channels, to the bit. A case has two
/// of them, by its number; all ways meet all of them.
void expect_addend_last(const ConvCase& c, const Window& w, const std::vector<float>& x, const std::vector<float>& weights,
                        const std::vector<float>& bias, const std::vector<float>& addend, std::string_view variant, size_t number) {
  const std::vector<float> slopes = random_values(c.channels.out, 6);
  const Activation activations[] = {{},
                                    {ActivationKind::relu},
                                    {ActivationKind::hard_swish},
                                    {ActivationKind::silu, 1},
                                    {ActivationKind::hard_swish_affine, 1.5f, -0.25f},
                                    {.kind = ActivationKind::prelu, .slopes = slopes.data()}};
  for (const size_t which : {number % 6, (number + 2) % 6}) {
    const Activation& activation = activations[which];
    const Convolution<float> conv(c.channels, w, weights.data(), bias.data(), activation, variant);
    std::vector<float> y(addend.size(), 99), plain(addend.size());
    conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads(), {}, addend.data());
    conv.run(w, c.batch, x.data(), nullptr, plain.data(), {});
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], plain[i] + addend[i]) << c.what << ", " << variant << ", activation " << static_cast<int>(activation.kind) << ", at "
                                            << i;
  }
}

/// Frames of one channel whose only values lie where a window is almost 0, and filters over few of many channels: the error is a part of
/// the products that count, whichever way is asked for.
TEST_P(ConvTest, sums_with_few_terms_that_count_are_exact) {
  static const ConvCase kCases[] = {
      {"frames", {1, 130, 1}, 1, {1, 1, 6000}, {1, 1, 400}, {1, 1, 160}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
      {"filters", {129, 64, 1}, 1, {1, 14, 14}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
  };
  for (const ConvCase& c : kCases) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in * w.kernel_size(), pixels = w.input_size();
    std::vector<float> x = random_values(c.channels.in * pixels, 1), weights = random_values(c.channels.out * k, 2);
    if (c.channels.in == 1) {
      std::fill(x.begin() + 10, x.end() - 10, 0.0f);
      for (size_t i = 0; i < weights.size(); ++i) {
        const double at = static_cast<double>(i % 400) / 400;
        weights[i] *= static_cast<float>(std::pow(std::sin(std::numbers::pi * at), 4.0));
      }
    } else {
      for (size_t i = 0; i < x.size(); ++i) {
        const int64_t channel = static_cast<int64_t>(i) / pixels;
        x[i] *= std::exp2f(-0.25f * static_cast<float>(channel));
      }
      for (size_t i = 0; i < weights.size(); ++i)
        if (const auto from = static_cast<int64_t>(i) / k * 2 - static_cast<int64_t>(i) % k; from > 0 || from < -3) weights[i] = 0;
    }
    const auto& [expected, magnitude] = sums_in_double(c, w, x, weights, {});
    for (const std::string_view variant : Convolution<float>::variants(c.channels, w)) {
      const Convolution<float> conv(c.channels, w, weights.data(), nullptr, {}, variant);
      std::vector<float> y(static_cast<size_t>(c.channels.out * w.output_size()));
      conv.run(w, 1, x.data(), nullptr, y.data(), {});
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], expected[i], 1e-5 * magnitude[i]) << c.what << ", " << conv.variant() << ", at " << i;
    }
  }
}

TEST_P(ConvTest, within_the_bound_of_a_float_sum) {
  for (const ConvCase& c : test::swept(kConvCases)) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size();
    const std::vector<float> x = random_values(c.batch * c.channels.in * w.input_size(), 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> bias = random_values(c.channels.out, 3),
                             residual = random_values(c.batch * c.channels.out * w.output_size(), 4);
    const auto& [expected, magnitude] = sums_in_double(c, w, x, weights, bias);
    for (const std::string_view variant : Convolution<float>::variants(c.channels, w)) {
      const Convolution<float> conv(c.channels, w, weights.data(), bias.data(), {}, variant);
      ASSERT_EQ(conv.variant(), variant);
      std::vector<float> y(residual.size(), 99), serial(residual.size());
      conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads());
      conv.run(w, c.batch, x.data(), nullptr, serial.data(), {});
      ASSERT_EQ(y, serial) << c.what << ", " << variant << ": the bits depend on the number of threads";
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_LE(std::fabs(y[i] - expected[i]), (k + 4) * 0x1p-24 * magnitude[i]) << c.what << ", " << variant << ", at " << i;
      }
      expect_addend_last(c, w, x, weights, bias, residual, variant, static_cast<size_t>(&c - kConvCases));
    }
    for (const bool with_residual : {false, true}) {
      const Convolution<float> conv(c.channels, w, weights.data(), bias.data(),
                                    with_residual ? Activation{ActivationKind::relu} : Activation{});
      std::vector<float> y(residual.size(), 99), serial(residual.size()), in_place = residual;
      conv.run(w, c.batch, x.data(), with_residual ? residual.data() : nullptr, y.data(), three_threads());
      conv.run(w, c.batch, x.data(), with_residual ? residual.data() : nullptr, serial.data(), {});
      ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
      conv.run(w, c.batch, x.data(), in_place.data(), in_place.data(), three_threads());
      for (size_t i = 0; i < y.size(); ++i) {
        const double sum = expected[i] + residual[i], bound = (k + 4) * 0x1p-24 * (magnitude[i] + std::fabs(residual[i]));
        const double plain = with_residual ? std::max(sum, 0.0) : expected[i];
        ASSERT_LE(std::fabs(y[i] - plain), bound) << c.what << ", residual " << with_residual << ", at " << i;
        ASSERT_LE(std::fabs(in_place[i] - (with_residual ? std::max(sum, 0.0) : sum)), bound) << c.what << ", in place, at " << i;
      }
    }
  }
}

/// Between blocks of channels, and from planes: the same bound as that of every other variant.
TEST_P(ConvTest, blocks_of_channels_within_the_bound_of_a_float_sum) {
  for (const ConvCase& c : test::swept(kConvCases)) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), inputs = w.input_size(), outputs = w.output_size();
    const std::vector<float> x = random_values(c.batch * c.channels.in * inputs, 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> bias = random_values(c.channels.out, 3), residual = random_values(c.batch * c.channels.out * outputs, 4);
    const auto& [expected, magnitude] = sums_in_double(c, w, x, weights, bias);
    for (const BlockedInput input : {BlockedInput::blocks, BlockedInput::planes}) {
      if (!BlockedConvolution::fits(c.channels, w, input)) continue;
      const auto blocked = [&](const std::vector<float>& values, int64_t channels, int64_t plane) {
        std::vector<float> blocks(static_cast<size_t>(c.batch * channel_blocks(channels) * plane * kChannelBlock), 99.0f);
        to_blocked(values.data(), c.batch, channels, plane, blocks.data(), three_threads());
        return blocks;
      };
      const std::vector<float> from = input == BlockedInput::planes ? x : blocked(x, c.channels.in, inputs);
      const std::vector<float> added = blocked(residual, c.channels.out, outputs);
      const std::vector<float> slopes = random_values(c.channels.out, 6);
      for (const Activation& activation : {Activation{}, Activation{ActivationKind::relu}, Activation{ActivationKind::hard_swish},
                                           Activation{.kind = ActivationKind::prelu, .slopes = slopes.data()}}) {
        const bool with_residual = activation.kind == ActivationKind::relu;
        const BlockedConvolution conv(c.channels, w, weights.data(), bias.data(), activation, input);
        std::vector<float> y(added.size(), 99), serial(added.size()), planes(residual.size());
        conv.run(w, c.batch, from.data(), with_residual ? added.data() : nullptr, y.data(), three_threads());
        conv.run(w, c.batch, from.data(), with_residual ? added.data() : nullptr, serial.data(), {});
        ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
        from_blocked(y.data(), c.batch, c.channels.out, outputs, planes.data(), three_threads());
        for (size_t i = 0; i < planes.size(); ++i) {
          const double more = with_residual ? residual[i] : 0, bound = 2 * (k + 4) * 0x1p-24 * (magnitude[i] + std::fabs(more));
          const int64_t channel = static_cast<int64_t>(i) / outputs % c.channels.out;
          ASSERT_NEAR(planes[i], activated(activation.of_channel(channel), expected[i] + more), bound) << c.what << ", at " << i;
        }
        std::vector<float> sums(added.size()), plain(residual.size());
        conv.run(w, c.batch, from.data(), nullptr, sums.data(), {});
        from_blocked(sums.data(), c.batch, c.channels.out, outputs, plain.data(), {});
        conv.run(w, c.batch, from.data(), nullptr, y.data(), three_threads(), {}, {}, added.data());
        from_blocked(y.data(), c.batch, c.channels.out, outputs, planes.data(), {});
        for (size_t i = 0; i < planes.size(); ++i) ASSERT_EQ(planes[i], plain[i] + residual[i]) << c.what << ", sum last, at " << i;
      }
    }
  }
}

/// Two lines with each channel of each large tile, until all have been; results are the same.
TEST_P(ConvTest, blocks_of_channels_fetch_beside_their_sums) {
  Window w;
  w.input[1] = w.output[1] = 5;
  w.input[2] = w.output[2] = 9;
  const ConvChannels channels{40, 48, 1};
  const std::vector<float> x = random_values(channel_blocks(40) * kChannelBlock * 45, 1), weights = random_values(40 * 48, 2);
  const BlockedConvolution conv(channels, w, weights.data(), nullptr, {}, BlockedInput::blocks);
  EXPECT_EQ(conv.fetches_ahead(), cpu_features().avx512);
  std::vector<float> y(45 * 48), expected = y;
  conv.run(w, 1, x.data(), nullptr, expected.data(), {});
  const std::vector<std::byte> ahead(100'000);
  for (const size_t bytes : {size_t{0}, size_t{63}, size_t{1'000}, ahead.size()}) {
    const std::span<const std::byte> pieces[] = {{ahead.data(), bytes}, {ahead.data() + 64, 640}};
    conv.run(w, 1, x.data(), nullptr, y.data(), three_threads(), {}, pieces);
    ASSERT_EQ(y, expected) << bytes;
  }
  const BlockedStep step{0, 16};
  const char* const begin = reinterpret_cast<const char*>(ahead.data());
  FetchedLines fetched{begin, begin + 64 * 80};
  const BlockedSums sums{.x = x.data(),
                         .steps = &step,
                         .step_count = 1,
                         .x_pixel = kChannelBlock,
                         .weights = weights.data(),
                         .bias = nullptr,
                         .residual = nullptr,
                         .y = y.data(),
                         .y_block = 45 * kChannelBlock,
                         .half = false,
                         .more = false,
                         .low = -1e30f,
                         .high = 1e30f,
                         .fetched = &fetched};
  if (!conv.fetches_ahead()) return;
  blocked_kernels().sums(sums, 2, 7);
  EXPECT_EQ(fetched.next, begin) << "beside a small tile";
  blocked_kernels().sums(sums, 2, 14);
  EXPECT_EQ(fetched.next, begin + 64 * 64) << "16 channels, each once for either half of the tile";
  blocked_kernels().sums(sums, 2, 14);
  EXPECT_EQ(fetched.next, fetched.end) << "and no further";
}

/// Each line of a list belongs to one part, however many there are; what is less than a line is left out.
TEST(FetchedPart, PartsAreTheWholeListInOrder) {
  const std::vector<std::byte> memory(4096);
  const std::span<const std::byte> list[] = {
      {memory.data(), 640}, {memory.data() + 640, 63}, {memory.data() + 1024, 200}, {}, {memory.data() + 2048, 1024}};
  std::vector<ptrdiff_t> expected;
  for (const auto& [begin, lines] : {std::pair{0, 10}, {1024, 3}, {2048, 16}})
    for (int i = 0; i < lines; ++i) expected.push_back(begin + 64 * i);
  for (const int64_t count : {1, 2, 5, 29, 40}) {
    std::vector<ptrdiff_t> lines;
    for (int64_t i = 0, size = 1; i < count; i += size) {
      size = std::min<int64_t>(1 + i % 3, count - i);
      FetchedPart part(list, i, i + size, count);
      while (part.lines().next < part.lines().end) {
        lines.push_back(part.lines().next - reinterpret_cast<const char*>(memory.data()));
        part.lines().next += 64;
      }
    }
    EXPECT_EQ(lines, expected) << count;
  }
  FetchedPart none({}, 0, 1, 1);
  EXPECT_GE(none.lines().next, none.lines().end);
}

/// Gates multiply inputs, means are those of the result: as if a pass of its own did either.
TEST_P(ConvTest, blocks_of_channels_with_gates_and_means) {
  int gated = 0, averaged = 0;
  for (const ConvCase& c : kConvCases) {
    const Window w = window_of(c);
    if (!BlockedConvolution::fits(c.channels, w, BlockedInput::blocks)) continue;
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), inputs = w.input_size(), outputs = w.output_size();
    const int64_t in = channel_blocks(c.channels.in) * kChannelBlock, out = channel_blocks(c.channels.out) * kChannelBlock;
    const std::vector<float> x = random_values(c.batch * in * inputs, 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> bias = random_values(c.channels.out, 3), gates = random_values(c.batch * in, 4);
    const BlockedConvolution conv(c.channels, w, weights.data(), bias.data(), {ActivationKind::hard_swish}, BlockedInput::blocks);
    std::vector<float> y(static_cast<size_t>(c.batch * out * outputs), 99), expected = y, means(static_cast<size_t>(c.batch * out), 99);
    if (conv.takes_gates()) {
      ++gated;
      std::vector<float> scaled = x;
      for (size_t i = 0; i < x.size(); ++i)
        scaled[i] *= gates[i / static_cast<size_t>(inputs * kChannelBlock) * kChannelBlock + i % kChannelBlock];
      conv.run(w, c.batch, scaled.data(), nullptr, expected.data(), {});
      conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads(), {.gates = gates.data()});
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], expected[i], static_cast<double>(k + 4) * 0x1p-20 * (1 + std::fabs(expected[i]))) << c.what << ", at " << i;
    }
    if (!conv.gives_means()) continue;
    ++averaged;
    conv.run(w, c.batch, x.data(), nullptr, expected.data(), {});
    conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads(), {.means = means.data()});
    ASSERT_EQ(y, expected) << c.what;
    expect_means(y, outputs, means, c.what);
  }
  EXPECT_GE(gated, 5);
  EXPECT_GE(averaged, 4);
}

/// Sums of weights, as Winograd's, of one filter would overflow: another variant takes them. Its products with tiny inputs are finite,
/// those with others infinite.
void expect_huge_weights(const ConvChannels& channels, const Window& w, std::string_view variant, ConvAccuracy accuracy) {
  constexpr int64_t kInput = 3, kFilter = 5;
  const int64_t taps = w.kernel_size(), plane = w.input_size(), outputs = w.output_size();
  std::vector<float> weights = random_values(channels.out * channels.in * taps, 7);
  for (float& weight : weights) weight *= 0x1p-6f;
  std::fill_n(weights.begin() + (kFilter * channels.in + kInput) * taps, taps, 0x1.8p127f);
  const Convolution<float> conv(channels, w, weights.data(), nullptr, {}, variant, accuracy);
  ASSERT_EQ(conv.variant() == variant, variant.starts_with("fip")) << conv.variant();  // whose weights are not summed
  for (const float scale : {0x1p-110f, 4.0f}) {
    std::vector<float> x = random_values(channels.in * plane, 8), y(static_cast<size_t>(channels.out * outputs)), shared = y;
    for (int64_t i = kInput * plane; i < (kInput + 1) * plane; ++i) x[static_cast<size_t>(i)] = (2 + x[static_cast<size_t>(i)]) * scale;
    std::vector<double> expected(y.size());
    conv_reference<double>(channels, w, 1, widened(x).data(), widened(weights).data(), nullptr, expected.data(), {});
    conv.run(w, 1, x.data(), nullptr, y.data(), {});
    conv.run(w, 1, x.data(), nullptr, shared.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) {
      if (expected[i] > double{std::numeric_limits<float>::max()}) {
        ASSERT_EQ(y[i], std::numeric_limits<float>::infinity()) << variant << ", inputs of " << scale << ", output " << i;
      } else {
        ASSERT_NEAR(y[i], expected[i], 1e-5 * std::max(1.0, std::fabs(expected[i])))
            << variant << ", inputs of " << scale << ", output " << i;
      }
      ASSERT_EQ(y[i], shared[i]) << variant << ", inputs of " << scale << ", output " << i;
    }
  }
}

/// Sums of inputs, as Winograd's, would turn an infinity into NaN, and overflow early: such planes must be as the definition says.
TEST_P(ConvTest, infinities_and_huge_values_go_where_they_should) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const ConvChannels channels{16, 40, 1};
  Window w;
  w.input[1] = w.output[1] = 10;
  w.input[2] = w.output[2] = 85;
  w.kernel[1] = w.kernel[2] = 3;
  const std::vector<float> weights(40 * 16 * 9, 0x1p-9f);
  for (const auto& [variant, dilation] :
       {std::pair{"winograd", 1}, std::pair{"winograd_pixels", 1}, std::pair{"winograd_4x4", 1}, std::pair{"paired", 48},
        std::pair{"fip", 1}, std::pair{"fip_pixels", 1}, std::pair{"winograd_fip", 1}}) {
    if (!fip_kernels() && std::string_view(variant).find("fip") != std::string_view::npos) continue;
    w.pad_begin[1] = w.pad_begin[2] = w.dilation[1] = w.dilation[2] = dilation;
    const Convolution<float> conv(channels, w, weights.data(), nullptr, {}, variant, ConvAccuracy::fast);
    ASSERT_EQ(conv.variant(), variant);
    expect_huge_weights(channels, w, variant, ConvAccuracy::fast);
    for (const float value : {infinity, -infinity, nan, 0x1.8p127f}) {
      for (const int64_t at : {0, 10, 84, 5 * 85 + 57, 9 * 85 + 84}) {
        std::vector<float> x = random_values(16 * 850, 5), y(40 * 850), expected = y;
        x[static_cast<size_t>(3 * 850 + at)] = value;
        x[static_cast<size_t>(7 * 850 + at)] = value;
        conv.run(w, 1, x.data(), nullptr, y.data(), {});
        conv_reference<float>(channels, w, 1, x.data(), weights.data(), nullptr, expected.data(), {});
        std::vector<float> shared(y.size());
        conv.run(w, 1, x.data(), nullptr, shared.data(), three_threads());
        for (size_t i = 0; i < y.size(); ++i) {
          if (std::isfinite(expected[i])) {
            ASSERT_NEAR(y[i], expected[i], 1e-5 * std::max(1.0f, std::fabs(expected[i]))) << value << " at " << at << ", output " << i;
          } else {
            ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(y[i]) : y[i] == expected[i]) << y[i] << ", expected " << expected[i];
          }
          ASSERT_TRUE(std::isnan(y[i]) ? std::isnan(shared[i]) : y[i] == shared[i]) << value << " at " << at << ", output " << i;
        }
      }
    }
  }
}

/// The same of kernels of other sizes and strides: to the end of the plane and beyond where an output of the last tile lies outside.
TEST_P(ConvTest, infinities_and_huge_values_go_where_they_should_by_parts) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  struct Kernel {
    int64_t taps, stride, height, width;
  };
  for (const Kernel& k : {Kernel{3, 2, 21, 34}, Kernel{5, 1, 11, 17}, Kernel{7, 2, 22, 33}, Kernel{11, 4, 61, 43}}) {
    const ConvChannels channels{32, 40, 1};
    Window w;
    w.input[1] = k.height;
    w.input[2] = k.width;
    for (int d = 1; d < 3; ++d) {
      w.kernel[d] = k.taps;
      w.stride[d] = k.stride;
      w.pad_begin[d] = k.taps / 2;
      w.output[d] = (w.input[d] + 2 * w.pad_begin[d] - k.taps) / k.stride + 1;
    }
    const int64_t plane = k.height * k.width;
    const std::vector<float> weights(static_cast<size_t>(40 * 32 * k.taps * k.taps), 0x1p-9f);
    const Convolution<float> conv(channels, w, weights.data(), nullptr, {}, "winograd_parts");
    ASSERT_EQ(conv.variant(), "winograd_parts");
    expect_huge_weights(channels, w, "winograd_parts", ConvAccuracy::usual);
    for (const float value : {infinity, -infinity, nan, 0x1.8p127f}) {
      for (const int64_t at : {int64_t{0}, k.width - 1, plane / 2, plane - 1}) {
        std::vector<float> x = random_values(32 * plane, 5), y(static_cast<size_t>(40 * w.output_size())), expected = y;
        x[static_cast<size_t>(plane + at)] = value;
        x[static_cast<size_t>(3 * plane + at)] = value;
        conv.run(w, 1, x.data(), nullptr, y.data(), {});
        conv_reference<float>(channels, w, 1, x.data(), weights.data(), nullptr, expected.data(), {});
        for (size_t i = 0; i < y.size(); ++i) {
          if (std::isfinite(expected[i])) {
            ASSERT_NEAR(y[i], expected[i], 1e-5 * std::max(1.0f, std::fabs(expected[i]))) << value << " at " << at << ", output " << i;
          } else {
            ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(y[i]) : y[i] == expected[i])
                << y[i] << ", expected " << expected[i] << " for " << value << " at " << at << ", " << k.taps << " taps";
          }
        }
      }
    }
  }
}

/// Images beyond what is near when they are added to.
TEST_P(ConvTest, a_sum_behind_the_activation_of_large_planes) {
  const ConvCase c{"large planes", {16, 18, 1}, 2, {1, 127, 130}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}};
  const Window w = window_of(c);
  expect_addend_last(c, w, random_values(2 * 16 * w.input_size(), 1), random_values(18 * 16 * 9, 2), random_values(18, 3),
                     random_values(2 * 18 * w.output_size(), 4), "winograd", 2);
}

/// More threads than bands that are worth it, and weights that not every one of them may read: bands one after the other, each shared.
TEST_P(ConvTest, a_residual_in_place_is_added_once_where_threads_share_bands) {
  const ConvChannels channels{256, 260, 1};
  Window w;
  w.input[1] = w.output[1] = 14;
  w.input[2] = w.output[2] = 16;
  w.kernel[1] = w.kernel[2] = 3;
  w.pad_begin[1] = w.pad_begin[2] = 1;
  const std::vector<float> x = random_values(256 * 224, 1), weights = random_values(260 * 256 * 9, 2),
                           residual = random_values(260 * 224, 3);
  const Convolution<float> conv(channels, w, weights.data(), nullptr, {}, "winograd_pixels");
  ASSERT_EQ(conv.variant(), "winograd_pixels");
  ASSERT_GT(conv.weight_bytes(), size_t{4} << 20);
  std::vector<float> serial(residual.size()), shared = residual;
  conv.run(w, 1, x.data(), residual.data(), serial.data(), {});
  conv.run(w, 1, x.data(), shared.data(), shared.data(), three_threads());
  EXPECT_EQ(shared, serial);
}

/// Weights of a window serve planes of other sizes.
TEST_P(ConvTest, parts_serve_planes_of_other_sizes) {
  const ConvChannels channels{12, 40, 1};
  Window made;
  made.kernel[1] = made.kernel[2] = 5;
  made.stride[1] = made.stride[2] = 2;
  made.pad_begin[1] = made.pad_begin[2] = 2;
  made.input[1] = made.input[2] = 40;
  made.output[1] = made.output[2] = 20;
  const std::vector<float> weights = random_values(12 * 40 * 25, 1), bias = random_values(40, 2);
  const Convolution<float> conv(channels, made, weights.data(), bias.data(), {}, "winograd_parts");
  ASSERT_EQ(conv.variant(), "winograd_parts");
  for (const auto& [height, width] : {std::pair{1, 1}, std::pair{2, 9}, std::pair{5, 1}, std::pair{67, 3}, std::pair{9, 131}}) {
    Window w = made;
    w.input[1] = height;
    w.input[2] = width;
    w.output[1] = (height + 1) / 2;
    w.output[2] = (width + 1) / 2;
    const std::vector<float> x = random_values(12 * w.input_size(), 3), residual = random_values(40 * w.output_size(), 4);
    std::vector<float> y = residual, expected(residual.size());
    conv_reference<float>(channels, w, 1, x.data(), weights.data(), bias.data(), expected.data(), {});
    conv.run(w, 1, x.data(), y.data(), y.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i] + residual[i], 1e-4) << height << " x " << width << ", at " << i;
  }
}

/// What is made for an ordinary plane or row, where a model does not say of which, takes others with other padding.
TEST_P(ConvTest, all_ways_serve_planes_of_other_sizes) {
  struct Made {
    ConvChannels channels;
    int64_t height, width, kernel, stride, dilation;
  };
  constexpr Made kMade[] = {{{40, 64, 1}, 28, 28, 1, 1, 1},  {{40, 34, 1}, 28, 28, 3, 1, 1}, {{64, 72, 2}, 28, 28, 3, 1, 1},
                            {{20, 40, 1}, 56, 56, 3, 2, 1},  {{16, 32, 1}, 36, 36, 5, 1, 2}, {{3, 32, 1}, 56, 56, 7, 2, 1},
                            {{24, 40, 1}, 1, 500, 3, 1, 1},  {{24, 40, 1}, 1, 500, 7, 1, 3}, {{16, 33, 1}, 1, 1000, 4, 2, 1},
                            {{24, 24, 24}, 28, 28, 3, 1, 1}, {{40, 64, 1}, 56, 56, 1, 2, 1}, {{8, 36, 1}, 112, 112, 4, 4, 1}};
  for (const Made& m : test::swept(kMade)) {
    const auto window_of = [&m](int64_t height, int64_t width, int64_t pad) {
      Window w;
      for (const auto& [axis, size] : {std::pair{1, height}, std::pair{2, width}}) {
        if (axis == 1 && m.height == 1) continue;
        w.input[axis] = size, w.kernel[axis] = m.kernel, w.stride[axis] = m.stride, w.dilation[axis] = m.dilation, w.pad_begin[axis] = pad;
        const int64_t reach = m.dilation * (m.kernel - 1) + 1;
        w.output[axis] = std::max<int64_t>(0, (size + 2 * pad - reach + m.stride) / m.stride);
      }
      return w;
    };
    const int64_t usual_pad = m.dilation * (m.kernel / 2), inputs = m.channels.in / m.channels.groups;
    const Window made = window_of(m.height, m.width, usual_pad);
    const std::vector<float> weights = random_values(m.channels.out * inputs * made.kernel_size(), 1),
                             bias = random_values(m.channels.out, 2);
    for (const std::string_view variant : Convolution<float>::variants(m.channels, made)) {
      const Convolution<float> conv(m.channels, made, weights.data(), bias.data(), {}, variant);
      for (const int64_t pad : {usual_pad, int64_t{0}}) {
        for (const auto& [height, width] : {std::pair{1, 1}, std::pair{2, 9}, std::pair{7, 7}, std::pair{13, 41}, std::pair{70, 33}}) {
          const Window w = window_of(height, width, pad);
          if (w.output_size() == 0) continue;
          const std::vector<float> x = random_values(2 * m.channels.in * w.input_size(), 3);
          std::vector<float> y(static_cast<size_t>(2 * m.channels.out * w.output_size())), expected(y.size());
          conv_reference<float>(m.channels, w, 2, x.data(), weights.data(), bias.data(), expected.data(), {});
          conv.run(w, 2, x.data(), nullptr, y.data(), three_threads());
          for (size_t i = 0; i < y.size(); ++i)
            ASSERT_NEAR(y[i], expected[i], 2e-4) << variant << ", kernel " << m.kernel << ", stride " << m.stride << ", " << height << " x "
                                                 << width << ", padding " << pad << ", at " << i;
        }
      }
    }
  }
}

/// What was made for planes whose pairs lie far apart takes others as well, and infinities with a residual in place.
/// What is made of a row of tiles is read once for all output channels; where it does not stay near, plain products take less time.
TEST_P(ConvTest, rows_of_tiles_that_do_not_stay_near_are_taken_apart_where_the_third_level_is_near) {
  const ConvChannels channels{384, 384, 1};
  const std::vector<float> weights = random_values(384 * 384 * 3, 1);
  for (const auto& [length, fits] : {std::pair{200, true}, std::pair{3000, false}}) {
    Window w;
    w.input[1] = w.output[1] = 2;
    w.input[2] = length;
    w.output[2] = length / 2;
    w.kernel[2] = 3;
    w.stride[2] = 2;
    w.pad_begin[2] = 1;
    ASSERT_TRUE(conv_takes_parts(channels, w));
    EXPECT_EQ(conv_parts_work(channels, w).fits, fits) << length;
    if (fits) continue;
    for (const bool near : {false, true}) {
      CpuFeatures cpu = cpu_features();
      cpu.near_l3 = near;
      cpu.own_adders = false;
      const ScopedCpuFeatures scoped(cpu);
      const Convolution<float> conv(channels, w, weights.data(), nullptr, {});
      EXPECT_EQ(conv.variant() == "winograd_parts", near && cpu.avx512);
    }
  }
}

/// Vectors of tiles that few columns leave half empty, and depths of a kernel that lie in padding alone, count in what ways cost.
TEST_P(ConvTest, narrow_planes_and_depths_in_padding_are_not_taken_apart) {
  CpuFeatures cpu = cpu_features();
  if (!cpu.avx512) GTEST_SKIP() << "costs were measured with AVX-512";
  cpu.own_adders = false;
  const ScopedCpuFeatures scoped(cpu);
  const auto variant = [](const ConvChannels& channels, const Window& w) {
    const std::vector<float> weights(static_cast<size_t>(channels.in * channels.out * w.kernel_size()), 0.5f);
    return std::string(Convolution<float>(channels, w, weights.data(), nullptr, {}).variant());
  };
  for (const auto& [width, apart] : {std::pair{8, false}, std::pair{64, true}}) {
    Window w;
    w.input[1] = w.output[1] = 30;
    w.input[2] = w.output[2] = width;
    w.kernel[2] = 3;
    w.pad_begin[2] = 1;
    EXPECT_EQ(variant({64, 64, 1}, w) == "winograd_parts", apart) << width;
  }
  for (const auto& [depth, transformed] : {std::pair{1, false}, std::pair{8, true}}) {
    Window w;
    for (int d = 0; d < 3; ++d) {
      w.input[d] = w.output[d] = d == 0 ? depth : 8;
      w.kernel[d] = 3;
      w.pad_begin[d] = 1;
    }
    EXPECT_EQ(variant({128, 64, 1}, w).starts_with("winograd"), transformed) << depth;
  }
}

/// Whatever is left for the last of them.
TEST_P(ConvTest, a_long_row_is_cut_for_as_many_threads_as_there_are) {
  const ConvChannels channels{40, 48, 1};
  struct Kernel {
    int64_t stride, dilation;
  };
  for (const auto& [stride, dilation] : {Kernel{1, 1}, Kernel{2, 1}, Kernel{1, 2}, Kernel{1, 5}, Kernel{1, 100}}) {
    for (const int64_t length : {2891, 2906, 3001}) {
      Window w;
      w.input[2] = length * stride;
      w.output[2] = length;
      w.kernel[2] = 7;
      w.stride[2] = stride;
      w.dilation[2] = dilation;
      w.pad_begin[2] = 3 * dilation;
      ASSERT_TRUE(conv_parts_work(channels, w).fits);
      const std::vector<float> x = random_values(channels.in * w.input[2], 1), weights = random_values(channels.out * channels.in * 7, 2);
      std::vector<double> expected(static_cast<size_t>(channels.out * length));
      conv_reference<double>(channels, w, 1, std::vector<double>(x.begin(), x.end()).data(),
                             std::vector<double>(weights.begin(), weights.end()).data(), nullptr, expected.data(), {});
      const Convolution<float> conv(channels, w, weights.data(), nullptr, {}, "winograd_parts");
      ASSERT_EQ(conv.variant(), "winograd_parts");
      std::vector<float> y(expected.size()), serial = y;
      conv.run(w, 1, x.data(), nullptr, y.data(), some_threads<24>());
      conv.run(w, 1, x.data(), nullptr, serial.data(), {});
      ASSERT_EQ(y, serial) << length << ", stride " << stride << ", dilation " << dilation << ": the bits depend on the number of threads";
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], expected[i], 2e-5) << length << ", stride " << stride << ", dilation " << dilation << ", at " << i;
      std::vector<float> huge = x;
      const int64_t late = w.input[2] * 3 / 4;
      huge[static_cast<size_t>(late)] = std::numeric_limits<float>::infinity();
      conv.run(w, 1, huge.data(), nullptr, serial.data(), some_threads<24>());
      for (size_t i = 0; i < y.size(); ++i) {
        const int64_t from_first = late - static_cast<int64_t>(i) % length * stride + 3 * dilation;
        const bool reads = from_first % dilation == 0 && from_first >= 0 && from_first < 7 * dilation;
        ASSERT_EQ(std::fabs(serial[i] - y[i]) <= 4e-5f, !reads)
            << length << ", stride " << stride << ", dilation " << dilation << ", at " << i;
      }
    }
  }
}

TEST_P(ConvTest, pairs_serve_planes_of_other_sizes) {
  const ConvChannels channels{17, 20, 1};
  Window made;
  made.input[1] = made.output[1] = made.input[2] = made.output[2] = 9;
  made.kernel[1] = made.kernel[2] = 3;
  made.pad_begin[1] = made.pad_begin[2] = made.dilation[1] = made.dilation[2] = 5;
  const std::vector<float> weights = random_values(17 * 20 * 9, 1), bias = random_values(20, 2);
  const Convolution<float> conv(channels, made, weights.data(), bias.data(), {}, "paired");
  ASSERT_EQ(conv.variant(), "paired");
  for (const auto& [height, width] : {std::pair{9, 9}, std::pair{4, 10}, std::pair{6, 3}, std::pair{13, 9}, std::pair{9, 24}}) {
    Window w = made;
    w.input[1] = w.output[1] = height;
    w.input[2] = w.output[2] = width;
    for (const bool finite : {true, false}) {
      std::vector<float> x = random_values(2 * 17 * height * width, 3), y = random_values(2 * 20 * height * width, 4), expected(y.size());
      if (!finite) x[static_cast<size_t>(17 * height * width + 2)] = std::numeric_limits<float>::infinity();
      conv_reference<float>(channels, w, 2, x.data(), weights.data(), bias.data(), expected.data(), {});
      for (size_t i = 0; i < y.size(); ++i) expected[i] += y[i];
      conv.run(w, 2, x.data(), y.data(), y.data(), three_threads());
      for (size_t i = 0; i < y.size(); ++i) {
        const bool alike = std::isfinite(expected[i]) ? std::fabs(y[i] - expected[i]) < 1e-4 : y[i] == expected[i];
        ASSERT_TRUE(alike) << y[i] << ", expected " << expected[i] << ", " << height << " x " << width << ", at " << i;
      }
    }
  }
}

/// Tiles of 4x4 outputs round more than float sums do: that is bounded by the largest sum of magnitudes of the result.
TEST_P(ConvTest, winograd_4x4_is_near_where_less_accuracy_is_asked_for) {
  const ConvCase cases[] = {
      {"few channels", {17, 40, 1}, 2, {1, 33, 30}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
      {"many channels, bands", {200, 64, 1}, 1, {1, 39, 41}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
      {"wide, padding at one side", {16, 33, 1}, 1, {1, 9, 291}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 2, 0}, {0, 0, 3}},
      {"groups, planes of a volume", {40, 80, 2}, 1, {2, 30, 34}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 0}, {0, 0, 0}},
  };
  for (const ConvCase& c : cases) {
    const Window w = window_of(c);
    const std::vector<std::string_view> usual = Convolution<float>::variants(c.channels, w);
    ASSERT_EQ(std::ranges::count(usual, "winograd_4x4"), 0) << c.what;
    const int64_t k = c.channels.in / c.channels.groups * 9;
    const std::vector<float> x = random_values(c.batch * c.channels.in * w.input_size(), 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> bias = random_values(c.channels.out, 3);
    std::vector<float> y(static_cast<size_t>(c.batch * c.channels.out * w.output_size()), 99), serial = y, residual = y;
    std::vector<double> expected(y.size());
    conv_reference<double>(c.channels, w, c.batch, widened(x).data(), widened(weights).data(), widened(bias).data(), expected.data(), {});
    const Convolution<float> conv(c.channels, w, weights.data(), bias.data(), {}, "winograd_4x4", ConvAccuracy::fast);
    ASSERT_EQ(conv.variant(), "winograd_4x4") << c.what;
    conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads());
    conv.run(w, c.batch, x.data(), nullptr, serial.data(), {});
    ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
    const Convolution<float> exact(c.channels, w, weights.data(), bias.data(), {}, "winograd_4x4");
    ASSERT_NE(exact.variant(), "winograd_4x4") << c.what;
    double squares = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const double error = y[i] - expected[i], magnitude = static_cast<double>(k) / 4;  // the mean of |x w|
      ASSERT_LE(std::fabs(error), 64 * 0x1p-24 * magnitude) << c.what << ", at " << i;
      squares += error * error / (magnitude * magnitude);
    }
    ASSERT_LE(std::sqrt(squares / static_cast<double>(y.size())), 4 * 0x1p-24) << c.what;
    conv.run(w, c.batch, x.data(), residual.data(), residual.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(residual[i], y[i] + 99) << c.what << ", at " << i;
  }
}

TEST_P(ConvTest, inputs_are_scaled_while_they_are_gathered) {
  int scaled = 0;
  for (const ConvCase& c : kConvCases) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), plane = w.input_size();
    const std::vector<float> x = random_values(c.batch * c.channels.in * plane, 1), weights = random_values(c.channels.out * k, 2);
    const std::vector<float> scale = random_values(c.channels.in, 3), shift = random_values(c.channels.in, 4);
    std::vector<float> before = x, expected(static_cast<size_t>(c.batch * c.channels.out * w.output_size())), y = expected;
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t channel = i / static_cast<size_t>(plane) % scale.size();
      before[i] = std::max(0.0f, static_cast<float>(double{x[i]} * double{scale[channel]} + double{shift[channel]}));
    }
    for (const std::string_view variant : Convolution<float>::variants(c.channels, w)) {
      const Convolution<float> conv(c.channels, w, weights.data(), nullptr, {ActivationKind::relu}, variant);
      if (!conv.scales_input()) continue;
      conv.run(w, c.batch, before.data(), nullptr, expected.data(), {});
      conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads(), {scale.data(), shift.data()});
      ++scaled;
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-6 * static_cast<double>(k)) << c.what << ", " << variant;
    }
  }
  EXPECT_GE(scaled, 6);
}

TEST_P(ConvTest, other_activations_come_last) {
  for (const ConvCase& c : test::swept(kConvCases)) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size();
    const std::vector<float> x = random_values(c.batch * c.channels.in * w.input_size(), 1), weights = random_values(c.channels.out * k, 2);
    std::vector<float> plain(static_cast<size_t>(c.batch * c.channels.out * w.output_size())), activated = plain;
    Convolution<float>(c.channels, w, weights.data(), nullptr, {}).run(w, c.batch, x.data(), nullptr, plain.data(), three_threads());
    Convolution<float>(c.channels, w, weights.data(), nullptr, {ActivationKind::hard_swish})
        .run(w, c.batch, x.data(), nullptr, activated.data(), three_threads());
    for (size_t i = 0; i < plain.size(); ++i) {
      ASSERT_NEAR(activated[i], plain[i] * std::min(1.0, std::max(0.0, plain[i] / 6.0 + 0.5)), 1e-5) << c.what;
    }
  }
}

/// In every variant, the same bits as those of the sums with the slopes applied to them.
template <typename T>
void check_slopes() {
  for (const ConvCase& c : test::swept(kConvCases)) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), outputs = w.output_size();
    const std::vector<T> x = random_values<T>(c.batch * c.channels.in * w.input_size(), 1),
                         weights = random_values<T>(c.channels.out * k, 2);
    const std::vector<T> residual = random_values<T>(c.batch * c.channels.out * outputs, 4);
    const std::vector<float> slopes = random_values(c.channels.out, 3);
    for (const std::string_view variant : Convolution<T>::variants(c.channels, w)) {
      const auto result = [&](const Activation& activation) {
        std::vector<T> y(residual.size());
        Convolution<T>(c.channels, w, weights.data(), nullptr, activation, variant)
            .run(w, c.batch, x.data(), residual.data(), y.data(), three_threads());
        return y;
      };
      const std::vector<T> plain = result({}), sloped = result({.kind = ActivationKind::prelu, .slopes = slopes.data()});
      for (size_t i = 0; i < plain.size(); ++i) {
        const T slope = static_cast<T>(slopes[i / static_cast<size_t>(outputs) % slopes.size()]);
        ASSERT_EQ(sloped[i], plain[i] < 0 ? slope * plain[i] : plain[i]) << c.what << ", " << variant << ", at " << i;
      }
    }
  }
}

TEST_P(ConvTest, each_channel_has_its_slope) { check_slopes<float>(); }

TEST_P(ConvTest, each_channel_has_its_slope_in_float64) { check_slopes<double>(); }

/// Against float64: `unit` a term of the sum (all are at most 1), and `rounding` of the result.
template <typename T>
void check_type(double unit, double rounding) {
  for (const ConvCase& c : test::swept(kConvCases)) {
    const Window w = window_of(c);
    const int64_t k = c.channels.in / c.channels.groups * w.kernel_size(), outputs = c.batch * c.channels.out * w.output_size();
    const std::vector<T> x = random_values<T>(c.batch * c.channels.in * w.input_size(), 1),
                         weights = random_values<T>(c.channels.out * k, 2);
    const std::vector<T> bias = random_values<T>(c.channels.out, 3), residual = random_values<T>(outputs, 4);
    static std::map<std::pair<const ConvCase*, int64_t>, std::vector<double>> made;
    const std::vector<double>& expected = made_once(made, c, 0, [&] {
      std::vector<double> sums(residual.size());
      conv_reference<double>(c.channels, w, c.batch, widened(x).data(), widened(weights).data(), widened(bias).data(), sums.data(), {});
      return sums;
    });
    const Convolution<T> conv(c.channels, w, weights.data(), bias.data(), {});
    std::vector<T> y(residual.size(), T(99.0f)), serial = y, in_place = residual;
    conv.run(w, c.batch, x.data(), nullptr, y.data(), three_threads());
    conv.run(w, c.batch, x.data(), nullptr, serial.data(), {});
    ASSERT_EQ(widened(y), widened(serial)) << c.what << ": the bits depend on the number of threads";
    conv.run(w, c.batch, x.data(), in_place.data(), in_place.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) {
      const double terms = static_cast<double>(k) + 4, bound = unit * terms * terms + 1e-7 * rounding,
                   sum = expected[i] + static_cast<double>(residual[i]);
      ASSERT_NEAR(static_cast<double>(y[i]), expected[i], bound + rounding * std::fabs(expected[i])) << c.what << ", at " << i;
      ASSERT_NEAR(static_cast<double>(in_place[i]), sum, bound + rounding * std::fabs(sum)) << c.what << ", in place, at " << i;
    }
  }
}

TEST_P(ConvTest, double_in_double) { check_type<double>(0x1p-53, 0); }
TEST_P(ConvTest, halves_are_rounded_once) {
  check_type<Float16>(0x1p-24, 0x1p-11);
  check_type<BFloat16>(0x1p-24, 0x1p-8);
}

RH_EVERY_ISA(ConvTest);

TEST(ConvReference, one_value_by_hand) {
  Window w;
  w.input[2] = 3;
  w.kernel[2] = 2;
  w.output[2] = 4;
  w.pad_begin[2] = 1;
  const float x[] = {1, 2, 3}, weights[] = {10, 100}, bias[] = {0.5f};
  float y[4];
  conv_reference<float>({1, 1, 1}, w, 1, x, weights, bias, y, {});
  EXPECT_EQ(y[0], 100.5f);
  EXPECT_EQ(y[1], 210.5f);
  EXPECT_EQ(y[2], 320.5f);
  EXPECT_EQ(y[3], 30.5f);
}

}  // namespace
}  // namespace rh::compute
