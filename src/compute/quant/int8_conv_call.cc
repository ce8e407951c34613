#include <cstring>

#include "base/error.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/move/transpose_words.h"
#include "compute/quant/int8_conv_impl.h"
#include "compute/quant/int8_kernels.h"
#include "compute/scratch.h"

// The pixels of an image, channels last, are the rows of a product whose right side are the weights. Kernels read them where they lie, or
// from a copy with borders; no pixel is gathered once a kernel position.
namespace rh::compute {
namespace {

constexpr int64_t kBlockBytes = 128 << 10;  // of pixels that are laid out at once
constexpr double kMostBytes = 2.0 * (1 << 30);
constexpr int64_t kBlockPixels = 1024;
constexpr int64_t kLeastPixels = 48;
constexpr int64_t kTileColumns = 128;       // of sums that wait for their epilogue
constexpr int64_t kRightBytes = 512 << 10;  // of weights that are walked again for each tile

int64_t extent(const Window& kernel, int d, int64_t outputs) {
  return kernel.kernel[d] == 1 ? outputs : (outputs - 1) * kernel.stride[d] + (kernel.kernel[d] - 1) * kernel.dilation[d] + 1;
}

/// Memory of one allocation, handed out in aligned parts.
class Parts {
 public:
  template <typename T>
  size_t add(int64_t count) {
    const size_t at = bytes_;
    bytes_ += (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return at;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

}  // namespace

Int8ConvCall::Int8ConvCall(const Int8Convolution& conv, const Window& window, int64_t batch, const Int8Image& x, const Int8ConvResult& y)
    : conv_(conv),
      w_(window),
      batch_(batch),
      x_(x),
      y_(y),
      kernels_(conv.panels_[0].kernels()),
      flip_(int8_flip(x.bytes.is_signed, false)),
      zero_(x.zero_point + int8_shift(x.bytes.is_signed, false)),
      pixels_(window.output_size()),
      panels_((conv.out_ + kernels_.columns - 1) / kernels_.columns) {
  const Window& kernel = conv.window_;
  in_place_ = x.channels_last && flip_ == 0 && kernels_.left_bytes == 1 && conv.segment_ % kInt8Group == 0 && conv.w_zero_.empty() &&
              (conv.channels_.groups == 1 || kernel.kernel[2] == 1);
  for (int d = 0; d < 3; ++d) {
    const int64_t last = (w_.output[d] - 1) * kernel.stride[d] + (kernel.kernel[d] - 1) * kernel.dilation[d] - w_.pad_begin[d];
    in_place_ &= w_.pad_begin[d] == 0 && last < w_.input[d];
    sampled_[d] = kernel.kernel[d] == 1 ? kernel.stride[d] : 1;
    step_[d] = kernel.kernel[d] == 1 ? 1 : kernel.stride[d];
  }
}

void Int8ConvCall::plan_blocks(int threads) {
  const int64_t pixel_bytes = conv_.in_ * kernels_.left_bytes, products = batch_ * conv_.channels_.groups * w_.output[0];
  const bool is_row = w_.output[1] == 1 && w_.input[1] == 1;
  const double row_bytes = static_cast<double>(conv_.window_.kernel[0]) * static_cast<double>(pixel_bytes) *
                           (is_row ? 1.0 : static_cast<double>(extent(conv_.window_, 2, w_.output[2])) * static_cast<double>(step_[1]));
  const int64_t width = is_row ? 1 : w_.output[2], count = is_row ? w_.output[2] : w_.output[1];
  const int64_t most = std::max<int64_t>(1, kBlockPixels / width), least = std::min(most, pieces_of(kLeastPixels, width));
  const auto fitting = static_cast<int64_t>(static_cast<double>(kBlockBytes) / std::max(1.0, row_bytes));
  int64_t blocks = pieces_of(count, std::clamp(fitting, least, most));
  column_parts_ = 1;
  if (threads > 1 && products * blocks < 2 * threads) {
    const int64_t wanted = pieces_of(2 * threads, products * blocks);
    if (conv_.k_ * conv_.out_ > w_.input_size() * conv_.in_) {
      column_parts_ = std::min(panels_, wanted);
    } else {
      blocks = std::min(count, blocks * wanted);
    }
  }
  block_rows_ = is_row ? 1 : blocks;
  block_columns_ = is_row ? blocks : 1;
  const int64_t rows = extent(conv_.window_, 1, pieces_of(w_.output[1], block_rows_));
  const int64_t columns = extent(conv_.window_, 2, pieces_of(w_.output[2], block_columns_));
  const double bytes =
      static_cast<double>(conv_.window_.kernel[0] * pixel_bytes) * static_cast<double>(rows) * static_cast<double>(columns);
  if (!in_place_ && bytes > kMostBytes) {
    fail(ErrorCode::invalid_argument,
         "windows reach over {} x {} positions of {} channels, expected less than 2 GiB of them; are dilations and pads right?", rows,
         columns, conv_.in_);
  }
}

void Int8ConvCall::run(const Parallel& parallel) {
  plan_blocks(parallel.threads());
  const int64_t blocks = block_rows_ * block_columns_, pieces = batch_ * conv_.channels_.groups * w_.output[0] * blocks * column_parts_;
  const double operations = static_cast<double>(pixels_) * static_cast<double>(conv_.k_) * static_cast<double>(conv_.channels_.out);
  const Cost cost{.bytes = 0, .operations = 0.08 * operations * static_cast<double>(batch_) / static_cast<double>(pieces)};
  const auto range_of = [](int64_t count, int64_t parts, int64_t index) {
    const Part part = part_of(count, parts, index);
    return Range{part.begin, part.begin + part.size};
  };
  parallel.for_range(pieces, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      Block block;
      block.panels = range_of(panels_, column_parts_, i % column_parts_);
      int64_t rest = i / column_parts_;
      block.rows = range_of(w_.output[1], block_rows_, rest % blocks / block_columns_);
      block.columns = range_of(w_.output[2], block_columns_, rest % block_columns_);
      rest /= blocks;
      block.depth = rest % w_.output[0];
      rest /= w_.output[0];
      block.group = rest % conv_.channels_.groups;
      block.image = rest / conv_.channels_.groups;
      multiply(block, in_place_ ? in_place(block) : lay_out(block));
    }
  });
}

Int8ConvCall::Source Int8ConvCall::in_place(const Block& block) const {
  const Window& kernel = conv_.window_;
  const int64_t steps[3] = {w_.input[1] * w_.input[2] * conv_.channels_.in, w_.input[2] * conv_.channels_.in, conv_.channels_.in};
  const int64_t begin[3] = {block.depth, block.rows.begin, block.columns.begin};
  Source source;
  source.data = static_cast<const uint8_t*>(x_.bytes.data) + block.image * w_.input[0] * steps[0] + block.group * conv_.in_;
  for (int d = 0; d < 3; ++d) {
    source.data += begin[d] * kernel.stride[d] * steps[d];
    source.tap[d] = kernel.dilation[d] * steps[d];
    source.output[d] = kernel.stride[d] * steps[d];
  }
  return source;
}

/// Copies what the block reads of the group's channels, channels last, as the kernels take it, with zero points outside the image.
Int8ConvCall::Source Int8ConvCall::lay_out(const Block& block) const {
  const Window& kernel = conv_.window_;
  const int64_t rows = extent(kernel, 1, block.rows.size()), columns = extent(kernel, 2, block.columns.size());
  const int64_t pixel_bytes = conv_.in_ * kernels_.left_bytes, row_bytes = columns * pixel_bytes, slices = kernel.kernel[0];
  const int64_t count = slices * rows * columns;
  Parts parts;
  const size_t image_at = parts.add<uint8_t>(slices * rows * row_bytes + 64);  // kernels read whole groups
  const size_t sums_at = parts.add<int32_t>(conv_.w_zero_.empty() ? 0 : count);
  auto* memory = static_cast<uint8_t*>(thread_scratch(ScratchSlot::packed_left, parts.bytes()));
  uint8_t* out = memory + image_at;
  auto* sums = conv_.w_zero_.empty() ? nullptr : reinterpret_cast<int32_t*>(memory + sums_at);
  const int64_t first_row = block.rows.begin * kernel.stride[1] - w_.pad_begin[1];
  const int64_t first_column = block.columns.begin * kernel.stride[2] - w_.pad_begin[2];
  // Rows that are read, and the columns of those that are brought together where channels do not come last.
  Range inside{std::clamp<int64_t>(first_row, 0, w_.input[1]),
               std::clamp<int64_t>(first_row + (rows - 1) * sampled_[1] + 1, 0, w_.input[1])};
  Range across{0, w_.input[2]};
  if (w_.input[1] == 1) {
    across = {std::clamp<int64_t>(first_column, 0, w_.input[2]),
              std::clamp<int64_t>(first_column + (columns - 1) * sampled_[2] + 1, 0, w_.input[2])};
  }
  for (int64_t slice = 0; slice < slices; ++slice) {
    const int64_t depth = block.depth * kernel.stride[0] - w_.pad_begin[0] + slice * kernel.dilation[0];
    const bool has_depth = depth >= 0 && depth < w_.input[0];
    const uint8_t* image = has_depth ? channels_last(block, depth, inside, across) : nullptr;
    const int64_t pitch = x_.channels_last ? conv_.channels_.in : conv_.in_;
    for (int64_t row = 0; row < rows; ++row, out += row_bytes) {
      const int64_t h = first_row + row * sampled_[1];
      const bool is_inside = has_depth && h >= inside.begin && h < inside.end;
      fill_row(is_inside ? image + (h - inside.begin) * across.size() * pitch - across.begin * pitch : nullptr, pitch, first_column,
               columns, out, sums ? sums + (slice * rows + row) * columns : nullptr);
    }
  }
  Source source;
  source.data = memory + image_at;
  source.pixel_sums = sums;
  source.tap[0] = rows * row_bytes;
  source.tap[1] = kernel.dilation[1] * row_bytes;
  source.tap[2] = kernel.dilation[2] * pixel_bytes;
  source.output[1] = step_[1] * row_bytes;
  source.output[2] = step_[2] * pixel_bytes;
  return source;
}

/// The group's channels of the rectangle of input positions, its first pixel.
const uint8_t* Int8ConvCall::channels_last(const Block& block, int64_t depth, const Range& rows, const Range& columns) const {
  const auto* x = static_cast<const uint8_t*>(x_.bytes.data);
  const int64_t plane = w_.input_size(), at = (depth * w_.input[1] + rows.begin) * w_.input[2] + columns.begin;
  if (x_.channels_last) return x + (block.image * plane + at) * conv_.channels_.in + block.group * conv_.in_;
  const int64_t count = rows.size() * columns.size();  // which are neighbours: whole rows, or one
  auto* turned = static_cast<uint8_t*>(thread_scratch(ScratchSlot::image, static_cast<size_t>(std::max<int64_t>(1, count * conv_.in_))));
  transpose_bytes(x + (block.image * conv_.channels_.in + block.group * conv_.in_) * plane + at, plane, turned, conv_.in_, count,
                  conv_.in_);
  return turned;
}

/// `row` is where the input's column 0 would be, or null outside the image. Of each pixel the sum as well, where `sums` is given.
void Int8ConvCall::fill_row(const uint8_t* row, int64_t pitch, int64_t first_column, int64_t count, uint8_t* out, int32_t* sums) const {
  const int64_t width = kernels_.left_bytes;
  const Range inside = row ? reach(first_column, sampled_[2], w_.input[2], count) : Range{count, count};
  const auto fill = [&](int64_t begin, int64_t end) {
    const int64_t at = begin * conv_.in_, elements = (end - begin) * conv_.in_;
    if (elements <= 0) return;
    if (width == 1) {
      std::memset(out + at, zero_, static_cast<size_t>(elements));
    } else {
      std::fill_n(reinterpret_cast<int16_t*>(out) + at, elements, static_cast<int16_t>(zero_));
    }
    if (sums) std::fill(sums + begin, sums + end, static_cast<int32_t>(int8_product(zero_, static_cast<int32_t>(conv_.in_))));
  };
  fill(0, inside.begin);
  if (inside.size() > 0) {
    const uint8_t* from = row + (first_column + inside.begin * sampled_[2]) * pitch;
    const int64_t apart = sampled_[2] * pitch, rows = apart == conv_.in_ ? 1 : inside.size(), elements = inside.size() / rows * conv_.in_;
    for (int64_t i = 0; i < rows; ++i) {
      int8_lay_out(from + i * apart, elements, flip_, width, out + (inside.begin * conv_.in_ + i * elements) * width);
    }
    if (sums) int8_sum_pixels(from, apart, flip_, inside.size(), conv_.in_, sums + inside.begin);
  }
  fill(inside.end, count);
}

void Int8ConvCall::sum_windows(const Block& block, const Source& source, int32_t* sums) const {
  const int64_t pixel_bytes = conv_.in_ * kernels_.left_bytes, width = block.columns.size();
  const Window& kernel = conv_.window_;
  std::fill_n(sums, block.pixels(), 0);
  if (pixel_bytes == 0) return;
  for (int64_t tap = 0; tap < kernel.kernel_size(); ++tap) {
    const int64_t at[3] = {tap / kernel.kernel[2] / kernel.kernel[1], tap / kernel.kernel[2] % kernel.kernel[1], tap % kernel.kernel[2]};
    const int32_t* pixels = source.pixel_sums + (at[0] * source.tap[0] + at[1] * source.tap[1] + at[2] * source.tap[2]) / pixel_bytes;
    for (int64_t row = 0; row < block.rows.size(); ++row, pixels += source.output[1] / pixel_bytes) {
      for (int64_t i = 0; i < width; ++i) {
        int32_t& sum = sums[row * width + i];
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(pixels[i * step_[2]]));
      }
    }
  }
}

void Int8ConvCall::multiply(const Block& block, const Source& source) const {
  const PackedInt8Matrix& panels = conv_.panels_[static_cast<size_t>(block.group)];
  const int64_t width = kernels_.columns, groups = int8_groups(conv_.segment_), pixels = block.pixels();
  const int64_t first_column = block.panels.begin * width, columns = std::min(block.panels.end * width, conv_.out_) - first_column;
  const int64_t panel_bytes = std::max<int64_t>(1, conv_.segments_ * groups * kInt8Group * width);
  const int64_t at_once = std::clamp<int64_t>(kRightBytes / panel_bytes, 1, kTileColumns / width), stride = at_once * width;
  Parts parts;
  const size_t tile_at = parts.add<int32_t>(kernels_.rows * stride), start_at = parts.add<int32_t>(block.panels.size() * width);
  const size_t sums_at = parts.add<int32_t>(pixels), rows_at = parts.add<int64_t>(pixels),
               segments_at = parts.add<int64_t>(conv_.segments_);
  auto* memory = static_cast<uint8_t*>(thread_scratch(ScratchSlot::row, parts.bytes()));
  auto *tile = reinterpret_cast<int32_t*>(memory + tile_at), *start = reinterpret_cast<int32_t*>(memory + start_at);
  auto* row_sums = reinterpret_cast<int32_t*>(memory + sums_at);
  auto *row_offset = reinterpret_cast<int64_t*>(memory + rows_at), *segment_offset = reinterpret_cast<int64_t*>(memory + segments_at);
  fill_start(block.group, panels, first_column, block.panels.size() * width, start);
  fill_offsets(block, source, row_offset, segment_offset);
  if (source.pixel_sums) sum_windows(block, source, row_sums);
  int32_t row_start[kInt8MaxRows] = {};
  const int32_t zero = conv_.w_zero_.empty() ? 0 : conv_.w_zero_[static_cast<size_t>(block.group * conv_.out_)];
  Int8MicroArgs p{.groups = groups, .segments = conv_.segments_, .a = source.data, .segment_offset = segment_offset};
  p.row_start = row_start;
  p.c_row = stride;
  uint8_t* pending =
      y_.channels_last
          ? nullptr
          : static_cast<uint8_t*>(thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(pixels * columns * (y_.factors ? 1 : 4))));
  const int64_t tiles = pieces_of(pixels, kernels_.rows);
  const uint8_t* weights = panels.panel(0);
  for (int64_t panel = block.panels.begin; panel < block.panels.end; panel += at_once) {
    const int64_t end_panel = std::min(panel + at_once, block.panels.end), column = panel * width;
    const int64_t live = std::min(end_panel * width, conv_.out_) - column;
    for (int64_t t = 0; t < tiles; ++t) {
      const Part rows = part_of(pixels, tiles, t);
      p.row_offset = row_offset + rows.begin;
      if (source.pixel_sums) {
        for (int64_t i = 0; i < rows.size; ++i) row_start[i] = static_cast<int32_t>(0u - int8_product(zero, row_sums[rows.begin + i]));
      }
      for (int64_t i = panel; i < end_panel; ++i) {
        p.b = weights + i * panel_bytes;
        p.rests = panels.rests(i);
        p.c = tile + (i - panel) * width;
        p.column_start = start + (i - block.panels.begin) * width;
        kernels_.of_columns(conv_.out_ - i * width)[rows.size](p);
      }
      if (conv_.many_zeros_) correct(block.group * conv_.out_ + column, row_sums + rows.begin, rows.size, live, stride, tile);
      store(block, {rows.begin, rows.begin + rows.size}, column, live, tile, stride, pending, columns);
    }
  }
  if (pending) store_channels_first(block, pending, first_column, columns);
}

/// bias - x_zero sum(w) + k x_zero w_zero of each column.
void Int8ConvCall::fill_start(int64_t group, const PackedInt8Matrix& panels, int64_t first_column, int64_t columns, int32_t* start) const {
  for (int64_t j = 0; j < columns; ++j) {
    uint32_t sum = 0;
    if (first_column + j < conv_.out_) {
      const size_t channel = static_cast<size_t>(group * conv_.out_ + first_column + j);
      if (!conv_.bias_.empty()) sum = static_cast<uint32_t>(conv_.bias_[channel]);
      sum -= int8_product(zero_, panels.column_sums()[first_column + j]);
      if (!conv_.w_zero_.empty()) {
        sum += int8_product(static_cast<int32_t>(int8_product(zero_, static_cast<int32_t>(conv_.k_))), conv_.w_zero_[channel]);
      }
    }
    start[j] = static_cast<int32_t>(sum);
  }
}

void Int8ConvCall::fill_offsets(const Block& block, const Source& source, int64_t* row_offset, int64_t* segment_offset) const {
  for (int64_t row = 0; row < block.rows.size(); ++row) {
    for (int64_t column = 0; column < block.columns.size(); ++column) *row_offset++ = row * source.output[1] + column * source.output[2];
  }
  const Window& kernel = conv_.window_;
  const int64_t across = conv_.segments_ == kernel.kernel_size() ? kernel.kernel[2] : 1;
  for (int64_t i = 0; i < conv_.segments_; ++i) {
    const int64_t kw = i % across, kh = i / across % kernel.kernel[1], kd = i / across / kernel.kernel[1];
    segment_offset[i] = kd * source.tap[0] + kh * source.tap[1] + kw * source.tap[2];
  }
}

/// Takes off what the weights' zero points add beside that of the group's first channel.
void Int8ConvCall::correct(int64_t channel, const int32_t* row_sums, int64_t rows, int64_t columns, int64_t stride, int32_t* tile) const {
  const int32_t* zeros = conv_.w_zero_.data() + channel;
  const int32_t first = conv_.w_zero_[static_cast<size_t>(channel / conv_.out_ * conv_.out_)];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      int32_t& sum = tile[i * stride + j];
      sum = static_cast<int32_t>(static_cast<uint32_t>(sum) - int8_product(zeros[j] - first, row_sums[i]));
    }
  }
}

/// Finished sums of pixels of the block: to their place, or into [pixels, pending_columns] of the block's own.
void Int8ConvCall::store(const Block& block, const Range& pixels, int64_t column, int64_t columns, const int32_t* tile, int64_t stride,
                         uint8_t* pending, int64_t pending_columns) const {
  const int64_t channel = block.group * conv_.out_ + column, y_stride = pending ? pending_columns : conv_.channels_.out;
  const int64_t at = pending ? pixels.begin * y_stride + column - block.panels.begin * kernels_.columns
                             : (block.image * pixels_ + first_pixel(block) + pixels.begin) * y_stride + channel;
  uint8_t* y = pending ? pending : static_cast<uint8_t*>(y_.data);
  if (y_.factors) return requantize_rows(tile, stride, y_.factors + channel, y_.range, y + at, y_stride, pixels.size(), columns);
  for (int64_t i = 0; i < pixels.size(); ++i) {
    std::memcpy(y + (at + i * y_stride) * static_cast<int64_t>(sizeof(int32_t)), tile + i * stride,
                static_cast<size_t>(columns) * sizeof(int32_t));
  }
}

void Int8ConvCall::store_channels_first(const Block& block, const uint8_t* pending, int64_t column, int64_t columns) const {
  const int64_t at = (block.image * conv_.channels_.out + block.group * conv_.out_ + column) * pixels_ + first_pixel(block);
  if (y_.factors) {
    transpose_bytes(pending, columns, static_cast<uint8_t*>(y_.data) + at, pixels_, columns, block.pixels());
  } else {
    transpose_words(reinterpret_cast<const uint32_t*>(pending), columns, static_cast<uint32_t*>(y_.data) + at, pixels_, columns,
                    block.pixels());
  }
}

}  // namespace rh::compute
