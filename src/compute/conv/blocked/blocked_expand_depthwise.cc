#include "compute/conv/blocked/blocked_expand_depthwise.h"

#include <algorithm>

#include "base/interruptible.h"
#include "compute/conv/blocked/conv_blocked_impl.h"
#include "compute/conv/conv_pack.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kBlock = kChannelBlock, kHiddenBytes = 384 << 10, kLinePixels = 56;

std::vector<float> whole_blocks(const float* values, int64_t count) {
  std::vector<float> all(static_cast<size_t>(channel_blocks(count) * kBlock), 0.0f);
  if (values) std::copy_n(values, count, all.data());
  return all;
}

/// Blocks that are worked out together: pairs, where the kernels take two. Of an odd number of pairs the middle one is two groups, so that
/// two threads have as many blocks each.
struct Groups {
  Groups(int64_t blocks, int64_t most)
      : blocks(blocks), most(most), whole(pieces_of(blocks, most)), parted(most == 2 && blocks % 4 == 2 ? whole / 2 : whole) {}

  int64_t count() const { return parted < whole ? whole + 1 : whole; }
  Part operator[](int64_t group) const {
    if (group > parted + 1)
      --group;
    else if (group >= parted)
      return {2 * parted + (group - parted), 1};
    return {group * most, std::min(most, blocks - group * most)};
  }

  int64_t blocks, most, whole, parted;
};

}  // namespace

bool BlockedExpandDepthwise::fits(const Window& window) {
  return ExpandDepthwise::fits(window) && (window.kernel[2] == 3 || window.kernel[2] == 5 || window.kernel[2] == 7) &&
         window.dilation[2] == 1;
}

BlockedExpandDepthwise::BlockedExpandDepthwise(int64_t in, int64_t hidden, const Window& window, const ExpandDepthwise::Stage& expand,
                                               const ExpandDepthwise::Stage& depthwise)
    : in_(in),
      hidden_(hidden),
      window_(window),
      activation_(expand.activation),
      taps_activation_(depthwise.activation),
      kernels_(blocked_kernels()),
      bias_(whole_blocks(expand.bias, hidden)),
      taps_bias_(whole_blocks(depthwise.bias, hidden)) {
  const size_t count = bias_.size() * static_cast<size_t>(in);
  const std::shared_ptr<float[]> packed = aligned_array<float>(count);
  const int64_t taps = window.kernel_size(), padded = static_cast<int64_t>(bias_.size());
  const Groups groups(channel_blocks(hidden), kernels_.blocks);
  for (int64_t group = 0; group < groups.count(); ++group) {
    const int64_t first = groups[group].begin * kBlock, width = groups[group].size * kBlock;
    pack_taps(expand.weights + first * in, in, 1, std::min(width, hidden - first), width, packed.get() + first * in);
  }
  weights_ = SharedArray<float>(packed, count);
  taps_.assign(static_cast<size_t>(padded * taps), 0.0f);
  for (int64_t c = 0; c < hidden; ++c)
    for (int64_t t = 0; t < taps; ++t)
      taps_[static_cast<size_t>((c / kBlock * taps + t) * kBlock + c % kBlock)] = depthwise.weights[c * taps + t];
}

/// Some rows of y of a group of blocks of an image.
struct BlockedExpandDepthwise::Unit {
  const Window& window;
  const BlockedStep* steps;
  int64_t step_count;
  const float* x;  ///< of the image
  float* y;
  float* sums;    ///< of the image's rows, or null
  int64_t first;  ///< block of the group
  int64_t blocks;
  Part rows;
  FetchedPart fetched;
};

void BlockedExpandDepthwise::run(const Window& w, int64_t batch, const float* x, float* y, float* means, const Parallel& parallel,
                                 FetchList ahead) const {
  const int64_t in_blocks = channel_blocks(in_), blocks = channel_blocks(hidden_);
  const Groups all(blocks, kernels_.blocks);
  const int64_t groups = all.count();
  auto* steps = static_cast<BlockedStep*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(in_blocks) * sizeof(BlockedStep)));
  for (int64_t i = 0; i < in_blocks; ++i)
    steps[i] = {i * w.input_size() * kBlock, static_cast<int32_t>(std::min(kBlock, in_ - i * kBlock))};
  const int64_t row_bytes = w.input[2] * kernels_.blocks * kBlock * static_cast<int64_t>(sizeof(float)), stride = window_.stride[1];
  const int64_t most_rows = (kHiddenBytes / row_bytes - window_.kernel[1] + stride) / stride;  // that so many rows of x give
  int64_t bands = pieces_of(w.output[1], std::max<int64_t>(1, most_rows));
  if (bands > 1 && batch % parallel.threads() != 0)
    bands = std::min(w.output[1], pieces_of(bands, parallel.threads()) * parallel.threads());
  const int64_t image_sums = blocks * w.output[1] * kBlock;
  float* sums = means ? scratch_floats(ScratchSlot::image, batch * image_sums) : nullptr;
  const double outputs = static_cast<double>(w.output_size() * kernels_.blocks * kBlock), taps = static_cast<double>(window_.kernel_size());
  const double inputs = static_cast<double>(w.input_size() * kernels_.blocks * kBlock);
  const Cost cost{.bytes = 4 * outputs / static_cast<double>(bands),
                  .operations = kProductOperations * (inputs * static_cast<double>(in_) + outputs * taps) / static_cast<double>(bands)};
  // Bands by turns where there are several: each thread then has the rows of all channels, which it reads in the next layer.
  const int64_t units = batch * bands * groups;
  parallel.for_range(units, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      throw_if_cancelled();
      const int64_t image = i / bands / groups;
      const Part group = all[i % groups];
      run_unit({w, steps, in_blocks, x + image * in_blocks * w.input_size() * kBlock, y + image * blocks * w.output_size() * kBlock,
                sums ? sums + image * image_sums : nullptr, group.begin, group.size, share_of(w.output[1], bands, i / groups % bands),
                FetchedPart(ahead, i, i + 1, units)});
    }
  });
  if (means) means_of_rows(sums, batch * blocks, w.output[1], w.output[2], means);
}

void BlockedExpandDepthwise::run_unit(const Unit& unit) const {
  const Window& w = unit.window;
  const int64_t taps = window_.kernel[1], stride = window_.stride[1];
  const int64_t top = unit.rows.begin * stride - w.pad_begin[1], bottom = top + (unit.rows.size - 1) * stride + taps;
  const int64_t begin = std::clamp<int64_t>(top, 0, w.input[1]), rows = std::clamp<int64_t>(bottom, begin, w.input[1]) - begin;
  const int64_t pixels = rows * w.input[2], hidden_block = pixels * kBlock, channel = unit.first * kBlock;
  auto* hidden =
      static_cast<float*>(thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(unit.blocks * hidden_block + 1) * sizeof(float)));
  const Clamp clamp(activation_), taps_clamp(taps_activation_);
  FetchedPart fetched = unit.fetched;
  const BlockedSums sums{.x = unit.x + begin * w.input[2] * kBlock,
                         .steps = unit.steps,
                         .step_count = unit.step_count,
                         .x_pixel = kBlock,
                         .weights = weights_.data() + channel * in_,
                         .bias = bias_.data() + channel,
                         .residual = nullptr,
                         .y = hidden,
                         .y_block = hidden_block,
                         .half = has_half_block(hidden_, unit.first + unit.blocks),
                         .more = false,
                         .low = clamp.low,
                         .high = clamp.high,
                         .fetched = nullptr};
  if (pixels > 0)
    sum_blocked_lines(kernels_, sums, unit.blocks, kConvFold / kBlock,
                      {0, pieces_of(pixels, kLinePixels), kLinePixels, pixels, kLinePixels * kBlock}, fetched);
  const auto live = [&](int64_t first) { return std::min(kBlock, hidden_ - first); };
  for (int64_t block = 0; clamp.activates && block < unit.blocks; ++block) {
    const int64_t first = channel + block * kBlock;
    activate_pixels(activation_, first, hidden + block * hidden_block, pixels, live(first), kBlock);
  }
  for (int64_t block = 0; block < unit.blocks; ++block) {
    const int64_t first_row = (unit.first + block) * w.output[1] + unit.rows.begin;
    float* y = unit.y + first_row * w.output[2] * kBlock;
    const BlockedRows slide{blocked_window_of(kernels_, 1, taps, stride),
                            kernels_.row_sums,
                            taps_activation_,
                            taps_clamp.activates,
                            nullptr,
                            channel + block * kBlock,
                            live(channel + block * kBlock),
                            unit.sums ? unit.sums + first_row * kBlock : nullptr};
    slide.run({hidden + block * hidden_block, rows, w.input[2], begin - top, w.pad_begin[2],
               taps_.data() + (channel + block * kBlock) * window_.kernel_size(), taps_bias_.data() + channel + block * kBlock, nullptr, y,
               w.output[2], taps_clamp.low, taps_clamp.high},
              0, unit.rows.size);
  }
}

}  // namespace rh::compute
