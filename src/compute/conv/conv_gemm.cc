#include <algorithm>
#include <limits>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_gather.h"
#include "compute/conv/conv_impl.h"
#include "compute/conv/conv_pack.h"
#include "compute/conv/conv_padded.h"
#include "compute/elementwise/vector_math.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kGroupPanels = 8;
constexpr int64_t kStagedProducts = 2 * kBlockK;

/// Output pixels as columns, weights as rows. k counts kernel positions first and input channels within each, so that what a kernel
/// position means for the pixels of a panel is worked out once for all channels.
template <typename S>
class ConvGemm final : public Convolution<S>::Impl {
  using T = Computed<S>;
  static constexpr bool kNarrow = !std::is_same_v<S, T>;

 public:
  ConvGemm(const ConvChannels& channels, const Window& window, const S* weights, const S* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        kernels_(micro_kernels<T>()),
        gather_(conv_kernels_for_width<S>(kernels_.columns)),
        in_(channels.in / channels.groups),
        out_(channels.out / channels.groups),
        k_(in_ * window.kernel_size()),
        chunks_((out_ + kernels_.rows - 1) / kernels_.rows) {
    if (bias) bias_.assign(bias, bias + channels.out);
    pack(weights);
  }

  bool adds_residual_last() const override { return k_ <= kBlockK; }
  size_t weight_bytes() const override { return weights_.size() * sizeof(S); }
  bool scales_input() const override { return std::is_same_v<S, float> && reads_one_pixel(channels_, window_); }

  void run(const ConvCall<S>& call, const Parallel& parallel) const override {
    if (!stages(call.window)) return run_pieces(call, {}, parallel);
    const PaddedPlane plane(window_, call.window);
    int64_t offsets[kStagedProducts];  // stages() holds kernels to as many
    plane.tap_offsets(window_, offsets);
    run_pieces(call, {nullptr, &plane, offsets}, parallel);
  }

 private:
  /// Planes that are copied with their padding, each piece of work copying what it reads; or nothing.
  struct Staged {
    const T* x = nullptr;  ///< of one piece
    const PaddedPlane* plane = nullptr;
    const int64_t* tap_offsets = nullptr;
  };

  /// The same where some rows of a result are worked out alone.
  bool stages(const Window& w) const {
    Window window = w;
    std::ranges::copy(window_.kernel, window.kernel);
    std::ranges::copy(window_.stride, window.stride);
    return conv_stages(channels_, window) && w.input_size() >= 4 * kernels_.columns * window_.stride[1] * window_.stride[2];
  }

  void run_pieces(const ConvCall<S>& call, const Staged& staged, const Parallel& parallel) const {
    const Window& w = call.window;
    const int64_t pixels = w.output_size(), panels = (pixels + kernels_.columns - 1) / kernels_.columns;
    const int64_t products = call.batch * channels_.groups;
    const double m = static_cast<double>(out_), n = static_cast<double>(pixels), k = static_cast<double>(k_);
    const int threads = parallel.threads();
    Grid grid;
    if (products < 4 * threads) {
      const double gathering = pointwise(w) ? 2 : 4;  // other threads may have written what is read
      grid = choose_grid(staged.plane ? 1 : chunks_, panels, m * n * k, m * k * sizeof(S), gathering * n * k * sizeof(T), threads);
    }
    const Cost cost{.bytes = 0, .operations = 0.25 * m * n * k / static_cast<double>(grid.pieces())};
    const auto piece = [&](int64_t i) { run_piece(call, staged, i / grid.pieces(), grid, i % grid.pieces(), panels); };
    if (products == 1) return parallel.for_pieces(grid.pieces(), piece);
    parallel.for_range(products * grid.pieces(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) piece(i);
    });
  }

  bool pointwise(const Window& w) const { return is_pointwise(window_, w); }

  void pack(const S* weights) {
    const int64_t taps = window_.kernel_size();
    const size_t count = static_cast<size_t>(channels_.out * k_ + kernels_.columns);  // run_one_pixel reads whole vectors
    const int64_t pieces = channels_.groups * chunks_;
    const auto begin = [&](size_t piece) {  // the last one takes the vector after the end
      const int64_t i = static_cast<int64_t>(piece);
      if (i == pieces) return count * sizeof(S);
      return static_cast<size_t>((i / chunks_ * out_ + part_of(out_, chunks_, i % chunks_).begin) * k_) * sizeof(S);
    };
    const auto write = [&](size_t piece, void* memory) {
      const int64_t i = static_cast<int64_t>(piece), g = i / chunks_;
      const Part rows = part_of(out_, chunks_, i % chunks_);
      S* to = static_cast<S*>(memory);
      pack_taps(weights + (g * out_ + rows.begin) * k_, in_, taps, rows.size, rows.size, to);
      if (i + 1 == pieces) std::fill_n(to + rows.size * k_, kernels_.columns, S{});
    };
    weights_ = SharedArray<S>(share_pieces({static_cast<size_t>(pieces), begin, write}, 0), count);
  }

  static T* memory(ScratchSlot slot, int64_t count) {
    return static_cast<T*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(T) + 64));  // whole vectors are read
  }

  void run_piece(const ConvCall<S>& call, const Staged& staged, int64_t product, const Grid& grid, int64_t index, int64_t panels) const {
    const Part chunks = share_of(chunks_, grid.rows, index / grid.columns);
    const Part columns = share_of(panels, grid.columns, index % grid.columns);
    if (chunks.size == 0) return;
    const Window& w = call.window;
    const int64_t group = product % channels_.groups, image = product / channels_.groups;
    const S* x = call.x + (image * channels_.in + group * in_) * w.input_size();
    const int64_t out_plane = image * channels_.out + group * out_;
    if (panels == 1 && pointwise(w) && w.output_size() == 1 && !call.input.scale) return run_one_pixel(call, x, group, out_plane, chunks);
    const Staged filled = staged.plane ? stage(w, staged, x, columns) : staged;
    for (int64_t first = columns.begin; first < columns.begin + columns.size; first += kGroupPanels) {
      const int64_t end = std::min(first + kGroupPanels, columns.begin + columns.size);
      run_group(call, filled, x, group, out_plane, chunks, first, end);
    }
  }

  /// A matrix times a vector: a chunk of weights takes the right side, whose columns are then output channels.
  void run_one_pixel(const ConvCall<S>& call, const S* x, int64_t group, int64_t out_plane, const Part& chunks) const {
    constexpr int64_t kAhead = 1024;  // of weights, which come from far
    T* wide = kNarrow ? memory(ScratchSlot::packed_right, k_ * (kernels_.rows + 1) + 2 * kernels_.rows) : nullptr;
    const T* left = widened(x, wide, k_);
    for (int64_t chunk = chunks.begin; chunk < chunks.begin + chunks.size; ++chunk) {
      const Part rows = part_of(out_, chunks_, chunk);
      S* y = call.y + out_plane + rows.begin;
      MicroArgs<T> p{};
      p.k = k_;
      p.fold = kConvFold;
      p.a = left;
      p.a_k = 1;
      p.b_k = rows.size;
      p.columns = rows.size;
      p.low = static_cast<T>(clamp_.low);
      p.high = static_cast<T>(clamp_.high);
      if (!bias_.empty()) p.column_bias = bias_.data() + group * out_ + rows.begin;
      p.residual_scale = 1;
      const S* weights = weights_.data() + (group * out_ + rows.begin) * k_;
      T* ends = kNarrow ? wide + k_ : nullptr;
      p.b = widened(weights, kNarrow ? ends + 2 * kernels_.rows : nullptr, k_ * rows.size);
      if constexpr (!kNarrow) {
        p.ahead = p.b + kAhead;
        p.ahead_step = rows.size;
      }
      if (call.residual) p.residual = widened(call.residual + out_plane + rows.begin, kNarrow ? ends + kernels_.rows : nullptr, rows.size);
      if constexpr (kNarrow)
        p.c = ends;
      else
        p.c = y;
      (rows.size <= kernels_.lanes ? kernels_.one : kernels_.two)[1](p);
      finish_interleaved(clamp_.activates, activation_, group * out_ + rows.begin, p.c, 1, rows.size, rows.size,
                         call.addend_at(out_plane + rows.begin));
      if constexpr (kNarrow) narrow(p.c, y, rows.size);
    }
  }

  /// Where the sums of a group of panels stand until they are finished: in y itself, or in memory of the thread.
  struct Sums {
    T* at;
    int64_t stride;
  };

  Sums sums_of(const ConvCall<S>& call, int64_t first_row, int64_t rows, int64_t column, int64_t columns) const {
    const int64_t pixels = call.window.output_size();
    if constexpr (kNarrow) {
      T* sums = memory(ScratchSlot::row, rows * columns);
      for (int64_t row = 0; call.residual && row < rows; ++row)
        widen(call.residual + (first_row + row) * pixels + column, sums + row * columns, columns);
      return {sums, columns};
    } else {
      return {call.y + first_row * pixels + column, pixels};
    }
  }

  void run_group(const ConvCall<S>& call, const Staged& staged, const S* x, int64_t group, int64_t out_plane, const Part& chunks,
                 int64_t first, int64_t end) const {
    const Window& w = call.window;
    const int64_t pixels = w.output_size(), width = kernels_.columns;
    const int64_t blocks = staged.plane ? 1 : std::max<int64_t>(1, (k_ + kBlockK - 1) / kBlockK);
    const int64_t panel_size = (k_ / blocks + 1) * width + kernels_.lanes;  // a vector of slack: see Segment
    T* buffer = memory(ScratchSlot::packed_right, (end - first) * panel_size + width);
    const Part last_chunk = part_of(out_, chunks_, chunks.begin + chunks.size - 1);
    const int64_t first_row = part_of(out_, chunks_, chunks.begin).begin, row_count = last_chunk.begin + last_chunk.size - first_row;
    const int64_t first_column = first * width, columns = std::min(pixels, end * width) - first_column;
    const Sums sums = sums_of(call, out_plane + first_row, row_count, first_column, columns);
    const T* residual = nullptr;
    if constexpr (!kNarrow) residual = call.residual ? call.residual + (out_plane + first_row) * pixels + first_column : nullptr;
    for (int64_t block = 0; block < blocks; ++block) {
      throw_if_cancelled();
      const Part ks = part_of(k_, blocks, block);
      const bool last = block == blocks - 1, with_residual = residual && (call.residual == call.y ? block == 0 : last);
      MicroArgs<T> p{};
      p.fold = staged.plane ? kImageFold : kConvFold;
      p.a_row = 1;
      p.b_k = width;
      p.c_row = sums.stride;
      p.beta = block == 0 && !(kNarrow && call.residual) ? 0 : 1;
      p.low = static_cast<T>(last ? clamp_.low : -std::numeric_limits<float>::infinity());
      p.high = static_cast<T>(last ? clamp_.high : std::numeric_limits<float>::infinity());
      p.residual_row = pixels;
      p.residual_scale = 1;
      p.c_is_far = !kNarrow && out_ * pixels * static_cast<int64_t>(sizeof(T)) >= kFarBytes;
      const auto take_rows = [&](int64_t i) {
        const Part rows = part_of(out_, chunks_, chunks.begin + i);
        const S* weights = weights_.data() + (group * out_ + rows.begin) * k_ + ks.begin * rows.size;
        p.a = widened(weights, kNarrow ? memory(ScratchSlot::packed_left, ks.size * rows.size) : nullptr, ks.size * rows.size);
        p.a_k = rows.size;
        if (last && !bias_.empty()) p.row_bias = bias_.data() + group * out_ + rows.begin;
        return rows;
      };
      const auto run_tile = [&](const Part& rows, int64_t panel) {
        const int64_t column = panel * width - first_column, row = rows.begin - first_row;
        p.c = sums.at + row * sums.stride + column;
        p.columns = std::min(width, columns - column);
        p.residual = with_residual ? residual + row * pixels + column : nullptr;
        (p.columns <= kernels_.lanes ? kernels_.one : kernels_.two)[rows.size](p);
      };
      if (reads_directly(w, chunks, ks)) {
        if constexpr (!kNarrow) {
          p.k = ks.size;
          for (int64_t panel = first; panel < end; ++panel) {
            const T* at = x + ks.begin * pixels + panel * width;
            const bool whole = (panel + 1) * width <= pixels, lies_ready = whole && !call.input.scale;
            if (!lies_ready) fill(call, x, panel * width, ks, buffer);
            p.b = lies_ready ? at : buffer;
            p.b_k = lies_ready ? pixels : width;
            for (int64_t i = 0; i < chunks.size; ++i) {
              const Part rows = take_rows(i);
              p.ahead = i == 0 && (panel + 2) * width <= pixels ? at + width : nullptr;
              p.ahead_step = pixels;
              if (panel == first && i > 0 && i + 1 < chunks.size) {  // weights come from far
                p.ahead = p.a + rows.size * k_;
                p.ahead_step = rows.size;
              }
              run_tile(rows, panel);
            }
          }
        }
        continue;
      }
      bool live[kGroupPanels];
      for (int64_t panel = first; panel < end; ++panel)
        live[panel - first] = staged.x ? fill_staged(w, staged, panel * width, buffer + (panel - first) * panel_size)
                                       : fill(call, x, panel * width, ks, buffer + (panel - first) * panel_size);
      for (int64_t i = 0; i < chunks.size; ++i) {
        const Part rows = take_rows(i);
        const T* next_weights = nullptr;
        if constexpr (!kNarrow) next_weights = p.a + rows.size * k_;
        for (int64_t panel = first; panel < end; ++panel) {
          const bool empty = !live[panel - first];
          if (empty && block > 0 && !last) continue;
          p.k = empty ? 0 : ks.size;
          p.ahead = panel == first && i + 1 < chunks.size ? next_weights : nullptr;
          p.ahead_step = rows.size;
          p.b = buffer + (panel - first) * panel_size;
          run_tile(rows, panel);
        }
      }
    }
    finish_channels(clamp_.activates, activation_, group * out_ + first_row, sums.at, row_count, columns, sums.stride,
                    call.addend_at((out_plane + first_row) * pixels + first_column));
    if constexpr (kNarrow) {
      S* to = call.y + (out_plane + first_row) * pixels + first_column;
      for (int64_t row = 0; row < row_count; ++row) narrow(sums.at + row * sums.stride, to + row * pixels, columns);
    }
  }

  /// Whether panels are read where they lie, one after the other: where the weights of a block stay near, and are enough for the walk over
  /// all output channels to pay.
  bool reads_directly(const Window& w, const Part& chunks, const Part& ks) const {
    constexpr int64_t kNear = 384 << 10, kLeast = 32;
    return !kNarrow && pointwise(w) && ks.size >= kLeast &&
           chunks.size * kernels_.rows * ks.size * static_cast<int64_t>(sizeof(T)) <= kNear;
  }

  /// Rows `ks` of the panel of pixels that begins at `pixel`; false where all of it is padding.
  bool fill(const ConvCall<S>& call, const S* x, int64_t pixel, const Part& ks, T* panel) const {
    const Window& w = call.window;
    if constexpr (std::is_same_v<S, float>) {
      if (const auto& [scale, shift] = call.input; scale) {
        const int64_t width = kernels_.columns;
        const bool ready = pointwise(w) && pixel + width <= w.output_size();
        if (!ready) fill_pixel_panel<S>(window_, w, x, in_, pixel, ks, kernels_, gather_, panel);
        const float* from = ready ? x + ks.begin * w.input_size() + pixel : panel;
        relu_scaled_rows(from, ready ? w.input_size() : width, scale + ks.begin, shift + ks.begin, panel, width, ks.size, width);
        return true;
      }
    }
    return fill_pixel_panel<S>(window_, w, x, in_, pixel, ks, kernels_, gather_, panel);
  }

  /// Copies the rows that some panels of pixels read.
  Staged stage(const Window& w, const Staged& staged, const S* x, const Part& panels) const {
    const PaddedPlane& plane = *staged.plane;
    T* const memory =
        static_cast<T*>(thread_scratch(ScratchSlot::image, static_cast<size_t>(in_ * plane.size() + 4 * kernels_.columns) * sizeof(T)));
    const int64_t last_pixel = std::min(w.output_size(), (panels.begin + panels.size) * kernels_.columns) - 1;
    const int64_t first = panels.begin * kernels_.columns / w.output[2] * window_.stride[1];
    const int64_t last = last_pixel / w.output[2] * window_.stride[1] + (window_.kernel[1] - 1) * window_.dilation[1];
    for (int64_t c = 0; c < in_; ++c) {
      for (int64_t row = first; row <= last; ++row)
        plane.make_row(gather_, w, codes(x + c * w.input_size()), row, memory + (c * plane.rows() + row) * plane.row);
    }
    return {memory, staged.plane, staged.tap_offsets};
  }

  /// The whole panel of pixels that begins at `pixel`, out of planes that were copied.
  bool fill_staged(const Window& w, const Staged& staged, int64_t pixel, T* panel) const {
    const int64_t width = kernels_.columns, pixels = w.output_size();
    Segment segments[PixelRuns::kMost];
    int64_t made = 0;
    int64_t ow = pixel % w.output[2], oh = pixel / w.output[2] % w.output[1], od = pixel / (w.output[2] * w.output[1]);
    for (int64_t column = 0; column < width; ++made) {
      const int64_t length = pixel + column < pixels ? std::min({w.output[2] - ow, kernels_.lanes, width - column}) : kernels_.lanes;
      const int64_t at = staged.plane->position(od * window_.stride[0], oh * window_.stride[1], ow * window_.stride[2]);
      segments[made] = {pixel + column < pixels ? at : segments[0].offset, static_cast<int32_t>(column), 0,
                        static_cast<int16_t>(kernels_.lanes)};
      column += length;
      ow += length;
      if (ow < w.output[2]) continue;
      ow = 0;
      if (++oh < w.output[1]) continue;
      oh = 0;
      ++od;
    }
    gather_.gather_taps(staged.x, staged.tap_offsets, window_.kernel_size(), staged.plane->size(), in_, segments, made, panel, width);
    return true;
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const MicroKernels<T>& kernels_;
  const ConvKernels<T, Code<S>>& gather_;
  const int64_t in_, out_, k_, chunks_;
  SharedArray<S> weights_;
  PackedVector<T> bias_;
};

}  // namespace

bool conv_stages(const ConvChannels& channels, const Window& w) {
  constexpr int64_t kStagedChannels = 8;
  const bool plane = w.input[0] == 1 && w.output[0] == 1 && w.kernel[0] == 1 && w.pad_begin[0] == 0;
  return plane && w.pad_begin[2] >= 0 && channels.groups == 1 && channels.in <= kStagedChannels && w.kernel_size() > 1 &&
         w.stride[2] <= std::min<int64_t>(4, std::max<int64_t>(2, w.kernel[2])) && channels.in * w.kernel_size() <= kStagedProducts;
}

template <typename S>
std::unique_ptr<typename Convolution<S>::Impl> make_conv_gemm(const ConvChannels& channels, const Window& window, const S* weights,
                                                              const S* bias, const Activation& activation) {
  return std::make_unique<ConvGemm<S>>(channels, window, weights, bias, activation);
}

#define RH_INSTANTIATE(S) \
  template std::unique_ptr<Convolution<S>::Impl> make_conv_gemm(const ConvChannels&, const Window&, const S*, const S*, const Activation&);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
#undef RH_INSTANTIATE

}  // namespace rh::compute
