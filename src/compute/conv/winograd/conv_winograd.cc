#include <algorithm>
#include <cmath>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_impl.h"
#include "compute/conv/conv_pack.h"
#include "compute/conv/winograd/conv_winograd.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kPositions = winograd_positions(2);
constexpr int64_t kGroupBytes = 768 << 10;  // of transformed inputs that are kept for all output channels
constexpr int64_t kMaxGroupPanels = 12;
// Of an image that is no longer near when it is added to: it is then read plane by plane, rather than a few short rows of many planes.
constexpr int64_t kFarImageBytes = 1 << 20;
constexpr int64_t kStripVectors = 2;  // of tiles side by side, so that few rows of the image are transformed for two groups
constexpr int64_t kMaxColumns = 32;   // of a panel, of any instruction set

/// The four sums of a tile with its products `apart`, in the kernels' order of additions.
void sum_products(const float* products, int64_t apart, float bias, float (&sums)[4]) {
  float upper[4], lower[4];
  const auto pair = [](const float(&m)[4], float& first, float& second) {
    first = m[0] + (m[1] + m[2]);
    second = m[1] - m[2] - m[3];
  };
  for (int column = 0; column < 4; ++column) {
    float m[4];
    for (int row = 0; row < 4; ++row) m[row] = products[(4 * row + column) * apart];
    pair(m, upper[column], lower[column]);
  }
  pair(upper, sums[0], sums[1]);
  pair(lower, sums[2], sums[3]);
  for (float& sum : sums) sum += bias;
}

class ConvWinograd final : public Convolution<float>::Impl {
 public:
  ConvWinograd(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        products_(micro_kernels<float>()),
        transforms_(winograd_kernels_for_width(products_.columns)),
        in_(channels.in / channels.groups * window.kernel[0]),
        out_(channels.out / channels.groups),
        chunks_((out_ + products_.rows - 1) / products_.rows),
        position_(in_ * products_.columns + 16) {
    if (bias) bias_.assign(bias, bias + channels.out);
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const int64_t plane = call.window.output_size();
    if (!call.addend || out_ * channels_.groups * plane * static_cast<int64_t>(sizeof(float)) < kFarImageBytes)
      return run_tiles(call, parallel);
    ConvCall<float> without = call;
    without.addend = nullptr;
    run_tiles(without, parallel);
    parallel.for_range(call.batch * channels_.out, {.bytes = 12.0 * static_cast<double>(plane)}, [&](Range part) {
      finish_values(false, activation_, call.y + part.begin * plane, part.size() * plane, call.addend_at(part.begin * plane));
    });
  }

 private:
  void run_tiles(const ConvCall<float>& call, const Parallel& parallel) const {
    const Tiles tiles(call.window, products_);
    const int64_t panels = tiles.panels();
    const int64_t planes = call.batch * channels_.groups * call.window.output[0];
    const double m = static_cast<double>(out_), n = static_cast<double>(panels * products_.columns), k = static_cast<double>(in_);
    Grid grid;
    if (planes < 4 * parallel.threads())
      grid = choose_grid(chunks_, panels, kPositions * m * n * k, kPositions * m * k * sizeof(float),
                         4 * kPositions * n * k * sizeof(float), parallel.threads());
    const Cost cost{.bytes = 0, .operations = 0.25 * kPositions * m * n * k / static_cast<double>(grid.pieces())};
    const auto piece = [&](int64_t i) { run_piece(call, tiles, i / grid.pieces(), grid, i % grid.pieces()); };
    if (planes == 1) return parallel.for_pieces(grid.pieces(), piece);
    parallel.for_range(planes * grid.pieces(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) piece(i);
    });
  }

  /// Tiles from a column on, as many side by side; all rows of the plane.
  struct Strip {
    int64_t column, columns;
  };

  /// The tiles of a plane, cut into strips. Panels take the tiles of a strip row by row.
  struct Tiles {
    int64_t rows, columns, vectors, strips, lanes, width;

    Tiles(const Window& w, const MicroKernels<float>& products)
        : rows((w.output[1] + 1) / 2),
          columns((w.output[2] + 1) / 2),
          vectors((columns + products.lanes - 1) / products.lanes),
          strips(std::max<int64_t>(1, vectors / kStripVectors)),
          lanes(products.lanes),
          width(products.columns) {}

    Strip strip(int64_t index) const {
      const Part part = part_of(vectors, strips, index);
      return {part.begin * lanes, std::min(part.size * lanes, columns - part.begin * lanes)};
    }
    int64_t panels_of(const Strip& strip) const { return (rows * strip.columns + width - 1) / width; }
    int64_t panels() const {
      int64_t count = 0;
      for (int64_t i = 0; i < strips; ++i) count += panels_of(strip(i));
      return count;
    }
  };

  /// One plane of outputs: a group of an image at a depth.
  struct Plane {
    const ConvCall<float>& call;
    int64_t rows;  ///< of tiles
    int64_t group;
    SummedPlanes x;
    int64_t y;  ///< offset of the first output channel
    int64_t y_channel;
  };

  /// Some tiles of a strip, row by row.
  struct Run {
    const Plane& plane;
    const Strip& strip;
    int64_t first, count;
  };

  void pack(const float* weights) {
    const int64_t pieces = channels_.groups * chunks_;
    const auto rows_of = [&](int64_t piece) { return part_of(out_, chunks_, piece % chunks_); };
    const auto begin = [&](size_t index) {
      const int64_t piece = static_cast<int64_t>(index);
      const int64_t row = piece == pieces ? channels_.out : piece / chunks_ * out_ + rows_of(piece).begin;
      return static_cast<size_t>(row * in_ * kPositions) * sizeof(float);
    };
    const auto write = [&](size_t index, void* memory) {
      const int64_t piece = static_cast<int64_t>(index), group = piece / chunks_;
      const Part rows = rows_of(piece);
      float* to = static_cast<float*>(memory);
      pack_winograd(2, weights + (group * out_ + rows.begin) * in_ * 9, in_, rows.size, rows.size, to);
    };
    weights_ = SharedArray<float>(share_pieces({static_cast<size_t>(pieces), begin, write}, 0),
                                  static_cast<size_t>(channels_.out * in_ * kPositions));
  }

  /// Each chunk of output channels lies as [position, input channel, output channel].
  int64_t weights_at(int64_t group, const Part& rows) const { return (group * out_ + rows.begin) * in_ * kPositions; }

  static float* memory(ScratchSlot slot, int64_t count) {
    return static_cast<float*>(
        thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 128));  // whole vectors are read and written
  }

  void run_piece(const ConvCall<float>& call, const Tiles& tiles, int64_t plane_index, const Grid& grid, int64_t index) const {
    const Part chunks = share_of(chunks_, grid.rows, index / grid.columns);
    const Part columns = share_of(tiles.panels(), grid.columns, index % grid.columns);
    if (chunks.size == 0) return;
    const Window& w = call.window;
    const int64_t depth = plane_index % w.output[0], group = plane_index / w.output[0] % channels_.groups;
    const int64_t image = plane_index / w.output[0] / channels_.groups;
    const float* x = call.x + (image * channels_.in + group * (channels_.in / channels_.groups)) * w.input_size();
    const Plane plane{call,
                      tiles.rows,
                      group,
                      {window_, w, x, depth},
                      (image * channels_.out + group * out_) * w.output_size() + depth * w.output[1] * w.output[2],
                      w.output_size()};
    int64_t before = 0;  // panels of the strips so far
    for (int64_t i = 0; i < tiles.strips && before < columns.begin + columns.size; ++i) {
      const Strip strip = tiles.strip(i);
      const int64_t panels = tiles.panels_of(strip), begin = std::max<int64_t>(0, columns.begin - before);
      const int64_t end = std::min(panels, columns.begin + columns.size - before);
      if (begin < end) run_strip(plane, strip, chunks, {begin, end - begin});
      before += panels;
    }
  }

  void run_strip(const Plane& plane, const Strip& strip, const Part& chunks, const Part& panels) const {
    const int64_t fitting =
        std::clamp<int64_t>(kGroupBytes / (kPositions * position_ * static_cast<int64_t>(sizeof(float))), 1, kMaxGroupPanels);
    const int64_t groups = (panels.size + fitting - 1) / fitting;
    for (int64_t i = 0; i < groups; ++i) {
      throw_if_cancelled();
      const Part group = part_of(panels.size, groups, i);
      const int64_t first = (panels.begin + group.begin) * products_.columns;
      const int64_t end = std::min(plane.rows * strip.columns, first + group.size * products_.columns);
      run_group({plane, strip, first, end - first}, chunks);
    }
  }

  void run_group(const Run& run, const Part& chunks) const {
    const int64_t width = products_.columns, panels = (run.count + width - 1) / width;
    float* inputs = memory(ScratchSlot::packed_right, panels * kPositions * position_);
    transform_inputs(run, inputs);
    for (int64_t i = chunks.begin; i < chunks.begin + chunks.size; ++i) {
      const Part rows = part_of(out_, chunks_, i);
      for (int64_t panel = 0; panel < panels; ++panel) {
        const Run part{run.plane, run.strip, run.first + panel * width, std::min(width, run.count - panel * width)};
        run_block(part, rows, inputs + panel * kPositions * position_, panel == 0 && i + 1 < chunks.begin + chunks.size);
      }
    }
  }

  /// The tiles of all input channels, as panels of [position, channel, tile].
  void transform_inputs(const Run& run, float* to) const {
    const Window& w = run.plane.call.window;
    const int64_t across = run.strip.columns, first_row = run.first / across;
    const int64_t row = 2 * first_row - w.pad_begin[1], column = 2 * run.strip.column - w.pad_begin[2];
    WinogradInputs p{};
    p.x_row = w.input[2];
    p.left = -column;
    p.right = w.input[2] - column;
    p.ahead = 2 * w.input_size();
    p.rows = (run.first + run.count - 1) / across - first_row + 1;
    p.columns = across;
    p.skipped = run.first - first_row * across;
    p.count = run.count;
    p.panel = kPositions * position_;
    p.apart = position_;
    for (int64_t channel = 0; channel < in_; ++channel) {
      const float* const x = run.plane.x[channel];
      p.x = x ? x + row * w.input[2] + column : run.plane.call.x;  // read nowhere if all is padding
      p.top = x ? -row : 0;
      p.bottom = x ? w.input[1] - row : 0;
      p.to = to + channel * products_.columns;
      transforms_.two.inputs(p);
    }
  }

  /// Tiles side by side, and where their sums go.
  struct Segment {
    int64_t tile, tiles;  ///< of a panel
    int64_t y;            ///< offset within the plane
    int64_t rows, columns;
  };

  /// At most a panel as segments of rows of tiles; returns how many.
  int64_t segments_of(const Run& run, Segment* segments) const {
    const Window& w = run.plane.call.window;
    int64_t made = 0;
    for (int64_t tile = 0; tile < run.count; ++made) {
      const int64_t row = (run.first + tile) / run.strip.columns, within = (run.first + tile) % run.strip.columns;
      const int64_t tiles = std::min(run.strip.columns - within, run.count - tile), column = 2 * (run.strip.column + within);
      segments[made] = {tile, tiles, 2 * row * w.output[2] + column, std::min<int64_t>(2, w.output[1] - 2 * row),
                        std::min(2 * tiles, w.output[2] - column)};
      tile += tiles;
    }
    return made;
  }

  /// A chunk of output channels of at most a panel of tiles; `fetch_next` brings the next chunk's weights nearer.
  void run_block(const Run& run, const Part& rows, const float* inputs, bool fetch_next) const {
    const int64_t width = products_.columns, position = rows.size * width;
    float* sums = memory(ScratchSlot::packed_left, kPositions * position);
    MicroArgs<float> p{};
    p.k = in_;
    p.fold = kWinogradFold;
    p.a_row = 1;
    p.a_k = p.ahead_step = rows.size;
    p.b_k = width;
    p.c_row = width;
    p.columns = run.count <= products_.lanes ? products_.lanes : width;
    const auto kernel = (run.count <= products_.lanes ? products_.one : products_.two)[rows.size];
    const float* weights = weights_.data() + weights_at(run.plane.group, rows);
    for (int64_t i = 0; i < kPositions; ++i) {
      p.a = weights + i * in_ * rows.size;
      p.b = inputs + i * position_;
      p.c = sums + i * position;
      if (fetch_next) p.ahead = p.a + kPositions * in_ * rows.size;
      kernel(p);
    }
    Segment segments[kMaxColumns];
    const int64_t count = segments_of(run, segments);
    for (int64_t row = 0; row < rows.size; ++row) {
      for (int64_t i = 0; i < count; ++i) finish(run, rows, row, segments[i], sums + row * width, position);
    }
  }

  /// Puts the sums of one channel where they belong.
  void finish(const Run& run, const Part& rows, int64_t row, const Segment& s, const float* sums, int64_t position) const {
    const ConvCall<float>& call = run.plane.call;
    const int64_t channel = rows.begin + row, y = run.plane.y + channel * run.plane.y_channel + s.y;
    WinogradOutputs p{};
    p.products = sums + s.tile;
    p.apart = position;
    p.tiles = s.tiles;
    p.bias = bias_.empty() ? 0.0f : bias_[static_cast<size_t>(run.plane.group * out_ + channel)];
    p.residual = call.residual ? call.residual + y : nullptr;
    p.low = clamp_.low;
    p.high = clamp_.high;
    p.y = call.y + y;
    p.y_row = call.window.output[2];
    p.rows = s.rows;
    p.columns = s.columns;
    for (int64_t done = transforms_.outputs(p); done < p.tiles; done = transforms_.outputs(p)) {
      const int64_t end = std::min(p.tiles, done + products_.lanes);
      for (int64_t tile = done; tile < end; ++tile) finish_plainly(run, rows, row, s.tile + tile, p, tile);
      p.products += end;
      p.tiles -= end;
      p.columns -= 2 * end;
      p.y += 2 * end;
      if (p.residual) p.residual += 2 * end;
    }
    const Activation activation = activation_.of_channel(run.plane.group * out_ + channel);
    finish_channels(clamp_.activates, activation, 0, call.y + y, s.rows, s.columns, p.y_row, call.addend_at(y));
  }

  /// One tile of `p`, from the definition where a sum of Winograd's is not finite.
  void finish_plainly(const Run& run, const Part& rows, int64_t row, int64_t tile, const WinogradOutputs& p, int64_t at) const {
    const int64_t across = run.strip.columns;
    const WinogradTile place{
        run.plane.call.window, 2, run.plane.x, in_, (run.first + tile) / across, run.strip.column + (run.first + tile) % across};
    const float* weights = weights_.data() + weights_at(run.plane.group, rows) + row;
    const auto weights_of = [&](int64_t channel, float(&g)[9]) {
      float u[kPositions];
      for (int64_t i = 0; i < kPositions; ++i) u[i] = weights[(i * in_ + channel) * rows.size];
      winograd_restore(2, u, g);
    };
    float sums[4];
    sum_products(p.products + at, p.apart, p.bias, sums);
    if (!std::all_of(sums, sums + 4, [](float sum) { return std::isfinite(sum); })) plain_tile(place, p.bias, weights_of, sums);
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t column = 2 * at + i % 2, to = i / 2 * p.y_row + column;
      if (i / 2 >= p.rows || column >= p.columns) continue;
      const float sum = sums[i] + (p.residual ? p.residual[to] : 0.0f);
      p.y[to] = sum < p.low ? p.low : sum > p.high ? p.high : sum;
    }
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const MicroKernels<float>& products_;
  const WinogradKernels& transforms_;
  const int64_t in_;  ///< planes of a sum
  const int64_t out_, chunks_;
  const int64_t position_;  ///< between positions of transformed inputs; not a power of two
  SharedArray<float> weights_;
  PackedVector<float> bias_;
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_winograd(const ConvChannels& channels, const Window& window, const float* weights,
                                                        const float* bias, const Activation& activation) {
  return std::make_unique<ConvWinograd>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
