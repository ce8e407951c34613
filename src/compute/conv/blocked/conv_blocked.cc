#include "compute/conv/blocked/conv_blocked.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/cpu_features.h"
#include "base/interruptible.h"
#include "base/shared_bytes.h"
#include "compute/conv/blocked/conv_blocked_bundles.h"
#include "compute/conv/blocked/conv_blocked_impl.h"
#include "compute/conv/blocked/conv_blocked_pairs.h"
#include "compute/conv/conv_pack.h"
#include "compute/conv/conv_variants.h"
#include "compute/elementwise/vector_math.h"
#include "compute/move/transpose_words.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kBlock = kChannelBlock;

void transpose(const float* x, int64_t x_stride, float* y, int64_t y_stride, int64_t rows, int64_t columns) {
  transpose_words(reinterpret_cast<const uint32_t*>(x), x_stride, reinterpret_cast<uint32_t*>(y), y_stride, rows, columns);
}

/// body(block of an image, its first channel, channels that it has, pixels) over all pixels of all blocks.
template <typename Body>
void each_block(int64_t batch, int64_t channels, int64_t plane, const Parallel& parallel, const Body& body) {
  constexpr int64_t kPixels = 256;
  const int64_t blocks = channel_blocks(channels), parts = pieces_of(plane, kPixels);
  const Cost cost{.bytes = 8.0 * kBlock * static_cast<double>(std::min(plane, kPixels))};
  parallel.for_range(batch * blocks * parts, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t block = i / parts, image = block / blocks, first = block % blocks * kBlock, begin = i % parts * kPixels;
      body(block, image * channels + first, std::min(kBlock, channels - first), Range{begin, std::min(plane, begin + kPixels)});
    }
  });
}

/// Whether a kernel reads planes where they lie.
bool slides(const Window& kernel) {
  const int64_t size = kernel.kernel[2], stride = kernel.stride[2];
  return (size == 3 || size == 5 || size == 7) && kernel.kernel[1] == size && (stride == 1 || stride == 2) && kernel.stride[1] == stride &&
         kernel.dilation[1] == 1 && kernel.dilation[2] == 1;
}

/// Whether groups of several channels are read where they lie.
bool slides_in_groups(const ConvChannels& channels, const Window& kernel) {
  const int64_t size = channels.in / channels.groups;
  return channels.in == channels.out && (size == 4 || size == 8 || size == 16) && kernel.kernel[2] == 3 && slides(kernel);
}

/// Whether each output block is summed over whole blocks of input channels: those of one group of all channels, or of a group of blocks.
bool sums_whole_blocks(const ConvChannels& channels, const Window& kernel) {
  if (channels.groups == 1) return true;
  return channels.in / channels.groups % kBlock == 0 && channels.out / channels.groups % kBlock == 0 && !slides_in_groups(channels, kernel);
}

}  // namespace

const BlockedKernels& blocked_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  const CpuFeatures& cpu = cpu_features();
  if (cpu.avx512) return kAvx512Blocked;
  if (cpu.avx2) return kAvx2Blocked;
#endif
  return kGenericBlocked;
}

void to_blocked(const float* x, int64_t batch, int64_t channels, int64_t plane, float* y, const Parallel& parallel) {
  each_block(batch, channels, plane, parallel, [&](int64_t block, int64_t channel, int64_t live, Range pixels) {
    float* to = y + (block * plane + pixels.begin) * kBlock;
    transpose(x + channel * plane + pixels.begin, plane, to, kBlock, pixels.size(), live);
    for (int64_t i = 0; live < kBlock && i < pixels.size(); ++i) std::fill(to + i * kBlock + live, to + (i + 1) * kBlock, 0.0f);
  });
}

void from_blocked(const float* x, int64_t batch, int64_t channels, int64_t plane, float* y, const Parallel& parallel) {
  each_block(batch, channels, plane, parallel, [&](int64_t block, int64_t channel, int64_t live, Range pixels) {
    transpose(x + (block * plane + pixels.begin) * kBlock, kBlock, y + channel * plane + pixels.begin, plane, live, pixels.size());
  });
}

struct BlockedConvolution::Impl {
  Impl(const ConvChannels& c, const Window& w, const float* weights, const float* bias, const Activation& a, BlockedInput from,
       ConvAccuracy accuracy)
      : channels(c),
        kernel(w),
        activation(a),
        clamp(a),
        kernels(blocked_kernels()),
        unit(from == BlockedInput::blocks ? kBlock : 1),
        bundles(sums_whole_blocks(c, w) ? c : ConvChannels{}, w.kernel_size(), unit, kernels.blocks) {
    by_lanes = !sums_whole_blocks(c, w);
    if (accuracy != ConvAccuracy::strict && takes_gates() && reads_own_pixels(w) && blocked_pairs_pay(c, w.output_size()))
      pairs = BlockedPairs::make(c, weights, bias, a);
    if (pairs) return;
    const size_t padded = static_cast<size_t>(channel_blocks(c.out) * kBlock);
    bias_values.assign(padded, 0.0f);
    if (bias) std::copy_n(bias, c.out, bias_values.data());
    const size_t count = static_cast<size_t>(by_lanes ? out_blocks() * kBlock * taps() * group_size() : bundles.weights());
    const std::shared_ptr<float[]> memory = aligned_array<float>(count);
    std::fill_n(memory.get(), count, 0.0f);
    by_lanes ? pack_lanes(weights, memory.get()) : bundles.pack(weights, memory.get());
    packed = SharedArray<float>(memory, count);
  }

  void run(const ConvCall<float>& call, const BlockedScales& scales, FetchList ahead, const Parallel& parallel) const {
    if (skips_pixels(call.window)) {
      const Window dense = without_skipped(call.window);
      return run_dense(without_skipped(kernel), {dense, call.batch, picked_pixels(call, parallel), call.residual, call.y, {}, call.addend},
                       scales.gates, ahead, parallel);
    }
    if (!by_lanes) return run_dense(kernel, call, scales.gates, ahead, parallel);
    reads_in_place() ? run_in_place(call, scales.means, parallel) : run_depthwise(call, parallel);
  }

  bool fetches_ahead() const { return !by_lanes && kernels.fetches; }
  bool takes_gates() const { return channels.groups == 1 && unit == kBlock && kernel.kernel_size() == 1; }
  bool gives_means() const { return by_lanes && reads_in_place(); }
  std::string_view variant() const { return pairs ? "blocked_fip" : "blocked"; }

  size_t weight_bytes() const { return pairs ? pairs->weight_bytes() : (packed.size() + bias_values.size()) * sizeof(float); }

 private:
  int64_t taps() const { return kernel.kernel[1] * kernel.kernel[2]; }
  int64_t in_blocks() const { return unit == 1 ? 1 : channel_blocks(channels.in); }
  int64_t out_blocks() const { return channel_blocks(channels.out); }
  /// Of an output block.
  int64_t live_channels(int64_t block) const { return std::min(kBlock, channels.out - block * kBlock); }
  int64_t in_planes() const { return unit == 1 ? channels.in : in_blocks(); }
  /// Channels of a group.
  int64_t group_size() const { return channels.in / channels.groups; }

  /// [block][row of taps][input channel of the group][tap of the row][channel].
  void pack_lanes(const float* weights, float* all) const {
    const int64_t columns = kernel.kernel[2];
    for (int64_t channel = 0; channel < channels.out; ++channel)
      for (int64_t i = 0; i < group_size(); ++i)
        for (int64_t tap = 0; tap < taps(); ++tap) {
          const int64_t at = (tap / columns * group_size() + i) * columns + tap % columns;
          all[(channel / kBlock * taps() * group_size() + at) * kBlock + channel % kBlock] =
              weights[(channel * group_size() + i) * taps() + tap];
        }
  }

  /// Pixels along a dimension that so many outputs reach.
  static int64_t reach_of(const Window& kernel, int dimension, int64_t outputs) {
    return (outputs - 1) * kernel.stride[dimension] + (kernel.kernel[dimension] - 1) * kernel.dilation[dimension] + 1;
  }

  /// Where inputs lie: the planes themselves, or copies with their padding.
  struct Frame {
    int64_t height, width;  ///< pixels that the kernel reaches
    bool copied;
    bool has_rims = false;    ///< planes are read where they lie, though some taps lie beyond them
    uint8_t rim_outputs = 0;  ///< those of a row that have such taps

    Frame(const Window& kernel, const Window& w, bool takes_rims) {
      height = reach_of(kernel, 1, w.output[1]);
      width = reach_of(kernel, 2, w.output[2]);
      copied = w.pad_begin[1] != 0 || w.pad_begin[2] != 0 || height > w.input[1] || width > w.input[2];
      if (copied && takes_rims && only_rims_lie_beyond(kernel, w)) {
        has_rims = true;
        copied = false;
        if (w.pad_begin[2] > 0) rim_outputs |= kFirstOutput;
        if (width - w.pad_begin[2] > w.input[2]) rim_outputs |= kLastOutput;
      }
      if (!copied) {
        height = w.input[1];
        width = w.input[2];
      }
    }
    int64_t plane() const { return height * width; }

   private:
    /// Whether none but the first and the last output of a row have taps beyond it, and each row of outputs has taps within the plane.
    bool only_rims_lie_beyond(const Window& kernel, const Window& w) const {
      const int64_t right = width - w.pad_begin[2] - w.input[2];
      return w.pad_begin[1] >= 0 && w.pad_begin[2] >= 0 && std::max(w.pad_begin[2], right) <= kernel.stride[2] &&
             kernel.dilation[1] <= w.input[1] && w.pad_begin[1] <= (kernel.kernel[1] - 1) * kernel.dilation[1] &&
             (w.output[1] - 1) * kernel.stride[1] - w.pad_begin[1] < w.input[1];
    }
  };

  /// Rows of taps that lie within the plane for a row of outputs.
  static Range taps_within(const Window& kernel, const Window& w, int64_t row) {
    const int64_t top = row * kernel.stride[1] - w.pad_begin[1], step = kernel.dilation[1];
    return {top < 0 ? pieces_of(-top, step) : 0, std::min(kernel.kernel[1], pieces_of(w.input[1] - top, step))};
  }

  /// Rows of a frame of one plane of `unit` floats a pixel, out of x.
  void copy_rows(const Window& w, const Frame& frame, const float* x, Range rows, float* to) const {
    const int64_t left = std::clamp<int64_t>(w.pad_begin[2], 0, frame.width), skipped = std::max<int64_t>(0, -w.pad_begin[2]);
    const int64_t live = std::clamp<int64_t>(w.input[2] - skipped, 0, frame.width - left);
    for (int64_t row = rows.begin; row < rows.end; ++row, to += frame.width * unit) {
      const int64_t from = row - w.pad_begin[1];
      if (from < 0 || from >= w.input[1]) {
        std::fill_n(to, frame.width * unit, 0.0f);
        continue;
      }
      std::fill_n(to, left * unit, 0.0f);
      if (live > 0)
        std::memcpy(to + left * unit, x + (from * w.input[2] + skipped) * unit, static_cast<size_t>(live * unit) * sizeof(float));
      std::fill(to + (left + live) * unit, to + frame.width * unit, 0.0f);
    }
  }

  template <typename T>
  static T* list_of(int64_t count) {
    return static_cast<T*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(count) * sizeof(T)));
  }

  /// Where the inputs of a tap lie in a plane of a frame.
  int64_t offset_of(const Frame& frame, int64_t tap) const {
    return (tap / kernel.kernel[2] * kernel.dilation[1] * frame.width + tap % kernel.kernel[2] * kernel.dilation[2]) * unit;
  }

  /// The same of each tap, in memory of the calling thread.
  const int64_t* offsets_of(const Frame& frame) const {
    auto* offsets = list_of<int64_t>(taps());
    for (int64_t tap = 0; tap < taps(); ++tap) offsets[tap] = offset_of(frame, tap);
    return offsets;
  }

  /// Where a tap lies, and whose inputs lie beyond a row there.
  BlockedStep tap_step(const Window& w, const Frame& frame, int64_t tap) const {
    BlockedStep step{offset_of(frame, tap), static_cast<int32_t>(unit)};
    if (!frame.has_rims) return step;
    step.offset -= (w.pad_begin[1] * frame.width + w.pad_begin[2]) * unit;
    const int64_t first = tap % kernel.kernel[2] * kernel.dilation[2] - w.pad_begin[2];
    const int64_t last = first + (w.output[2] - 1) * kernel.stride[2];
    if (first < 0) step.beyond |= kFirstOutput;
    if (last >= w.input[2]) step.beyond |= kLastOutput;
    return step;
  }

  /// The steps of all bundles, over planes that lie `plane` apart.
  const BlockedStep* steps_of(const Window& w, const Frame& frame, int64_t plane) const {
    auto* steps = list_of<BlockedStep>(bundles.steps());
    bundles.fill_steps(plane, [&](int64_t tap) { return tap_step(w, frame, tap); }, steps);
    return steps;
  }

  /// Weights of each image, multiplied by its gates, in memory of the calling thread.
  const float* gated_weights(int64_t batch, const float* gates, const Parallel& parallel) const {
    const int64_t image = static_cast<int64_t>(packed.size());
    float* scaled = scratch_floats(ScratchSlot::packed_right, batch * image);
    const Cost cost{.bytes = 8.0 * static_cast<double>(channels.in * bundles.most_blocks() * kBlock)};
    parallel.for_range(batch * bundles.count(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t at = i / bundles.count();
        const BlockedBundles::Bundle& bundle = bundles[i % bundles.count()];
        const int64_t width = bundle.blocks * kBlock, first = bundle.weights;
        scale_rows(packed.data() + first, width, gates + at * in_blocks() * kBlock, scaled + at * image + first, width, channels.in, width);
      }
    });
    return scaled;
  }

  /// Whether each output has a pixel of its own.
  bool reads_own_pixels(const Window& w) const {
    return !by_lanes && kernel.kernel_size() == 1 && w.pad_begin[1] == 0 && w.pad_begin[2] == 0 &&
           (w.output[1] - 1) * kernel.stride[1] < w.input[1] && (w.output[2] - 1) * kernel.stride[2] < w.input[2];
  }

  /// Whether most inputs are not read: pixels of their own with a stride.
  bool skips_pixels(const Window& w) const { return kernel.stride[1] * kernel.stride[2] > 1 && reads_own_pixels(w); }

  static Window without_skipped(Window w) {
    std::fill_n(w.stride, 3, 1);
    std::copy_n(w.output, 3, w.input);
    return w;
  }

  /// The pixels that are read, one behind the other, in memory of the calling thread.
  const float* picked_pixels(const ConvCall<float>& call, const Parallel& parallel) const {
    const Window& w = call.window;
    float* picked = scratch_floats(ScratchSlot::image, call.batch * in_planes() * w.output_size() * unit);
    const Cost cost{.bytes = 8.0 * static_cast<double>(w.output[2] * unit)};
    parallel.for_range(call.batch * in_planes() * w.output[1], cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const float* from = call.x + (i / w.output[1] * w.input_size() + i % w.output[1] * kernel.stride[1] * w.input[2]) * unit;
        float* to = picked + i * w.output[2] * unit;
        for (int64_t pixel = 0; pixel < w.output[2]; ++pixel) std::copy_n(from + pixel * kernel.stride[2] * unit, unit, to + pixel * unit);
      }
    });
    return picked;
  }

  static constexpr int64_t kFarFloats = 64 * 1024, kInputFloats = 48 * 1024, kLeastPixels = 28, kLinePixels = 56, kStripPixels = 14,
                           kHalfStrip = 7;

  /// Outputs that are worked out from left to right: rows of y, or parts of the plane where its pixels lie as those of x: of `wanted`
  /// pixels each, or, where that is 0, as many as suit the threads.
  struct Lines {
    int64_t pixels, count, total, x_line, x_pixel;

    Lines(const Window& kernel, const Window& w, const Frame& frame, int64_t unit, int64_t wanted, int64_t threads)
        : total(w.output_size()), x_pixel(kernel.stride[2] * unit) {
      const bool flat = !frame.copied && !frame.has_rims && kernel.kernel_size() == 1 && kernel.stride[1] == 1 && kernel.stride[2] == 1 &&
                        w.output_size() == w.input_size();
      pixels = w.output[2];
      if (flat) {
        const int64_t parts = pieces_of(total, kLinePixels);
        pixels = pieces_of(total, parts == 1 && total < kLinePixels / 2 ? 1 : pieces_of(parts, threads) * threads);
        pixels = std::min(wanted > 0 ? wanted : pieces_of(pixels, kHalfStrip) * kHalfStrip, total);
      }
      count = pieces_of(total, pixels);
      x_line = flat ? pixels * unit : kernel.stride[1] * frame.width * unit;
    }
  };

  struct Band {
    const ConvCall<float>& call;
    const Frame& frame;
    const Lines& lines;
    Part rows;
    const float* x;  ///< of the first line
    const float* weights;
    int64_t y;  ///< the image's offset
  };

  /// The frames of all images, in memory of the calling thread.
  const float* framed(const ConvCall<float>& call, const Frame& frame, const Parallel& parallel) const {
    const int64_t planes = in_planes(), plane = frame.plane() * unit, input = call.window.input_size() * unit;
    float* copy = scratch_floats(ScratchSlot::image, call.batch * planes * plane);
    constexpr int64_t kRows = 16;
    const int64_t parts = pieces_of(frame.height, kRows);
    parallel.for_range(call.batch * planes * parts, {.bytes = 8.0 * static_cast<double>(kRows * frame.width * unit)}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t at = i / parts, begin = i % parts * kRows;
        copy_rows(call.window, frame, call.x + at * input, {begin, std::min(frame.height, begin + kRows)},
                  copy + at * plane + begin * frame.width * unit);
      }
    });
    return copy;
  }

  /// Rows of the frame of one image that some rows of outputs reach, in memory of the calling thread, planes `plane` apart.
  const float* framed_rows(const ConvCall<float>& call, const Frame& frame, int64_t image, const Part& rows, int64_t plane) const {
    const int64_t planes = in_planes(), input = call.window.input_size() * unit, first = rows.begin * kernel.stride[1];
    float* copy = scratch_floats(ScratchSlot::image, planes * plane);
    for (int64_t i = 0; i < planes; ++i) {
      copy_rows(call.window, frame, call.x + (image * planes + i) * input, {first, first + reach_of(kernel, 1, rows.size)},
                copy + i * plane);
    }
    return copy;
  }

  /// How the work of a call is cut: into bands of lines, and each into `cuts` parts of the bundles.
  struct Cuts {
    int64_t bands, cuts;
  };

  Cuts cuts_of(const Lines& lines, int64_t batch, int64_t threads) const {
    const int64_t most = std::max<int64_t>(1, std::max<int64_t>(kLeastPixels, kInputFloats / bundles.products()) / lines.pixels);
    int64_t bands = pieces_of(lines.count, most);
    if (batch % threads != 0) bands = std::min(lines.count, pieces_of(bands, threads) * threads);
    return {bands, bands * batch >= 2 * threads ? 1 : bundles.count()};
  }

  /// `taps` is the kernel, which may read a picked input.
  void run_dense(const Window& taps, const ConvCall<float>& call, const float* gates, FetchList ahead, const Parallel& parallel) const {
    const Window& w = call.window;
    if (pairs) return pairs->run(call, gates, ahead, parallel);
    // Images come from afar: a copy, which is read in long pieces, waits for memory less than single pixels of its lines do.
    const Frame frame(taps, w, unit > 1);
    const int64_t planes = in_planes(), plane = frame.plane() * unit, threads = parallel.threads();
    const bool by_bundles = call.batch % threads != 0 && static_cast<int64_t>(packed.size()) > planes * plane;
    const Lines lines(taps, w, frame, unit, by_bundles ? kStripPixels : 0, threads);
    const auto [bands, cuts] = cuts_of(lines, call.batch, threads);
    // A large frame is copied band by band: it is still near when it is read.
    const bool in_bands = frame.copied && !by_bundles && cuts == 1 && planes * plane >= kFarFloats;
    const int64_t band_plane = in_bands ? reach_of(taps, 1, pieces_of(lines.count, bands)) * frame.width * unit : plane;
    const float* x = frame.copied && !in_bands ? framed(call, frame, parallel) : call.x;
    const BlockedStep* steps = steps_of(w, frame, band_plane);
    const int64_t image_floats = planes * (frame.copied ? plane : w.input_size() * unit);
    const float* weights = gates ? gated_weights(call.batch, gates, parallel) : packed.data();
    const auto band_of = [&](int64_t image, const Part& rows) {
      return Band{call,
                  frame,
                  lines,
                  rows,
                  in_bands ? framed_rows(call, frame, image, rows, band_plane) : x + image * image_floats + rows.begin * lines.x_line,
                  weights + (gates ? image * static_cast<int64_t>(packed.size()) : 0),
                  image * out_blocks() * w.output_size() * kBlock};
    };
    const double bundle_operations =
        kProductOperations * static_cast<double>(bundles.products() * lines.total * bundles.most_blocks() * kBlock);
    // Where weights are more than inputs, each thread has bundles of its own, of which it alone reads the weights.
    if (by_bundles) {
      const Cost cost{.bytes = 4.0 * kBlock, .operations = bundle_operations / static_cast<double>(lines.count)};
      const int64_t units = call.batch * bundles.count() * lines.count;
      parallel.for_range(units, cost, [&](Range range) {
        for (int64_t i = range.begin, size; i < range.end; i += size) {
          throw_if_cancelled();
          const int64_t line = i % lines.count, bundle = i / lines.count;
          size = std::min(lines.count - line, range.end - i);
          FetchedPart fetched(ahead, i, i + size, units);
          sum_band(band_of(bundle / bundles.count(), {line, size}), bundle % bundles.count(), steps, fetched);
        }
      });
      return;
    }
    const Cost cost{.bytes = 4.0 * kBlock,
                    .operations = bundle_operations * static_cast<double>(bundles.count()) / static_cast<double>(cuts * bands)};
    // Bands by turns: bundles differ, and a band that one thread takes with all of them is read by one.
    const int64_t units = call.batch * bands * cuts;
    parallel.for_range(units, cost, [&, bands = bands, cuts = cuts](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        throw_if_cancelled();
        FetchedPart fetched(ahead, i, i + 1, units);
        const Band band = band_of(i / cuts / bands, share_of(lines.count, bands, i / cuts % bands));
        const Part part = share_of(bundles.count(), cuts, i % cuts);
        for (int64_t bundle = part.begin; bundle < part.begin + part.size; ++bundle) sum_band(band, bundle, steps, fetched);
      }
    });
  }

  /// Weights of the next bundle, where they do not stay near from band to band.
  std::span<const std::byte> weights_behind(const Band& band, int64_t at) const {
    constexpr size_t kNearFloats = size_t{64} << 10;
    if (packed.size() < kNearFloats || at + 1 == bundles.count()) return {};
    const BlockedBundles::Bundle& next = bundles[at + 1];
    return std::as_bytes(std::span(band.weights + next.weights, static_cast<size_t>(next.blocks * kBlock * bundles.products())));
  }

  void sum_band(const Band& band, int64_t at_bundle, const BlockedStep* steps, FetchedPart& fetched) const {
    const Lines& lines = band.lines;
    const BlockedBundles::Bundle& bundle = bundles[at_bundle];
    fetched.put_first(weights_behind(band, at_bundle));
    const int64_t first = bundle.first, blocks = bundle.blocks, block_size = lines.total * kBlock;
    const int64_t fold = std::max<int64_t>(1, (unit == 1 ? kBlockedImageFold : kConvFold) / unit), at = band.y + first * block_size;
    BlockedSums sums{.x = band.x,
                     .steps = steps + bundle.steps,
                     .step_count = bundle.step_count,
                     .x_pixel = lines.x_pixel,
                     .weights = band.weights + bundle.weights,
                     .bias = bias_values.data() + first * kBlock,
                     .residual = band.call.residual ? band.call.residual + at : nullptr,
                     .y = band.call.y + at,
                     .y_block = block_size,
                     .half = has_half_block(channels.out, first + blocks),
                     .more = false,
                     .low = clamp.low,
                     .high = clamp.high,
                     .fetched = nullptr,
                     .rims = band.frame.rim_outputs};
    const int64_t end_row = band.rows.begin + band.rows.size;
    for (int64_t row = band.rows.begin, next; row < end_row; row = next) {
      next = end_row;
      if (band.frame.has_rims)
        next = keep_taps_within(band.call.window, bundle, {row, end_row}, steps + bundle.steps, band.weights + bundle.weights, sums);
      sums.x = band.x + (row - band.rows.begin) * lines.x_line;
      sum_blocked_lines(kernels, sums, blocks, fold, {row, next - row, lines.pixels, lines.total, lines.x_line}, fetched);
    }
    if (!clamp.activates && !band.call.addend) return;
    const int64_t begin = band.rows.begin * lines.pixels, end = std::min(lines.total, (band.rows.begin + band.rows.size) * lines.pixels);
    for (int64_t block = first; block < first + blocks; ++block) {
      const int64_t of_block = band.y + block * block_size + begin * kBlock;
      finish_interleaved(clamp.activates, activation, block * kBlock, band.call.y + of_block, end - begin, live_channels(block), kBlock,
                         band.call.addend_at(of_block));
    }
  }

  /// Keeps the steps whose taps lie within the plane for the first of some rows. Returns the first row that has others.
  int64_t keep_taps_within(const Window& w, const BlockedBundles::Bundle& bundle, Range rows, const BlockedStep* steps,
                           const float* weights, BlockedSums& sums) const {
    const Range within = taps_within(kernel, w, rows.begin);
    const int64_t row_steps = bundle.step_count / kernel.kernel[1];
    sums.steps = steps + within.begin * row_steps;
    sums.step_count = within.size() * row_steps;
    sums.weights = weights + within.begin * kernel.kernel[2] * bundle.inputs * bundle.blocks * kBlock;
    int64_t row = rows.begin + 1;
    while (row < rows.end && taps_within(kernel, w, row) == within) ++row;
    return row;
  }

  bool reads_in_place() const { return slides(kernel); }

  void run_in_place(const ConvCall<float>& call, float* means, const Parallel& parallel) const {
    const Window& w = call.window;
    const int64_t plane = w.output_size() * kBlock;
    const int64_t threads = parallel.threads(), planes = call.batch * out_blocks();
    const int64_t bands = planes >= 8 * threads || (planes >= 2 * threads && planes % threads == 0)
                              ? 1
                              : std::min<int64_t>(w.output[1], planes >= 2 * threads ? threads : 2 * threads);
    const auto rows_kernel = blocked_window_of(kernels, group_size(), kernel.kernel[2], kernel.stride[2]);
    float* sums = means ? scratch_floats(ScratchSlot::image, planes * w.output[1] * kBlock) : nullptr;
    const double outputs = static_cast<double>(plane) / static_cast<double>(bands);
    const Cost cost{.bytes = 8 * outputs, .operations = kProductOperations * static_cast<double>(taps() * group_size()) * outputs};
    parallel.for_range(call.batch * out_blocks() * bands, cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t block = i / bands, channel = block % out_blocks() * kBlock;
        const Part rows = share_of(w.output[1], bands, i % bands);
        const BlockedRows slide{rows_kernel,
                                kernels.row_sums,
                                activation,
                                clamp.activates,
                                call.addend_at(block * plane),
                                channel,
                                live_channels(block % out_blocks()),
                                sums ? sums + block * w.output[1] * kBlock : nullptr};
        slide.run({call.x + block * w.input_size() * kBlock, w.input[1], w.input[2], w.pad_begin[1], w.pad_begin[2],
                   packed.data() + channel * taps() * group_size(), bias_values.data() + channel,
                   call.residual ? call.residual + block * plane : nullptr, call.y + block * plane, w.output[2], clamp.low, clamp.high},
                  rows.begin, rows.begin + rows.size);
      }
    });
    if (means) means_of_rows(sums, planes, w.output[1], w.output[2], means);
  }

  void run_depthwise(const ConvCall<float>& call, const Parallel& parallel) const {
    const Window& w = call.window;
    const Frame frame(kernel, w, false);
    const int64_t frame_row = frame.width * kBlock, rows = std::max<int64_t>(1, kFrameFloats / frame_row / kernel.stride[1]);
    const int64_t bands = pieces_of(w.output[1], rows);
    const double outputs = static_cast<double>(w.output_size() * kBlock) / static_cast<double>(bands);
    const Cost cost{.bytes = 8 * outputs, .operations = kProductOperations * static_cast<double>(taps()) * outputs};
    const int64_t* offsets = offsets_of(frame);
    parallel.for_range(call.batch * out_blocks() * bands, cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) run_rows(call, frame, i / bands, share_of(w.output[1], bands, i % bands), offsets);
    });
  }

  static constexpr int64_t kFrameFloats = 32 * 1024;

  /// Some rows of a block of an image.
  void run_rows(const ConvCall<float>& call, const Frame& frame, int64_t block, const Part& rows, const int64_t* offsets) const {
    const Window& w = call.window;
    const float* x = call.x + block * w.input_size() * kBlock;
    const int64_t first = rows.begin * kernel.stride[1];
    if (frame.copied) {
      const int64_t count = reach_of(kernel, 1, rows.size);
      float* copy =
          static_cast<float*>(thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(count * frame.width * kBlock) * sizeof(float)));
      copy_rows(w, frame, x, {first, first + count}, copy);
      x = copy;
    } else {
      x += first * frame.width * kBlock;
    }
    const int64_t channel = block % out_blocks() * kBlock, y = (block * w.output_size() + rows.begin * w.output[2]) * kBlock;
    for (int64_t row = 0; row < rows.size; ++row) {
      const int64_t at = y + row * w.output[2] * kBlock;
      kernels.taps(
          {x + row * kernel.stride[1] * frame.width * kBlock, offsets, taps(), kernel.stride[2] * kBlock, packed.data() + channel * taps(),
           bias_values.data() + channel, call.residual ? call.residual + at : nullptr, call.y + at, clamp.low, clamp.high},
          w.output[2]);
    }
    finish_interleaved(clamp.activates, activation, channel, call.y + y, rows.size * w.output[2], live_channels(block % out_blocks()),
                       kBlock, call.addend_at(y));
  }

  const ConvChannels channels;
  const Window kernel;
  const Activation activation;
  const Clamp clamp;
  const BlockedKernels& kernels;
  const int64_t unit;                   ///< floats of a pixel of the input that lie together
  const BlockedBundles bundles;         ///< where sums are over whole blocks
  std::unique_ptr<BlockedPairs> pairs;  ///< or null
  bool by_lanes;                        ///< each lane is summed over the channels of its own group
  SharedArray<float> packed;
  std::vector<float> bias_values;
};

bool BlockedConvolution::fits(const ConvChannels& channels, const Window& window, BlockedInput input) {
  if (window.kernel[0] != 1 || window.input[0] != 1 || window.output[0] != 1 || window.pad_begin[0] != 0) return false;
  if (channels.groups == 1) return true;
  if (input != BlockedInput::blocks || channels.in % channels.groups != 0 || channels.out % channels.groups != 0) return false;
  const bool depthwise = channels.in == channels.groups && channels.out == channels.in;
  return depthwise || sums_whole_blocks(channels, window) || slides_in_groups(channels, window);
}

BlockedConvolution::BlockedConvolution(const ConvChannels& channels, const Window& window, const float* weights, const float* bias,
                                       const Activation& activation, BlockedInput input, ConvAccuracy accuracy)
    : impl_(std::make_unique<Impl>(channels, window, weights, bias, activation, input, accuracy)) {}
BlockedConvolution::~BlockedConvolution() = default;
BlockedConvolution::BlockedConvolution(BlockedConvolution&&) noexcept = default;
BlockedConvolution& BlockedConvolution::operator=(BlockedConvolution&&) noexcept = default;

void BlockedConvolution::run(const Window& window, int64_t batch, const float* x, const float* residual, float* y, const Parallel& parallel,
                             const BlockedScales& scales, FetchList ahead, const float* addend) const {
  if (batch <= 0 || window.output_size() <= 0) return;
  impl_->run({window, batch, x, residual, y, {}, addend}, scales, ahead, parallel);
}

std::string_view BlockedConvolution::variant() const { return impl_->variant(); }
bool BlockedConvolution::fetches_ahead() const { return impl_->fetches_ahead(); }

bool BlockedConvolution::takes_gates() const { return impl_->takes_gates(); }
bool BlockedConvolution::gives_means() const { return impl_->gives_means(); }

size_t BlockedConvolution::weight_bytes() const { return impl_->weight_bytes(); }

}  // namespace rh::compute
