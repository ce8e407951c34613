#include "compute/conv/nhwc/nhwc_depthwise.h"

#include <algorithm>

#include "base/cpu_features.h"
#include "compute/conv/conv_impl.h"
#include "compute/conv/nhwc/nhwc_depthwise_micro.h"
#include "compute/elementwise/vector_math.h"

namespace rh::compute {
namespace {

constexpr int64_t kLeastChannels = 4;                    // lanes of the narrowest vectors
constexpr int64_t kRowsAtOnce = 2, kColumnsAtOnce = 56;  // columns of outputs that have one row alone; kernels take seven of them

/// Those of the widest vectors that the channels fill.
const NhwcDepthwiseKernels& kernels_for([[maybe_unused]] int64_t channels) {
#if defined(__x86_64__) || defined(_M_X64)
  const CpuFeatures& cpu = cpu_features();
  if (cpu.avx512 && channels >= kAvx512NhwcDepthwise.lanes) return kAvx512NhwcDepthwise;
  if (cpu.avx2 && channels >= kAvx2NhwcDepthwise.lanes) return kAvx2NhwcDepthwise;
#endif
  return kGenericNhwcDepthwise;
}

NhwcRows rows_of(const NhwcDepthwiseKernels& kernels, const Window& w) {
  const int64_t taps = w.kernel[2], stride = w.stride[2];
  const bool square = w.kernel[1] == taps && w.stride[1] == stride && w.dilation[1] == 1 && w.dilation[2] == 1;
  if (!square || (taps != 3 && taps != 5 && taps != 7) || stride > 2) return kernels.any;
  const NhwcRows rows = kernels.square[(taps - 3) / 2][stride - 1];
  return rows ? rows : kernels.any;
}

}  // namespace

bool NhwcDepthwise::fits(const ConvChannels& channels, const Window& window) {
  return channels.groups == channels.in && channels.in == channels.out && channels.in >= kLeastChannels && window.kernel[0] == 1 &&
         window.input[0] == 1 && window.stride[0] == 1 && window.pad_begin[0] == 0;
}

NhwcDepthwise::NhwcDepthwise(int64_t channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
    : channels_(channels), window_(window), activation_(activation), kernels_(kernels_for(channels)) {
  const int64_t taps = window.kernel_size();
  const std::shared_ptr<float[]> memory = aligned_array<float>(static_cast<size_t>(taps * channels));
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t) memory[static_cast<size_t>(t * channels + c)] = weights[c * taps + t];
  weights_ = SharedArray<float>(memory, static_cast<size_t>(taps * channels));
  bias_.assign(static_cast<size_t>(channels), 0.0f);
  if (bias) std::copy_n(bias, channels, bias_.begin());
}

void NhwcDepthwise::run(const Window& w, int64_t batch, const float* x, const float* residual, float* y, const Parallel& parallel,
                        const float* addend) const {
  const Clamp clamp(activation_);
  const NhwcRows rows = rows_of(kernels_, window_);
  const int64_t columns = w.output[1] == 1 ? std::min(kColumnsAtOnce, w.output[2]) : w.output[2];
  if (columns == 0) return;
  const int64_t row = w.output[2] * channels_, pieces = (w.output[2] + columns - 1) / columns;
  const int64_t blocks = (w.output[1] + kRowsAtOnce - 1) / kRowsAtOnce;
  const auto outputs = static_cast<double>(std::min(kRowsAtOnce, w.output[1]) * columns * channels_);
  const Cost cost{.bytes = 8 * outputs, .operations = 0.3 * outputs * static_cast<double>(window_.kernel_size())};
  parallel.for_range(batch * blocks * pieces, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t image = i / (blocks * pieces), first = i / pieces % blocks * kRowsAtOnce;
      const int64_t last = std::min(first + kRowsAtOnce, w.output[1]), column = i % pieces * columns;
      const int64_t count = std::min(columns, w.output[2] - column), at = image * w.output[1] * row + column * channels_;
      rows({.x = x + image * w.input[1] * w.input[2] * channels_,
            .height = w.input[1],
            .width = w.input[2],
            .channels = channels_,
            .pad_top = w.pad_begin[1],
            .pad_left = w.pad_begin[2] - column * window_.stride[2],
            .weights = weights_.data(),
            .taps_down = window_.kernel[1],
            .taps_across = window_.kernel[2],
            .stride_down = window_.stride[1],
            .stride_across = window_.stride[2],
            .dilation_down = window_.dilation[1],
            .dilation_across = window_.dilation[2],
            .bias = bias_.data(),
            .residual = residual ? residual + at : nullptr,
            .low = clamp.low,
            .high = clamp.high,
            .y = y + at,
            .columns = count},
           first, last);
      const int64_t begin = at + first * row;
      finish_values(clamp.activates, activation_, y + begin, (last - first) * count * channels_, addend ? addend + begin : nullptr);
    }
  });
}

}  // namespace rh::compute
