#include <algorithm>
#include <limits>

#include "compute/conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kGroupPanels = 8;
constexpr int64_t kMaxColumns = 32;  // of a panel, of any instruction set

/// Output pixels as columns, weights as rows. k counts kernel positions first and input channels within each, so that what a kernel
/// position means for the pixels of a panel is worked out once for all channels.
class ConvGemm final : public Convolution::Impl {
 public:
  ConvGemm(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        kernels_(micro_kernels<float>()),
        gather_(conv_kernels_for_width(kernels_.columns)),
        in_(channels.in / channels.groups),
        out_(channels.out / channels.groups),
        k_(in_ * window.kernel_size()),
        chunks_((out_ + kernels_.rows - 1) / kernels_.rows) {
    if (bias) bias_.assign(bias, bias + channels.out);
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }
  const char* variant() const override { return "gemm"; }

  void run(const ConvCall& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const int64_t pixels = w.output_size(), panels = (pixels + kernels_.columns - 1) / kernels_.columns;
    const int64_t products = call.batch * channels_.groups;
    const double m = static_cast<double>(out_), n = static_cast<double>(pixels), k = static_cast<double>(k_);
    const int threads = parallel.threads();
    Grid grid;
    if (products < 4 * threads) {
      const double gathering = pointwise(w) ? 1 : 4;
      grid = choose_grid(chunks_, panels, m * n * k, m * k * sizeof(float), gathering * n * k * sizeof(float), threads);
    }
    const Cost cost{.bytes = 0, .operations = 0.25 * m * n * k / static_cast<double>(grid.pieces())};
    const auto piece = [&](int64_t i) { run_piece(call, i / grid.pieces(), grid, i % grid.pieces(), panels); };
    if (products == 1) return parallel.for_pieces(grid.pieces(), piece);
    parallel.for_range(products * grid.pieces(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) piece(i);
    });
  }

 private:
  /// Whether the image itself is the matrix of columns.
  bool pointwise(const Window& w) const {
    for (int d = 0; d < 3; ++d)
      if (window_.kernel[d] != 1 || window_.stride[d] != 1 || w.pad_begin[d] != 0 || w.input[d] != w.output[d]) return false;
    return true;
  }

  void pack(const float* weights) {
    const int64_t taps = window_.kernel_size();
    weights_.resize(static_cast<size_t>(channels_.out * k_ + kernels_.lanes));  // run_one_pixel reads whole vectors
    float* to = weights_.data();
    for (int64_t g = 0; g < channels_.groups; ++g) {
      for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
        const Part rows = part_of(out_, chunks_, chunk);
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t c = 0; c < in_; ++c)
            for (int64_t r = 0; r < rows.size; ++r) *to++ = weights[((g * out_ + rows.begin + r) * in_ + c) * taps + tap];
      }
    }
  }

  void run_piece(const ConvCall& call, int64_t product, const Grid& grid, int64_t index, int64_t panels) const {
    const Part chunks = part_of(chunks_, grid.rows, index / grid.columns);
    const Part columns = part_of(panels, grid.columns, index % grid.columns);
    if (chunks.size == 0) return;
    const Window& w = call.window;
    const int64_t group = product % channels_.groups, image = product / channels_.groups;
    const float* x = call.x + (image * channels_.in + group * in_) * w.input_size();
    const int64_t out_plane = image * channels_.out + group * out_;
    if (panels == 1 && pointwise(w) && w.output_size() == 1) return run_one_pixel(call, x, group, out_plane, chunks);
    for (int64_t first = columns.begin; first < columns.begin + columns.size; first += kGroupPanels) {
      const int64_t end = std::min(first + kGroupPanels, columns.begin + columns.size);
      run_group(call, x, group, out_plane, chunks, first, end);
    }
  }

  /// A matrix times a vector: a chunk of weights takes the right side, whose columns are then output channels.
  void run_one_pixel(const ConvCall& call, const float* x, int64_t group, int64_t out_plane, const Part& chunks) const {
    for (int64_t chunk = chunks.begin; chunk < chunks.begin + chunks.size; ++chunk) {
      const Part rows = part_of(out_, chunks_, chunk);
      MicroArgs<float> p{};
      p.k = k_;
      p.a = x;
      p.a_k = 1;
      p.b = weights_.data() + (group * out_ + rows.begin) * k_;
      p.b_k = rows.size;
      p.c = call.y + out_plane + rows.begin;
      p.columns = rows.size;
      p.alpha = 1;
      p.low = clamp_.low;
      p.high = clamp_.high;
      if (!bias_.empty()) p.column_bias = bias_.data() + group * out_ + rows.begin;
      if (call.residual) p.residual = call.residual + out_plane + rows.begin;
      p.residual_scale = 1;
      kernels_.one[1](p);
      if (clamp_.activates) activate(activation_, p.c, p.c, rows.size);
    }
  }

  void run_group(const ConvCall& call, const float* x, int64_t group, int64_t out_plane, const Part& chunks, int64_t first,
                 int64_t end) const {
    const Window& w = call.window;
    const int64_t pixels = w.output_size(), width = kernels_.columns;
    const int64_t blocks = std::max<int64_t>(1, (k_ + kBlockK - 1) / kBlockK);
    const int64_t panel_floats = (k_ / blocks + 1) * width + kernels_.lanes;  // a vector of slack: see Segment
    float* buffer = static_cast<float*>(
        thread_scratch(ScratchSlot::packed_right, static_cast<size_t>((end - first) * panel_floats + width) * sizeof(float)));
    for (int64_t block = 0; block < blocks; ++block) {
      const Part ks = part_of(k_, blocks, block);
      for (int64_t panel = first; panel < end; ++panel) fill_panel(w, x, panel * width, ks, buffer + (panel - first) * panel_floats);
      for (int64_t i = 0; i < chunks.size; ++i) {
        const Part rows = part_of(out_, chunks_, chunks.begin + i);
        MicroArgs<float> p{};
        p.k = ks.size;
        p.a = weights_.data() + (group * out_ + rows.begin) * k_ + ks.begin * rows.size;
        p.a_row = 1;
        p.a_k = rows.size;
        p.b_k = width;
        p.c_row = pixels;
        p.alpha = 1;
        p.beta = block == 0 ? 0 : 1;
        const bool last = block == blocks - 1, with_residual = call.residual && (call.residual == call.y ? block == 0 : last);
        p.low = last ? clamp_.low : -std::numeric_limits<float>::infinity();
        p.high = last ? clamp_.high : std::numeric_limits<float>::infinity();
        p.residual_row = pixels;
        p.residual_scale = 1;
        if (last && !bias_.empty()) p.row_bias = bias_.data() + group * out_ + rows.begin;
        for (int64_t panel = first; panel < end; ++panel) {
          const int64_t column = panel * width, at = (out_plane + rows.begin) * pixels + column;
          p.b = buffer + (panel - first) * panel_floats;
          p.c = call.y + at;
          p.columns = std::min(width, pixels - column);
          p.residual = with_residual ? call.residual + at : nullptr;
          (p.columns <= kernels_.lanes ? kernels_.one : kernels_.two)[rows.size](p);
        }
      }
    }
    if (!clamp_.activates) return;
    const int64_t begin = part_of(out_, chunks_, chunks.begin).begin;
    const Part final_rows = part_of(out_, chunks_, chunks.begin + chunks.size - 1);
    const int64_t column = first * width, count = std::min(pixels, end * width) - column;
    for (int64_t row = begin; row < final_rows.begin + final_rows.size; ++row) {
      float* y = call.y + (out_plane + row) * pixels + column;
      activate(activation_, y, y, count);
    }
  }

  /// Rows [ks.begin, ks.begin + ks.size) of the panel of pixels that begins at `pixel`.
  void fill_panel(const Window& w, const float* x, int64_t pixel, const Part& ks, float* panel) const {
    const int64_t width = kernels_.columns, image = w.input_size();
    if (pointwise(w)) {
      const float* from = x + ks.begin * image + pixel;
      if (pixel + width <= image)
        gather_.copy_panel(from, image, ks.size, panel);
      else
        pack_panel(from, image, false, ks.size, image - pixel, width, panel);
      return;
    }
    Run runs[kMaxColumns];
    const int64_t run_count = make_runs(w, pixel, runs);
    Segment segments[kMaxColumns + 2];
    for (int64_t k = ks.begin; k < ks.begin + ks.size;) {
      const int64_t tap = k / in_, channel = k % in_, count = std::min(in_ - channel, ks.begin + ks.size - k);
      const int64_t made = make_segments(w, runs, run_count, tap, segments);
      gather_.gather_panel(x + channel * image, image, count, window_.stride[2], segments, made, panel);
      panel += count * width;
      k += count;
    }
  }

  /// Neighbouring pixels of one output row, at most a vector; d, h and start are where kernel position 0 reads the first of them.
  struct Run {
    int64_t column, length, d, h, start;
  };

  int64_t make_runs(const Window& w, int64_t pixel, Run* runs) const {
    const int64_t width = std::min(kernels_.columns, w.output_size() - pixel);
    int64_t ow = pixel % w.output[2], oh = pixel / w.output[2] % w.output[1], od = pixel / (w.output[2] * w.output[1]);
    int64_t made = 0;
    for (int64_t column = 0; column < width;) {
      const int64_t length = std::min({w.output[2] - ow, kernels_.lanes, width - column});
      runs[made++] = {column, length, od * window_.stride[0] - w.pad_begin[0], oh * window_.stride[1] - w.pad_begin[1],
                      ow * window_.stride[2] - w.pad_begin[2]};
      column += length;
      ow += length;
      if (ow < w.output[2]) continue;
      ow = 0;
      if (++oh < w.output[1]) continue;
      oh = 0;
      ++od;
    }
    return made;
  }

  /// Where the panel's pixels find their input for one kernel position, and zeros for the columns beyond the last pixel.
  int64_t make_segments(const Window& w, const Run* runs, int64_t run_count, int64_t tap, Segment* segments) const {
    const int64_t stride = window_.stride[2], row_of_taps = tap / window_.kernel[2];
    const int64_t shift[3] = {row_of_taps / window_.kernel[1] * window_.dilation[0], row_of_taps % window_.kernel[1] * window_.dilation[1],
                              tap % window_.kernel[2] * window_.dilation[2]};
    int64_t made = 0;
    for (; made < run_count; ++made) {
      const Run& run = runs[made];
      Segment& s = segments[made];
      s = {0, static_cast<int32_t>(run.column), 0, 0};
      const int64_t d = run.d + shift[0], h = run.h + shift[1], start = run.start + shift[2];
      if (d < 0 || d >= w.input[0] || h < 0 || h >= w.input[1]) continue;
      s.offset = (d * w.input[1] + h) * w.input[2] + start;
      int64_t first = 0, last = run.length;
      if (start < 0) first = std::min(last, (-start + stride - 1) / stride);
      if (start + (last - 1) * stride >= w.input[2])
        last = std::max(first, start >= w.input[2] ? 0 : (w.input[2] - 1 - start) / stride + 1);
      s.first = static_cast<int16_t>(first);
      s.last = static_cast<int16_t>(last);
    }
    const Run& end = runs[run_count - 1];
    for (int64_t column = end.column + end.length; column < kernels_.columns; column += kernels_.lanes)
      segments[made++] = {0, static_cast<int32_t>(column), 0, 0};
    return made;
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const MicroKernels<float>& kernels_;
  const ConvKernels& gather_;
  const int64_t in_, out_, k_, chunks_;
  std::vector<float> weights_;
  std::vector<float> bias_;
};

}  // namespace

std::unique_ptr<Convolution::Impl> make_conv_gemm(const ConvChannels& channels, const Window& window, const float* weights,
                                                  const float* bias, const Activation& activation) {
  return std::make_unique<ConvGemm>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
