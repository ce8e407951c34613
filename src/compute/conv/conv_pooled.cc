#include "compute/conv/conv_pooled.h"

#include <algorithm>

#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/image/pool.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kBandBytes = 448 << 10;  // of a convolution's result: within the second-level cache

class PooledImage {
 public:
  PooledImage(const Convolution<float>& convolution, const Window& window, int64_t channels, const Window& pool, const float* x, float* y)
      : convolution_(convolution), window_(window), pool_(pool), channels_(channels), x_(x), y_(y) {}

  void run(const Part& rows) const {
    int64_t begin = window_.output[1], end = 0;
    for (int64_t row = rows.begin; row < rows.begin + rows.size; ++row) {
      const Range taken = rows_of(row);
      if (taken.size() <= 0) continue;
      begin = std::min(begin, taken.begin);
      end = std::max(end, taken.end);
    }
    const int64_t row_bytes = channels_ * window_.output[2] * static_cast<int64_t>(sizeof(float));
    const int64_t most = std::max<int64_t>(1, kBandBytes / row_bytes), bands = end > begin ? pieces_of(end - begin, most) : 0;
    for (int64_t i = 0; i < bands; ++i) {
      const Part part = part_of(end - begin, bands, i);
      run_band(rows, begin, {begin + part.begin, begin + part.begin + part.size});
    }
  }

 private:
  /// The rows of the convolution's result that a row of y takes.
  Range rows_of(int64_t row) const {
    const int64_t first = row * pool_.stride[1] - pool_.pad_begin[1];
    return {std::max<int64_t>(0, first), std::min(window_.output[1], first + pool_.kernel[1])};
  }

  float* at(int64_t row) const { return y_ + row * pool_.output[2]; }

  /// Works out some rows of the convolution, of which those from `first` on are made in turn, and has them take part in `rows` of y.
  void run_band(const Part& rows, int64_t first, const Range& band) const {
    Window w = window_;
    w.output[1] = band.size();
    w.pad_begin[1] -= band.begin * w.stride[1];
    float* sums = scratch_floats(ScratchSlot::phase, channels_ * w.output_size());
    convolution_.run(w, 1, x_, nullptr, sums, Parallel());
    // Rows of y that take some of these rows; those up to `whole` have taken others already.
    int64_t begin = rows.begin, end = rows.begin + rows.size;
    while (begin < end && rows_of(begin).end <= band.begin) ++begin;
    while (end > begin && rows_of(end - 1).begin >= band.end) --end;
    int64_t whole = begin;
    while (whole < end && std::max(first, rows_of(whole).begin) < band.begin) ++whole;
    if (whole > begin) {
      const int64_t plane = (whole - begin) * pool_.output[2];
      float* largest = scratch_floats(ScratchSlot::packed_left, channels_ * plane);
      pool_rows({begin, whole}, band, sums, largest, plane);
      for (int64_t c = 0; c < channels_; ++c) {
        float* y = at(begin) + c * pool_.output_size();
        binary(Binary::max, y, largest + c * plane, y, plane);
      }
    }
    if (end > whole) pool_rows({whole, end}, band, sums, at(whole), pool_.output_size());
  }

  /// Maxima of the rows `band` alone, `sums`, for `rows` of y; planes of `to` lie `to_plane` apart.
  void pool_rows(const Range& rows, const Range& band, const float* sums, float* to, int64_t to_plane) const {
    Window p = pool_;
    p.output[1] = rows.size();
    const int64_t above = rows.begin * pool_.stride[1] - pool_.pad_begin[1] - band.begin, skipped = std::max<int64_t>(0, above);
    p.pad_begin[1] = std::max<int64_t>(0, -above);
    p.input[1] = std::min(band.size() - skipped, (rows.size() - 1) * pool_.stride[1] + pool_.kernel[1] - p.pad_begin[1]);
    max_pool_planes(p, channels_, sums + skipped * p.input[2], band.size() * p.input[2], to, to_plane);
  }

  const Convolution<float>& convolution_;
  const Window& window_;
  const Window& pool_;
  const int64_t channels_;
  const float* x_;
  float* y_;
};

}  // namespace

void convolve_and_pool(const Convolution<float>& convolution, const Window& window, const ConvChannels& channels, const Window& pool,
                       int64_t batch, const float* x, float* y, const Parallel& parallel) {
  if (batch <= 0 || pool.output_size() <= 0) return;
  // Each thread has rows of its own, as few pieces as there can be: rows of the convolution at their borders are made twice.
  const int64_t threads = parallel.threads(), pieces = batch % threads == 0 ? 1 : std::min(threads, pool.output[1]);
  const int64_t image = channels.in * window.input_size();
  parallel.for_pieces(batch * pieces, [&](int64_t i) {
    const int64_t at = i / pieces;
    PooledImage(convolution, window, channels.out, pool, x + at * image, y + at * channels.out * pool.output_size())
        .run(share_of(pool.output[1], pieces, i % pieces));
  });
  fill_empty_windows(pool, batch * channels.out, y);
}

bool pools_in_bands(const Convolution<float>& convolution) { return convolution.variant() == "gemm"; }

}  // namespace rh::compute
