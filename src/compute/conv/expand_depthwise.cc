#include "compute/conv/expand_depthwise.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kSumBytes = 8 << 10;  // of outputs that wait to be turned round

/// Values that will be read soon.
void bring_nearer([[maybe_unused]] const float* values, [[maybe_unused]] int64_t count) {
#if defined(__GNUC__)
  constexpr int64_t kLine = 16;
  for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(values + i, 0, 2);
#endif
}

}  // namespace

struct ExpandDepthwise::Impl {
  Impl(int64_t in, int64_t hidden, const Window& window, const Stage& expand, const Stage& depthwise)
      : in_(in),
        hidden_(hidden),
        taps_(window.kernel[2]),
        stride_(window.stride[2]),
        dilation_(window.dilation[2]),
        reach_((taps_ - 1) * dilation_ + 1),
        expand_(expand.weights, in, hidden, true),
        kernels_(micro_kernels_for_width<float>(expand_.panel_width())),
        turn_(conv_kernels<float>()),
        panels_(pieces_of(hidden, panel_width())),
        expand_activation_(expand.activation),
        activation_(depthwise.activation),
        expand_clamp_(expand.activation),
        clamp_(depthwise.activation),
        expand_bias_(whole_panels(expand.bias)),
        bias_(whole_panels(depthwise.bias)) {
    const int64_t taps = taps_ * taps_;
    const size_t count = static_cast<size_t>(panels_ * taps * panel_width());
    const std::shared_ptr<float[]> packed = aligned_array<float>(count);
    std::fill_n(packed.get(), count, 0.0f);
    for (int64_t c = 0; c < hidden; ++c) {
      const int64_t panel = c / panel_width(), row = channels_of(panel);
      float* const to = packed.get() + panel * taps * panel_width() + c % panel_width();
      for (int64_t t = 0; t < taps; ++t) to[t * row] = depthwise.weights[c * taps + t];
    }
    weights_ = SharedArray<float>(packed, count);
  }

  void run(const Window& w, int64_t batch, const float* x, float* y, const Parallel& parallel) const {
    constexpr double kLeastToShare = 400'000;  // multiply-adds
    const double products = static_cast<double>(batch * hidden_) *
                            (static_cast<double>(w.input_size() * in_) + static_cast<double>(w.output_size() * taps_ * taps_));
    const int threads = products < kLeastToShare ? 1 : parallel.threads();
    const Tiles tiles = tiles_for(w);
    const int64_t bands = bands_for(w, batch, threads), pieces = batch * bands * panels_;
    (threads > 1 ? parallel : Parallel()).for_pieces(pieces, [&](int64_t i) {
      const int64_t image = i / (bands * panels_), band = i / panels_ % bands, panel = i % panels_;
      run_piece({w, tiles, x + image * in_ * w.input_size(), y + (image * hidden_ + panel * panel_width()) * w.output_size(), panel,
                 channels_of(panel)},
                share_of(w.output[1], bands, band));
    });
  }

  size_t weight_bytes() const { return expand_.bytes() + weights_.size() * sizeof(float); }

 private:
  int64_t panel_width() const { return expand_.panel_width(); }  // channels

  /// Channels of a panel that are worked out: whole vectors.
  int64_t channels_of(int64_t panel) const { return hidden_ - panel * panel_width() <= kernels_.lanes ? kernels_.lanes : panel_width(); }

  std::vector<float> whole_panels(const float* values) const {
    std::vector<float> made(static_cast<size_t>(panels_ * panel_width()), 0.0f);
    if (values) std::copy_n(values, hidden_, made.begin());
    return made;
  }

  /// Bands of output rows: as many as keep all threads at work longest, where each makes the rows of its own that its window begins with.
  int64_t bands_for(const Window& w, int64_t batch, int threads) const {
    if (threads <= 1 || batch * panels_ >= 4 * threads) return 1;
    int64_t best = 1, least = std::numeric_limits<int64_t>::max();
    for (int64_t bands = 1; bands <= std::min<int64_t>(4 * threads, w.output[1]); ++bands) {
      const int64_t rows = (pieces_of(w.output[1], bands) - 1) * stride_ + reach_;
      const int64_t time = pieces_of(batch * bands * panels_, threads) * rows;
      if (time >= least) continue;
      least = time;
      best = bands;
    }
    return best;
  }

  /// How a row of the image is cut: `larger` tiles of size + 1 pixels, the others of `size`. Each tile brings `ahead` values of the next
  /// panel's weights nearer.
  struct Tiles {
    int64_t count, size, larger, ahead, ahead_step;
  };

  Tiles tiles_for(const Window& w) const {
    const int64_t count = pieces_of(w.input[2], kernels_.rows), all = count * w.input[1];
    return {count, w.input[2] / count, w.input[2] % count, in_ * panel_width() / all, pieces_of(panel_width(), all)};
  }

  /// One panel of channels of one image.
  struct Piece {
    const Window& w;
    const Tiles& tiles;
    const float* x;
    float* y;
    int64_t panel;
    int64_t step;  ///< channels of the panel that are worked out, side by side: one vector or two
  };

  /// The rows that the window covers, with their padding: row r of the padded plane lies in place r % count. One more is all padding.
  struct Ring {
    float* memory;
    int64_t row;    // floats
    int64_t count;  // of rows
    const float* zeros() const { return memory + count * row; }
    float* at(int64_t r) const { return memory + r % count * row; }
  };

  Ring ring_for(const Window& w, int64_t step) const {
    const int64_t width = std::max(w.pad_begin[2] + w.input[2], (w.output[2] - 1) * stride_ + reach_);
    Ring ring{nullptr, width * step, reach_};
    ring.memory = static_cast<float*>(thread_scratch(ScratchSlot::image, static_cast<size_t>((reach_ + 1) * ring.row) * sizeof(float)));
    const int64_t left = w.pad_begin[2] * step, right = left + w.input[2] * step;
    for (float* row = ring.memory; row < ring.zeros(); row += ring.row) {
      std::fill(row, row + left, 0.0f);
      std::fill(row + right, row + ring.row, 0.0f);
    }
    std::fill_n(ring.memory + reach_ * ring.row, ring.row, 0.0f);
    return ring;
  }

  void run_piece(const Piece& piece, const Part& band) const {
    const Window& w = piece.w;
    const int64_t step = piece.step;
    const Ring ring = ring_for(w, step);
    const int64_t at_once = std::max<int64_t>(1, kSumBytes / (w.output[2] * step * static_cast<int64_t>(sizeof(float))));
    float* const sums =
        static_cast<float*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(at_once * w.output[2] * step) * sizeof(float)));
    if (piece.panel + 1 < panels_)
      bring_nearer(weights_.data() + (piece.panel + 1) * taps_ * taps_ * panel_width(), taps_ * taps_ * panel_width());
    ChannelRow p{};
    p.step = step;
    p.weights = weights_.data() + piece.panel * taps_ * taps_ * panel_width();
    p.bias = bias_.data() + piece.panel * panel_width();
    p.taps = taps_;
    p.stride = stride_;
    p.dilation = dilation_;
    p.columns = w.output[2];
    int64_t made = band.begin * stride_;  // rows of the padded plane before this one are there, or not needed
    for (int64_t first = band.begin; first < band.begin + band.size; first += at_once) {
      throw_if_cancelled();
      const int64_t rows = std::min(at_once, band.begin + band.size - first);
      for (int64_t row = first; row < first + rows; ++row) {
        for (; made < row * stride_ + reach_; ++made) expand_row(piece, ring, made);
        for (int64_t tap = 0; tap < taps_; ++tap) {
          const int64_t r = row * stride_ + tap * dilation_;
          p.rows[tap] = is_within(w, r) ? ring.at(r) : ring.zeros();
        }
        p.y = sums + (row - first) * w.output[2] * step;
        channel_row_(p);
      }
      finish(piece, sums, first, rows);
    }
  }

  /// Whether row r of the padded plane is one of the image.
  static bool is_within(const Window& w, int64_t r) { return r >= w.pad_begin[1] && r < w.pad_begin[1] + w.input[1]; }

  /// Row r of the padded plane: the first stage of a row of the image.
  void expand_row(const Piece& piece, const Ring& ring, int64_t r) const {
    const Window& w = piece.w;
    if (!is_within(w, r)) return;
    const int64_t width = w.input[2], row = r - w.pad_begin[1];
    const Tiles& tiles = piece.tiles;
    const float* x = piece.x + row * width;
    float* const to = ring.at(r) + w.pad_begin[2] * piece.step;
    MicroArgs<float> p{};
    p.k = in_;
    p.a_row = 1;
    p.a_k = w.input_size();
    p.b = expand_.data() + piece.panel * in_ * panel_width();
    p.b_k = panel_width();
    p.c_row = piece.step;
    p.columns = piece.step;
    p.fold = kConvFold;
    p.column_bias = expand_bias_.data() + piece.panel * panel_width();
    p.low = expand_clamp_.low;
    p.high = expand_clamp_.high;
    p.ahead_step = tiles.ahead_step;
    for (int64_t tile = 0, pixel = 0; tile < tiles.count; ++tile) {
      const int64_t pixels = tiles.size + (tile < tiles.larger ? 1 : 0);
      if (piece.panel + 1 < panels_) p.ahead = p.b + in_ * panel_width() + (row * tiles.count + tile) * tiles.ahead;
      p.a = x + pixel;
      p.c = to + pixel * piece.step;
      (piece.step == kernels_.lanes ? kernels_.one : kernels_.two)[pixels](p);
      pixel += pixels;
    }
    if (expand_clamp_.activates)
      activate_pixels(expand_activation_, piece.panel * panel_width(), to, width, live_channels(piece), piece.step);
  }

  int64_t live_channels(const Piece& piece) const { return std::min(piece.step, hidden_ - piece.panel * panel_width()); }

  /// Turns the sums of some rows of outputs round into y.
  void finish(const Piece& piece, float* sums, int64_t first, int64_t rows) const {
    const int64_t columns = piece.w.output[2], pixels = rows * columns, live = live_channels(piece);
    if (clamp_.activates) activate_pixels(activation_, piece.panel * panel_width(), sums, pixels, live, piece.step);
    finish_pixels(turn_,
                  {sums, piece.step, pixels, live, nullptr, piece.y + first * columns, piece.w.output_size(), clamp_.low, clamp_.high});
  }

  const int64_t in_, hidden_, taps_, stride_, dilation_, reach_;  // rows that the window spans: reach_
  const PackedMatrix<float> expand_;
  const MicroKernels<float>& kernels_;
  const ConvKernels<float, float>& turn_;
  const int64_t panels_;
  const Activation expand_activation_, activation_;
  const Clamp expand_clamp_, clamp_;
  const std::vector<float> expand_bias_, bias_;  // of whole panels
  void (*const channel_row_)(const ChannelRow& args) = conv_channel_row();
  SharedArray<float> weights_;  // [panel, taps, step]
};

ExpandDepthwise::ExpandDepthwise(int64_t in, int64_t hidden, const Window& window, const Stage& expand, const Stage& depthwise)
    : impl_(std::make_unique<Impl>(in, hidden, window, expand, depthwise)) {}
ExpandDepthwise::~ExpandDepthwise() = default;
ExpandDepthwise::ExpandDepthwise(ExpandDepthwise&&) noexcept = default;
ExpandDepthwise& ExpandDepthwise::operator=(ExpandDepthwise&&) noexcept = default;

bool ExpandDepthwise::fits(const Window& window) {
  const int64_t taps = window.kernel[2], stride = window.stride[2], dilation = window.dilation[2];
  return window.kernel[0] == 1 && window.kernel[1] == taps && (taps == 3 || taps == 5 || taps == 7) && window.stride[0] == 1 &&
         window.stride[1] == stride && window.dilation[0] == 1 && window.dilation[1] == dilation &&
         (stride == 1 ? dilation <= kMostDilation : stride == 2 && dilation == 1);
}

void ExpandDepthwise::run(const Window& window, int64_t batch, const float* x, float* y, const Parallel& parallel) const {
  if (batch > 0 && window.output_size() > 0) impl_->run(window, batch, x, y, parallel);
}

size_t ExpandDepthwise::weight_bytes() const { return impl_->weight_bytes(); }

}  // namespace rh::compute
