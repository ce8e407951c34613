#include <cmath>

#include "amx/support.h"
#include "compute/conv/conv.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

class ConvAmx : public test::AmxTest {};

struct ConvCase {
  const char* what;
  ConvChannels channels;
  int64_t batch;
  int64_t input, kernel, stride, dilation, pad;  // of planes that are as high as wide
};

const ConvCase kCases[] = {
    {"pointwise", {70, 33, 1}, 2, 9, 1, 1, 1, 0},
    {"pointwise, whole panels", {40, 64, 1}, 1, 8, 1, 1, 1, 0},
    {"pointwise, more than one block", {300, 40, 1}, 1, 6, 1, 1, 1, 0},
    {"pointwise, stride 2", {33, 40, 1}, 1, 13, 1, 2, 1, 0},
    {"one pixel", {50, 35, 1}, 2, 1, 1, 1, 1, 0},
    {"3x3, stride 2", {35, 47, 1}, 1, 15, 3, 2, 1, 1},
    {"3x3, groups", {66, 34, 2}, 2, 8, 3, 1, 1, 1},
    {"3x3, dilated beyond the plane", {40, 33, 1}, 1, 5, 3, 1, 6, 6},
    {"7x7 of few channels", {3, 40, 1}, 1, 21, 7, 2, 1, 3},
    {"more panels than at once", {16, 3, 1}, 1, 18, 1, 1, 1, 0},
};

Window window_of(const ConvCase& c) {
  Window w;
  for (int d = 1; d < 3; ++d) {
    w.input[d] = c.input;
    w.kernel[d] = c.kernel;
    w.stride[d] = c.stride;
    w.dilation[d] = c.dilation;
    w.pad_begin[d] = c.pad;
    w.output[d] = (c.input + 2 * c.pad - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
  }
  return w;
}

/// A case with its data, and what comes out in float64 with the sums of absolute terms.
struct ConvData {
  explicit ConvData(const ConvCase& c) : window(window_of(c)), k(c.channels.in / c.channels.groups * window.kernel_size()) {
    x = random_values(c.batch * c.channels.in * window.input_size(), 1);
    weights = random_values(c.channels.out * k, 2);
    bias = random_values(c.channels.out, 3);
    residual = random_values(c.batch * c.channels.out * window.output_size(), 4);
  }
  Window window;
  int64_t k;
  std::vector<float> x, weights, bias, residual;
};

std::vector<double> wide(const std::vector<float>& values, bool absolute) {
  std::vector<double> list(values.begin(), values.end());
  for (double& v : list) v = absolute ? std::fabs(v) : v;
  return list;
}

std::vector<double> reference(const ConvCase& c, const ConvData& data, bool absolute) {
  std::vector<double> y(data.residual.size());
  conv_reference<double>(c.channels, data.window, c.batch, wide(data.x, absolute).data(), wide(data.weights, absolute).data(),
                         wide(data.bias, absolute).data(), y.data(), {});
  return y;
}

Convolution<float> convolution(const ConvCase& c, const ConvData& data, const Activation& activation = {}) {
  Convolution<float> conv(c.channels, data.window, data.weights.data(), data.bias.data(), activation, "amx");
  EXPECT_EQ(conv.variant(), "amx");
  return conv;
}

TEST_F(ConvAmx, within_the_bound_of_a_float_sum) {
  for (const ConvCase& c : kCases) {
    const ConvData data(c);
    const std::vector<double> expected = reference(c, data, false), magnitude = reference(c, data, true);
    const Convolution<float> conv = convolution(c, data);
    std::vector<float> y(expected.size(), 99.0f), serial = y, with_residual = y, in_place = data.residual;
    conv.run(data.window, c.batch, data.x.data(), nullptr, y.data(), three_threads());
    conv.run(data.window, c.batch, data.x.data(), nullptr, serial.data(), {});
    ASSERT_EQ(y, serial) << c.what << ": the bits depend on the number of threads";
    conv.run(data.window, c.batch, data.x.data(), data.residual.data(), with_residual.data(), three_threads());
    conv.run(data.window, c.batch, data.x.data(), in_place.data(), in_place.data(), {});
    const double unit = 0x1p-24 * static_cast<double>(data.k + 4);
    for (size_t i = 0; i < y.size(); ++i) {
      const double sum = expected[i] + static_cast<double>(data.residual[i]);
      ASSERT_NEAR(y[i], expected[i], unit * magnitude[i]) << c.what << ", at " << i;
      ASSERT_NEAR(with_residual[i], sum, unit * (magnitude[i] + 1)) << c.what << ", with a residual, at " << i;
      ASSERT_NEAR(in_place[i], sum, unit * (magnitude[i] + 1)) << c.what << ", in place, at " << i;
    }
  }
  EXPECT_TRUE(test::AmxEmulator::native() || emulator_->instructions() > 1000);
}

TEST_F(ConvAmx, activations_come_last) {
  const ConvCase& c = kCases[2];
  const ConvData data(c);
  std::vector<float> plain(data.residual.size());
  convolution(c, data).run(data.window, c.batch, data.x.data(), nullptr, plain.data(), {});
  for (const Activation& activation : {Activation{ActivationKind::relu}, Activation{ActivationKind::hard_swish}}) {
    std::vector<float> y(plain.size());
    convolution(c, data, activation).run(data.window, c.batch, data.x.data(), nullptr, y.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], activated(activation, plain[i]), 1e-5) << i;
  }
}

TEST_F(ConvAmx, parts_of_paired_convolutions_may_be_worked_out_by_tiles) {
  const ConvCase c = {"parts of 14x14 pixels", {256, 128, 1}, 1, 28, 3, 1, 14, 14};
  const ConvData data(c);
  const Window part = window_of({"a part", c.channels, 1, 14, 1, 1, 1, 0});
  ASSERT_EQ(Convolution<float>(c.channels, part, data.weights.data(), nullptr, {}).variant(), "amx");
  const std::vector<double> expected = reference(c, data, false), magnitude = reference(c, data, true);
  std::vector<float> y(expected.size());
  Convolution<float>(c.channels, data.window, data.weights.data(), data.bias.data(), {}, "paired")
      .run(data.window, c.batch, data.x.data(), nullptr, y.data(), three_threads());
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-6 * magnitude[i]) << i;
}

TEST_F(ConvAmx, values_out_of_range_as_by_multiply_add) {
  for (const float value : {NAN, INFINITY, -INFINITY, std::numeric_limits<float>::max(), 0x1p60f, 0x1p-80f, 1e-40f}) {
    for (const bool in_weights : {false, true}) {
      const ConvCase c = kCases[2];
      ConvData data(c);
      (in_weights ? data.weights : data.x)[3] = value;
      (in_weights ? data.weights : data.x)[270] = value;
      std::vector<float> y(data.residual.size()), plain = y;
      convolution(c, data).run(data.window, c.batch, data.x.data(), nullptr, y.data(), {});
      Convolution<float>(c.channels, data.window, data.weights.data(), data.bias.data(), {}, "gemm")
          .run(data.window, c.batch, data.x.data(), nullptr, plain.data(), {});
      for (size_t i = 0; i < y.size(); ++i) {
        if (std::isfinite(plain[i])) {
          ASSERT_NEAR(y[i], plain[i], 1e-5 * std::max(10.0f, std::fabs(plain[i]))) << value << " at " << i;
        } else {
          ASSERT_TRUE(std::isnan(plain[i]) ? std::isnan(y[i]) : y[i] == plain[i]) << value << " at " << i << ": " << y[i];
        }
      }
    }
  }
}

TEST_F(ConvAmx, is_chosen_where_it_pays) {
  const struct {
    ConvCase c;
    std::string_view variant;
  } rows[] = {
      {{"pointwise", {64, 256, 1}, 1, 56, 1, 1, 1, 0}, "amx"},
      {{"stride 2", {512, 1024, 1}, 1, 28, 1, 2, 1, 0}, "amx"},
      {{"Winograd makes fewer products", {64, 64, 1}, 1, 56, 3, 1, 1, 1}, "winograd"},
      {{"few outputs", {64, 8, 1}, 1, 56, 1, 1, 1, 0}, "gemm"},
      {{"depthwise", {64, 64, 64}, 1, 56, 3, 1, 1, 1}, "depthwise"},
  };
  for (const auto& row : rows) {
    const ConvData data(row.c);
    const Convolution<float> conv(row.c.channels, data.window, data.weights.data(), nullptr, {});
    EXPECT_TRUE(conv.variant().starts_with(row.variant)) << row.c.what << ": " << conv.variant();
  }
  const ScopedCpuFeatures lower(lowered(cpu_features(), "avx512"));
  const ConvData data(rows[0].c);
  EXPECT_NE(Convolution<float>(rows[0].c.channels, data.window, data.weights.data(), nullptr, {}, "amx").variant(), "amx");
}

}  // namespace
}  // namespace rh::compute
