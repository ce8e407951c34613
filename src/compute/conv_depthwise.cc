#include <algorithm>
#include <cstring>

#include "compute/conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

/// Each plane is first copied into a padded buffer whose rows are split by column modulo the stride, so that every kernel position
/// reads contiguous floats without any bound to look at.
class Depthwise final : public Convolution::Impl {
 public:
  Depthwise(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels.in), window_(window), activation_(activation), clamp_(activation), kernels_(conv_kernels()) {
    weights_.assign(weights, weights + channels.in * window.kernel_size());
    if (bias) bias_.assign(bias, bias + channels.in);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }
  const char* variant() const override { return "depthwise"; }

  void run(const ConvCall& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const double taps = static_cast<double>(window_.kernel_size()), outputs = static_cast<double>(w.output_size());
    const Cost cost{.bytes = 8.0 * static_cast<double>(w.input_size()) + 4 * outputs, .operations = 0.3 * taps * outputs};
    const Layout layout(window_, w, kernels_.lanes);
    parallel.for_range(call.batch * channels_, cost, [&](Range planes) {
      char* memory = static_cast<char*>(thread_scratch(ScratchSlot::packed_right, layout.bytes()));
      float* padded = reinterpret_cast<float*>(memory);
      int64_t* offsets = reinterpret_cast<int64_t*>(memory + layout.floats * sizeof(float));
      layout.tap_offsets(window_, offsets);
      std::memset(padded, 0, layout.floats * sizeof(float));
      for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
        layout.copy_in(kernels_, w, call.x + plane * w.input_size(), padded);
        run_plane(call, layout, plane, padded, offsets);
      }
    });
  }

 private:
  /// The padded buffer: [depth][height][stride phases][phase width].
  struct Layout {
    int64_t depth, height, phases, phase_width, row;
    size_t floats;
    int64_t taps;

    Layout(const Window& kernel, const Window& w, int64_t lanes) : phases(kernel.stride[2]), taps(kernel.kernel_size()) {
      const auto extent = [&](int d) {
        const int64_t reached = (w.output[d] - 1) * kernel.stride[d] + (kernel.kernel[d] - 1) * kernel.dilation[d] + 1;
        return std::max(reached, w.pad_begin[d] + w.input[d]);
      };
      depth = extent(0);
      height = extent(1);
      phase_width = (extent(2) + phases - 1) / phases;
      row = phases * phase_width;
      floats = static_cast<size_t>((depth * height * row + 4 * lanes + 15) / 16 * 16);
    }
    size_t bytes() const { return floats * sizeof(float) + static_cast<size_t>(taps) * sizeof(int64_t); }

    int64_t position(int64_t d, int64_t h, int64_t column) const {
      return (d * height + h) * row + column % phases * phase_width + column / phases;
    }

    void tap_offsets(const Window& k, int64_t* offsets) const {
      for (int64_t d = 0; d < k.kernel[0]; ++d)
        for (int64_t h = 0; h < k.kernel[1]; ++h)
          for (int64_t c = 0; c < k.kernel[2]; ++c) *offsets++ = position(d * k.dilation[0], h * k.dilation[1], c * k.dilation[2]);
    }

    void copy_in(const ConvKernels& kernels, const Window& w, const float* x, float* padded) const {
      for (int64_t d = 0; d < w.input[0]; ++d) {
        if (phases == 1) {
          float* to = padded + ((d + w.pad_begin[0]) * height + w.pad_begin[1]) * row + w.pad_begin[2];
          kernels.copy_rows(x, w.input[1], w.input[2], to, row);
          x += w.input[1] * w.input[2];
          continue;
        }
        for (int64_t h = 0; h < w.input[1]; ++h, x += w.input[2]) {
          float* to = padded + ((d + w.pad_begin[0]) * height + h + w.pad_begin[1]) * row;
          copy_row(kernels, x, w.input[2], w.pad_begin[2], to);
        }
      }
    }

    void copy_row(const ConvKernels& kernels, const float* x, int64_t width, int64_t pad, float* to) const {
      int64_t i = 0;
      if (phases == 2) {
        if (pad % 2 == 1 && width > 0) {
          to[phase_width + pad / 2] = x[0];
          i = 1;
        }
        const int64_t pairs = (width - i) / 2, at = (pad + i) / 2;
        kernels.split_pairs(x + i, pairs, to + at, to + phase_width + at);
        i += 2 * pairs;
      }
      for (; i < width; ++i) to[(pad + i) % phases * phase_width + (pad + i) / phases] = x[i];
    }
  };

  void run_plane(const ConvCall& call, const Layout& layout, int64_t plane, const float* padded, const int64_t* offsets) const {
    const Window& w = call.window;
    const int64_t channel = plane % channels_;
    float* y = call.y + plane * w.output_size();
    DepthwiseArgs p{};
    p.offsets = offsets;
    p.weights = weights_.data() + channel * layout.taps;
    p.taps = layout.taps;
    p.bias = bias_.empty() ? 0 : bias_[static_cast<size_t>(channel)];
    p.low = clamp_.low;
    p.high = clamp_.high;
    p.width = w.output[2];
    p.rows = w.output[1];
    p.x_row = window_.stride[1] * layout.row;
    for (int64_t d = 0; d < w.output[0]; ++d) {
      const int64_t at = d * w.output[1] * w.output[2];
      p.x = padded + d * window_.stride[0] * layout.height * layout.row;
      p.y = y + at;
      if (call.residual) p.residual = call.residual + plane * w.output_size() + at;
      kernels_.depthwise(p);
    }
    if (clamp_.activates) activate(activation_, y, y, w.output_size());
  }

  const int64_t channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const ConvKernels& kernels_;
  std::vector<float> weights_;
  std::vector<float> bias_;
};

}  // namespace

std::unique_ptr<Convolution::Impl> make_depthwise(const ConvChannels& channels, const Window& window, const float* weights,
                                                  const float* bias, const Activation& activation) {
  return std::make_unique<Depthwise>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
