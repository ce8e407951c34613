#include "compute/conv/conv_pooled.h"

#include <cmath>
#include <limits>

#include "compute/image/pool.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

struct Axis {
  int64_t kernel, stride, pad_begin, pad_end;
  int64_t outputs(int64_t input) const { return (input + pad_begin + pad_end - kernel) / stride + 1; }
};

struct Case {
  const char* what;
  ConvChannels channels;
  int64_t batch, height, width;
  Axis conv, pool;  // of both axes
};

Window window_of(const Axis& axis, int64_t height, int64_t width) {
  Window w;
  const int64_t sizes[2] = {height, width};
  for (int i = 0; i < 2; ++i) {
    w.input[i + 1] = sizes[i];
    w.output[i + 1] = axis.outputs(sizes[i]);
    w.kernel[i + 1] = axis.kernel;
    w.stride[i + 1] = axis.stride;
    w.pad_begin[i + 1] = axis.pad_begin;
  }
  return w;
}

class PooledConvTest : public EveryIsa {};

TEST_P(PooledConvTest, gives_what_both_give_one_after_the_other) {
  const Case cases[] = {
      {"several bands", {3, 64, 1}, 1, 150, 131, {3, 2, 0, 0}, {3, 2, 0, 0}},
      {"padded, more than a whole pool at the end", {3, 70, 1}, 2, 90, 224, {7, 2, 3, 3}, {3, 2, 1, 2}},
      {"four input rows a step", {3, 96, 1}, 1, 227, 227, {11, 4, 0, 0}, {3, 2, 0, 0}},
      {"pools that do not touch", {1, 20, 1}, 3, 100, 210, {3, 1, 1, 1}, {2, 3, 0, 0}},
      {"pools over most of each other", {2, 40, 1}, 1, 60, 200, {3, 1, 1, 1}, {5, 1, 2, 2}},
      {"single pixels", {8, 33, 1}, 1, 70, 70, {1, 1, 0, 0}, {2, 2, 0, 0}},
      {"two groups", {4, 32, 2}, 2, 64, 96, {3, 2, 1, 1}, {3, 2, 1, 1}},
      {"one row of pools", {3, 16, 1}, 1, 7, 300, {3, 2, 0, 0}, {3, 2, 0, 0}},
      {"pools beyond the end", {3, 16, 1}, 1, 31, 31, {3, 2, 0, 0}, {2, 4, 1, 5}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Window window = window_of(c.conv, c.height, c.width), pool = window_of(c.pool, window.output[1], window.output[2]);
    std::vector<float> x = random_values(c.batch * c.channels.in * window.input_size(), 3);
    x[x.size() / 3] = std::numeric_limits<float>::quiet_NaN();
    x[x.size() / 2] = std::numeric_limits<float>::infinity();
    const std::vector<float> weights = random_values(c.channels.out * c.channels.in / c.channels.groups * window.kernel_size(), 4);
    const std::vector<float> bias = random_values(c.channels.out, 5);
    const Convolution<float> convolution(c.channels, window, weights.data(), bias.data(), {ActivationKind::relu}, "gemm");
    ASSERT_TRUE(pools_in_bands(convolution));
    const int64_t planes = c.batch * c.channels.out;
    std::vector<float> whole(static_cast<size_t>(planes * window.output_size())),
        expected(static_cast<size_t>(planes * pool.output_size()));
    convolution.run(window, c.batch, x.data(), nullptr, whole.data(), {});
    max_pool<float>(pool, planes, whole.data(), expected.data(), nullptr, false, {});
    for (const Parallel& parallel : {Parallel(), three_threads()}) {
      std::vector<float> y(expected.size(), 7.0f);
      convolve_and_pool(convolution, window, c.channels, pool, c.batch, x.data(), y.data(), parallel);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_TRUE(y[i] == expected[i] || std::fabs(y[i] - expected[i]) <= 1e-5f || (std::isnan(y[i]) && std::isnan(expected[i])))
            << i << ": " << y[i] << ", expected " << expected[i];
    }
  }
}

RH_EVERY_ISA(PooledConvTest);

}  // namespace
}  // namespace rh::compute
