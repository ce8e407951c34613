#include "compute/conv_phases.h"

#include <algorithm>

#include "base/cancellation.h"
#include "compute/gemm_kernels.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kMostLanes = 16;

/// Where a vector of a phase's row finds its input, from the row's first element.
Segment row_segment(const PhasedPlanes& p, int64_t phase, int64_t column, int64_t lanes) {
  const int64_t step = p.step[2], start = column * step + phase - p.pad[2];
  const int64_t first = start < 0 ? std::min(lanes, (-start + step - 1) / step) : 0;
  const int64_t last = start >= p.input[2] ? first : std::clamp((p.input[2] - 1 - start) / step + 1, first, lanes);
  return {start, static_cast<int32_t>(column), static_cast<int16_t>(first), static_cast<int16_t>(last)};
}

/// Phase by phase as images of a batch, convolved without dilation, then put back.
class ConvPhases final : public Convolution<float>::Impl {
 public:
  ConvPhases(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        planes_(conv_kernels<float>()),
        conv_(channels, conv_phase_window(window, window), weights, bias, activation) {}

  size_t weight_bytes() const override { return conv_.weight_bytes(); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const Window inner = conv_phase_window(window_, w);
    const int64_t count = conv_phase_count(window_);
    const int64_t inputs = count * channels_.in * inner.input_size(), outputs = count * channels_.out * inner.output_size();
    float* const x = scratch_floats(ScratchSlot::phase, inputs + outputs * (call.residual ? 2 : 1));
    float *const y = x + inputs, *const residual = call.residual ? y + outputs : nullptr;
    for (int64_t image = 0; image < call.batch; ++image) {
      throw_if_cancelled();
      split(inner.input, w.input, w.pad_begin, channels_.in, call.x + image * channels_.in * w.input_size(), x, parallel);
      const int64_t at = image * channels_.out * w.output_size();
      constexpr int64_t kNoPad[3] = {};
      if (residual) split(inner.output, w.output, kNoPad, channels_.out, call.residual + at, residual, parallel);
      conv_.run(inner, count, x, residual, y, parallel);
      join(w, inner, y, call.y + at, parallel);
    }
  }

 private:
  static constexpr double kCopy = 0.5;  // operations an element

  int64_t step(int d) const { return window_.dilation[d]; }

  void split(const int64_t (&size)[3], const int64_t (&input)[3], const int64_t (&pad)[3], int64_t channels, const float* from, float* to,
             const Parallel& parallel) const {
    PhasedPlanes planes{};
    for (int d = 0; d < 3; ++d) {
      planes.step[d] = step(d);
      planes.size[d] = size[d];
      planes.pad[d] = step(d) > 1 ? pad[d] : 0;
      planes.input[d] = input[d];
    }
    const int64_t plane = input[0] * input[1] * input[2], phase = planes.rows() * size[2];
    const double work = kCopy * static_cast<double>(phase * planes.phases());
    parallel.for_range(channels, {2 * sizeof(float) * work, work}, [&](Range part) {
      planes.split(planes_, from + part.begin * plane, part.size(), {0, planes.rows()},
                   {to + part.begin * phase, phase, channels * phase, false});
    });
  }

  void join(const Window& w, const Window& inner, const float* from, float* to, const Parallel& parallel) const {
    const int64_t phase = channels_.out * inner.output_size();
    const double work = kCopy * static_cast<double>(w.output_size());
    parallel.for_range(channels_.out, {2 * sizeof(float) * work, work}, [&](Range part) {
      for (int64_t channel = part.begin; channel < part.end; ++channel) {
        const float* const plane = from + channel * inner.output_size();
        float* row = to + channel * w.output_size();
        for (int64_t d = 0; d < w.output[0]; ++d) {
          for (int64_t h = 0; h < w.output[1]; ++h, row += w.output[2]) {
            const int64_t first = (d % step(0) * step(1) + h % step(1)) * step(2);
            const int64_t at = (d / step(0) * inner.output[1] + h / step(1)) * inner.output[2];
            join_phases(plane + first * phase + at, phase, step(2), w.output[2], row);
          }
        }
      }
    });
  }

  const ConvChannels channels_;
  const Window window_;
  const ConvKernels<float, float>& planes_;
  const Convolution<float> conv_;
};

}  // namespace

void PhasedPlanes::split(const ConvKernels<float, float>& kernels, const float* x, int64_t channels, const Part& rows,
                         const Target& target) const {
  const int64_t lanes = kernels.lanes, width = size[2], plane = input[0] * input[1] * input[2];
  const int64_t count = pieces_of(width, lanes);
  auto* const segments = static_cast<Segment*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(count) * sizeof(Segment)));
  for (int64_t phase = 0; phase < phases(); ++phase) {
    for (int64_t i = 0; i < count; ++i)  // the last one ends where the row does
      segments[static_cast<size_t>(i)] =
          row_segment(*this, phase % step[2], std::min(i * lanes, std::max<int64_t>(0, width - lanes)), lanes);
    float* to = target.to + phase * target.phase_step;
    for (int64_t row = rows.begin; row < rows.begin + rows.size; ++row, to += width) {
      const int64_t d = row / size[1] * step[0] + phase / (step[1] * step[2]) - pad[0];
      const int64_t h = row % size[1] * step[1] + phase / step[2] % step[1] - pad[1];
      if (d < 0 || d >= input[0] || h < 0 || h >= input[1]) {
        for (int64_t c = 0; c < channels; ++c) std::fill_n(to + c * target.channel_step, width, 0.0f);
        continue;
      }
      const float* const from = x + (d * input[1] + h) * input[2];
      // What a vector has too much is written again by the rows after.
      if (target.slack || (row - rows.begin) * width + std::max(width, lanes) <= rows.size * width) {
        kernels.gather_panel(from, plane, channels, step[2], segments, count, to, target.channel_step);
        continue;
      }
      for (int64_t c = 0; c < channels; ++c) {
        alignas(64) float vector[kMostLanes];
        kernels.gather_panel(from + c * plane, 0, 1, step[2], segments, 1, vector, 0);
        std::copy_n(vector, width, to + c * target.channel_step);
      }
    }
  }
}

Window conv_phase_window(const Window& kernel, const Window& w) {
  Window inner = kernel;
  for (int d = 0; d < 3; ++d) {
    const bool apart = kernel.dilation[d] > 1;
    inner.dilation[d] = 1;
    inner.output[d] = apart ? pieces_of(w.output[d], kernel.dilation[d]) : w.output[d];
    inner.input[d] = apart ? inner.output[d] + kernel.kernel[d] - 1 : w.input[d];
    inner.pad_begin[d] = apart ? 0 : w.pad_begin[d];
  }
  return inner;
}

int64_t conv_phase_count(const Window& kernel) { return kernel.dilation[0] * kernel.dilation[1] * kernel.dilation[2]; }

bool conv_has_phases(const ConvChannels& channels, const Window& window) {
  bool dilated = false;
  for (int d = 0; d < 3; ++d) {
    if (window.dilation[d] > 1 && (window.stride[d] > 1 || window.dilation[d] > window.output[d])) return false;
    dilated = dilated || window.dilation[d] > 1;
  }
  return dilated && window.kernel_size() > 1 && !(channels.groups == channels.in && channels.in == channels.out && channels.groups > 1);
}

std::unique_ptr<Convolution<float>::Impl> make_conv_phases(const ConvChannels& channels, const Window& window, const float* weights,
                                                           const float* bias, const Activation& activation) {
  return std::make_unique<ConvPhases>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
