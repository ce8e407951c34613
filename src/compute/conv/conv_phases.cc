#include "compute/conv/conv_phases.h"

#include <algorithm>

#include "base/cancellation.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

/// Where a vector of a phase's row finds its input, from the row's first element.
Segment row_segment(const PhasedPlanes& p, int64_t phase, int64_t column, int64_t lanes) {
  const int64_t step = p.step[2], start = column * step + phase * p.shift[2] - p.pad[2];
  const int64_t first = start < 0 ? std::min(lanes, (-start + step - 1) / step) : 0;
  const int64_t last = start >= p.input[2] ? first : std::clamp((p.input[2] - 1 - start) / step + 1, first, lanes);
  return {start, static_cast<int32_t>(column), static_cast<int16_t>(first), static_cast<int16_t>(last)};
}

/// Phase by phase as images of a batch, convolved without dilation, then put back.
class ConvPhases final : public Convolution<float>::Impl {
 public:
  ConvPhases(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels), window_(window), conv_(channels, conv_phase_window(window, window), weights, bias, activation) {}

  size_t weight_bytes() const override { return conv_.weight_bytes(); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const Window inner = conv_phase_window(window_, w);
    const int64_t count = conv_phase_count(window_);
    const int64_t inputs = count * channels_.in * inner.input_size(), outputs = count * channels_.out * inner.output_size();
    const float* const given = call.residual ? call.residual : call.addend;
    float* const x = scratch_floats(ScratchSlot::phase, inputs + outputs * (given ? 2 : 1));
    float *const y = x + inputs, *const sum = given ? y + outputs : nullptr;
    for (int64_t image = 0; image < call.batch; ++image) {
      throw_if_cancelled();
      split(inner.input, w.input, w.pad_begin, channels_.in, call.x + image * channels_.in * w.input_size(), x, parallel);
      const int64_t at = image * channels_.out * w.output_size();
      constexpr int64_t kNoPad[3] = {};
      if (given) split(inner.output, w.output, kNoPad, channels_.out, given + at, sum, parallel);
      conv_.run(inner, count, x, call.residual ? sum : nullptr, y, parallel, {}, call.residual ? nullptr : sum);
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
      planes.step[d] = planes.count[d] = step(d);
      planes.shift[d] = 1;
      planes.size[d] = size[d];
      planes.pad[d] = step(d) > 1 ? pad[d] : 0;
      planes.input[d] = input[d];
    }
    const int64_t plane = input[0] * input[1] * input[2], phase = planes.rows() * size[2];
    const double work = kCopy * static_cast<double>(phase * planes.phases());
    parallel.for_range(channels, {2 * sizeof(float) * work, work}, [&](Range part) {
      planes.split(from + part.begin * plane, part.size(), {0, planes.rows()}, {to + part.begin * phase, phase, channels * phase});
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
  const Convolution<float> conv_;
};

}  // namespace

void PhasedPlanes::split(const float* x, int64_t channels, const Part& rows, const Target& target) const {
  const TapKernels& kernels = conv_tap_kernels();
  const int64_t lanes = kernels.lanes, width = size[2], plane = input[0] * input[1] * input[2];
  const int64_t vectors = pieces_of(width, lanes), outer = count[0] * count[1];
  const size_t segments_size = static_cast<size_t>(count[2] * vectors) * sizeof(Segment);
  const size_t from_size = static_cast<size_t>(outer * rows.size) * sizeof(int64_t), zeros_size = static_cast<size_t>(input[2]);
  uint8_t* const memory =
      static_cast<uint8_t*>(thread_scratch(ScratchSlot::packed_left, segments_size + from_size + zeros_size * sizeof(float)));
  auto* const segments = reinterpret_cast<Segment*>(memory);
  auto* const from = reinterpret_cast<int64_t*>(memory + segments_size);
  auto* const zeros = reinterpret_cast<float*>(memory + segments_size + from_size);
  std::fill_n(zeros, zeros_size, 0.0f);
  for (int64_t i = 0; i < count[2] * vectors; ++i)  // the last one of a row ends where the row does
    segments[i] = row_segment(*this, i / vectors, std::min(i % vectors * lanes, std::max<int64_t>(0, width - lanes)), lanes);
  for (int64_t phase = 0; phase < outer; ++phase) find_rows(phase, rows, from + phase * rows.size);
  if (rows.size == 1 && (width >= lanes || channels > 1)) {  // all channels at a time
    for (int64_t phase = 0; phase < phases(); ++phase) {
      const int64_t row = from[phase / count[2]];
      conv_kernels<float>().gather_panel(row < 0 ? zeros : x + row, row < 0 ? 0 : plane, channels, step[2],
                                         segments + phase % count[2] * vectors, vectors, target.to + phase * target.phase_step,
                                         target.channel_step);
    }
    return;
  }
  for (int64_t channel = 0; channel < channels; ++channel) {
    float* const to = target.to + channel * target.channel_step;
    for (int64_t phase = 0; phase < outer; ++phase) {
      kernels.split({x + channel * plane, from + phase * rows.size, zeros, rows.size, segments, count[2], vectors, step[2], width,
                     to + phase * count[2] * target.phase_step, target.phase_step});
    }
  }
}

void PhasedPlanes::find_rows(int64_t phase, const Part& rows, int64_t* from) const {
  const int64_t before = phase / count[1] * shift[0] - pad[0], above = phase % count[1] * shift[1] - pad[1];
  int64_t depth = rows.begin / size[1], row = rows.begin % size[1];
  for (int64_t i = 0; i < rows.size; ++i) {
    const int64_t d = depth * step[0] + before, h = row * step[1] + above;
    from[i] = d >= 0 && d < input[0] && h >= 0 && h < input[1] ? (d * input[1] + h) * input[2] : -1;
    if (++row < size[1]) continue;
    row = 0;
    ++depth;
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
