#include "compute/int8_conv.h"

#include <algorithm>
#include <cstring>

#include "compute/gemm_kernels.h"
#include "compute/int8_kernels.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kTileColumns = 256;
constexpr int64_t kBlock = 16;              // elements of loops of a known length, which compilers vectorise
constexpr int64_t kPanelBytes = 512 << 10;  // of gathered columns that are walked again for each chunk of output channels

uint32_t product(int32_t a, int32_t b) { return static_cast<uint32_t>(a) * static_cast<uint32_t>(b); }

int32_t byte_value(const Int8Matrix& matrix, int64_t at) {
  return matrix.is_signed ? static_cast<const int8_t*>(matrix.data)[at] : static_cast<const uint8_t*>(matrix.data)[at];
}

/// Row and column offsets of one kernel position, and which output positions of a row it reaches.
struct Tap {
  int64_t shift[3];
};
Tap tap_at(const Window& w, int64_t tap) {
  return {{tap / w.kernel[2] / w.kernel[1] * w.dilation[0], tap / w.kernel[2] % w.kernel[1] * w.dilation[1],
           tap % w.kernel[2] * w.dilation[2]}};
}

/// Output positions [first, last) along an axis whose input stays within [0, size): start is where position 0 reads.
Range reach(int64_t start, int64_t stride, int64_t size, int64_t count) {
  const int64_t first = start >= 0 ? 0 : std::min(count, (-start + stride - 1) / stride);
  const int64_t last = start >= size ? 0 : std::min(count, (size - 1 - start) / stride + 1);
  return {first, std::max(first, last)};
}

}  // namespace

/// One call of Int8Convolution::run. The pixels of an image are the columns of a product whose rows are the output channels; the right side
/// is gathered a block of columns at a time.
class Int8ConvCall {
 public:
  Int8ConvCall(const Int8Convolution& conv, const Window& window, const Int8Matrix& x, int32_t x_zero, Int8ConvEpilogue epilogue)
      : conv_(conv),
        w_(window),
        kernels_(conv.kernels_),
        x_(static_cast<const uint8_t*>(x.data)),
        flip_(int8_flip(x.is_signed, false)),
        zero_(x_zero + int8_shift(x.is_signed, false)),
        is_signed_(x.is_signed),
        x_zero_(x_zero),
        pixels_(window.output_size()),
        groups_of_k_(int8_groups(conv.k_)),
        chunks_((conv.out_ + kernels_.rows - 1) / kernels_.rows),
        epilogue_(epilogue) {
    const int64_t panel_bytes = std::max<int64_t>(1, groups_of_k_ * kInt8Group * kernels_.columns);
    panels_at_once_ = std::clamp<int64_t>(kPanelBytes / panel_bytes, 1, kTileColumns / kernels_.columns);
    pointwise_ = true;
    for (int d = 0; d < 3; ++d) {
      pointwise_ &= window.kernel[d] == 1 && window.stride[d] == 1 && window.pad_begin[d] == 0 && window.input[d] == window.output[d];
    }
  }

  void run(int64_t batch, const Parallel& parallel) const {
    if (conv_.is_depthwise()) return run_depthwise(batch, parallel);
    const int64_t products = batch * conv_.channels_.groups, panels = (pixels_ + kernels_.columns - 1) / kernels_.columns;
    const int64_t blocks = (panels + panels_at_once_ - 1) / panels_at_once_;
    const double m = static_cast<double>(conv_.out_), n = static_cast<double>(pixels_), k = static_cast<double>(conv_.k_);
    // Gathering again for each piece of rows costs as much as several rows.
    Grid grid{1, blocks};
    if (products * blocks < 2 * parallel.threads()) {
      grid = choose_grid(chunks_, panels, 0.3 * m * n * k, m * k, 8 * n * k, parallel.threads());
    }
    const Cost cost{.bytes = 0, .operations = 0.08 * m * n * k / static_cast<double>(grid.pieces())};
    const auto piece = [&](int64_t i) {
      const int64_t image_and_group = i / grid.pieces(), index = i % grid.pieces();
      const Part part = part_of(panels, grid.columns, index % grid.columns);
      for (int64_t panel = part.begin; panel < part.begin + part.size; panel += panels_at_once_) {
        run_block(image_and_group / conv_.channels_.groups, image_and_group % conv_.channels_.groups,
                  part_of(chunks_, grid.rows, index / grid.columns), panel, std::min(panel + panels_at_once_, part.begin + part.size));
      }
    };
    if (products == 1) return parallel.for_pieces(grid.pieces(), piece);
    parallel.for_range(products * grid.pieces(), cost, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) piece(i);
    });
  }

 private:
  void run_block(int64_t image, int64_t group, const Part& chunks, int64_t first_panel, int64_t end_panel) const {
    const int64_t width = kernels_.columns, first = first_panel * width, columns = std::min(pixels_, end_panel * width) - first;
    const int64_t stride = (end_panel - first_panel) * width, panel_bytes = groups_of_k_ * kInt8Group * width;
    auto* right = static_cast<uint8_t*>(
        thread_scratch(ScratchSlot::packed_right, static_cast<size_t>((end_panel - first_panel) * panel_bytes + kInt8Group * stride)));
    const uint8_t* plane = x_ + (image * conv_.channels_.in + group * conv_.in_) * w_.input_size();
    gather(plane, first, columns, stride, right, right + (end_panel - first_panel) * panel_bytes);
    auto* tile = static_cast<int32_t*>(
        thread_scratch(ScratchSlot::row, static_cast<size_t>((kernels_.rows + 2) * stride + kernels_.rows) * sizeof(int32_t)));
    int32_t *zeros = tile + kernels_.rows * stride, *column_sums = zeros + stride, *row_start = column_sums + stride;
    std::fill_n(zeros, stride, 0);
    if (!conv_.w_zero_.empty()) sum_columns(right, panel_bytes, stride, zeros, column_sums);
    for (int64_t chunk = chunks.begin; chunk < chunks.begin + chunks.size; ++chunk) {
      const Part rows = part_of(conv_.out_, chunks_, chunk);
      const int64_t channel = group * conv_.out_ + rows.begin, padded = groups_of_k_ * kInt8Group;
      for (int64_t i = 0; i < rows.size; ++i) row_start[i] = row_start_of(channel + i);
      Int8MicroArgs p{.groups = groups_of_k_, .a_row = padded, .c_row = stride, .column_start = zeros, .row_start = row_start};
      p.a = conv_.weights_.data() + channel * padded * kernels_.left_bytes;
      for (int64_t panel = 0; panel < end_panel - first_panel; ++panel) {
        p.b = right + panel * panel_bytes;
        p.c = tile + panel * width;
        kernels_.right_unsigned[rows.size](p);
      }
      if (!conv_.w_zero_.empty()) correct(channel, rows.size, columns, stride, column_sums, tile);
      epilogue_({image, {channel, first, rows.size, columns, tile, stride}});
    }
  }

  // bias - x_zero sum(w) + k x_zero w_zero.
  int32_t row_start_of(int64_t channel) const {
    const size_t at = static_cast<size_t>(channel);
    uint32_t start = conv_.bias_.empty() ? 0 : static_cast<uint32_t>(conv_.bias_[at]);
    start -= product(zero_, conv_.sums_[at]);
    if (!conv_.w_zero_.empty()) start += product(static_cast<int32_t>(product(zero_, static_cast<int32_t>(conv_.k_))), conv_.w_zero_[at]);
    return static_cast<int32_t>(start);
  }

  /// Sums of the gathered columns: a row of ones times the right side.
  void sum_columns(const uint8_t* right, int64_t panel_bytes, int64_t stride, const int32_t* zeros, int32_t* sums) const {
    const std::vector<int16_t> ones(static_cast<size_t>(groups_of_k_ * kInt8Group), int16_t{1});
    const std::vector<int8_t> narrow(ones.size(), int8_t{1});
    Int8MicroArgs p{.groups = groups_of_k_, .c_row = stride, .column_start = zeros, .row_start = zeros};
    p.a = kernels_.left_bytes == 1 ? static_cast<const void*>(narrow.data()) : ones.data();
    for (int64_t panel = 0; panel * kernels_.columns < stride; ++panel) {
      p.b = right + panel * panel_bytes;
      p.c = sums + panel * kernels_.columns;
      kernels_.right_unsigned[1](p);
    }
  }

  void correct(int64_t channel, int64_t rows, int64_t columns, int64_t stride, const int32_t* column_sums, int32_t* tile) const {
    for (int64_t i = 0; i < rows; ++i) {
      const int32_t zero = conv_.w_zero_[static_cast<size_t>(channel + i)];
      for (int64_t j = 0; j < columns; ++j) {
        int32_t& sum = tile[i * stride + j];
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) - product(zero, column_sums[j]));
      }
    }
  }

  /// Columns [first, first + columns) of the right side into panels; `rows` has room for four rows.
  void gather(const uint8_t* plane, int64_t first, int64_t columns, int64_t stride, uint8_t* right, uint8_t* rows) const {
    const int64_t width = kernels_.columns, panel_bytes = groups_of_k_ * kInt8Group * width, image = w_.input_size();
    for (int64_t g = 0; g < groups_of_k_; ++g) {
      const uint8_t* sources[kInt8Group];
      for (int64_t t = 0; t < kInt8Group; ++t) {
        const int64_t k = g * kInt8Group + t;
        if (k >= conv_.k_) {
          sources[t] = nullptr;
        } else if (pointwise_) {
          sources[t] = plane + k * image + first;
        } else {
          uint8_t* row = rows + t * stride;
          gather_row(plane + k % conv_.in_ * image, tap_at(window(), k / conv_.in_), first, columns, row);
          sources[t] = row;
        }
      }
      for (int64_t column = 0; column < columns; column += width) {
        const uint8_t* at[kInt8Group];
        for (int64_t t = 0; t < kInt8Group; ++t) at[t] = sources[t] ? sources[t] + column : nullptr;
        int8_pack_right(at, std::min(width, columns - column), width, flip_, right + column / width * panel_bytes + g * width * kInt8Group);
      }
    }
  }

  /// What one kernel position reads of one channel for consecutive output positions; the zero point where that is outside the image.
  void gather_row(const uint8_t* plane, const Tap& tap, int64_t first, int64_t count, uint8_t* out) const {
    const auto outside = static_cast<uint8_t>(zero_ ^ flip_);
    int64_t ow = first % w_.output[2], oh = first / w_.output[2] % w_.output[1], od = first / (w_.output[2] * w_.output[1]);
    const int64_t stride = window().stride[2], begin = tap.shift[2] - w_.pad_begin[2];
    const Range within = reach(begin, stride, w_.input[2], w_.output[2]);
    while (count > 0) {
      const int64_t length = std::min(count, w_.output[2] - ow);
      const int64_t d = od * window().stride[0] - w_.pad_begin[0] + tap.shift[0],
                    h = oh * window().stride[1] - w_.pad_begin[1] + tap.shift[1];
      const bool inside = d >= 0 && d < w_.input[0] && h >= 0 && h < w_.input[1];
      const int64_t from = inside ? std::clamp(within.begin - ow, int64_t{0}, length) : length;
      const int64_t to = inside ? std::clamp(within.end - ow, from, length) : length;
      if (from > 0) std::memset(out, outside, static_cast<size_t>(from));
      if (to > from) {
        const uint8_t* x = plane + (d * w_.input[1] + h) * w_.input[2] + begin + (ow + from) * stride;
        if (stride == 1) {
          std::memcpy(out + from, x, static_cast<size_t>(to - from));
        } else if (stride == 2) {
          int8_every_second(x, to - from, out + from);
        } else {
          for (int64_t i = 0; i < to - from; ++i) out[from + i] = x[i * stride];
        }
      }
      if (length > to) std::memset(out + to, outside, static_cast<size_t>(length - to));
      out += length;
      count -= length;
      ow = 0;
      if (++oh < w_.output[1]) continue;
      oh = 0;
      ++od;
    }
  }

  /// One channel to one or more: sums of a whole image, kernel position by kernel position.
  void run_depthwise(int64_t batch, const Parallel& parallel) const {
    const double work = static_cast<double>(pixels_ * conv_.k_);
    parallel.for_range(batch * conv_.channels_.out, {.bytes = 0, .operations = work}, [&](Range range) {
      auto* sums = static_cast<int32_t*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(pixels_) * sizeof(int32_t)));
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t image = i / conv_.channels_.out, channel = i % conv_.channels_.out;
        const uint8_t* plane = x_ + (image * conv_.channels_.in + channel / conv_.out_) * w_.input_size();
        std::fill_n(sums, pixels_, conv_.bias_.empty() ? 0 : conv_.bias_[static_cast<size_t>(channel)]);
        for (int64_t tap = 0; tap < conv_.k_; ++tap)
          add_tap(plane, tap_at(window(), tap), conv_.values_[static_cast<size_t>(channel * conv_.k_ + tap)], sums);
        epilogue_({image, {channel, 0, 1, pixels_, sums, pixels_}});
      }
    });
  }

  void add_tap(const uint8_t* plane, const Tap& tap, int32_t weight, int32_t* sums) const {
    const Window& w = window();
    const int64_t starts[3] = {tap.shift[0] - w_.pad_begin[0], tap.shift[1] - w_.pad_begin[1], tap.shift[2] - w_.pad_begin[2]};
    const Range depth = reach(starts[0], w.stride[0], w_.input[0], w_.output[0]),
                height = reach(starts[1], w.stride[1], w_.input[1], w_.output[1]),
                across = reach(starts[2], w.stride[2], w_.input[2], w_.output[2]);
    for (int64_t od = depth.begin; od < depth.end; ++od) {
      for (int64_t oh = height.begin; oh < height.end; ++oh) {
        const uint8_t* x = plane + ((starts[0] + od * w.stride[0]) * w_.input[1] + starts[1] + oh * w.stride[1]) * w_.input[2] + starts[2];
        int32_t* out = sums + (od * w_.output[1] + oh) * w_.output[2];
        const auto add = [&]<typename T>(const T* from, int64_t stride) {
          const auto one = [&](int64_t ow) {
            out[ow] = static_cast<int32_t>(static_cast<uint32_t>(out[ow]) + static_cast<uint32_t>((from[ow * stride] - x_zero_) * weight));
          };
          int64_t ow = across.begin;
          for (; ow + kBlock <= across.end; ow += kBlock) {
            for (int64_t i = 0; i < kBlock; ++i) one(ow + i);
          }
          for (; ow < across.end; ++ow) one(ow);
        };
        if (is_signed_) {
          w.stride[2] == 1 ? add(reinterpret_cast<const int8_t*>(x), 1) : add(reinterpret_cast<const int8_t*>(x), w.stride[2]);
        } else {
          w.stride[2] == 1 ? add(x, 1) : add(x, w.stride[2]);
        }
      }
    }
  }

  const Window& window() const { return conv_.window_; }

  const Int8Convolution& conv_;
  const Window& w_;
  const Int8Kernels& kernels_;
  const uint8_t* x_;
  const uint8_t flip_;
  const int32_t zero_;  ///< as the kernels see x
  const bool is_signed_;
  const int32_t x_zero_;
  const int64_t pixels_, groups_of_k_, chunks_;
  int64_t panels_at_once_;
  bool pointwise_;
  Int8ConvEpilogue epilogue_;
};

Int8Convolution::Int8Convolution(const ConvChannels& channels, const Window& window, const Int8Matrix& weights, const ZeroPoints& w_zero,
                                 const int32_t* bias)
    : channels_(channels),
      window_(window),
      kernels_(int8_kernels()),
      in_(channels.in / channels.groups),
      out_(channels.out / channels.groups),
      k_(in_ * window.kernel_size()) {
  if (bias) bias_.assign(bias, bias + channels.out);
  const int64_t taps = window.kernel_size(), padded = int8_groups(k_) * kInt8Group;
  if (in_ == 1) {
    values_.resize(static_cast<size_t>(channels.out * taps));
    for (int64_t i = 0; i < channels.out * taps; ++i) {
      values_[static_cast<size_t>(i)] = static_cast<int16_t>(byte_value(weights, i) - w_zero.at(i / taps));
    }
    return;
  }
  const size_t count = static_cast<size_t>(channels.out * padded * kernels_.left_bytes);
  const std::shared_ptr<uint8_t[]> packed = aligned_array<uint8_t>(count);
  std::fill_n(packed.get(), count, uint8_t{0});
  const int32_t shift = int8_shift(weights.is_signed, true);
  std::vector<uint8_t> row(static_cast<size_t>(k_));
  const auto* from = static_cast<const uint8_t*>(weights.data);
  bool any_zero = false;
  for (int64_t o = 0; o < channels.out; ++o) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t c = 0; c < in_; ++c) row[static_cast<size_t>(tap * in_ + c)] = from[(o * in_ + c) * taps + tap];
    }
    sums_.push_back(int8_pack_left(row.data(), k_, padded, int8_flip(weights.is_signed, true), true, kernels_.left_bytes,
                                   packed.get() + o * padded * kernels_.left_bytes));
    w_zero_.push_back(w_zero.at(o) + shift);
    any_zero |= w_zero_.back() != 0;
  }
  if (!any_zero) w_zero_.clear();
  weights_ = SharedArray<uint8_t>(packed, count);
}

void Int8Convolution::run(const Window& window, int64_t batch, const Int8Matrix& x, int32_t x_zero, Int8ConvEpilogue epilogue,
                          const Parallel& parallel) const {
  if (batch <= 0 || channels_.out <= 0 || window.output_size() <= 0) return;
  Int8ConvCall(*this, window, x, x_zero, epilogue).run(batch, parallel);
}

void int8_conv_reference(const ConvChannels& channels, const Window& w, int64_t batch, const Int8Matrix& x, int32_t x_zero,
                         const Int8Matrix& weights, const ZeroPoints& w_zero, const int32_t* bias, int32_t* y) {
  const int64_t in = channels.in / channels.groups, out = channels.out / channels.groups, taps = w.kernel_size(), pixels = w.output_size();
  for (int64_t i = 0; i < batch * channels.out * pixels; ++i) {
    const int64_t image = i / pixels / channels.out, o = i / pixels % channels.out, p = i % pixels;
    const int64_t at[3] = {p / w.output[2] / w.output[1], p / w.output[2] % w.output[1], p % w.output[2]};
    uint32_t sum = bias ? static_cast<uint32_t>(bias[o]) : 0;
    for (int64_t k = 0; k < in * taps; ++k) {
      const Tap tap = tap_at(w, k % taps);
      int64_t offset = image * channels.in + o / out * in + k / taps;
      bool inside = true;
      for (int d = 0; d < 3; ++d) {
        const int64_t position = at[d] * w.stride[d] - w.pad_begin[d] + tap.shift[d];
        inside &= position >= 0 && position < w.input[d];
        offset = offset * w.input[d] + position;
      }
      if (inside) sum += product(byte_value(x, offset) - x_zero, byte_value(weights, o * in * taps + k) - w_zero.at(o));
    }
    y[i] = static_cast<int32_t>(sum);
  }
}

}  // namespace rh::compute
