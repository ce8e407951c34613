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

void check(const Case& c, bool x_signed, bool w_signed, int w_zeros) {
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
  const std::vector<uint8_t> weights = bytes(c.channels.out * c.channels.in / c.channels.groups * w.kernel_size(), 2);
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
  for (const Case& c : kCases) {
    for (const bool x_signed : {false, true}) {
      for (const bool w_signed : {false, true}) {
        for (const int w_zeros : {0, 1, 2}) check(c, x_signed, w_signed, w_zeros);  // none, one, one a channel
      }
    }
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
