#include <limits>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_gather.h"
#include "compute/conv/conv_impl.h"
#include "compute/gemm/gemm_split.h"

namespace rh::compute {
namespace {

constexpr int64_t kPanelsAtOnce = 8;
constexpr double kSpeed = 1.4;  // of products, beside multiply-add

/// Output pixels as columns, weights as rows in split form; pixels are gathered and split a block at a time. k counts kernel positions
/// first and input channels within each.
class ConvSplit final : public Convolution<float>::Impl {
 public:
  ConvSplit(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        kernels_(micro_kernels_for_width<float>(kSplitWidth)),
        gather_(conv_kernels_for_width<float>(kSplitWidth)),
        in_(channels.in / channels.groups),
        out_(channels.out / channels.groups),
        k_(in_ * window.kernel_size()),
        chunks_((out_ + kSplitWidth - 1) / kSplitWidth) {
    if (bias) bias_.assign(bias, bias + channels.out);
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size(); }
  bool adds_residual_last() const override { return k_ <= kBlockK; }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const int64_t pixels = call.window.output_size(), panels = (pixels + kSplitWidth - 1) / kSplitWidth;
    const int64_t products = call.batch * channels_.groups;
    const double m = static_cast<double>(out_), n = static_cast<double>(pixels), k = static_cast<double>(k_);
    const double operations = m * n * k / kSpeed;
    Grid grid;
    if (products < 4 * parallel.threads()) {
      const double gathering = is_pointwise(window_, call.window) ? 2 : 4;
      grid = choose_grid(chunks_, panels, operations, 6 * m * k, gathering * n * k * sizeof(float), parallel.threads());
    }
    const Cost cost{.bytes = 0, .operations = 0.25 * operations / static_cast<double>(grid.pieces())};
    parallel.for_range(products * grid.pieces(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) run_piece(call, i / grid.pieces(), grid, i % grid.pieces(), panels);
    });
  }

 private:
  /// Where a product of a piece reads and writes.
  struct Place {
    const float* x;
    int64_t group;
    int64_t out_plane;
  };

  void pack(const float* weights) {
    const int64_t taps = window_.kernel_size(), pieces = channels_.groups * chunks_;
    const auto begin = [&](size_t piece) { return piece * split_bytes(k_); };
    const auto write = [&](size_t piece, void* to) {
      const int64_t i = static_cast<int64_t>(piece), group = i / chunks_;
      const Part rows = part_of(out_, chunks_, i % chunks_);
      float* const ordered = floats(ScratchSlot::packed_right, rows.size * k_);
      for (int64_t row = 0; row < rows.size; ++row) {
        const float* from = weights + (group * out_ + rows.begin + row) * k_;
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t c = 0; c < in_; ++c) ordered[row * k_ + tap * in_ + c] = from[c * taps + tap];
      }
      split_rows(ordered, rows.size, k_, to);
    };
    const size_t count = static_cast<size_t>(pieces);
    weights_ = SharedArray<char>(share_pieces({count, begin, write}, 0), count * split_bytes(k_));
  }

  static float* floats(ScratchSlot slot, int64_t count) {
    return static_cast<float*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 64));  // whole vectors are written
  }

  void run_piece(const ConvCall<float>& call, int64_t product, const Grid& grid, int64_t index, int64_t panels) const {
    const Part chunks = share_of(chunks_, grid.rows, index / grid.columns);
    const Part columns = share_of(panels, grid.columns, index % grid.columns);
    const int64_t group = product % channels_.groups, image = product / channels_.groups;
    const Place place{call.x + (image * channels_.in + group * in_) * call.window.input_size(), group,
                      image * channels_.out + group * out_};
    TileScope tiles;
    for (int64_t first = columns.begin; first < columns.begin + columns.size; first += kPanelsAtOnce) {
      run_group(call, place, chunks, first, std::min(first + kPanelsAtOnce, columns.begin + columns.size), tiles);
    }
  }

  /// Of a chunk of a group's rows, in split form.
  const char* weights_of(int64_t group, int64_t chunk) const {
    return weights_.data() + static_cast<size_t>(group * chunks_ + chunk) * split_bytes(k_);
  }

  void run_group(const ConvCall<float>& call, const Place& place, const Part& chunks, int64_t first, int64_t end, TileScope& tiles) const {
    const Window& w = call.window;
    const int64_t blocks = split_blocks(k_), panels = end - first;
    const int64_t panel_values = kSplitBlockValues + kernels_.lanes;  // a vector of slack: see Segment
    char* const steps = static_cast<char*>(thread_scratch(ScratchSlot::split, static_cast<size_t>(panels) * kSplitBlockBytes));
    float* const pixels = floats(ScratchSlot::packed_right, panels * panel_values + kSplitWidth);
    float* const joined = floats(ScratchSlot::packed_left, kSplitBlockValues + kSplitWidth * kSplitWidth);
    float* const sums = joined + kSplitBlockValues;
    SplitBlock right[kPanelsAtOnce];
    int64_t value_rows[kPanelsAtOnce];
    for (int64_t block = 0; block < blocks; ++block) {
      throw_if_cancelled();
      const Part ks = split_block_of(k_, block);
      for (int64_t i = 0; i < panels; ++i) {
        const int64_t pixel = (first + i) * kSplitWidth;
        const bool ready = is_pointwise(window_, w) && pixel + kSplitWidth <= w.input_size();
        float* const panel = pixels + i * panel_values;
        const float* const values = ready ? place.x + ks.begin * w.input_size() + pixel : panel;
        if (!ready) fill_pixel_panel<float>(window_, w, place.x, in_, pixel, ks, kernels_, gather_, panel);
        value_rows[i] = ready ? w.input_size() : kSplitWidth;
        char* const to = steps + static_cast<size_t>(i) * kSplitBlockBytes;
        right[i] = {kAmxKernels.split_right(values, value_rows[i], ks.size, to), to, values};
      }
      for (int64_t chunk = chunks.begin; chunk < chunks.begin + chunks.size; ++chunk) {
        const Part rows = part_of(out_, chunks_, chunk);
        const SplitBlock left = split_block(weights_of(place.group, chunk), k_, block);
        const bool more = chunk + 1 < chunks.begin + chunks.size;
        const char* const next = weights_of(place.group, more ? chunk + 1 : chunks.begin) +
                                 static_cast<size_t>(more ? block : (block + 1) % blocks) * kSplitBlockBytes;
        tiles.set_rows(rows.size);
        for (int64_t i = 0; i < panels; ++i) {
          MicroArgs<float> tile = tile_args(call, place, rows.begin, (first + i) * kSplitWidth, block == 0, block == blocks - 1);
          if (fits_split(left.magnitudes, right[i].magnitudes)) {
            const int64_t k_steps = split_steps(ks.size);
            kAmxKernels.multiply_six(k_steps, left.steps, right[i].steps, rows.size, sums,
                                     share_ahead(next, k_steps * kSplitStepBytes, k_steps, i, panels));
            kAmxKernels.finish(tile, rows.size, sums);
            continue;
          }
          if (!left.values) kAmxKernels.join_left(left.steps, rows.size, ks.size, joined);
          tile.k = ks.size;
          tile.a = left.values ? left.values : joined;
          tile.a_row = ks.size;
          tile.a_k = 1;
          tile.b = right[i].values;
          tile.b_k = value_rows[i];
          multiply_add(kernels_, tile, rows.size);
        }
      }
    }
    const Part top = part_of(out_, chunks_, chunks.begin), bottom = part_of(out_, chunks_, chunks.begin + chunks.size - 1);
    const int64_t column = first * kSplitWidth, image = w.output_size();
    const int64_t at = (place.out_plane + top.begin) * image + column;
    finish_channels(clamp_.activates, activation_, (place.out_plane + top.begin) % channels_.out, call.y + at,
                    bottom.begin + bottom.size - top.begin, std::min(image, end * kSplitWidth) - column, image, call.addend_at(at));
  }

  /// What comes after the sums of some rows, which begin at `row`, and the pixels from `column` on.
  MicroArgs<float> tile_args(const ConvCall<float>& call, const Place& place, int64_t row, int64_t column, bool first, bool last) const {
    const int64_t image = call.window.output_size(), at = (place.out_plane + row) * image + column;
    MicroArgs<float> p{};
    p.c = call.y + at;
    p.c_row = image;
    p.columns = std::min(kSplitWidth, image - column);
    p.beta = first ? 0.0f : 1.0f;
    p.low = last ? clamp_.low : -std::numeric_limits<float>::infinity();
    p.high = last ? clamp_.high : std::numeric_limits<float>::infinity();
    if (last && !bias_.empty()) p.row_bias = bias_.data() + place.group * out_ + row;
    if (call.residual && (call.residual == call.y ? first : last)) p.residual = call.residual + at;
    p.residual_row = image;
    p.residual_scale = 1;
    return p;
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const MicroKernels<float>& kernels_;
  const ConvKernels<float, float>& gather_;
  const int64_t in_, out_, k_, chunks_;
  SharedArray<char> weights_;
  std::vector<float> bias_;
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_conv_split(const ConvChannels& channels, const Window& window, const float* weights,
                                                          const float* bias, const Activation& activation) {
  return std::make_unique<ConvSplit>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
