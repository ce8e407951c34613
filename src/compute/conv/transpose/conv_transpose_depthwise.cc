#include <algorithm>
#include <limits>

#include "base/cancellation.h"
#include "compute/conv/transpose/conv_transpose_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

/// A plane is copied once with zeros around it, from which each phase is a depthwise convolution of stride 1.
template <typename S>
class TransposedDepthwise final : public TransposedImpl<S> {
  using T = Computed<S>;
  using Kernels = ConvKernels<T, Code<S>>;

 public:
  TransposedDepthwise(const ConvChannels& channels, const Window& window, const S* weights, const S* bias, const Activation& activation)
      : channels_(channels.in),
        window_(window),
        activation_(activation),
        kernels_(conv_kernels<S>()),
        bias_(static_cast<size_t>(channels.in)) {
    if (bias) bias_.assign(bias, bias + channels.in);
    phases_.reserve(static_cast<size_t>(TransposedPhase::count(window)));
    for (int64_t i = 0; i < TransposedPhase::count(window); ++i) {
      Phase& made = phases_.emplace_back(Phase{TransposedPhase(window, i), {}});
      const PackedVector<S> ordered = made.phase.weights(channels, window, weights);
      made.weights.assign(ordered.begin(), ordered.end());
    }
  }

  size_t weight_bytes() const override { return static_cast<size_t>(channels_ * window_.kernel_size()) * sizeof(T); }
  std::string_view variant() const override { return "depthwise"; }

  void run(const Window& w, int64_t batch, const S* x, S* y, const Parallel& parallel) const override {
    const Layout layout(*this, w);
    const double outputs = static_cast<double>(w.output_size()), taps = static_cast<double>(window_.kernel_size());
    const Cost cost{.bytes = 8 * outputs, .operations = 0.3 * taps * static_cast<double>(w.input_size()) + outputs};
    parallel.for_range(batch * channels_, cost, [&](Range planes) {
      T* const padded = static_cast<T*>(thread_scratch(ScratchSlot::image, static_cast<size_t>(layout.elements) * sizeof(T)));
      std::fill_n(padded, layout.elements, T(0));
      for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
        throw_if_cancelled();
        const S* from = x + plane * w.input_size();
        for (int64_t d = 0; d < w.input[0]; ++d)
          for (int64_t h = 0; h < w.input[1]; ++h, from += w.input[2])
            kernels_.copy_rows(codes(from), 1, w.input[2], padded + layout.position(d, h, 0), layout.row);
        run_plane(w, layout, plane % channels_, padded, y + plane * w.output_size());
      }
    });
  }

 private:
  struct Phase {
    TransposedPhase phase;
    PackedVector<T> weights;  ///< [channel, tap]
  };

  /// The padded plane: zeros before and behind each axis as far as any phase reads, and whole vectors behind all.
  struct Layout {
    int64_t before[3] = {}, extent[3] = {}, row, elements;

    Layout(const TransposedDepthwise& conv, const Window& w) {
      int64_t behind[3] = {};
      const Window& window = conv.window_;
      for (size_t i = 0; i < conv.phases_.size(); ++i) {
        for (int d = 0; d < 3; ++d) {
          const AxisOutputs o = conv.outputs(w, static_cast<int64_t>(i), d);
          const AxisPhase& axis = conv.phases_[i].phase.axes[d];
          const int64_t count = d == 2 ? (w.output[2] + window.stride[2] - 1) / window.stride[2] : o.count;
          if (axis.taps == 0 || o.count <= 0) continue;
          before[d] = std::max(before[d], o.pad);
          behind[d] = std::max(behind[d], count - o.pad + (axis.taps - 1) * axis.dilation);
        }
      }
      const int64_t vector = conv.kernels_.lanes;
      for (int d = 0; d < 3; ++d) extent[d] = before[d] + std::max(behind[d], w.input[d]);
      row = extent[2] + vector;  // copies of rows end with a vector of zeros
      elements = extent[0] * extent[1] * row + 8 * vector;
    }
    int64_t position(int64_t d, int64_t h, int64_t column) const {
      return ((d + before[0]) * extent[1] + h + before[1]) * row + column + before[2];
    }
  };

  AxisOutputs outputs(const Window& w, int64_t index, int d) const {
    return {phases_[static_cast<size_t>(index)].phase.axes[d], TransposedPhase::at(window_, index, d), window_.stride[d], w.pad_begin[d],
            w.output[d]};
  }

  void run_plane(const Window& w, const Layout& layout, int64_t channel, const T* padded, S* y) const {
    const int64_t stride = window_.stride[2], width = (w.output[2] + stride - 1) / stride;
    for (int64_t first = 0; first < static_cast<int64_t>(phases_.size()); first += stride) {
      const AxisOutputs depth = outputs(w, first, 0), height = outputs(w, first, 1);
      const int64_t apart = height.count * width;
      if (depth.count <= 0 || apart <= 0) continue;
      T* const results = static_cast<T*>(thread_scratch(ScratchSlot::phase, static_cast<size_t>(stride * apart) * sizeof(T)));
      for (int64_t d = 0; d < depth.count; ++d) {
        for (int64_t i = first; i < first + stride; ++i) run_phase(w, layout, i, channel, d, padded, results, apart);
        if (activation_.kind != ActivationKind::none) activate_phases(w, first, channel, results, apart);
        S* const plane = y + (depth.first + d * window_.stride[0]) * w.output[1] * w.output[2];
        for (int64_t r = 0; r < height.count; ++r)
          join(results + r * width, apart, w.output[2], plane + (height.first + r * window_.stride[1]) * w.output[2]);
      }
    }
  }

  /// One depth of one phase, to its place among the phases of width.
  void run_phase(const Window& w, const Layout& layout, int64_t index, int64_t channel, int64_t d, const T* padded, T* results,
                 int64_t apart) const {
    const Phase& phase = phases_[static_cast<size_t>(index)];
    const auto& axes = phase.phase.axes;
    const AxisOutputs o[3] = {outputs(w, index, 0), outputs(w, index, 1), outputs(w, index, 2)};
    if (o[2].count <= 0) return;
    const int64_t taps = phase.phase.taps();
    DepthwiseArgs<T> p{};
    p.y = results + o[2].first * apart;
    p.bias = static_cast<T>(bias_[static_cast<size_t>(channel)]);
    if (taps == 0) {
      std::fill_n(p.y, apart, p.bias);
      return;
    }
    int64_t* const offsets = static_cast<int64_t*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(taps) * sizeof(int64_t)));
    int64_t* next = offsets;
    for (int64_t a = 0; a < axes[0].taps; ++a)
      for (int64_t b = 0; b < axes[1].taps; ++b)
        for (int64_t c = 0; c < axes[2].taps; ++c)
          *next++ = (a * axes[0].dilation * layout.extent[1] + b * axes[1].dilation) * layout.row + c * axes[2].dilation;
    p.x = padded + layout.position(d - o[0].pad, -o[1].pad, -o[2].pad);
    p.x_row = layout.row;
    p.offsets = offsets;
    p.weights = phase.weights.data() + channel * taps;
    p.taps = taps;
    p.lines = axes[0].taps == 1 && axes[1].dilation == 1 ? axes[1].taps : 0;
    p.x_line = layout.row;
    p.low = -std::numeric_limits<T>::infinity();
    p.high = std::numeric_limits<T>::infinity();
    p.rows = o[1].count;
    p.width = apart / o[1].count;
    kernels_.depthwise(p);
  }

  /// The activation over the phases of width, before they are joined.
  void activate_phases(const Window& w, int64_t first, int64_t channel, T* results, int64_t apart) const {
    const Activation activation = activation_.of_channel(channel);
    for (int64_t i = first; i < first + window_.stride[2]; ++i) {
      const AxisOutputs columns = outputs(w, i, 2);
      if (columns.count > 0) activate_values(activation, results + columns.first * apart, apart);
    }
  }

  void join(const T* results, int64_t apart, int64_t width, S* row) const {
    if constexpr (std::is_same_v<S, T>) {
      join_phases(results, apart, window_.stride[2], width, row);
    } else {
      T* const wide = static_cast<T*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(width) * sizeof(T)));
      join_phases(results, apart, window_.stride[2], width, wide);
      narrow(wide, row, width);
    }
  }

  const int64_t channels_;
  const Window window_;
  const Activation activation_;
  const Kernels& kernels_;
  PackedVector<T> bias_;
  PackedVector<Phase> phases_;
};

}  // namespace

template <typename S>
std::unique_ptr<TransposedImpl<S>> make_transposed_depthwise(const ConvChannels& channels, const Window& window, const S* weights,
                                                             const S* bias, const Activation& activation) {
  return std::make_unique<TransposedDepthwise<S>>(channels, window, weights, bias, activation);
}

#define RH_INSTANTIATE(S)                                                                                                          \
  template std::unique_ptr<TransposedImpl<S>> make_transposed_depthwise<S>(const ConvChannels&, const Window&, const S*, const S*, \
                                                                           const Activation&);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
#undef RH_INSTANTIATE

}  // namespace rh::compute
