#include "compute/conv/winograd/conv_winograd_planes.h"

#include <cmath>

#include "base/cancellation.h"

namespace rh::compute {
namespace {

// Of an image that is no longer near when it is added to: it is then read plane by plane, rather than a few short rows of many planes.
constexpr int64_t kFarImageBytes = 1 << 20;
constexpr int64_t kStripVectors = 2;  // of tiles side by side, so that few rows of the image are transformed for two groups

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

}  // namespace

struct WinogradPlanes::Tiles {
  int64_t rows, columns, vectors, strips, lanes, width;

  Tiles(const Window& w, const Products& products)
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

WinogradPlanes::WinogradPlanes(const ConvChannels& channels, const Window& window, const float* bias, const Activation& activation,
                               const Products& products)
    : channels_(channels),
      window_(window),
      products_(products),
      in_(channels.in / channels.groups * window.kernel[0]),
      out_(channels.out / channels.groups),
      chunks_((out_ + products_.rows - 1) / products_.rows),
      activation_(activation),
      clamp_(activation),
      transforms_(winograd_kernels_for_width(products_.columns)) {
  if (bias) bias_.assign(bias, bias + channels.out);
}

void WinogradPlanes::run(const ConvCall<float>& call, const Parallel& parallel) const {
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

void WinogradPlanes::run_tiles(const ConvCall<float>& call, const Parallel& parallel) const {
  const Tiles tiles(call.window, products_);
  const int64_t panels = tiles.panels();
  const int64_t planes = call.batch * channels_.groups * call.window.output[0];
  const double m = static_cast<double>(out_), n = static_cast<double>(panels * products_.columns), k = static_cast<double>(in_);
  const double operations = kPositions * m * n * k / products_.speed;
  Grid grid;
  if (planes < 4 * parallel.threads())
    grid = choose_grid(chunks_, panels, operations, static_cast<double>(kPositions * products_.weight_bytes) * m * k,
                       4 * kPositions * n * k * sizeof(float), parallel.threads());
  const Cost cost{.bytes = 0, .operations = 0.25 * operations / static_cast<double>(grid.pieces())};
  const auto piece = [&](int64_t i) { run_piece(call, tiles, i / grid.pieces(), grid, i % grid.pieces()); };
  if (planes == 1) return parallel.for_pieces(grid.pieces(), piece);
  parallel.for_range(planes * grid.pieces(), cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) piece(i);
  });
}

void WinogradPlanes::run_piece(const ConvCall<float>& call, const Tiles& tiles, int64_t plane_index, const Grid& grid,
                               int64_t index) const {
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

void WinogradPlanes::run_strip(const Plane& plane, const Strip& strip, const Part& chunks, const Part& panels) const {
  const int64_t groups = pieces_of(panels.size, most_panels());
  for (int64_t i = 0; i < groups; ++i) {
    throw_if_cancelled();
    const Part group = part_of(panels.size, groups, i);
    const int64_t first = (panels.begin + group.begin) * products_.columns;
    const int64_t end = std::min(plane.rows * strip.columns, first + group.size * products_.columns);
    run_group({plane, strip, first, end - first}, chunks);
  }
}

void WinogradPlanes::transform_inputs(const Run& run, float* to, int64_t panel, int64_t apart) const {
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
  p.panel = panel;
  p.apart = apart;
  for (int64_t channel = 0; channel < in_; ++channel) {
    const float* const x = run.plane.x[channel];
    p.x = x ? x + row * w.input[2] + column : run.plane.call.x;  // read nowhere if all is padding
    p.top = x ? -row : 0;
    p.bottom = x ? w.input[1] - row : 0;
    p.to = to + channel * products_.columns;
    transforms_.two.inputs(p);
  }
}

/// At most a panel as segments of rows of tiles; returns how many.
int64_t WinogradPlanes::segments_of(const Run& run, Segment* segments) const {
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

void WinogradPlanes::finish_block(const Run& run, int64_t chunk, const float* products, int64_t position) const {
  Segment segments[kMaxColumns];
  const int64_t count = segments_of(run, segments);
  const Part rows = rows_of(chunk);
  for (int64_t row = 0; row < rows.size; ++row) {
    for (int64_t i = 0; i < count; ++i)
      finish(run, {chunk, row, rows.begin + row}, segments[i], products + row * products_.columns, position);
  }
}

/// Puts the products of one channel where they belong.
void WinogradPlanes::finish(const Run& run, const Row& row, const Segment& s, const float* products, int64_t position) const {
  const ConvCall<float>& call = run.plane.call;
  const int64_t channel = run.plane.group * out_ + row.channel, y = run.plane.y + row.channel * run.plane.y_channel + s.y;
  WinogradOutputs p{};
  p.products = products + s.tile;
  p.apart = position;
  p.tiles = s.tiles;
  p.bias = bias_.empty() ? 0.0f : bias_[static_cast<size_t>(channel)];
  p.residual = call.residual ? call.residual + y : nullptr;
  p.low = clamp_.low;
  p.high = clamp_.high;
  p.y = call.y + y;
  p.y_row = call.window.output[2];
  p.rows = s.rows;
  p.columns = s.columns;
  for (int64_t done = transforms_.outputs(p); done < p.tiles; done = transforms_.outputs(p)) {
    const int64_t end = std::min(p.tiles, done + products_.lanes);
    for (int64_t tile = done; tile < end; ++tile) finish_plainly(run, row, s.tile + tile, p, tile);
    p.products += end;
    p.tiles -= end;
    p.columns -= 2 * end;
    p.y += 2 * end;
    if (p.residual) p.residual += 2 * end;
  }
  const Activation activation = activation_.of_channel(channel);
  finish_channels(clamp_.activates, activation, 0, call.y + y, s.rows, s.columns, p.y_row, call.addend_at(y));
}

/// One tile of `p`, from the definition where a sum of Winograd's is not finite.
void WinogradPlanes::finish_plainly(const Run& run, const Row& row, int64_t tile, const WinogradOutputs& p, int64_t at) const {
  const int64_t across = run.strip.columns;
  const WinogradTile place{
      run.plane.call.window, 2, run.plane.x, in_, (run.first + tile) / across, run.strip.column + (run.first + tile) % across};
  const auto weights_of = [&](int64_t input, float(&g)[9]) {
    float u[kPositions];
    for (int64_t i = 0; i < kPositions; ++i) u[i] = weight(run.plane.group, row.chunk, row.index, i, input);
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

}  // namespace rh::compute
