#include "compute/quant/int8_conv.h"

#include <cstring>

#include "base/error.h"
#include "base/shared_bytes.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

struct Case {
  ConvChannels channels;
  int64_t size[3];
  int64_t kernel[3];
  int64_t stride = 1, dilation = 1, pad = 0, batch = 1;
};

const Case kCases[] = {
    {{3, 5, 1}, {1, 9, 11}, {1, 3, 3}, 1, 1, 1},
    {{16, 40, 1}, {1, 20, 20}, {1, 1, 1}},
    {{16, 33, 1}, {1, 17, 19}, {1, 1, 1}, 2, 1, 0, 2},
    {{6, 8, 2}, {1, 30, 33}, {1, 3, 3}, 2, 1, 1, 3},
    {{4, 6, 1}, {1, 13, 40}, {1, 3, 5}, 3, 2, 4},
    {{7, 7, 7}, {1, 21, 40}, {1, 3, 3}, 1, 1, 1, 2},
    {{5, 10, 5}, {1, 12, 13}, {1, 5, 5}, 2, 2, 3},
    {{3, 4, 1}, {5, 6, 7}, {2, 3, 3}, 2, 1, 1},
    {{8, 4, 1}, {1, 1, 300}, {1, 1, 7}, 1, 1, 3},
    {{8, 36, 2}, {1, 9, 8}, {1, 3, 3}, 1, 1, 1},
    {{8, 70, 1}, {1, 14, 14}, {1, 2, 2}},
    {{8, 24, 2}, {1, 15, 16}, {1, 1, 1}, 2},
    {{1, 6, 1}, {1, 12, 12}, {1, 5, 5}, 1, 1, 2},
    {{24, 5, 1}, {1, 40, 40}, {1, 3, 3}, 1, 1, 1},
    {{20, 8, 1}, {1, 1, 1500}, {1, 1, 9}, 2, 1, 4},
    {{16, 140, 1}, {1, 7, 7}, {1, 3, 3}, 1, 2, 2},
    {{4, 6, 1}, {6, 9, 8}, {3, 3, 3}, 1, 2, 2},
};

class Int8ConvTest : public EveryIsa {};

/// [batch, pixels, channels] from [batch, channels, pixels].
template <typename T>
std::vector<T> channels_swapped(const std::vector<T>& x, int64_t batch, int64_t channels, int64_t pixels) {
  std::vector<T> y;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < channels; ++c) y.push_back(x[static_cast<size_t>((b * channels + c) * pixels + p)]);
    }
  }
  return y;
}

/// Small numbers but for a few extremes.
std::vector<uint8_t> small_weights(int64_t count, bool is_signed) {
  std::vector<uint8_t> values = random_values<uint8_t>(count, 2, 0, 100);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 401 < 2 ? 0x80 : i % 401 < 4 ? 0x7f : static_cast<uint8_t>(values[i] - 50);
    if (!is_signed) values[i] ^= 0x80;
  }
  return values;
}

void check(const Case& c, bool x_signed, bool w_signed, int w_zeros, bool small = false) {
  SCOPED_TRACE(testing::Message() << c.channels.in << "->" << c.channels.out << " groups " << c.channels.groups << " kernel " << c.kernel[1]
                                  << "x" << c.kernel[2] << " stride " << c.stride << " signed " << x_signed << w_signed << " zero points "
                                  << w_zeros);
  Window w;
  for (int d = 0; d < 3; ++d) {
    const bool used = c.size[d] > 1;
    w.input[d] = c.size[d];
    w.kernel[d] = c.kernel[d];
    w.stride[d] = used ? c.stride : 1;
    w.dilation[d] = used ? c.dilation : 1;
    w.pad_begin[d] = used ? c.pad : 0;
    w.output[d] = (w.input[d] + 2 * w.pad_begin[d] - (w.kernel[d] - 1) * w.dilation[d] - 1) / w.stride[d] + 1;
  }
  const auto bytes = [](int64_t count, uint32_t seed) {
    std::vector<uint8_t> values = random_values<uint8_t>(count, seed, 0, 256);
    for (size_t i = 0; i < values.size(); i += 3) values[i] = i % 2 ? 0xff : 0x80;
    return values;
  };
  const std::vector<uint8_t> x = bytes(c.batch * c.channels.in * w.input_size(), 1);
  const int64_t weight_count = c.channels.out * c.channels.in / c.channels.groups * w.kernel_size();
  const std::vector<uint8_t> weights = small ? small_weights(weight_count, w_signed) : bytes(weight_count, 2);
  const std::vector<int32_t> zeros = random_values<int32_t>(c.channels.out, 3, w_signed ? -128 : 0, w_signed ? 127 : 255);
  const std::vector<int32_t> bias = random_values<int32_t>(c.channels.out, 4, -1e9, 1e9);
  const ZeroPoints w_zero{w_zeros ? zeros.data() : nullptr, w_zeros > 1};
  const int32_t x_zero = x_signed ? -7 : 130;
  const Int8Matrix image{x.data(), x_signed}, filters{weights.data(), w_signed};
  const int64_t pixels = w.output_size();
  std::vector<int32_t> expected(static_cast<size_t>(c.batch * c.channels.out * pixels)), found(expected.size(), 77);
  int8_conv_reference(c.channels, w, c.batch, image, x_zero, filters, w_zero, bias.data(), expected.data());
  const Int8Convolution kept(c.channels, w, filters, w_zero, bias.data());
  const std::shared_ptr<void> memory = packing_memory(Int8Convolution::memory_bytes(c.channels, w));
  const Int8Convolution of_run(c.channels, w, filters, w_zero, bias.data(), memory.get(), three_threads());
  const std::vector<float> factors = random_values(c.channels.out, 5, 1e-8, 1e-7);
  const QuantRange range = QuantRange::of<uint8_t>(100);
  std::vector<uint8_t> bytes_expected(expected.size()), bytes_found(expected.size());
  for (int64_t i = 0; i < c.batch * c.channels.out; ++i) {
    requantize(expected.data() + i * pixels, &factors[static_cast<size_t>(i % c.channels.out)], false, range,
               bytes_expected.data() + i * pixels, pixels);
  }
  const std::vector<uint8_t> x_last = channels_swapped(x, c.batch, c.channels.in, w.input_size());
  for (const bool x_channels_last : {false, true}) {
    const Int8Image source{{x_channels_last ? x_last.data() : x.data(), x_signed}, x_zero, x_channels_last};
    for (const bool y_channels_last : {false, true}) {
      SCOPED_TRACE(testing::Message() << "channels last " << x_channels_last << y_channels_last);
      for (const Parallel& parallel : {Parallel(), x_signed == w_signed ? three_threads() : Parallel()}) {
        std::fill(found.begin(), found.end(), 77);
        const Int8Convolution& conv = parallel.threads() > 1 ? of_run : kept;
        conv.run(w, c.batch, source, {.data = found.data(), .channels_last = y_channels_last}, parallel);
        ASSERT_EQ(found, y_channels_last ? channels_swapped(expected, c.batch, c.channels.out, pixels) : expected);
        conv.run(w, c.batch, source,
                 {.data = bytes_found.data(), .channels_last = y_channels_last, .factors = factors.data(), .range = range}, parallel);
        ASSERT_EQ(bytes_found, y_channels_last ? channels_swapped(bytes_expected, c.batch, c.channels.out, pixels) : bytes_expected);
      }
    }
  }
}

TEST_P(Int8ConvTest, SumsAreExact) {
  for (const Case& c : test::swept(kCases)) {
    for (const bool x_signed : {false, true}) {
      for (const bool w_signed : {false, true}) {
        for (const int w_zeros : {0, 1, 2}) check(c, x_signed, w_signed, w_zeros);  // none, one, one a channel
      }
    }
  }
}

TEST_P(Int8ConvTest, SumsOfSmallWeightsAreExact) {
  for (const Case& c : test::swept(kCases)) {
    for (const bool w_signed : {false, true}) check(c, !w_signed, w_signed, 1, true);
  }
}

/// A convolution of each channel by itself: sizes and strides down and across.
struct DepthwiseCase {
  int64_t channels;
  int64_t size[2], kernel[2];
  int64_t stride[2] = {1, 1}, dilation[2] = {1, 1};
  int64_t pad[2] = {0, 0}, pad_end[2] = {0, 0};
  int64_t batch = 1;
};

const DepthwiseCase kDepthwiseCases[] = {
    {64, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2},
    {70, {15, 13}, {3, 3}, {2, 2}, {1, 1}, {0, 1}, {1, 1}},
    {96, {9, 30}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {144, {11, 12}, {5, 5}, {2, 2}, {1, 1}, {1, 2}, {2, 1}},
    {40, {13, 9}, {7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}, 3},
    {24, {20, 7}, {3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}},
    {33, {12, 17}, {3, 5}, {3, 2}, {2, 1}, {4, 1}, {0, 5}},
    {64, {1, 50}, {1, 9}, {1, 1}, {1, 1}, {0, 4}, {0, 4}, 2},
    {20, {1, 333}, {1, 31}, {1, 2}, {1, 2}, {0, 30}, {0, 30}},
    {64, {6, 40}, {1, 5}, {2, 1}, {1, 1}, {0, 2}, {0, 2}},
    {17, {40, 3}, {5, 1}, {1, 1}, {1, 1}, {2, 0}, {2, 0}},
    {48, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {16, {2, 2}, {5, 5}, {1, 1}, {1, 1}, {4, 4}, {4, 4}},
    {64, {3, 700}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1}},
    {130, {8, 8}, {2, 2}, {2, 2}},
    {64, {5, 5}, {1, 1}},
    {12, {9, 9}, {4, 6}, {1, 3}, {1, 1}, {2, 3}, {1, 2}},
    {8, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {9, 9}, {9, 9}},
    {64, {4, 4}, {2, 2}, {1, 1}, {1, 20000}, {1, 20000}, {0, 20000}},
};

/// Weights are signed bytes once their zero points are taken off, or need another bit.
enum class Weights { bytes, unsigned_bytes, wide };

void check_depthwise(const DepthwiseCase& c, bool x_signed, Weights kind) {
  SCOPED_TRACE(testing::Message() << c.channels << " channels " << c.size[0] << "x" << c.size[1] << " kernel " << c.kernel[0] << "x"
                                  << c.kernel[1] << " stride " << c.stride[0] << "x" << c.stride[1] << " signed " << x_signed << " weights "
                                  << static_cast<int>(kind));
  Window w;
  for (int d = 0; d < 2; ++d) {
    w.input[d + 1] = c.size[d];
    w.kernel[d + 1] = c.kernel[d];
    w.stride[d + 1] = c.stride[d];
    w.dilation[d + 1] = c.dilation[d];
    w.pad_begin[d + 1] = c.pad[d];
    w.output[d + 1] = (c.size[d] + c.pad[d] + c.pad_end[d] - (c.kernel[d] - 1) * c.dilation[d] - 1) / c.stride[d] + 1;
  }
  const bool w_signed = kind == Weights::bytes;
  const ConvChannels channels{c.channels, c.channels, c.channels};
  const std::vector<uint8_t> x = random_values<uint8_t>(c.batch * c.channels * w.input_size(), 1, 0, 256);
  std::vector<uint8_t> weights = random_values<uint8_t>(c.channels * w.kernel_size(), 2, 0, 256);
  weights.front() = w_signed ? 0x80 : 0xff;
  std::vector<int32_t> zeros(static_cast<size_t>(c.channels), kind == Weights::unsigned_bytes ? 128 : 0);
  if (kind == Weights::wide) zeros = random_values<int32_t>(c.channels, 3, 0, 255);
  const std::vector<int32_t> bias = random_values<int32_t>(c.channels, 4, -20000, 20000);
  std::vector<float> factors = random_values(c.channels, 5, 1e-4, 2e-3);  // some results saturate
  factors.back() = 1e7f;                                                  // beyond all integers
  const int32_t x_zero = x_signed ? -7 : 130;
  const Int8Matrix image{x.data(), x_signed}, filters{weights.data(), w_signed};
  const ZeroPoints w_zero{zeros.data(), true};
  const int64_t pixels = w.output_size(), count = c.batch * c.channels * pixels;
  std::vector<int32_t> sums(static_cast<size_t>(count)), sums_found(sums.size());
  int8_conv_reference(channels, w, c.batch, image, x_zero, filters, w_zero, bias.data(), sums.data());
  const QuantRange range = x_signed ? QuantRange::of<int8_t>(-3) : QuantRange::of<uint8_t>(100);
  std::vector<uint8_t> bytes(sums.size()), bytes_found(sums.size());
  for (int64_t i = 0; i < c.batch * c.channels; ++i) {
    const float* factor = &factors[static_cast<size_t>(i % c.channels)];
    if (x_signed) {
      requantize(sums.data() + i * pixels, factor, false, range, reinterpret_cast<int8_t*>(bytes.data()) + i * pixels, pixels);
    } else {
      requantize(sums.data() + i * pixels, factor, false, range, bytes.data() + i * pixels, pixels);
    }
  }
  const Int8Convolution conv(channels, w, filters, w_zero, bias.data());
  const std::vector<uint8_t> x_last = channels_swapped(x, c.batch, c.channels, w.input_size());
  const std::vector<int32_t> sums_last = channels_swapped(sums, c.batch, c.channels, pixels);
  const std::vector<uint8_t> bytes_last = channels_swapped(bytes, c.batch, c.channels, pixels);
  for (const bool x_channels_last : {false, true}) {
    // In memory of its own exact size, whose end the sanitizers watch.
    const std::vector<uint8_t> own = x_channels_last ? x_last : x;
    const Int8Image source{{own.data(), x_signed}, x_zero, x_channels_last};
    for (const bool y_channels_last : {false, true}) {
      SCOPED_TRACE(testing::Message() << "channels last " << x_channels_last << y_channels_last);
      const Parallel parallel = x_channels_last ? three_threads() : Parallel();
      std::fill(sums_found.begin(), sums_found.end(), 77);
      conv.run(w, c.batch, source, {.data = sums_found.data(), .channels_last = y_channels_last}, parallel);
      ASSERT_EQ(sums_found, y_channels_last ? sums_last : sums);
      std::fill(bytes_found.begin(), bytes_found.end(), 77);
      conv.run(w, c.batch, source,
               {.data = bytes_found.data(), .channels_last = y_channels_last, .factors = factors.data(), .range = range}, parallel);
      ASSERT_EQ(bytes_found, y_channels_last ? bytes_last : bytes);
    }
  }
}

TEST_P(Int8ConvTest, DepthwiseSumsAreExact) {
  for (const DepthwiseCase& c : test::swept(kDepthwiseCases)) {
    for (const bool x_signed : {false, true}) {
      for (const Weights kind : {Weights::bytes, Weights::unsigned_bytes, Weights::wide}) check_depthwise(c, x_signed, kind);
    }
  }
}

TEST_P(Int8ConvTest, DepthwiseTakesAnyNumberOfChannels) {
  for (int64_t channels = 2; channels <= 140; ++channels) {
    const Weights kind = channels % 3 == 0 ? Weights::wide : Weights::bytes;
    check_depthwise({channels, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, channels % 2 == 0, kind);
    check_depthwise({channels, {5, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, channels % 2 == 1, kind);
  }
}

// An image of 8x8 between pads of a million positions would be laid out in terabytes.
TEST_P(Int8ConvTest, RefusesWindowsThatReachTooFar) {
  Window w;
  for (int d = 1; d < 3; ++d) {
    w.input[d] = w.output[d] = 8;
    w.kernel[d] = 3;
    w.dilation[d] = w.pad_begin[d] = 1 << 20;
  }
  const std::vector<uint8_t> x(4 * 64), weights(4 * 4 * 9);
  std::vector<int32_t> y(4 * 64);
  const Int8Convolution conv({4, 4, 1}, w, {weights.data()}, {}, nullptr);
  EXPECT_THROW(conv.run(w, 1, {{x.data()}}, {.data = y.data()}, {}), Error);
}

RH_EVERY_INT8_ISA(Int8ConvTest);

}  // namespace
}  // namespace rh::compute
