#include <algorithm>
#include <cstring>

#include "base/shared_bytes.h"
#include "compute/conv/conv_impl.h"
#include "compute/conv/conv_padded.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

/// Each plane is first copied into a padded buffer whose rows are split by column modulo the stride, so that every kernel position
/// reads contiguous floats without any bound to look at.
template <typename S>
class Depthwise final : public Convolution<S>::Impl {
  using T = Computed<S>;

 public:
  Depthwise(const ConvChannels& channels, const Window& window, const S* weights, const S* bias, const Activation& activation)
      : channels_(channels.in), window_(window), activation_(activation), clamp_(activation), kernels_(conv_kernels<S>()) {
    const size_t count = static_cast<size_t>(channels.in * window.kernel_size());
    const std::shared_ptr<T[]> copy = aligned_array<T>(count);
    std::copy_n(weights, count, copy.get());
    weights_ = SharedArray<T>(copy, count);
    if (bias) bias_.assign(bias, bias + channels.in);
    if (takes_lines()) pack_lines();
  }

  size_t weight_bytes() const override { return (weights_.size() + line_weights_.size()) * sizeof(T); }

  void run(const ConvCall<S>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const double taps = static_cast<double>(window_.kernel_size()), outputs = static_cast<double>(w.output_size());
    const Cost cost{.bytes = 8.0 * static_cast<double>(w.input_size()) + 4 * outputs, .operations = 0.3 * taps * outputs};
    if (is_small(call)) {
      parallel.for_range(call.batch * channels_, cost, [&](Range planes) { run_small(call, planes); });
      return;
    }
    if (is_direct(w)) {
      parallel.for_range(call.batch * channels_, cost, [&](Range planes) {
        for (int64_t plane = planes.begin; plane < planes.end; ++plane) run_direct(call, plane);
      });
      return;
    }
    if (has_lines(w)) return run_lines(call, parallel);
    const PaddedPlane layout(window_, w);
    const size_t elements = static_cast<size_t>((layout.size() + 4 * kernels_.lanes + 15) / 16 * 16);
    const size_t bytes = elements * sizeof(T) + static_cast<size_t>(window_.kernel_size()) * sizeof(int64_t);
    parallel.for_range(call.batch * channels_, cost, [&](Range planes) {
      char* memory = static_cast<char*>(thread_scratch(ScratchSlot::packed_right, bytes));
      T* padded = reinterpret_cast<T*>(memory);
      int64_t* offsets = reinterpret_cast<int64_t*>(memory + elements * sizeof(T));
      layout.tap_offsets(window_, offsets);
      std::memset(padded, 0, elements * sizeof(T));
      for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
        layout.copy_in(kernels_, w, codes(call.x + plane * w.input_size()), padded);
        run_plane(call, layout, plane, padded, offsets);
      }
    });
  }

 private:
  /// Whether the kernel of small planes takes this.
  bool is_small(const ConvCall<S>& call) const {
    const Window& w = call.window;
    const int64_t taps = window_.kernel[2];
    if (!kernels_.planes.small || call.residual || (taps != 3 && taps != 5)) return false;
    for (int d = 0; d < 3; ++d) {
      const bool plane = d > 0, fits = window_.kernel[d] == (plane ? taps : 1) && w.pad_begin[d] == (plane ? taps / 2 : 0);
      if (!fits || window_.stride[d] != 1 || window_.dilation[d] != 1 || w.output[d] != w.input[d]) return false;
    }
    return w.input[0] == 1 && w.input[1] >= 4 && w.input[1] <= 8 && w.input[2] >= 1 && w.input[2] <= 8;
  }

  void run_small(const ConvCall<S>& call, Range planes) const {
    constexpr int64_t kPlanes = 32;  // even: two at a time
    const Window& w = call.window;
    const int64_t size = w.output_size(), taps = window_.kernel_size();
    constexpr bool kNarrow = !std::is_same_v<S, T>;
    T* wide = kNarrow ? static_cast<T*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(2 * kPlanes * size) * sizeof(T))) : nullptr;
    for (int64_t plane = planes.begin; plane < planes.end;) {
      const int64_t channel = plane % channels_, count = std::min({kPlanes, planes.end - plane, channels_ - channel});
      const T* x = widened(call.x + plane * size, wide, count * size);
      T* y;
      if constexpr (kNarrow)
        y = wide + kPlanes * size;
      else
        y = call.y + plane * size;
      if constexpr (std::is_same_v<T, float>) {
        kernels_.planes.small({x, weights_.data() + channel * taps, bias_.empty() ? nullptr : bias_.data() + channel, y, count, w.output[1],
                               w.output[2], window_.kernel[2], clamp_.low, clamp_.high});
      }
      finish_channels(clamp_.activates, activation_, channel, y, count, size, size, call.addend_at(plane * size));
      if constexpr (kNarrow) narrow(y, call.y + plane * size, count * size);
      plane += count;
    }
  }

  /// Whether planes can be read where they lie.
  bool is_direct(const Window& w) const {
    if constexpr (!std::is_same_v<S, float>) return false;
    const int64_t taps = window_.kernel[2], stride = window_.stride[2], dilation = window_.dilation[2];
    return kernels_.planes.direct && w.input[0] == 1 && w.output[0] == 1 && window_.kernel[0] == 1 && w.pad_begin[0] == 0 &&
           (taps == 3 || taps == 5 || taps == 7) && window_.kernel[1] == taps && window_.stride[1] == stride &&
           window_.dilation[1] == dilation && (stride == 1 || (stride == 2 && dilation == 1)) &&
           w.output[2] * stride + taps * dilation <= kMostDirectReach;
  }

  void run_direct([[maybe_unused]] const ConvCall<S>& call, [[maybe_unused]] int64_t plane) const {
    if constexpr (std::is_same_v<S, float>) {
      const Window& w = call.window;
      const int64_t channel = plane % channels_, taps = window_.kernel[2], outputs = w.output_size();
      float* y = call.y + plane * outputs;
      kernels_.planes.direct({call.x + plane * w.input_size(), w.input[1], w.input[2], w.pad_begin[1], w.pad_begin[2],
                              weights_.data() + channel * taps * taps, taps, window_.stride[2], window_.dilation[2],
                              bias_.empty() ? 0.0f : bias_[static_cast<size_t>(channel)], clamp_.low, clamp_.high,
                              call.residual ? call.residual + plane * outputs : nullptr, y, w.output[1], w.output[2]});
      finish_values(clamp_.activates, activation_.of_channel(channel), y, outputs, call.addend_at(plane * outputs));
    }
  }

  /// Kernels along rows: vectors of channels side by side, so that what a tap reads begins where a vector does, and serves several
  /// outputs.
  bool takes_lines() const {
    if constexpr (!std::is_same_v<S, float>) return false;
    const int64_t lanes = kernels_.lanes, whole = (channels_ + lanes - 1) / lanes * lanes;
    return kernels_.planes.lines && window_.kernel[0] == 1 && window_.kernel[1] == 1 && window_.kernel[2] >= kLeastLineTaps &&
           window_.stride[0] == 1 && window_.stride[1] == 1 && window_.stride[2] <= 2 && 4 * whole <= 5 * channels_ &&
           window_.dilation[2] <= kMostLineReach / window_.kernel[2];
  }

  /// Whether rows are taken so: none is padding, and kernels of a few taps are left to the other way, where several rows share a tap.
  bool has_lines(const Window& w) const {
    const bool inside = w.pad_begin[0] == 0 && w.pad_begin[1] == 0 && w.output[0] <= w.input[0] && w.output[1] <= w.input[1];
    return line_weights_.size() > 0 && inside && (window_.kernel[2] >= kLeastPlaneTaps || w.output[0] * w.output[1] == 1);
  }

  /// Weights as [block of channels, tap, channel] with the bias of each block behind them, zeros where there is no channel.
  void pack_lines() {
    const int64_t lanes = kernels_.lanes, taps = window_.kernel_size(), blocks = (channels_ + lanes - 1) / lanes;
    const size_t count = static_cast<size_t>(blocks * (taps + 1) * lanes);
    const std::shared_ptr<T[]> packed = aligned_array<T>(count);
    std::fill_n(packed.get(), count, T{0});
    for (int64_t c = 0; c < channels_; ++c) {
      T* to = packed.get() + c / lanes * (taps + 1) * lanes + c % lanes;
      for (int64_t tap = 0; tap < taps; ++tap) to[tap * lanes] = weights_.data()[c * taps + tap];
      to[taps * lanes] = bias_.empty() ? T{0} : bias_[static_cast<size_t>(c)];
    }
    line_weights_ = SharedArray<T>(packed, count);
  }

  void run_lines([[maybe_unused]] const ConvCall<S>& call, [[maybe_unused]] const Parallel& parallel) const {
    if constexpr (std::is_same_v<S, float>) {
      const Window& w = call.window;
      const int64_t lanes = kernels_.lanes, taps = window_.kernel[2], stride = window_.stride[2], dilation = window_.dilation[2];
      const int64_t blocks = (channels_ + lanes - 1) / lanes, rows = w.output[0] * w.output[1];
      const int64_t parts = (w.output[2] + kLinePart - 1) / kLinePart, part = (w.output[2] + parts - 1) / parts;
      const int64_t columns = (part + lanes - 1) / lanes * lanes;
      const int64_t positions = channel_line_positions(columns, taps, stride, dilation, lanes);
      const double outputs = static_cast<double>(columns * lanes);
      const Cost cost{.bytes = 4.0 * static_cast<double>(positions * lanes) + 4 * outputs,
                      .operations = 0.15 * static_cast<double>(taps) * outputs};
      parallel.for_range(call.batch * blocks * rows * parts, cost, [&](Range range) {
        float* memory = scratch_floats(ScratchSlot::packed_right, positions * lanes);
        for (int64_t i = range.begin; i < range.end; ++i) {
          const int64_t first = i % parts * columns, row = i / parts % rows, block = i / parts / rows % blocks;
          const int64_t channel = block * lanes, plane = i / parts / rows / blocks * channels_ + channel;
          const int64_t line = row / w.output[1] * w.input[1] + row % w.output[1];
          const int64_t count = std::min(columns, w.output[2] - first), channels = std::min(lanes, channels_ - channel);
          if (count <= 0) continue;
          const int64_t at = plane * w.output_size() + row * w.output[2];
          const float* weights = line_weights_.data() + block * (taps + 1) * lanes;
          kernels_.planes.lines({call.x + plane * w.input_size() + line * w.input[2], w.input_size(), w.input[2], w.pad_begin[2], channels,
                                 weights, weights + taps * lanes, taps, stride, dilation, clamp_.low, clamp_.high,
                                 call.residual ? call.residual + at : nullptr, call.y + at, w.output_size(), first, count, memory});
          finish_channels(clamp_.activates, activation_, channel, call.y + at + first, channels, count, w.output_size(),
                          call.addend_at(at + first));
        }
      });
    }
  }

  using Kernels = ConvKernels<T, Code<S>>;
  static constexpr int64_t kLeastLineTaps = 2, kLeastPlaneTaps = 5, kMostLineReach = 4096;
  static constexpr int64_t kLinePart = 256;  // outputs of a row at a time, whose inputs stay near the processor

  void run_plane(const ConvCall<S>& call, const PaddedPlane& layout, int64_t plane, const T* padded, const int64_t* offsets) const {
    const Window& w = call.window;
    const int64_t channel = plane % channels_, outputs = w.output_size();
    constexpr bool kNarrow = !std::is_same_v<S, T>;
    T* wide = kNarrow ? static_cast<T*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(2 * outputs) * sizeof(T))) : nullptr;
    T* y;
    if constexpr (kNarrow)
      y = wide;
    else
      y = call.y + plane * outputs;
    const T* residual = call.residual ? widened(call.residual + plane * outputs, kNarrow ? wide + outputs : nullptr, outputs) : nullptr;
    DepthwiseArgs<T> p{};
    p.offsets = offsets;
    p.weights = weights_.data() + channel * window_.kernel_size();
    p.taps = window_.kernel_size();
    p.bias = bias_.empty() ? 0 : bias_[static_cast<size_t>(channel)];
    p.low = static_cast<T>(clamp_.low);
    p.high = static_cast<T>(clamp_.high);
    p.width = w.output[2];
    p.rows = w.output[1];
    p.x_row = window_.stride[1] * layout.row;
    p.x_line = window_.dilation[1] * layout.row;
    const bool lines = p.x_row == p.x_line || p.x_row == 2 * p.x_line;
    p.lines = window_.kernel[0] == 1 && lines ? window_.kernel[1] : 0;
    for (int64_t d = 0; d < w.output[0]; ++d) {
      const int64_t at = d * w.output[1] * w.output[2];
      p.x = padded + d * window_.stride[0] * layout.height * layout.row;
      p.y = y + at;
      if (residual) p.residual = residual + at;
      kernels_.depthwise(p);
    }
    finish_values(clamp_.activates, activation_.of_channel(channel), y, outputs, call.addend_at(plane * outputs));
    if constexpr (kNarrow) narrow(y, call.y + plane * outputs, outputs);
  }

  const int64_t channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const Kernels& kernels_;
  SharedArray<T> weights_;
  SharedArray<T> line_weights_;  ///< empty: the way of rows is not taken
  PackedVector<T> bias_;
};

}  // namespace

template <typename S>
std::unique_ptr<typename Convolution<S>::Impl> make_depthwise(const ConvChannels& channels, const Window& window, const S* weights,
                                                              const S* bias, const Activation& activation) {
  return std::make_unique<Depthwise<S>>(channels, window, weights, bias, activation);
}

#define RH_INSTANTIATE(S) \
  template std::unique_ptr<Convolution<S>::Impl> make_depthwise(const ConvChannels&, const Window&, const S*, const S*, const Activation&);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
#undef RH_INSTANTIATE

}  // namespace rh::compute
