#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kPositions = 16;          // products of a tile of 4x4 inputs, which gives 2x2 outputs
constexpr int64_t kGroupBytes = 768 << 10;  // of transformed inputs that are kept for all output channels
constexpr int64_t kMaxGroupPanels = 12;
constexpr int64_t kMaxColumns = 32;  // of a panel, of any instruction set

/// U[i][j] = (G g G^T)[i][j] with G = [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1].
void transform_weights(const float* g, float* u) {
  double rows[4][3];
  for (int c = 0; c < 3; ++c) {
    const double a = g[c], b = g[3 + c], d = g[6 + c];
    rows[0][c] = a;
    rows[1][c] = (a + d + b) / 2;
    rows[2][c] = (a + d - b) / 2;
    rows[3][c] = d;
  }
  for (int r = 0; r < 4; ++r) {
    const auto [a, b, d] = rows[r];
    u[4 * r] = static_cast<float>(a);
    u[4 * r + 1] = static_cast<float>((a + d + b) / 2);
    u[4 * r + 2] = static_cast<float>((a + d - b) / 2);
    u[4 * r + 3] = static_cast<float>(d);
  }
}

/// What transform_weights() was given, but for rounding.
void restore_weights(const float (&u)[kPositions], float (&g)[9]) {
  float rows[3][4];
  for (int c = 0; c < 4; ++c) {
    rows[0][c] = u[c];
    rows[1][c] = u[4 + c] - u[8 + c];
    rows[2][c] = u[12 + c];
  }
  for (int r = 0; r < 3; ++r) {
    g[3 * r] = rows[r][0];
    g[3 * r + 1] = rows[r][1] - rows[r][2];
    g[3 * r + 2] = rows[r][3];
  }
}

class ConvWinograd final : public Convolution<float>::Impl {
 public:
  ConvWinograd(const ConvChannels& channels, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        activation_(activation),
        clamp_(activation),
        products_(micro_kernels<float>()),
        transforms_(winograd_kernels_for_width(products_.columns)),
        in_(channels.in / channels.groups),
        out_(channels.out / channels.groups),
        chunks_((out_ + products_.rows - 1) / products_.rows),
        position_(in_ * products_.columns + 16) {
    if (bias) bias_.assign(bias, bias + channels.out);
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const Tiles tiles{(w.output[1] + 1) / 2, (w.output[2] + 1) / 2};
    const int64_t panels = (tiles.count() + products_.columns - 1) / products_.columns;
    const int64_t planes = call.batch * channels_.groups * w.output[0];
    const double m = static_cast<double>(out_), n = static_cast<double>(panels * products_.columns), k = static_cast<double>(in_);
    Grid grid;
    if (planes < 4 * parallel.threads())
      grid = choose_grid(chunks_, panels, kPositions * m * n * k, kPositions * m * k * sizeof(float),
                         4 * kPositions * n * k * sizeof(float), parallel.threads());
    const Cost cost{.bytes = 0, .operations = 0.25 * kPositions * m * n * k / static_cast<double>(grid.pieces())};
    const auto piece = [&](int64_t i) { run_piece(call, tiles, i / grid.pieces(), grid, i % grid.pieces(), panels); };
    if (planes == 1) return parallel.for_pieces(grid.pieces(), piece);
    parallel.for_range(planes * grid.pieces(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) piece(i);
    });
  }

 private:
  struct Tiles {
    int64_t rows, columns;
    int64_t count() const { return rows * columns; }
  };

  /// One plane of outputs: a group of an image at a depth.
  struct Plane {
    const ConvCall<float>& call;
    Tiles tiles;
    int64_t group;
    const float* x;  ///< of the first input channel, or null where all of it is padding
    int64_t y;       ///< offset of the first output channel
    int64_t y_channel;
  };

  void pack(const float* weights) {
    const size_t count = static_cast<size_t>(channels_.out * in_ * kPositions);
    const std::shared_ptr<float[]> packed = aligned_array<float>(count);
    for (int64_t g = 0; g < channels_.groups; ++g) {
      for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
        const Part rows = part_of(out_, chunks_, chunk);
        float* to = packed.get() + weights_at(g, rows);
        for (int64_t r = 0; r < rows.size; ++r) {
          for (int64_t c = 0; c < in_; ++c) {
            float u[kPositions];
            transform_weights(weights + ((g * out_ + rows.begin + r) * in_ + c) * 9, u);
            for (int64_t p = 0; p < kPositions; ++p) to[(p * in_ + c) * rows.size + r] = u[p];
          }
        }
      }
    }
    weights_ = SharedArray<float>(packed, count);
  }

  /// Each chunk of output channels lies as [position, input channel, output channel].
  int64_t weights_at(int64_t group, const Part& rows) const { return (group * out_ + rows.begin) * in_ * kPositions; }

  static float* memory(ScratchSlot slot, int64_t count) {
    return static_cast<float*>(
        thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 128));  // whole vectors are read and written
  }

  void run_piece(const ConvCall<float>& call, const Tiles& tiles, int64_t plane_index, const Grid& grid, int64_t index,
                 int64_t panels) const {
    const Part chunks = part_of(chunks_, grid.rows, index / grid.columns);
    const Part columns = part_of(panels, grid.columns, index % grid.columns);
    if (chunks.size == 0) return;
    const Window& w = call.window;
    const int64_t depth = plane_index % w.output[0], group = plane_index / w.output[0] % channels_.groups;
    const int64_t image = plane_index / w.output[0] / channels_.groups, from = depth - w.pad_begin[0];
    const float* x = call.x + (image * channels_.in + group * in_) * w.input_size() + from * w.input[1] * w.input[2];
    const Plane plane{call,
                      tiles,
                      group,
                      from >= 0 && from < w.input[0] ? x : nullptr,
                      (image * channels_.out + group * out_) * w.output_size() + depth * w.output[1] * w.output[2],
                      w.output_size()};
    const int64_t group_panels =
        std::clamp<int64_t>(kGroupBytes / (kPositions * position_ * static_cast<int64_t>(sizeof(float))), 1, kMaxGroupPanels);
    const int64_t groups = (columns.size + group_panels - 1) / group_panels;
    for (int64_t i = 0; i < groups; ++i) {
      throw_if_cancelled();
      const Part group_columns = part_of(columns.size, groups, i);
      const int64_t first = columns.begin + group_columns.begin;
      run_group(plane, chunks, first, first + group_columns.size);
    }
  }

  void run_group(const Plane& plane, const Part& chunks, int64_t first_panel, int64_t end_panel) const {
    const int64_t width = products_.columns, panels = end_panel - first_panel;
    const int64_t first = first_panel * width, end = std::min(plane.tiles.count(), end_panel * width);
    float* inputs = memory(ScratchSlot::packed_right, panels * kPositions * position_);
    transform_inputs(plane, first, end, inputs);
    for (int64_t i = chunks.begin; i < chunks.begin + chunks.size; ++i) {
      const Part rows = part_of(out_, chunks_, i);
      for (int64_t panel = 0; panel < panels; ++panel)
        run_block(plane, rows, first + panel * width, std::min(width, end - first - panel * width), inputs + panel * kPositions * position_,
                  panel == 0 && i + 1 < chunks.begin + chunks.size);
    }
  }

  /// Tiles [first, end) of all input channels, as panels of [position, channel, tile].
  void transform_inputs(const Plane& plane, int64_t first, int64_t end, float* to) const {
    const Window& w = plane.call.window;
    const int64_t across = plane.tiles.columns, width = products_.columns;
    const int64_t first_row = first / across, tile_rows = (end - 1) / across - first_row + 1;
    const int64_t size = (tile_rows + 1) * across + 2 * width;
    float* planes = memory(ScratchSlot::row, 8 * size);
    for (int p = 1; p <= 8; ++p) std::memset(planes + p * size - 2 * width, 0, static_cast<size_t>(2 * width) * sizeof(float));
    for (int64_t channel = 0; channel < in_; ++channel) {
      const float* x = plane.x ? plane.x + channel * w.input_size() : nullptr;
      for (int64_t row = 0; row < 2 * tile_rows + 2; ++row) {
        float* into = planes + row % 2 * 4 * size + row / 2 * across;
        const int64_t h = 2 * first_row + row - w.pad_begin[1];
        if (!x || h < 0 || h >= w.input[1]) {
          for (int p = 0; p < 4; ++p) std::memset(into + p * size, 0, static_cast<size_t>(across) * sizeof(float));
          continue;
        }
        transforms_.columns({x + h * w.input[2] - w.pad_begin[2], w.pad_begin[2], w.pad_begin[2] + w.input[2], across, into, size});
      }
      const int64_t skipped = first - first_row * across;
      for (int64_t tile = first; tile < end; tile += width) {
        const int64_t at = skipped + tile - first;
        transforms_.rows({planes + at, planes + 4 * size + at, size, across, std::min(width, end - tile),
                          to + (tile - first) / width * kPositions * position_ + channel * width, position_});
      }
    }
  }

  /// A chunk of output channels of at most a panel of tiles; `fetch_next` brings the next chunk's weights nearer.
  void run_block(const Plane& plane, const Part& rows, int64_t first, int64_t tiles, const float* inputs, bool fetch_next) const {
    const int64_t width = products_.columns, position = rows.size * width;
    float* sums = memory(ScratchSlot::packed_left, kPositions * position + 4 * kMaxColumns);
    MicroArgs<float> p{};
    p.k = in_;
    p.a_row = 1;
    p.a_k = p.ahead_step = rows.size;
    p.b_k = width;
    p.c_row = width;
    p.columns = tiles <= products_.lanes ? products_.lanes : width;
    p.alpha = 1;
    p.low = -std::numeric_limits<float>::infinity();
    p.high = std::numeric_limits<float>::infinity();
    const auto kernel = (tiles <= products_.lanes ? products_.one : products_.two)[rows.size];
    const float* weights = weights_.data() + weights_at(plane.group, rows);
    for (int64_t i = 0; i < kPositions; ++i) {
      p.a = weights + i * in_ * rows.size;
      p.b = inputs + i * position_;
      p.c = sums + i * position;
      if (fetch_next) p.ahead = p.a + kPositions * in_ * rows.size;
      kernel(p);
    }
    float* outputs = sums + kPositions * position;
    for (int64_t row = 0; row < rows.size; ++row) {
      const int64_t channel = plane.group * out_ + rows.begin + row;
      const float bias = bias_.empty() ? 0.0f : bias_[static_cast<size_t>(channel)];
      if (!transforms_.sums({sums + row * width, position, tiles, bias, outputs, 2 * width}))
        repair(plane, rows, row, first, tiles, bias, outputs);
      finish(plane, rows.begin + row, first, tiles, outputs);
    }
  }

  /// Puts sums where they belong, tile row by tile row.
  void finish(const Plane& plane, int64_t channel, int64_t first, int64_t tiles, const float* outputs) const {
    const Window& w = plane.call.window;
    const int64_t across = plane.tiles.columns;
    for (int64_t tile = first; tile < first + tiles;) {
      const int64_t row = tile / across, column = tile % across, count = std::min(across - column, first + tiles - tile);
      const int64_t values = std::min(2 * count, w.output[2] - 2 * column);
      for (int64_t i = 0; i < 2 && 2 * row + i < w.output[1]; ++i) {
        const int64_t at = plane.y + channel * plane.y_channel + (2 * row + i) * w.output[2] + 2 * column;
        float* y = plane.call.y + at;
        transforms_.finish({outputs + i * 2 * products_.columns + 2 * (tile - first),
                            plane.call.residual ? plane.call.residual + at : nullptr, clamp_.low, clamp_.high, y, values});
        if (clamp_.activates) activate_values(activation_, y, values);
      }
      tile += count;
    }
  }

  /// Works out those tiles of row `row` of a chunk whose sums are not finite from the definition.
  void repair(const Plane& plane, const Part& rows, int64_t row, int64_t first, int64_t tiles, float bias, float* outputs) const {
    for (int64_t t = 0; t < tiles; ++t) {
      float* upper = outputs + 2 * t;
      float* lower = upper + 2 * products_.columns;
      if (std::isfinite(upper[0]) && std::isfinite(upper[1]) && std::isfinite(lower[0]) && std::isfinite(lower[1])) continue;
      float sums[4] = {bias, bias, bias, bias};
      for (int64_t channel = 0; channel < in_; ++channel) add_plainly(plane, rows, row, channel, first + t, sums);
      std::copy_n(sums, 2, upper);
      std::copy_n(sums + 2, 2, lower);
    }
  }

  void add_plainly(const Plane& plane, const Part& rows, int64_t row, int64_t channel, int64_t tile, float (&sums)[4]) const {
    const Window& w = plane.call.window;
    if (!plane.x) return;
    float u[kPositions], g[9];
    const float* weights = weights_.data() + weights_at(plane.group, rows);
    for (int64_t p = 0; p < kPositions; ++p) u[p] = weights[(p * in_ + channel) * rows.size + row];
    restore_weights(u, g);
    const float* x = plane.x + channel * w.input_size();
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t tap = 0; tap < 9; ++tap) {
        const int64_t h = 2 * (tile / plane.tiles.columns) + i / 2 + tap / 3 - w.pad_begin[1];
        const int64_t v = 2 * (tile % plane.tiles.columns) + i % 2 + tap % 3 - w.pad_begin[2];
        if (h >= 0 && h < w.input[1] && v >= 0 && v < w.input[2]) sums[i] += g[tap] * x[h * w.input[2] + v];
      }
    }
  }

  const ConvChannels channels_;
  const Activation activation_;
  const Clamp clamp_;
  const MicroKernels<float>& products_;
  const WinogradKernels& transforms_;
  const int64_t in_, out_, chunks_;
  const int64_t position_;  ///< between positions of transformed inputs; not a power of two
  SharedArray<float> weights_;
  std::vector<float> bias_;
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_winograd(const ConvChannels& channels, const Window&, const float* weights,
                                                        const float* bias, const Activation& activation) {
  return std::make_unique<ConvWinograd>(channels, weights, bias, activation);
}

}  // namespace rh::compute
