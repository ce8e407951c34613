#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_gather.h"
#include "compute/conv/conv_impl.h"
#include "compute/conv/conv_pack.h"
#include "compute/elementwise/vector_math.h"
#include "compute/move/bring_near.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kMostChunks = 16;       // of pixels that are gathered together
constexpr int64_t kSumBytes = 512 << 10;  // of the sums of one group
constexpr int64_t kChannelsOfTap = 128;   // from which on a block of products stays within one kernel position

/// How pixels are cut into chunks: evenly over the plane, or over those of several images, or over each row, so that what lies beyond the
/// image for a kernel position is left out in whole chunks.
struct Chunks {
  int64_t rows;      // that are cut by themselves
  int64_t in_row;    // chunks
  int64_t row_size;  // pixels

  Chunks(const Window& w, int64_t images, int64_t most, bool by_row)
      : rows(by_row ? w.output[0] * w.output[1] : 1), row_size(images * (by_row ? w.output[2] : w.output_size())) {
    in_row = pieces_of(row_size, most);
  }
  int64_t count() const { return rows * in_row; }
  /// Chunks where they come in so many parts alike; as many as there are where they cannot be made smaller for that. Chunks of less than
  /// kLeastTileRows are summed in another order.
  int64_t count_for(int64_t parts) const {
    const int64_t even = pieces_of(in_row, parts) * parts;
    return rows == 1 && even * kLeastTileRows <= row_size ? even : count();
  }
  void fit(int64_t parts) { in_row = count_for(parts) / rows; }

  Part operator[](int64_t chunk) const {
    const Part part = part_of(row_size, in_row, chunk % in_row);
    return {chunk / in_row * row_size + part.begin, part.size};
  }
};

/// Output channels as columns, pixels as rows: for planes whose pixels do not fill vectors well, and kernels whose positions often lie
/// beyond the image. k counts kernel positions first and input channels within each.
class ConvPixels final : public Convolution<float>::Impl {
 public:
  ConvPixels(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        kernels_(micro_kernels<float>()),
        gather_(conv_kernels_for_width<float>(kernels_.columns)),
        in_(channels.in / channels.groups),
        out_(channels.out / channels.groups),
        k_(in_ * window.kernel_size()),
        panels_(pieces_of(out_, kernels_.columns)),
        blocks_(in_ >= kChannelsOfTap ? window.kernel_size() * pieces_of(in_, kBlockK) : pieces_of(k_, kBlockK)) {
    bias_.resize(static_cast<size_t>(channels.groups * panels_ * kernels_.columns));
    for (int64_t i = 0; bias && i < channels.out; ++i)
      bias_[static_cast<size_t>(i / out_ * panels_ * kernels_.columns + i % out_)] = bias[i];
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }
  bool scales_input() const override { return reads_one_pixel(channels_, window_); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const int64_t together = joins_images(call) ? call.batch : 1, products = call.batch / together * channels_.groups;
    Chunks chunks(w, together, kernels_.rows, skips(w));
    const double m = static_cast<double>(out_), n = static_cast<double>(together * w.output_size()), k = static_cast<double>(k_);
    const Grid grid = products < 4 * parallel.threads() ? deal(chunks, parallel.threads()) : Grid{};
    chunks.fit(grid.rows);
    const Cost cost{.bytes = 0, .operations = 0.25 * m * n * k / static_cast<double>(grid.pieces())};
    const auto piece = [&](int64_t i) { run_piece(call, chunks, i / grid.pieces(), grid, i % grid.pieces()); };
    if (products == 1) return parallel.for_pieces(grid.pieces(), piece);
    parallel.for_range(products * grid.pieces(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) piece(i);
    });
  }

 private:
  void pack(const float* weights) {
    const int64_t width = kernels_.columns, taps = window_.kernel_size(), pieces = channels_.groups * panels_;
    const auto begin = [&](size_t piece) { return piece * static_cast<size_t>(k_ * width) * sizeof(float); };
    const auto write = [&](size_t piece, void* memory) {
      const int64_t i = static_cast<int64_t>(piece), first = i % panels_ * width, live = std::min(width, out_ - first);
      pack_taps(weights + (i / panels_ * out_ + first) * k_, in_, taps, live, width, static_cast<float*>(memory));
    };
    weights_ = SharedArray<float>(share_pieces({static_cast<size_t>(pieces), begin, write}, 0), static_cast<size_t>(pieces * k_ * width));
  }

  /// Pieces for threads: what takes least time where each piece gathers its pixels, of which others may have written many, and brings its
  /// weights near by itself. Steps of the micro-kernel, for one product of k.
  Grid deal(const Chunks& chunks, int threads) const {
    constexpr double kChunk = 2, kPixels = 12, kWeights = 64, kFar = 36, kLeastSteps = 20000;
    const double taps = static_cast<double>(window_.kernel_size()), k = static_cast<double>(k_);
    const double gathering = kFar / taps + (taps > 1 ? 12 : window_.stride[2] > 1 ? 4 : 0);
    Grid best;
    double least = std::numeric_limits<double>::infinity();
    for (int64_t rows = 1; rows <= std::min<int64_t>(chunks.count(), 4 * threads); ++rows) {
      const double count = static_cast<double>(chunks.count_for(rows)), size = static_cast<double>(chunks.count()) / count;
      for (int64_t columns = 1; columns <= panels_ && rows * columns <= 4 * threads; ++columns) {
        const double whole = static_cast<double>(out_) / static_cast<double>(kernels_.columns);  // the last panel may have few channels
        const double height = std::ceil(count / static_cast<double>(rows)),
                     width = std::min(static_cast<double>(pieces_of(panels_, columns)), whole);
        const double piece = (height * (gathering + width * (kChunk + kPixels * size)) + width * kWeights) * k;
        if (rows * columns > 1 && piece < kLeastSteps) continue;
        const double time = piece * static_cast<double>(pieces_of(rows * columns, threads));
        if (time >= least) continue;
        least = time;
        best = {rows, columns};
      }
    }
    return best;
  }

  /// Whether each pixel's input is the pixel of the same place.
  bool lies_ready(const Window& w) const {
    for (int d = 0; d < 3; ++d)
      if (window_.kernel[d] != 1 || window_.stride[d] != 1 || w.pad_begin[d] != 0 || w.input[d] != w.output[d]) return false;
    return true;
  }

  bool skips(const Window& w) const { return conv_skips(window_, w, in_); }

  /// Whether pixels of one image would fill no chunk, so that they follow each other from image to image.
  bool joins_images(const ConvCall<float>& call) const {
    return call.batch > 1 && 2 * call.window.output_size() <= kernels_.rows && !skips(call.window) && !call.input.scale;
  }

  /// Whether the kernel positions of each of these pixels of an image lie evenly in the input, and none of them in padding.
  bool lies_evenly(const Window& w, int64_t first, int64_t pixels) const {
    if (!reads_one_row(channels_, window_, w)) return false;
    const int64_t begin = first * window_.stride[2] - w.pad_begin[2];
    const int64_t reach = (pixels - 1) * window_.stride[2] + (window_.kernel[2] - 1) * window_.dilation[2];
    return begin >= 0 && begin + reach < w.input[2];
  }

  static float* memory(ScratchSlot slot, int64_t count) {
    return static_cast<float*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 128));  // whole vectors are read
  }

  Part block(int64_t index) const {
    if (in_ < kChannelsOfTap) return part_of(k_, blocks_, index);
    const int64_t of_tap = pieces_of(in_, kBlockK);
    const Part channels = part_of(in_, of_tap, index % of_tap);
    return {index / of_tap * in_ + channels.begin, channels.size};
  }

  void run_piece(const ConvCall<float>& call, const Chunks& chunks, int64_t product, const Grid& grid, int64_t index) const {
    const Part rows = share_of(chunks.count(), grid.rows, index / grid.columns);
    const Part columns = share_of(panels_, grid.columns, index % grid.columns);
    if (rows.size == 0 || columns.size == 0) return;
    const int64_t group = product % channels_.groups, image = product / channels_.groups;
    const int64_t row_groups = pieces_of(rows.size, kMostChunks);
    for (int64_t i = 0; i < row_groups; ++i) {
      const Part part = part_of(rows.size, row_groups, i);
      const int64_t bytes = part.size * kernels_.rows * kernels_.columns * static_cast<int64_t>(sizeof(float));
      const int64_t column_groups = pieces_of(columns.size, std::max<int64_t>(1, kSumBytes / bytes));
      for (int64_t j = 0; j < column_groups; ++j) {
        const Part panels = part_of(columns.size, column_groups, j);
        run_group({call,
                   chunks,
                   image,
                   group,
                   {rows.begin + part.begin, part.size},
                   {columns.begin + panels.begin, panels.size},
                   grid.pieces() > 1});
      }
    }
  }

  /// Some chunks of pixels of one image, or from one on, times some panels of output channels.
  struct Group {
    const ConvCall<float>& call;
    const Chunks& chunks;
    int64_t image, group;
    Part rows, panels;
    bool shared;  ///< other threads may have written what is read

    int64_t first_pixel() const { return chunks[rows.begin].begin; }
    int64_t pixels() const {
      const Part last = chunks[rows.begin + rows.size - 1];
      return last.begin + last.size - first_pixel();
    }
  };

  void run_group(const Group& g) const {
    constexpr int64_t kBytes = sizeof(float);
    const int64_t width = kernels_.columns, pixels = g.pixels(), plane = g.call.window.input_size();
    const int64_t chunk_size = (kBlockK + 1) * kernels_.lanes, outputs = g.call.window.output_size();
    const bool in_image = g.first_pixel() + pixels <= outputs;
    const bool ready = in_image && lies_ready(g.call.window) && !g.call.input.scale;
    const bool even = !ready && (in_image ? lies_evenly(g.call.window, g.first_pixel(), pixels) : lies_evenly(g.call.window, 0, outputs));
    const bool direct = ready || (even && in_image), by_rows = even && !in_image && window_.dilation[2] == 1;
    float* gathered = direct ? nullptr : memory(ScratchSlot::packed_right, g.rows.size * chunk_size);
    const float* x = g.call.x + (g.image * channels_.in + g.group * in_) * plane;
    float* sums = memory(ScratchSlot::packed_left, g.panels.size * pixels * width);
    if (ready && g.shared) bring_near(x + g.first_pixel(), block(0).size, pixels * kBytes, plane * kBytes);
    bool started[kMostChunks] = {}, live[kMostChunks];
    for (int64_t i = 0; i < blocks_; ++i) {
      throw_if_cancelled();
      const Part ks = block(i);
      bool any = false;
      for (int64_t row = 0; row < g.rows.size; ++row) {
        const Part chunk = g.chunks[g.rows.begin + row];
        live[row] = direct || (by_rows ? copy_rows(g, x, chunk, ks, gathered + row * chunk_size)
                                       : fill(g, x, chunk, ks, gathered + row * chunk_size));
        any = any || live[row];
      }
      const bool more = ready && g.shared && i + 1 < blocks_;
      Gathered a{gathered, kernels_.lanes, 1, chunk_size, more, live, started};
      if (by_rows) a = {gathered, 1, ks.size, chunk_size, more, live, started};
      if (ready) a = {x + ks.begin * plane + g.first_pixel(), plane, 1, 0, more, live, started};
      if (even && direct) {
        const int64_t stride = window_.stride[2], dilation = window_.dilation[2];
        a = {x + ks.begin * dilation + g.first_pixel() * stride - g.call.window.pad_begin[2], dilation, stride, 0, false, live, started};
      }
      for (int64_t panel = 0; any && panel < g.panels.size; ++panel) run_panel(g, panel, ks, a, sums + panel * pixels * width);
      for (int64_t row = 0; row < g.rows.size; ++row) started[row] = started[row] || live[row];
    }
    const Part none{0, 0};
    std::transform(started, started + g.rows.size, live, [](bool s) { return !s; });
    for (int64_t panel = 0; panel < g.panels.size; ++panel) {
      run_panel(g, panel, none, {x, 0, 0, 0, false, live, started}, sums + panel * pixels * width);
      finish(g, panel, sums + panel * pixels * width);
    }
  }

  /// Pixels of all chunks for one block of products.
  struct Gathered {
    const float* at;
    int64_t row;          // between products
    int64_t pixel;        // between pixels
    int64_t chunk;        // between chunks; 0: pixels follow each other
    bool more;            // the next block's pixels lie behind these
    const bool* live;     // chunks that take part
    const bool* started;  // chunks that have sums
  };

  void run_panel(const Group& g, int64_t panel, const Part& ks, const Gathered& gathered, float* sums) const {
    const int64_t width = kernels_.columns, at = g.group * panels_ + g.panels.begin + panel;
    const int64_t columns = std::min(width, out_ - (g.panels.begin + panel) * width);
    MicroArgs<float> p{};
    p.k = ks.size;
    p.fold = kConvFold;
    p.a_row = gathered.pixel;
    p.a_k = gathered.row;
    p.b = weights_.data() + (at * k_ + ks.begin) * width;
    p.b_k = width;
    p.c_row = width;
    p.columns = columns <= kernels_.lanes ? kernels_.lanes : width;
    // Each chunk brings its share of the next panel's weights nearer; behind the last panel, its own pixels of the next block.
    const int64_t share = ks.size * width / g.rows.size;
    const bool last = panel + 1 == g.panels.size, fetches_pixels = last && gathered.more;
    if (!last) p.ahead = p.b + k_ * width;
    p.ahead_step = fetches_pixels ? gathered.row : (width + g.rows.size - 1) / g.rows.size;
    const auto* kernels = columns <= kernels_.lanes ? kernels_.one : kernels_.two;
    const int64_t first_pixel = g.first_pixel();
    for (int64_t row = 0; row < g.rows.size; ++row, p.ahead += last ? 0 : share) {
      if (!gathered.live[row]) continue;
      const Part pixels = g.chunks[g.rows.begin + row];
      p.a = gathered.at + (gathered.chunk ? row * gathered.chunk : (pixels.begin - first_pixel) * gathered.pixel);
      if (fetches_pixels) p.ahead = p.a + ks.size * gathered.row;
      p.c = sums + (pixels.begin - first_pixel) * width;
      p.beta = gathered.started[row] ? 1.0f : 0.0f;
      p.column_bias = gathered.started[row] ? nullptr : bias_.data() + at * width;
      kernels[pixels.size](p);
    }
  }

  /// Rows of [k, lanes] with the input of a chunk's pixels. False where all of it is padding.
  bool fill(const Group& g, const float* x, const Part& pixels, const Part& ks, float* to) const {
    const auto& [scale, shift] = g.call.input;
    if (!scale) return gather(g, x, pixels, ks, to);
    const bool ready = lies_ready(g.call.window);
    if (!ready) gather(g, x, pixels, ks, to);
    const int64_t plane = g.call.window.input_size(), lanes = kernels_.lanes;
    const float* from = ready ? x + ks.begin * plane + pixels.begin : to;
    relu_scaled_rows(from, ready ? plane : lanes, scale + ks.begin, shift + ks.begin, to, lanes, ks.size, pixels.size);
    return true;
  }

  /// Rows of one channel's kernel positions, a pixel each.
  bool copy_rows(const Group& g, const float* x, const Part& pixels, const Part& ks, float* to) const {
    const Window& w = g.call.window;
    const int64_t plane = w.output_size(), image = channels_.in * w.input_size();
    for (int64_t pixel = pixels.begin; pixel < pixels.begin + pixels.size; ++pixel, to += ks.size) {
      const float* from = x + pixel / plane * image + pixel % plane * window_.stride[2] - w.pad_begin[2] + ks.begin;
      std::copy_n(from, ks.size, to);
    }
    return true;
  }

  bool gather(const Group& g, const float* x, const Part& pixels, const Part& ks, float* to) const {
    const Window& w = g.call.window;
    const int64_t image = w.input_size(), lanes = kernels_.lanes;
    const PixelRuns runs(window_, w, pixels.begin, pixels.size, lanes, channels_.in * image);
    Segment segments[PixelRuns::kMost + 2];
    bool live = false;
    for (int64_t k = ks.begin; k < ks.begin + ks.size;) {
      const int64_t channel = k % in_, count = std::min(in_ - channel, ks.begin + ks.size - k);
      const int64_t made = runs.segments(k / in_, pixels.size, segments);
      const bool reads = any_live(segments, made);
      if (!reads && count == ks.size) return false;
      live = live || reads;
      gather_.gather_panel(x + channel * image, image, count, window_.stride[2], segments, made, to, lanes);
      to += count * lanes;
      k += count;
    }
    return live;
  }

  /// Turns the sums of a panel round into y, an image after the other.
  void finish(const Group& g, int64_t panel, const float* sums) const {
    const int64_t width = kernels_.columns, plane = g.call.window.output_size(), first = (g.panels.begin + panel) * width;
    const int64_t channels = std::min(width, out_ - first), end = g.first_pixel() + g.pixels();
    for (int64_t pixel = g.first_pixel(), count = 0; pixel < end; pixel += count, sums += count * width) {
      count = std::min(plane - pixel % plane, end - pixel);
      const int64_t at = ((g.image + pixel / plane) * channels_.out + g.group * out_ + first) * plane + pixel % plane;
      const PixelSums p{sums,          width, count,      channels,   g.call.residual ? g.call.residual + at : nullptr,
                        g.call.y + at, plane, clamp_.low, clamp_.high};
      finish_pixels(gather_, p);
      finish_channels(clamp_.activates, activation_, g.group * out_ + first, p.y, channels, count, plane, g.call.addend_at(at));
    }
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const MicroKernels<float>& kernels_;
  const ConvKernels<float, float>& gather_;
  const int64_t in_, out_, k_, panels_, blocks_;
  SharedArray<float> weights_;
  PackedVector<float> bias_;  // of whole panels
};

}  // namespace

void finish_pixels(const ConvKernels<float, float>& kernels, const PixelSums& p) {
  if (kernels.planes.finish) return kernels.planes.finish(p);
  for (int64_t c = 0; c < p.channels; ++c) {
    for (int64_t i = 0; i < p.pixels; ++i) {
      const float sum = p.sums[i * p.sums_row + c] + (p.residual ? p.residual[c * p.plane + i] : 0.0f);
      p.y[c * p.plane + i] = sum < p.low ? p.low : sum > p.high ? p.high : sum;
    }
  }
}

bool conv_skips(const Window& kernel, const Window& w, int64_t in) {
  if (in < kChannelsOfTap) return false;
  for (int d = 1; d < 3; ++d) {
    const int64_t reach = (kernel.kernel[d] - 1) * kernel.dilation[d];
    if (kernel.dilation[d] > 1 && 4 * reach >= w.input[d]) return true;
  }
  return false;
}

std::unique_ptr<Convolution<float>::Impl> make_conv_pixels(const ConvChannels& channels, const Window& window, const float* weights,
                                                           const float* bias, const Activation& activation) {
  return std::make_unique<ConvPixels>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
