#include <algorithm>
#include <optional>

#include "base/cancellation.h"
#include "compute/conv/transpose/conv_transpose_impl.h"
#include "compute/move/transpose.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kBandBytes = 1024 * 1024;  // of a band's products, whatever the number of threads: same bits
constexpr int64_t kBandPixels = 256;         // at least, for which weights are brought near

/// Rows of the product are output channels with their kernel positions, columns the pixels of the input.
template <typename S>
class TransposedBlocks final : public TransposedImpl<S> {
 public:
  TransposedBlocks(const ConvChannels& channels, const Window& window, const S* weights, const S* bias, const Activation& activation,
                   bool lean)
      : channels_(channels), window_(window), taps_(window.kernel_size()), beyond_(static_cast<size_t>(channels.out), S(0.0f)) {
    if (bias) beyond_.assign(bias, bias + channels.out);
    const int64_t dims[] = {channels.groups, channels.in / channels.groups, channels.out / channels.groups * taps_}, order[] = {0, 2, 1};
    PackedVector<S> rows(static_cast<size_t>(channels.in * dims[2])), biases;
    transpose(weights, dims, order, sizeof(S), rows.data(), {});
    biases.reserve(static_cast<size_t>(channels.out * taps_));
    for (const S& value : beyond_) biases.insert(biases.end(), static_cast<size_t>(taps_), value);
    Activation of_rows = activation;
    if (activation.kind == ActivationKind::prelu) {
      slopes_.reserve(static_cast<size_t>(channels.out * taps_));
      for (int64_t c = 0; c < channels.out; ++c) slopes_.insert(slopes_.end(), static_cast<size_t>(taps_), activation.slopes[c]);
      of_rows.slopes = slopes_.data();
    }
    Window band;
    band.input[1] = band.output[1] = std::min(window.input[0] * window.input[1], lines_of_band(window));
    band.input[2] = band.output[2] = window.input[2];
    product_.emplace(ConvChannels{channels.in, channels.out * taps_, channels.groups}, band, rows.data(), biases.data(), of_rows,
                     std::string_view(), ConvAccuracy::usual, lean);
    beyond_ = activated_bias(beyond_, activation);
  }

  size_t weight_bytes() const override { return product_->weight_bytes(); }
  std::string_view variant() const override { return "blocks"; }

  void run(const Window& w, int64_t batch, const S* x, S* y, const Parallel& parallel) const override {
    const int64_t lines = w.input[0] * w.input[1], row_count = channels_.out * taps_, in_band = lines_of_band(w);
    const int64_t bands = w.input[2] > 0 ? (lines + in_band - 1) / in_band : 0;
    fill_beyond(w, batch, y, parallel);
    const auto band_of = [&](int64_t i) {
      const int64_t image = i / bands;
      return Band{w, x + image * channels_.in * w.input_size(), y + image * channels_.out * w.output_size(),
                  share_of(lines, bands, i % bands)};
    };
    const Range all{0, channels_.out};
    if (batch * bands < 2 * parallel.threads()) {
      for (int64_t i = 0; i < batch * bands; ++i) {
        const Band band = band_of(i);
        const S* products = multiply(band, parallel);
        const double size = static_cast<double>(taps_ * band.lines.size * w.input[2]);
        parallel.for_range(channels_.out, {.bytes = 8 * size, .operations = size},
                           [&](Range channels) { place(band, products, channels); });
      }
      return;
    }
    const double work = static_cast<double>(row_count * in_band * w.input[2]) * static_cast<double>(channels_.in / channels_.groups);
    parallel.for_range(batch * bands, {.operations = 0.25 * work}, [&](Range pieces) {
      for (int64_t i = pieces.begin; i < pieces.end; ++i) {
        throw_if_cancelled();
        const Band band = band_of(i);
        place(band, multiply(band, {}), all);
      }
    });
  }

 private:
  int64_t lines_of_band(const Window& w) const {
    const int64_t line_bytes = std::max<int64_t>(1, channels_.out * taps_ * w.input[2] * static_cast<int64_t>(sizeof(S)));
    return std::max<int64_t>({1, kBandBytes / line_bytes, kBandPixels / std::max<int64_t>(1, w.input[2])});
  }

  /// Some lines of an image's input, counted over depth and height.
  struct Band {
    const Window& w;
    const S* x;
    S* y;
    Part lines;
  };

  const S* multiply(const Band& band, const Parallel& parallel) const {
    const int64_t width = band.w.input[2], pixels = band.lines.size * width;
    S* const products =
        static_cast<S*>(thread_scratch(ScratchSlot::phase, static_cast<size_t>(channels_.out * taps_ * pixels) * sizeof(S)));
    Window inner;
    inner.input[1] = band.w.input[0] * band.w.input[1];
    inner.output[1] = band.lines.size;
    inner.input[2] = inner.output[2] = width;
    inner.pad_begin[1] = -band.lines.begin;
    product_->run(inner, 1, band.x, nullptr, products, parallel);
    return products;
  }

  /// Products [channel, kernel position, pixel] to their places.
  void place(const Band& band, const S* products, Range channels) const {
    const Window& w = band.w;
    const int64_t stride = window_.stride[2], pixels = band.lines.size * w.input[2], width = w.input[2] * stride;
    // The part of a line of blocks that is there, and where it begins.
    const int64_t skipped = std::max<int64_t>(0, w.pad_begin[2]), first = std::max<int64_t>(0, -w.pad_begin[2]);
    const int64_t count = std::min(width - skipped, w.output[2] - first);
    if (count <= 0) return;
    S* const line = static_cast<S*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(width) * sizeof(S)));
    for (int64_t c = channels.begin; c < channels.end; ++c) {
      for (int64_t i = 0; i < band.lines.size; ++i) {
        const int64_t at = band.lines.begin + i;
        for (int64_t tap = 0; tap < taps_; tap += stride) {
          const int64_t d = at / w.input[1] * window_.stride[0] + tap / stride / window_.stride[1] - w.pad_begin[0];
          const int64_t h = at % w.input[1] * window_.stride[1] + tap / stride % window_.stride[1] - w.pad_begin[1];
          if (d < 0 || d >= w.output[0] || h < 0 || h >= w.output[1]) continue;
          const S* from = products + (c * taps_ + tap) * pixels + i * w.input[2];
          S* const to = band.y + ((c * w.output[0] + d) * w.output[1] + h) * w.output[2] + first;
          if (skipped == 0 && count == width) {
            interleave(from, pixels, stride, w.input[2], sizeof(S), to);
          } else {
            interleave(from, pixels, stride, w.input[2], sizeof(S), line);
            std::copy_n(line + skipped, count, to);
          }
        }
      }
    }
  }

  /// Outputs that no input reaches.
  void fill_beyond(const Window& w, int64_t batch, S* y, const Parallel& parallel) const {
    const auto reaches = [&](int d) { return w.pad_begin[d] >= 0 && w.output[d] + w.pad_begin[d] <= w.input[d] * window_.stride[d]; };
    if (reaches(0) && reaches(1) && reaches(2)) return;
    const double size = static_cast<double>(w.output_size());
    parallel.for_range(batch * channels_.out, {.bytes = sizeof(S) * size, .operations = size / 4}, [&](Range planes) {
      for (int64_t plane = planes.begin; plane < planes.end; ++plane)
        std::fill_n(y + plane * w.output_size(), w.output_size(), beyond_[static_cast<size_t>(plane % channels_.out)]);
    });
  }

  const ConvChannels channels_;
  const Window window_;
  const int64_t taps_;
  PackedVector<S> beyond_;      ///< what outputs hold that no input reaches
  PackedVector<float> slopes_;  ///< of prelu, one for each row of the product
  std::optional<Convolution<S>> product_;
};

}  // namespace

template <typename S>
std::unique_ptr<TransposedImpl<S>> make_transposed_blocks(const ConvChannels& channels, const Window& window, const S* weights,
                                                          const S* bias, const Activation& activation, bool lean) {
  return std::make_unique<TransposedBlocks<S>>(channels, window, weights, bias, activation, lean);
}

#define RH_INSTANTIATE(S)                                                                                                       \
  template std::unique_ptr<TransposedImpl<S>> make_transposed_blocks<S>(const ConvChannels&, const Window&, const S*, const S*, \
                                                                        const Activation&, bool);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
#undef RH_INSTANTIATE

}  // namespace rh::compute
