// Winograd's F(2x2, 3x3) with products by AMX tiles.
#include <algorithm>
#include <cmath>
#include <limits>

#include "amx/support.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv.h"
#include "compute/conv_cases.h"
#include "compute/gemm/gemm_split.h"
#include "compute/scratch.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

constexpr std::string_view kName = "winograd_amx";

class WinogradAmx : public test::AmxTest {};

constexpr ConvCase plane(const char* what, ConvChannels channels, int64_t batch, int64_t height, int64_t width, int64_t pad = 1) {
  return {what, channels, batch, {1, height, width}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, pad, pad}, {0, pad, pad}};
}

const ConvCase kCases[] = {
    plane("one output", {16, 16, 1}, 1, 3, 3, 0),
    plane("one row of tiles, most of a tile padding", {17, 19, 1}, 2, 1, 9),
    plane("one panel and a tile more", {33, 33, 1}, 1, 12, 11),
    plane("whole panels, steps and chunks", {64, 64, 1}, 1, 16, 16),
    plane("more than one block of channels", {300, 41, 1}, 1, 9, 10),
    plane("groups", {66, 70, 2}, 2, 7, 8),
    plane("strips of two vectors and of three", {16, 18, 1}, 1, 5, 165),
    plane("several groups of panels", {16, 16, 1}, 1, 41, 40),
    plane("several groups of panels of many channels", {272, 32, 1}, 1, 34, 32),
    plane("no padding", {20, 35, 1}, 1, 13, 18, 0),
    {"padding at one side", {16, 33, 1}, 1, {1, 9, 41}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 2, 0}, {0, 0, 3}},
    {"padding beyond the taps", {16, 16, 1}, 1, {1, 5, 6}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 4, 5}, {0, 3, 4}},
    {"input not read to its end", {16, 16, 1}, 1, {1, 12, 13}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, -2, -1}, {0, -1, -3}},
    {"three dimensions", {9, 33, 1}, 2, {5, 9, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"strided and dilated in depth, groups", {24, 34, 2}, 1, {9, 6, 11}, {3, 3, 3}, {2, 1, 1}, {2, 1, 1}, {3, 1, 2}, {0, 1, 1}},
};

int64_t sum_of(const ConvCase& c) { return c.channels.in / c.channels.groups * c.kernel[0] * c.kernel[1] * c.kernel[2]; }

/// A case with its data, and what comes out in float64 with the sums of absolute terms.
struct ConvData {
  explicit ConvData(const ConvCase& c)
      : window(window_of(c)),
        x(random_values(c.batch * c.channels.in * window.input_size(), 1)),
        weights(random_values(c.channels.out * sum_of(c), 2)),
        bias(random_values(c.channels.out, 3)),
        residual(random_values(c.batch * c.channels.out * window.output_size(), 4)) {}

  std::vector<double> sums(const ConvCase& c, bool absolute) const {
    const auto wide = [absolute](const std::vector<float>& values) {
      std::vector<double> list = widened(values);
      for (double& v : list) v = absolute ? std::fabs(v) : v;
      return list;
    };
    std::vector<double> y(residual.size());
    conv_reference<double>(c.channels, window, c.batch, wide(x).data(), wide(weights).data(), wide(bias).data(), y.data(), {});
    return y;
  }
  Convolution<float> convolution(const ConvCase& c, std::string_view variant = kName, const Activation& activation = {}) const {
    Convolution<float> conv(c.channels, window, weights.data(), bias.data(), activation, variant);
    EXPECT_EQ(conv.variant(), variant) << c.what;
    return conv;
  }
  std::vector<float> run(const ConvCase& c, const Convolution<float>& conv, const Parallel& parallel = {}) const {
    std::vector<float> y(residual.size(), 99.0f);
    conv.run(window, c.batch, x.data(), nullptr, y.data(), parallel);
    return y;
  }

  Window window;
  std::vector<float> x, weights, bias, residual;
};

void expect_same(const std::vector<float>& found, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isfinite(expected[i])) {
      ASSERT_NEAR(found[i], expected[i], 1e-5 * std::max(1.0f, std::fabs(expected[i]))) << what << ", output " << i;
    } else {
      ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(found[i]) : found[i] == expected[i])
          << what << ", output " << i << ": " << found[i] << ", expected " << expected[i];
    }
  }
}

/// `others`: with a residual and the like too.
void check_within_bound(const ConvCase& c, bool others) {
  const ConvData data(c);
  const std::vector<double> expected = data.sums(c, false), magnitude = data.sums(c, true);
  const double unit = 0x1p-24 * static_cast<double>(sum_of(c) + 4);
  const Convolution<float> conv = data.convolution(c);
  const std::vector<float> y = data.run(c, conv, three_threads());
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], unit * magnitude[i]) << c.what << ", at " << i;
  if (!others) return;
  ASSERT_EQ(y, data.run(c, conv)) << c.what << ": the bits depend on the number of threads";
  std::vector<float> with_residual(y.size(), 99.0f), in_place = data.residual, added(y.size(), 99.0f);
  conv.run(data.window, c.batch, data.x.data(), data.residual.data(), with_residual.data(), three_threads());
  conv.run(data.window, c.batch, data.x.data(), in_place.data(), in_place.data(), {});
  conv.run(data.window, c.batch, data.x.data(), nullptr, added.data(), three_threads(), {}, data.residual.data());
  for (size_t i = 0; i < y.size(); ++i) {
    const double sum = expected[i] + static_cast<double>(data.residual[i]);
    ASSERT_NEAR(with_residual[i], sum, unit * (magnitude[i] + 1)) << c.what << ", with a residual, at " << i;
    ASSERT_EQ(in_place[i], with_residual[i]) << c.what << ", in place, at " << i;
    ASSERT_EQ(added[i], y[i] + data.residual[i]) << c.what << ", with a sum behind the activation, at " << i;
  }
}

TEST_F(WinogradAmx, within_the_bound_of_a_float_sum) {
  for (const ConvCase& c : kCases) {
    const int64_t before = emulator_->instructions();
    check_within_bound(c, true);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(test::AmxEmulator::native() || emulator_->instructions() > before) << c.what;
  }
}

/// All that plain convolution is tested with.
TEST_F(WinogradAmx, convolutions_of_every_kind_within_the_bound_of_a_float_sum) {
  int found = 0;
  for (const ConvCase& c : kConvCases) {
    if (std::ranges::count(Convolution<float>::variants(c.channels, window_of(c)), kName) == 0) continue;
    check_within_bound(c, false);
    if (HasFatalFailure()) return;
    ++found;
  }
  EXPECT_GE(found, 5);
}

double root_mean_square_error(const std::vector<float>& y, const std::vector<double>& expected) {
  double squares = 0;
  for (size_t i = 0; i < y.size(); ++i) squares += (y[i] - expected[i]) * (y[i] - expected[i]);
  return std::sqrt(squares / static_cast<double>(y.size()));
}

/// The bound above leaves room for one of the six products to be left out; this does not.
TEST_F(WinogradAmx, errors_are_no_larger_than_those_of_multiply_add) {
  for (const ConvCase& c : {plane("16 channels", {16, 32, 1}, 1, 20, 20), plane("64 channels", {64, 32, 1}, 1, 16, 16),
                            plane("300 channels", {300, 32, 1}, 1, 12, 12)}) {
    const ConvData data(c);
    const std::vector<double> expected = data.sums(c, false);
    const double tiles = root_mean_square_error(data.run(c, data.convolution(c)), expected);
    const double plain = root_mean_square_error(data.run(c, data.convolution(c, "winograd")), expected);
    EXPECT_LE(tiles, 1.1 * plain) << c.what;
  }
}

TEST_F(WinogradAmx, a_product_that_is_wrong_shows) {
  if (test::AmxEmulator::native()) GTEST_SKIP() << "the processor's own tiles make no mistakes";
  const ConvCase c = plane("two chunks", {20, 40, 1}, 1, 10, 10);
  const ConvData data(c);
  const Convolution<float> conv = data.convolution(c);
  const std::vector<float> right = data.run(c, conv);
  emulator_->fail_products(true);
  const std::vector<float> wrong = data.run(c, conv);
  emulator_->fail_products(false);
  EXPECT_NE(wrong, right);
  EXPECT_EQ(data.run(c, conv), right);
}

TEST_F(WinogradAmx, activations_come_last) {
  const ConvCase c = plane("two images", {40, 37, 1}, 2, 9, 14);
  const ConvData data(c);
  const std::vector<float> plain = data.run(c, data.convolution(c)), slopes = random_values(c.channels.out, 6);
  const int64_t outputs = data.window.output_size();
  for (const Activation& activation :
       {Activation{ActivationKind::relu}, Activation{ActivationKind::clip, -0.5f, 0.75f}, Activation{ActivationKind::hard_swish},
        Activation{.kind = ActivationKind::prelu, .slopes = slopes.data()}}) {
    const std::vector<float> y = data.run(c, data.convolution(c, kName, activation), three_threads());
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t channel = static_cast<int64_t>(i) / outputs % c.channels.out;
      ASSERT_NEAR(y[i], activated(activation.of_channel(channel), plain[i]), 1e-5) << static_cast<int>(activation.kind) << ", at " << i;
    }
  }
}

TEST_F(WinogradAmx, planes_of_other_sizes) {
  const ConvCase made = plane("made for", {40, 34, 1}, 2, 28, 28);
  const ConvData data(made);
  const Convolution<float> conv = data.convolution(made);
  for (const auto& [height, width] : {std::pair{1, 1}, std::pair{2, 9}, std::pair{13, 41}, std::pair{70, 33}}) {
    const ConvCase c = plane("other", made.channels, 2, height, width);
    const ConvData other(c);
    expect_same(other.run(c, conv, three_threads()), other.run(c, other.convolution(c, "gemm")), std::to_string(height));
    if (HasFatalFailure()) return;
  }
}

TEST_F(WinogradAmx, what_scratch_memory_holds_does_not_matter) {
  const ConvCase c = plane("ragged", {35, 40, 1}, 1, 11, 12);
  const ConvData data(c);
  const Convolution<float> conv = data.convolution(c);
  const int64_t start = emulator_->instructions();
  const std::vector<float> y = data.run(c, conv);
  const int64_t taken = emulator_->instructions() - start;
  for (const ScratchSlot slot : {ScratchSlot::packed_right, ScratchSlot::packed_left, ScratchSlot::split})
    std::fill_n(scratch_floats(slot, 100000), 100000, NAN);
  EXPECT_EQ(data.run(c, conv), y);
  EXPECT_EQ(emulator_->instructions() - start, 2 * taken) << "what lies behind the last tile keeps products from the tiles";
}

/// Sums of inputs, as Winograd's, would turn an infinity into NaN, and overflow early: such planes must be as the definition says. What is
/// left of the split weights then makes the sums.
TEST_F(WinogradAmx, infinities_and_huge_values_go_where_they_should) {
  for (const ConvCase& c : {plane("one block", {16, 35, 1}, 1, 8, 43), plane("two blocks", {280, 17, 1}, 1, 6, 9)}) {
    ConvData data(c);
    std::ranges::fill(data.weights, 0x1p-9f);
    const int64_t size = data.window.input_size();
    const Convolution<float> conv = data.convolution(c);
    const std::vector<float> usual = data.x;
    for (const float value : {INFINITY, -INFINITY, NAN, 0x1.8p127f}) {
      for (const int64_t at : {int64_t{0}, size / 2 + 3, size - 1}) {
        data.x = usual;
        data.x[static_cast<size_t>(3 * size + at)] = value;
        data.x[static_cast<size_t>(7 * size + at)] = value;
        std::vector<float> expected(data.residual.size());
        conv_reference<float>(c.channels, data.window, 1, data.x.data(), data.weights.data(), data.bias.data(), expected.data(), {});
        const std::vector<float> y = data.run(c, conv, three_threads());
        expect_same(y, expected, std::string(c.what) + ", " + std::to_string(value) + " at " + std::to_string(at));
        expect_same(data.run(c, conv), y, "one thread");
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Transformed inputs of the first tile overflow: its sums are made of weights that come back out of their split form, to the bit.
TEST_F(WinogradAmx, weights_come_back_for_tiles_that_are_not_finite) {
  const ConvCase c = plane("odd rows", {300, 37, 1}, 1, 6, 7);
  for (const float scale : {0x1p-3f, 0x1p-90f, 0x1p-115f}) {  // the last are kept as they are
    ConvData data(c);
    data.x[0] = data.x[1] = 0x1.8p127f;
    data.x[7] = data.x[8] = -0x1.8p127f;
    for (float& weight : data.weights) weight *= scale;
    const std::vector<double> expected = data.sums(c, false);
    const std::vector<float> y = data.run(c, data.convolution(c)), plain = data.run(c, data.convolution(c, "winograd"));
    for (size_t channel = 0; channel < 37; ++channel) {
      for (const size_t output : {0, 1, 7, 8}) {
        const size_t i = channel * 42 + output;
        ASSERT_EQ(y[i], plain[i]) << scale << ", at " << i;
        ASSERT_NEAR(y[i], expected[i], 0x1p-20 * (0x1p127 * static_cast<double>(scale) + 1)) << scale << ", at " << i;
      }
    }
  }
}

TEST_F(WinogradAmx, each_value_of_split_rows_is_as_it_was) {
  const int64_t k = 300;
  for (const int64_t rows : {1, 2, 17, 31, 32}) {
    for (const float scale : {1.0f, 0x1p-120f}) {  // the latter is kept as it is
      std::vector<float> values = random_values(rows * k, 9);
      for (float& value : values) value *= scale;
      const std::shared_ptr<char[]> split = aligned_array<char>(split_bytes(k));
      split_rows(values.data(), rows, k, split.get());
      for (int64_t i = 0; i < rows * k; ++i)
        ASSERT_EQ(split_row_value(split.get(), rows, k, i / k, i % k), values[static_cast<size_t>(i)]) << rows << " rows, " << i;
    }
  }
}

/// Where magnitudes would lose parts, products are made by multiply-add: of the blocks that it concerns alone.
TEST_F(WinogradAmx, values_out_of_range_as_by_multiply_add) {
  const ConvCase c = plane("two blocks, two chunks", {280, 40, 1}, 1, 9, 10);
  const ConvData usual(c);
  const std::vector<float> plain = usual.run(c, usual.convolution(c));
  const Convolution<float> made = usual.convolution(c);
  int64_t start = emulator_->instructions();
  usual.run(c, made);
  const int64_t all = emulator_->instructions() - start;
  for (const float value : {0x1p-120f, 1e-40f, 0x1p100f}) {
    for (const bool in_weights : {false, true}) {
      ConvData data(c);
      std::vector<float>& list = in_weights ? data.weights : data.x;
      const size_t count = in_weights ? 9 : static_cast<size_t>(data.window.input_size());
      for (size_t i = 0; i < count; ++i) list[i] *= value;  // one channel of one filter, or one channel
      const Convolution<float> conv = data.convolution(c);
      start = emulator_->instructions();
      const std::vector<float> y = data.run(c, conv, three_threads());
      if (!test::AmxEmulator::native() && value < 1) {
        EXPECT_LT(emulator_->instructions() - start, all) << value;
        EXPECT_GT(emulator_->instructions() - start, all / 8) << value;
      }
      const std::vector<double> expected = data.sums(c, false), magnitude = data.sums(c, true);
      const double unit = 0x1p-24 * static_cast<double>(sum_of(c) + 4);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], unit * magnitude[i]) << value << ", at " << i;
    }
  }
  EXPECT_EQ(usual.run(c, made), plain);
}

TEST_F(WinogradAmx, huge_weights_are_not_summed) {
  const ConvCase c = plane("huge", {16, 32, 1}, 1, 8, 8);
  ConvData data(c);
  data.weights[40] = 0x1.8p127f;
  EXPECT_NE(Convolution<float>(c.channels, data.window, data.weights.data(), nullptr, {}, kName).variant(), kName);
}

bool offers(const ConvCase& c, ConvAccuracy accuracy = ConvAccuracy::usual, bool lean = false) {
  return std::ranges::count(Convolution<float>::variants(c.channels, window_of(c), accuracy, lean), kName) == 1;
}

TEST_F(WinogradAmx, is_offered_where_it_can_compute) {
  const ConvCase usual = plane("usual", {64, 64, 1}, 1, 28, 28);
  EXPECT_TRUE(offers(usual));
  EXPECT_TRUE(offers(usual, ConvAccuracy::strict));
  EXPECT_FALSE(offers(usual, ConvAccuracy::usual, true)) << "its weights take more memory than the model's";
  ConvCase strided = usual, dilated = usual, larger = usual, row = usual;
  strided.stride[2] = 2;
  dilated.dilation[1] = 2;
  larger.kernel[2] = 5;
  row.kernel[1] = 1;
  for (const ConvCase& c : {strided, dilated, larger, row, plane("few inputs", {15, 64, 1}, 1, 28, 28),
                            plane("few outputs", {64, 15, 1}, 1, 28, 28), plane("small groups", {64, 64, 8}, 1, 28, 28)})
    EXPECT_FALSE(offers(c)) << c.what;
  EXPECT_EQ(std::ranges::count(Convolution<double>::variants(usual.channels, window_of(usual)), kName), 0);
}

TEST_F(WinogradAmx, is_chosen_where_it_is_to_pay_by_a_tenth) {
  const struct {
    ConvCase c;
    bool chosen;
  } rows[] = {
      {plane("many channels, large planes", {256, 256, 1}, 1, 64, 64), true},
      {plane("many more channels", {512, 512, 1}, 1, 56, 56), true},
      {plane("few products a sum", {64, 64, 1}, 1, 56, 56), false},
      {plane("small planes, whose panels are not full", {512, 512, 1}, 1, 14, 14), false},
      {plane("a few tiles", {512, 512, 1}, 1, 7, 7), false},
  };
  const auto chosen = [](const ConvCase& c, const ConvData& data) {
    return std::string(Convolution<float>(c.channels, data.window, data.weights.data(), nullptr, {}).variant());
  };
  for (const auto& row : rows) {
    const ConvData data(row.c);
    EXPECT_EQ(chosen(row.c, data) == kName, row.chosen) << row.c.what << ": " << chosen(row.c, data);
    if (!row.chosen) continue;
    {
      const ScopedAmxStatus refused({false, "for a test"});
      EXPECT_NE(chosen(row.c, data), kName);
      EXPECT_FALSE(offers(row.c));
      EXPECT_NE(Convolution<float>(row.c.channels, data.window, data.weights.data(), nullptr, {}, kName).variant(), kName);
    }
    const ScopedCpuFeatures lower(lowered(cpu_features(), "avx512"));
    EXPECT_NE(chosen(row.c, data), kName);
    EXPECT_FALSE(offers(row.c));
  }
}

TEST_F(WinogradAmx, split_weights_are_shared) {
  const ConvCase c = plane("shared", {64, 64, 1}, 1, 28, 28);
  const ConvData data(c);
  const Convolution<float> first = data.convolution(c);
  const SharedBytes before = shared_bytes();
  const Convolution<float> second = data.convolution(c);
  EXPECT_EQ(shared_bytes().bytes, before.bytes);
  EXPECT_GT(shared_bytes().found, before.found);
  EXPECT_EQ(second.weight_bytes(), first.weight_bytes());
  const size_t split = 16 * 64 * 64 * 6;
  EXPECT_GE(first.weight_bytes(), split);
  EXPECT_LE(first.weight_bytes(), split + 2 * 16 * 64);
}

}  // namespace
}  // namespace rh::compute
