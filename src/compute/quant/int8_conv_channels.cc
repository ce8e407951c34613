#include <algorithm>
#include <cstring>

#include "compute/gemm/gemm_kernels.h"
#include "compute/move/transpose_words.h"
#include "compute/quant/int8_conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kWordsBytes = 48 << 10;  // of words that are brought together at once
constexpr int64_t kMostWordsBytes = 1 << 20;
constexpr int64_t kLeastColumns = 16;
constexpr int64_t kTurnedPixels = 256;
constexpr int64_t kWord = sizeof(uint32_t);
constexpr int64_t kLeastRead = 16;  // bytes of a pixel that kernels read, at least

}  // namespace

Int8ChannelsCall::Int8ChannelsCall(const Int8Convolution& conv, const Window& window, int64_t batch, const Int8Image& x,
                                   const Int8ConvResult& y)
    : conv_(conv),
      plan_(conv.plan_),
      kernels_(conv.plan_.kernels()),
      w_(window),
      batch_(batch),
      x_(x),
      y_(y),
      flip_(int8_flip(x.bytes.is_signed, false)),
      zero_(x.zero_point + int8_shift(x.bytes.is_signed, false)),
      channels_(conv.channels_.out),
      reach_((plan_.words_across() - 1) * plan_.step_across() + 1) {
  const int64_t column_bytes = plan_.groups(plan_.rows() - 1).end * kernels_.unit() * kWord;
  // At least as many as are read for one output, which each part reads once more.
  const int64_t fitting = std::max(kWordsBytes / column_bytes - reach_, reach_) / conv.window_.stride[2];
  parts_ = pieces_of(w_.output[2], std::max(fitting, kLeastColumns));
  blocks_ = pieces_of(w_.output[1], plan_.rows());
}

bool Int8ChannelsCall::fits(const Int8Convolution& conv, const Window& window) {
  if (!conv.plan_ || window.input[0] != 1 || window.output[0] != 1 || window.pad_begin[0] != 0) return false;
  const Int8DepthwisePlan& plan = conv.plan_;
  const int64_t columns = 2 * (plan.words_across() - 1) * plan.step_across() + kLeastColumns * conv.window_.stride[2];
  return columns < kMostWordsBytes / (plan.groups(plan.rows() - 1).end * plan.kernels().unit() * kWord);
}

void Int8ChannelsCall::run(const Parallel& parallel) {
  image_ = static_cast<const uint8_t*>(x_.bytes.data);
  if (!x_.channels_last) turn(parallel);
  end_ = image_ + batch_ * w_.input_size() * channels_;
  order_channels();
  const int64_t units = plan_.units(), pieces = batch_ * blocks_ * units * parts_;
  const double outputs = static_cast<double>(batch_ * w_.output_size() * channels_);
  const double work = 0.08 * outputs * static_cast<double>(conv_.k_);
  parallel.for_range(pieces, {.bytes = 0, .operations = work / static_cast<double>(pieces)}, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t block = i / units / parts_, rows = plan_.rows(), first = block % blocks_ * rows;
      const Part columns = part_of(w_.output[2], parts_, i / units % parts_);
      compute({.image = block / blocks_,
               .unit = i % units,
               .rows = {first, std::min(first + rows, w_.output[1])},
               .columns = {columns.begin, columns.begin + columns.size}});
    }
  });
}

/// What sums begin with, and factors, in the order of words.
void Int8ChannelsCall::order_channels() {
  const int64_t units = plan_.units(), count = units * kernels_.unit();
  auto* memory = static_cast<int32_t*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(count) * (sizeof(int32_t) + sizeof(float))));
  int32_t* start = memory;
  auto* factor = reinterpret_cast<float*>(memory + count);
  starts_ = start;
  factors_ = factor;
  for (int64_t unit = 0; unit < units; ++unit) {
    const int64_t width = kernels_.unit(plan_.unit_channels(unit)), blocks = int8_unit_blocks(width), step = kInt8UnitBlock;
    const int64_t first = unit * kernels_.unit(), in_block = width / blocks;
    for (int64_t four = 0; four < in_block; four += 4) {
      for (int64_t block = 0; block < blocks; ++block, start += 4, factor += 4) {
        const int64_t at = first + block * step + four;
        for (int64_t i = 0; i < 4; ++i) {
          const bool is_there = at + i < channels_;
          const size_t channel = static_cast<size_t>(is_there ? at + i : 0);
          const uint32_t bias = conv_.bias_.empty() ? 0 : static_cast<uint32_t>(conv_.bias_[channel]);
          start[i] = is_there ? static_cast<int32_t>(bias - int8_product(zero_, conv_.tap_sums_[channel])) : 0;
          factor[i] = is_there && y_.factors ? y_.factors[channel] : 0;
        }
      }
    }
  }
}

/// Brings the channels of each pixel together.
void Int8ChannelsCall::turn(const Parallel& parallel) {
  const int64_t input = w_.input_size(), parts = pieces_of(input, kTurnedPixels);
  auto* turned = static_cast<uint8_t*>(thread_scratch(ScratchSlot::image, static_cast<size_t>(batch_ * channels_ * input)));
  const double bytes = static_cast<double>(2 * channels_ * std::min(input, kTurnedPixels));
  parallel.for_range(batch_ * parts, {.bytes = bytes, .operations = 0}, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t image = i / parts * input * channels_;
      const Part pixels = part_of(input, parts, i % parts);
      transpose_bytes(image_ + image + pixels.begin, input, turned + image + pixels.begin * channels_, channels_, pixels.size, channels_);
    }
  });
  image_ = turned;
}

void Int8ChannelsCall::compute(const Block& block) const {
  const int64_t unit = kernels_.unit(), live = plan_.unit_channels(block.unit), width = kernels_.unit(live), kind = kernels_.kind(live);
  const int64_t first = block.unit * unit, rows = block.rows.size(), columns = block.columns.size();
  const int64_t read = (columns - 1) * conv_.window_.stride[2] + reach_, groups = plan_.groups(rows - 1).end;
  auto* words = static_cast<uint8_t*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(groups * read * width * kWord)));
  for (int64_t group = 0; group < groups; ++group) fill_words(block, group, read, words + group * read * width * kWord);
  const int64_t element = y_.factors ? 1 : sizeof(int32_t), pixels = w_.output_size();
  Int8DepthwiseRow row{.group_bytes = read * width * kWord,
                       .tap_bytes = plan_.step_across() * width * kWord,
                       .output_bytes = conv_.window_.stride[2] * width * kWord,
                       .taps = plan_.words_across(),
                       .start = starts_ + first,
                       .factors = y_.factors ? factors_ + first : nullptr,
                       .zero = y_.range.zero_point,
                       .low = y_.range.low,
                       .high = y_.range.high,
                       .shift = y_.range.low < 0 ? 128 : 0,
                       .pixel_bytes = (y_.channels_last ? channels_ : live) * element,
                       .channels = live,
                       .columns = columns};
  uint8_t* pending = nullptr;
  if (!y_.channels_last) {
    pending = static_cast<uint8_t*>(thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(rows * columns * live * element)));
  }
  for (int64_t i = 0; i < rows; ++i) {
    const Range taken = plan_.groups(i);
    row.words = words + taken.begin * row.group_bytes;
    row.groups = taken.size();
    row.weights = reinterpret_cast<const uint8_t*>(conv_.words_.data() + plan_.words_at(block.unit, i));
    const int64_t pixel = (block.rows.begin + i) * w_.output[2] + block.columns.begin;
    row.y = pending ? pending + i * columns * row.pixel_bytes
                    : static_cast<uint8_t*>(y_.data) + ((block.image * pixels + pixel) * channels_ + first) * element;
    kernels_.row[kind](row);
  }
  if (pending) store_channels_first(block, pending, live);
}

/// The words of a group of taps, of all positions across that the block reads.
void Int8ChannelsCall::fill_words(const Block& block, int64_t group, int64_t columns, uint8_t* words) const {
  const int64_t live = plan_.unit_channels(block.unit), width = kernels_.unit(live), read = std::max(width, kLeastRead);
  const int64_t first_row = block.rows.begin * conv_.window_.stride[1] - w_.pad_begin[1];
  const int64_t first_column = block.columns.begin * conv_.window_.stride[2] - w_.pad_begin[2];
  alignas(64) uint8_t outside[kInt8UnitChannels];
  std::memset(outside, x_.zero_point, sizeof(outside));
  const uint8_t* lines[kInt8WordTaps] = {};  // where column 0 of x lies
  int64_t starts[kInt8WordTaps] = {};
  Range inside{0, columns};
  const uint8_t* last = nullptr;
  for (int64_t tap = 0; tap < kernels_.taps; ++tap) {
    const int64_t offset = plan_.row_of(group, tap), line = first_row + offset;
    if (offset >= plan_.rows_read(block.rows.size()) || line < 0 || line >= w_.input[1]) continue;
    lines[tap] = image_ + (block.image * w_.input[1] + line) * w_.input[2] * channels_ + block.unit * kernels_.unit();
    starts[tap] = first_column + plan_.column_of(tap);
    const Range reached = reach(starts[tap], 1, w_.input[2], columns);
    inside = {std::max(inside.begin, reached.begin), std::min(inside.end, reached.end)};
    last = std::max(last, lines[tap] + (w_.input[2] - 1) * channels_);
  }
  inside.end = std::max(inside.begin, inside.end);
  Int8WordsArgs p{.columns = 1, .channels = live, .whole = !last || last + read <= end_, .flip = flip_};
  const auto fill = [&](int64_t column, int64_t count) {
    p.columns = count;
    p.words = words + column * width * kWord;
    for (int64_t tap = 0; tap < kernels_.taps; ++tap) {
      const int64_t at = starts[tap] + column;
      const bool is_there = lines[tap] && at >= 0 && at < w_.input[2];
      p.pixels[tap] = is_there ? lines[tap] + at * channels_ : outside;
      p.steps[tap] = is_there && count > 1 ? channels_ : 0;
    }
    kernels_.words[kernels_.kind(live)](p);
  };
  for (int64_t column = 0; column < inside.begin; ++column) fill(column, 1);
  if (inside.size() > 0) fill(inside.begin, inside.size());
  for (int64_t column = inside.end; column < columns; ++column) fill(column, 1);
}

/// From [pixels of the block, its channels].
void Int8ChannelsCall::store_channels_first(const Block& block, const uint8_t* pending, int64_t live) const {
  const int64_t pixels = w_.output_size(), whole = parts_ == 1 ? block.rows.size() : 1;  // rows that follow each other
  const int64_t count = whole * block.columns.size();
  for (int64_t row = block.rows.begin; row < block.rows.end; row += whole) {
    const int64_t at = (block.image * channels_ + block.unit * kernels_.unit()) * pixels + row * w_.output[2] + block.columns.begin;
    if (y_.factors) {
      transpose_bytes(pending, live, static_cast<uint8_t*>(y_.data) + at, pixels, live, count);
      pending += count * live;
    } else {
      transpose_words(reinterpret_cast<const uint32_t*>(pending), live, static_cast<uint32_t*>(y_.data) + at, pixels, live, count);
      pending += count * live * kWord;
    }
  }
}

}  // namespace rh::compute
