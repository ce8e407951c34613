#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "compute/conv/conv.h"
#include "compute/conv_cases.h"
#include "compute/support.h"
#include "tensor/float_types.h"

namespace rh::compute {
namespace {

/// A transposed convolution is the gradient of a convolution: <conv(u), v> = <u, conv_transpose(v)>.
TEST(ConvTransposeReference, is_the_adjoint_of_the_convolution) {
  for (const ConvCase& c : test::swept(kConvCases)) {
    const Window forward = window_of(c);
    Window backward = forward;
    for (int d = 0; d < 3; ++d) std::swap(backward.input[d], backward.output[d]);
    const ConvChannels swapped{c.channels.out, c.channels.in, c.channels.groups};
    const auto u = random_values<double>(c.batch * c.channels.in * forward.input_size(), 1);
    const auto v = random_values<double>(c.batch * c.channels.out * forward.output_size(), 2);
    const auto weights = random_values<double>(c.channels.out * c.channels.in / c.channels.groups * forward.kernel_size(), 3);
    std::vector<double> conv_u(v.size()), transposed_v(u.size());
    conv_reference<double>(c.channels, forward, c.batch, u.data(), weights.data(), nullptr, conv_u.data(), {});
    conv_transpose_reference<double>(swapped, backward, c.batch, v.data(), weights.data(), nullptr, transposed_v.data(), {});
    double left = 0, right = 0;
    for (size_t i = 0; i < v.size(); ++i) left += conv_u[i] * v[i];
    for (size_t i = 0; i < u.size(); ++i) right += u[i] * transposed_v[i];
    EXPECT_NEAR(left, right, 1e-9 * (1 + std::fabs(left))) << c.what;
  }
}

class TransposedConvTest : public EveryIsa {};
RH_EVERY_ISA(TransposedConvTest);

/// Against float64, on the geometry of every convolution (or every `step`th) turned round, and with outputs that no input reaches.
template <typename T>
void check_transposed(double unit, double rounding, std::string_view variant = {}, int64_t step = 1) {
  for (const ConvCase& c : test::swept(kConvCases)) {
    if ((&c - kConvCases) % step != 0) continue;
    for (const int64_t extra : {0, 2}) {
      Window w = window_of(c);
      for (int d = 0; d < 3; ++d) std::swap(w.input[d], w.output[d]);
      for (int d = 0; d < 3; ++d) w.output[d] += w.kernel[d] > 1 ? extra : 0;
      const ConvChannels channels{c.channels.out, c.channels.in, c.channels.groups};
      const auto x = random_values<T>(c.batch * channels.in * w.input_size(), 1), bias = random_values<T>(channels.out, 3);
      const auto weights = random_values<T>(channels.in * channels.out / channels.groups * w.kernel_size(), 2);
      static std::map<std::pair<const ConvCase*, int64_t>, std::vector<double>> made;
      const std::vector<double>& expected = made_once(made, c, extra, [&] {
        std::vector<double> sums(static_cast<size_t>(c.batch * channels.out * w.output_size()));
        conv_transpose_reference<double>(channels, w, c.batch, widened(x).data(), widened(weights).data(), widened(bias).data(),
                                         sums.data(), {});
        return sums;
      });
      const TransposedConvolution<T> conv(channels, w, weights.data(), bias.data(), false, variant);
      std::vector<T> y(expected.size(), T(99.0f)), serial = y;
      conv.run(w, c.batch, x.data(), y.data(), three_threads());
      conv.run(w, c.batch, x.data(), serial.data(), {});
      ASSERT_EQ(widened(y), widened(serial)) << c.what << ": the bits depend on the number of threads";
      const double terms = static_cast<double>(channels.in * w.kernel_size()) / static_cast<double>(channels.groups) + 4;
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(y[i]), expected[i], unit * terms * terms + rounding * (std::fabs(expected[i]) + 1e-7))
            << c.what << " and " << extra << " more, at " << i;
      }
    }
  }
}

TEST_P(TransposedConvTest, within_the_bound_of_the_sum) {
  check_transposed<float>(0x1p-24, 0);
  check_transposed<float>(0x1p-24, 0, "phases");
  check_transposed<float>(0x1p-24, 0, "sums");
  check_transposed<double>(0x1p-53, 0);
  check_transposed<Float16>(0x1p-24, 0x1p-11, {}, 3);  // the kernels of floats: what differs is how values are read and written
  check_transposed<BFloat16>(0x1p-24, 0x1p-8, {}, 3);
}

/// Each is applied to what is made without it, outputs that no input reaches among them.
template <typename T>
void check_activated(const Activation& activation, double rounding, std::string_view variant = {}) {
  constexpr int64_t kStep = 4;
  for (const ConvCase& c : test::swept(kConvCases)) {
    if ((&c - kConvCases) % kStep != 0) continue;
    Window w = window_of(c);
    for (int d = 0; d < 3; ++d) std::swap(w.input[d], w.output[d]);
    for (int d = 0; d < 3; ++d) w.output[d] += w.kernel[d] > 1 ? 2 : 0;
    const ConvChannels channels{c.channels.out, c.channels.in, c.channels.groups};
    const auto x = random_values<T>(c.batch * channels.in * w.input_size(), 1), bias = random_values<T>(channels.out, 3);
    const auto weights = random_values<T>(channels.in * channels.out / channels.groups * w.kernel_size(), 2);
    const auto slopes = random_values<float>(channels.out, 4);
    Activation own = activation;
    own.slopes = slopes.data();
    const int64_t size = w.output_size();
    std::vector<T> y(static_cast<size_t>(c.batch * channels.out * size)), without = y;
    TransposedConvolution<T>(channels, w, weights.data(), bias.data(), false, variant).run(w, c.batch, x.data(), without.data(), {});
    const TransposedConvolution<T> conv(channels, w, weights.data(), bias.data(), false, variant, own);
    conv.run(w, c.batch, x.data(), y.data(), three_threads());
    for (size_t i = 0; i < y.size(); ++i) {
      const Activation of_channel = own.of_channel(static_cast<int64_t>(i) / size % channels.out);
      const double expected = activated(of_channel, static_cast<double>(without[i]));
      ASSERT_NEAR(static_cast<double>(y[i]), expected, rounding * (std::fabs(static_cast<double>(without[i])) + 1))
          << c.what << ", at " << i;
    }
  }
}

TEST_P(TransposedConvTest, an_activation_follows_every_output) {
  const Activation kinds[] = {{ActivationKind::relu},    {ActivationKind::clip, -0.5f, 0.25f}, {ActivationKind::leaky_relu, 0.25f},
                              {ActivationKind::sigmoid}, {ActivationKind::silu, 1.0f},         {ActivationKind::prelu}};
  for (const Activation& activation : kinds) check_activated<float>(activation, 0x1p-21);
  for (const char* way : {"phases", "sums"}) {
    check_activated<float>(kinds[1], 0x1p-21, way);
    check_activated<float>(kinds[5], 0x1p-21, way);
  }
  check_activated<double>(kinds[3], 0x1p-50);
  check_activated<double>(kinds[5], 0x1p-50);
  check_activated<Float16>(kinds[5], 0x1p-9);
  check_activated<BFloat16>(kinds[4], 0x1p-6);
}

}  // namespace
}  // namespace rh::compute
