#pragma once

#include <algorithm>
#include <vector>

#include "compute/conv/conv_gather.h"
#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm_fip.h"

namespace rh::compute {

/// Products of a block, of which a panel of pixels stays in the second-level cache beside others.
inline constexpr int64_t kFipConvBlock = 504;
/// Products by pairs that convolutions add up before they join a longer sum: of pixels, whose values often have one sign.
inline constexpr int64_t kFipConvFold = 66;

/// Panels of pixels as tiles by pairs read them.
class FipPixels {
 public:
  FipPixels(const ConvChannels& channels, const Window& window)
      : window_(window),
        in_(channels.in / channels.groups),
        plain_(micro_kernels_for_width<float>(kFipWidth)),
        gather_(conv_kernels_for_width<float>(kFipWidth)) {}

  /// The first row of `steps` that `scale` reads of such a panel, rows w.input_size() apart; null where it gathers.
  const float* source(const Window& w, const float* x, int64_t pixel, const Part& steps) const {
    return is_pointwise(window_, w) && pixel < w.input_size() ? x + steps.begin * w.input_size() + pixel : nullptr;
  }

  /// Rows `steps` of the panel of pixels that begins at `pixel`, scaled: `panel` says where to, and how many columns at most; its b, k and
  /// scale are not looked at. k counts kernel positions first and channels within each; `scales` are those of the group. See
  /// FipKernels::scale_panel.
  uint32_t scale(const Window& w, const InputScale& input, const float* x, int64_t pixel, const Part& steps, const float* scales,
                 FipPanel panel) const {
    const int64_t plane = w.input_size(), count = std::min(steps.size, in_ * window_.kernel_size() - steps.begin);
    const Part ks{steps.begin, count};
    const bool ready = is_pointwise(window_, w) && pixel + kFipWidth <= plane;
    panel.columns = std::min(panel.columns, w.output_size() - pixel);
    panel.k = count;
    panel.scale = scales + steps.begin;
    panel.b = x + ks.begin * plane + pixel;
    panel.b_row = plane;
    if (!ready || input.scale) {
      float* const gathered = scratch_floats(ScratchSlot::packed_right, (count + 1) * kFipWidth + 64);
      if (!ready) {
        fill_pixel_panel<float>(window_, w, x, in_, pixel, ks, plain_, gather_, gathered);
        panel.b = gathered;
        panel.b_row = kFipWidth;
      }
      if (input.scale) {
        relu_scaled_rows(panel.b, panel.b_row, input.scale + ks.begin, input.shift + ks.begin, gathered, kFipWidth, count, kFipWidth);
        panel.b = gathered;
        panel.b_row = kFipWidth;
      }
    }
    return fip_kernels()->scale_panel(panel);
  }

 private:
  const Window window_;
  const int64_t in_;
  const MicroKernels<float>& plain_;
  const ConvKernels<float, float>& gather_;
};

/// Calls run(product, piece) for each piece of each of some products of so many multiply-adds.
template <typename Run>
void deal_pieces(int64_t products, const Grid& grid, double operations, const Parallel& parallel, const Run& run) {
  const int64_t pieces = grid.pieces();
  if (products == 1) return parallel.for_pieces(pieces, [&](int64_t i) { run(0, i); });
  const Cost cost{.bytes = 0, .operations = 0.25 * operations / static_cast<double>(pieces)};
  parallel.for_range(products * pieces, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) run(i / pieces, i % pieces);
  });
}

/// Weights [out, channel, tap] as [out, tap, channel]: themselves where there is one tap, or in `memory`.
inline const float* weights_by_tap(const float* weights, int64_t out, int64_t in, int64_t taps, std::vector<float>& memory) {
  if (taps == 1) return weights;
  memory.resize(static_cast<size_t>(out * in * taps));
  for (int64_t row = 0; row < out; ++row) {
    const float* const from = weights + row * in * taps;
    float* const to = memory.data() + row * in * taps;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < in; ++c) to[tap * in + c] = from[c * taps + tap];
  }
  return memory.data();
}

}  // namespace rh::compute
