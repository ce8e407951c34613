#include <algorithm>
#include <optional>

#include "compute/conv/transpose/conv_transpose_impl.h"

namespace rh::compute {
namespace {

// Of results that wait to be interleaved, whatever the number of threads: same bits.
constexpr int64_t kBandBytes = 256 * 1024;
constexpr int64_t kSharedBandBytes = 4 << 20, kSharedBandRows = 16;  // where all threads work on one band

/// Each phase as a convolution of its own.
template <typename S>
class TransposedPhases final : public TransposedImpl<S> {
 public:
  TransposedPhases(const ConvChannels& channels, const Window& window, const S* weights, const S* bias, const Activation& activation,
                   bool lean)
      : channels_(channels), window_(window), beyond_(static_cast<size_t>(channels.out), S(0.0f)) {
    if (bias) beyond_.assign(bias, bias + channels.out);
    phases_.reserve(static_cast<size_t>(TransposedPhase::count(window)));
    const bool sizes_known = window.input_size() > 1 || window.output_size() > 1;
    for (int64_t i = 0; i < TransposedPhase::count(window); ++i) {
      Phase& made = phases_.emplace_back(Phase{TransposedPhase(window, i), std::nullopt});
      if (made.phase.taps() == 0) continue;
      made.conv.emplace(channels, made.phase.ordinary(window, i), made.phase.weights(channels, window, weights).data(), beyond_.data(),
                        activation, sizes_known ? "" : "gemm", ConvAccuracy::usual, lean);
      shares_bands_ |= made.conv->variant() != "gemm";
    }
    beyond_ = activated_bias(beyond_, activation);
  }

  std::string_view variant() const override { return "phases"; }
  size_t weight_bytes() const override {
    size_t bytes = 0;
    for (const Phase& phase : phases_) bytes += phase.conv ? phase.conv->weight_bytes() : 0;
    return bytes;
  }

  void run(const Window& w, int64_t batch, const S* x, S* y, const Parallel& parallel) const override {
    // A piece: some rows of one phase of depth and height, all of whose phases of width are then interleaved.
    const int64_t rows = (w.output[1] + window_.stride[1] - 1) / window_.stride[1];
    const int64_t depth = (w.output[0] + window_.stride[0] - 1) / window_.stride[0], planes = window_.stride[0] * window_.stride[1];
    const int64_t row_bytes = channels_.out * depth * (w.output[2] + window_.stride[2]) * static_cast<int64_t>(sizeof(S));
    if (shares_bands_) {
      const int64_t bands = std::clamp<int64_t>(rows * row_bytes / kSharedBandBytes, 1, std::max<int64_t>(1, rows / kSharedBandRows));
      for (int64_t i = 0; i < batch * planes * bands; ++i) {
        const int64_t image = i / bands / planes;
        run_band(w, x + image * channels_.in * w.input_size(), y + image * channels_.out * w.output_size(), i / bands % planes, bands,
                 i % bands, parallel);
      }
      return;
    }
    const int64_t bands = std::min(rows, (rows * row_bytes + kBandBytes - 1) / kBandBytes);
    const double work = static_cast<double>(w.input_size() * window_.kernel_size()) * static_cast<double>(channels_.out) *
                        static_cast<double>(channels_.in / channels_.groups);
    parallel.for_range(batch * planes * bands, {.operations = 0.25 * work / static_cast<double>(planes * bands)}, [&](Range pieces) {
      for (int64_t i = pieces.begin; i < pieces.end; ++i) {
        const int64_t image = i / bands / planes;
        run_band(w, x + image * channels_.in * w.input_size(), y + image * channels_.out * w.output_size(), i / bands % planes, bands,
                 i % bands, {});
      }
    });
  }

 private:
  struct Phase {
    TransposedPhase phase;
    std::optional<Convolution<S>> conv;  ///< none where the phase sees no tap
  };

  void run_band(const Window& w, const S* x, S* y, int64_t plane, int64_t bands, int64_t band, const Parallel& parallel) const {
    const int64_t stride = window_.stride[2], width = (w.output[2] + stride - 1) / stride;
    AxisOutputs o[3];
    Part rows{};
    int64_t apart = 0;  // between results of phases of width, by their first column
    S* results = nullptr;
    for (int64_t column = 0; column < stride; ++column) {
      const int64_t index = plane * stride + column;
      const Phase& phase = phases_[static_cast<size_t>(index)];
      Window inner = w;
      for (int d = 0; d < 3; ++d) {
        o[d] = AxisOutputs(phase.phase.axes[d], TransposedPhase::at(window_, index, d), window_.stride[d], w.pad_begin[d], w.output[d]);
        inner.output[d] = o[d].count;
        inner.pad_begin[d] = o[d].pad;
      }
      rows = share_of(o[1].count, bands, band);
      inner.output[1] = rows.size;
      inner.output[2] = width;  // one more than there are in some phases
      inner.pad_begin[1] = o[1].pad - rows.begin;
      apart = channels_.out * inner.output_size();
      if (apart <= 0) return;
      if (!results) results = static_cast<S*>(thread_scratch(ScratchSlot::phase, static_cast<size_t>(stride * apart) * sizeof(S)));
      if (o[2].count <= 0) continue;
      S* const to = results + o[2].first * apart;
      if (phase.conv) {
        phase.conv->run(inner, 1, x, nullptr, to, parallel);
      } else {
        for (int64_t c = 0; c < channels_.out; ++c)
          std::fill_n(to + c * inner.output_size(), inner.output_size(), beyond_[static_cast<size_t>(c)]);
      }
    }
    const int64_t lines = o[0].count * rows.size;
    const Cost cost{.bytes = 2.0 * sizeof(S) * static_cast<double>(lines * w.output[2])};
    parallel.for_range(channels_.out, cost, [&](Range channels) {
      for (int64_t i = channels.begin * lines; i < channels.end * lines; ++i) {
        const int64_t c = i / lines, d = i % lines / rows.size, r = i % rows.size;
        S* const to = y + (c * w.output[0] + o[0].first + d * window_.stride[0]) * w.output[1] * w.output[2];
        join_phases(results + i * width, apart, stride, w.output[2],
                    to + (o[1].first + (rows.begin + r) * window_.stride[1]) * w.output[2]);
      }
    });
  }

  const ConvChannels channels_;
  const Window window_;
  PackedVector<S> beyond_;  ///< what outputs hold that no input reaches
  PackedVector<Phase> phases_;
  bool shares_bands_ = false;  ///< each phase is to be shared by the threads
};

/// Of stride 1: one phase, whose results lie in order.
template <typename S>
class TransposedPlain final : public TransposedImpl<S> {
 public:
  TransposedPlain(const ConvChannels& channels, const Window& window, const S* weights, const S* bias, const Activation& activation,
                  bool lean)
      : phase_(window, 0),
        conv_(channels, ordinary(window), phase_.weights(channels, window, weights).data(), bias, activation, {}, ConvAccuracy::usual,
              lean) {}

  size_t weight_bytes() const override { return conv_.weight_bytes(); }
  std::string_view variant() const override { return "plain"; }

  void run(const Window& w, int64_t batch, const S* x, S* y, const Parallel& parallel) const override {
    conv_.run(ordinary(w), batch, x, nullptr, y, parallel);
  }

 private:
  /// The ordinary convolution that one of sizes `w` is.
  Window ordinary(const Window& w) const {
    Window result = phase_.kernel();
    for (int d = 0; d < 3; ++d) {
      result.input[d] = w.input[d];
      result.output[d] = w.output[d];
      result.pad_begin[d] = AxisOutputs(phase_.axes[d], 0, 1, w.pad_begin[d], w.output[d]).pad;
    }
    return result;
  }

  const TransposedPhase phase_;
  const Convolution<S> conv_;
};

bool is_depthwise(const ConvChannels& channels) {
  return channels.groups > 1 && channels.groups == channels.in && channels.in == channels.out;
}

bool makes_blocks(const Window& window) {
  bool blocks = window.kernel_size() > 1;
  for (int d = 0; d < 3; ++d) blocks = blocks && window.kernel[d] == window.stride[d] && window.dilation[d] == 1;
  return blocks;
}

template <typename S>
std::unique_ptr<TransposedImpl<S>> make_transposed(const ConvChannels& channels, const Window& window, const S* weights, const S* bias,
                                                   const Activation& activation, bool lean, std::string_view variant) {
  if (is_depthwise(channels)) return make_transposed_depthwise<S>(channels, window, weights, bias, activation);
  if (makes_blocks(window)) return make_transposed_blocks<S>(channels, window, weights, bias, activation, lean);
  if constexpr (std::is_same_v<S, float>) {
    if (variant == "sums" || (variant.empty() && transposed_sums_pay(channels, window)))
      return make_transposed_sums(channels, window, weights, bias, activation, lean);
  }
  if (TransposedPhase::count(window) == 1) return std::make_unique<TransposedPlain<S>>(channels, window, weights, bias, activation, lean);
  return std::make_unique<TransposedPhases<S>>(channels, window, weights, bias, activation, lean);
}

}  // namespace

template <typename T>
TransposedConvolution<T>::TransposedConvolution(const ConvChannels& channels, const Window& window, const T* weights, const T* bias,
                                                bool lean, std::string_view variant, const Activation& activation)
    : impl_(make_transposed<T>(channels, window, weights, bias, activation, lean, variant)) {}

template <typename T>
std::vector<std::string_view> TransposedConvolution<T>::variants(const ConvChannels& channels, const Window& window) {
  if (!std::is_same_v<T, float> || is_depthwise(channels) || makes_blocks(window) || !transposed_sums_fit(channels, window)) return {};
  return {TransposedPhase::count(window) == 1 ? "plain" : "phases", "sums"};
}

template <typename T>
std::string_view TransposedConvolution<T>::variant() const {
  return impl_->variant();
}
template <typename T>
size_t TransposedConvolution<T>::weight_bytes() const {
  return impl_->weight_bytes();
}
template <typename T>
TransposedConvolution<T>::~TransposedConvolution() = default;
template <typename T>
TransposedConvolution<T>::TransposedConvolution(TransposedConvolution&&) noexcept = default;
template <typename T>
TransposedConvolution<T>& TransposedConvolution<T>::operator=(TransposedConvolution&&) noexcept = default;

template <typename T>
void TransposedConvolution<T>::run(const Window& window, int64_t batch, const T* x, T* y, const Parallel& parallel) const {
  if (batch > 0 && window.output_size() > 0) impl_->run(window, batch, x, y, parallel);
}

template class TransposedConvolution<float>;
template class TransposedConvolution<double>;
template class TransposedConvolution<Float16>;
template class TransposedConvolution<BFloat16>;

}  // namespace rh::compute
