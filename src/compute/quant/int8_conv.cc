#include "compute/quant/int8_conv.h"

#include <algorithm>
#include <memory>

#include "base/shared_bytes.h"
#include "compute/move/transpose_words.h"
#include "compute/quant/int8_conv_impl.h"
#include "compute/quant/int8_kernels.h"

namespace rh::compute {
namespace {

int32_t byte_value(const Int8Matrix& matrix, int64_t at) {
  return matrix.is_signed ? static_cast<const int8_t*>(matrix.data)[at] : static_cast<const uint8_t*>(matrix.data)[at];
}

}  // namespace

/// Where the parts of a convolution of one run lie in its memory.
struct Int8Convolution::Memory {
  size_t values = 0, words = 0, tap_sums = 0, panels = 0, zeros = 0, rows = 0, bytes = 0;
  size_t panel_bytes = 0;  ///< of a group

  explicit Memory(const Int8Convolution& conv) {
    const size_t channels = static_cast<size_t>(conv.channels_.out), groups = static_cast<size_t>(conv.channels_.groups);
    if (conv.is_depthwise()) {
      add(channels * static_cast<size_t>(conv.k_) * sizeof(int16_t));
      if (!Int8DepthwisePlan::fits(conv.channels_, conv.window_)) return;
      words = add(static_cast<size_t>(Int8DepthwisePlan::most_words(conv.channels_.out, conv.window_)) * sizeof(uint32_t));
      tap_sums = add(channels * sizeof(int32_t));
      return;
    }
    add(groups * sizeof(PackedInt8Matrix));
    panel_bytes = whole_lines(PackedInt8Matrix::memory_bytes(conv.packed_rows(), conv.out_));
    panels = add(groups * panel_bytes);
    zeros = add(channels * sizeof(int32_t));
    rows = add(static_cast<size_t>(conv.out_ * conv.packed_rows()));
  }

 private:
  static size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }
  size_t add(size_t more) {
    const size_t at = bytes;
    bytes += whole_lines(more);
    return at;
  }
};

Int8Convolution::Int8Convolution(const ConvChannels& channels, const Window& window)
    : channels_(channels),
      window_(window),
      in_(channels.in / channels.groups),
      out_(channels.out / channels.groups),
      k_(in_ * window.kernel_size()) {
  const int64_t taps = window.kernel_size();
  const bool joins_taps = window.dilation[2] == 1;  // neighbours along a row
  segments_ = joins_taps ? taps / window.kernel[2] : taps;
  segment_ = joins_taps ? window.kernel[2] * in_ : in_;
}

Int8Convolution::Int8Convolution(const ConvChannels& channels, const Window& window, const Int8Matrix& weights, const ZeroPoints& w_zero,
                                 const int32_t* bias)
    : Int8Convolution(channels, window) {
  if (bias) own_bias_.assign(bias, bias + channels.out);
  bias_ = own_bias_;
  if (is_depthwise()) {
    own_values_.resize(static_cast<size_t>(channels.out * k_));
    write_values(weights, w_zero, own_values_.data());
    values_ = own_values_;
    if (!Int8DepthwisePlan::fits(channels, window)) return;
    plan_ = Int8DepthwisePlan::of(channels.out, window, values_.data());
    const auto words = static_cast<size_t>(plan_.words());
    own_words_ = aligned_array<uint32_t>(words);
    own_tap_sums_.resize(static_cast<size_t>(channels.out));
    plan_.write_words(values_.data(), own_words_.get());
    plan_.write_sums(values_.data(), own_tap_sums_.data());
    words_ = {own_words_.get(), words};
    tap_sums_ = own_tap_sums_;
    return;
  }
  own_zeros_.resize(static_cast<size_t>(channels.out));
  if (write_zeros(weights, w_zero, own_zeros_.data())) w_zero_ = own_zeros_;
  std::vector<uint8_t> rows(static_cast<size_t>(out_ * packed_rows()));
  for (int64_t group = 0; group < channels.groups; ++group) {
    write_rows(weights, group, rows.data());
    own_panels_.emplace_back(Int8Matrix{rows.data(), weights.is_signed}, packed_rows(), out_, true, Parallel(),
                             channels.groups == 1);  // the kernels of all groups are the same
  }
  panels_ = own_panels_;
}

Int8Convolution::Int8Convolution(const ConvChannels& channels, const Window& window, const Int8Matrix& weights, const ZeroPoints& w_zero,
                                 const int32_t* bias, void* memory, const Parallel& parallel)
    : Int8Convolution(channels, window) {
  const Memory places(*this);
  auto* const at = static_cast<std::byte*>(memory);
  if (bias) bias_ = {bias, static_cast<size_t>(channels.out)};
  if (is_depthwise()) {
    auto* const values = reinterpret_cast<int16_t*>(at + places.values);
    write_values(weights, w_zero, values);
    values_ = {values, static_cast<size_t>(channels.out * k_)};
    if (!Int8DepthwisePlan::fits(channels, window)) return;
    plan_ = Int8DepthwisePlan::of(channels.out, window, values);
    auto* const words = reinterpret_cast<uint32_t*>(at + places.words);
    auto* const tap_sums = reinterpret_cast<int32_t*>(at + places.tap_sums);
    plan_.write_words(values, words);
    plan_.write_sums(values, tap_sums);
    words_ = {words, static_cast<size_t>(plan_.words())};
    tap_sums_ = {tap_sums, static_cast<size_t>(channels.out)};
    return;
  }
  auto* const zeros = reinterpret_cast<int32_t*>(at + places.zeros);
  if (write_zeros(weights, w_zero, zeros)) w_zero_ = {zeros, static_cast<size_t>(channels.out)};
  auto* const rows = reinterpret_cast<uint8_t*>(at + places.rows);
  auto* const panels = static_cast<PackedInt8Matrix*>(memory);  // they own nothing, so that nobody need destroy them
  for (int64_t group = 0; group < channels.groups; ++group) {
    write_rows(weights, group, rows);
    std::byte* const packed = at + places.panels + static_cast<size_t>(group) * places.panel_bytes;
    std::construct_at(panels + group, Int8Matrix{rows, weights.is_signed}, packed_rows(), out_, true, packed, parallel);
  }
  panels_ = {panels, static_cast<size_t>(channels.groups)};
}

size_t Int8Convolution::memory_bytes(const ConvChannels& channels, const Window& window) {
  return Memory(Int8Convolution(channels, window)).bytes;
}

int64_t Int8Convolution::packed_rows() const { return segments_ * int8_groups(segment_) * kInt8Group; }

void Int8Convolution::write_values(const Int8Matrix& weights, const ZeroPoints& w_zero, int16_t* values) const {
  for (int64_t i = 0; i < channels_.out * k_; ++i) values[i] = static_cast<int16_t>(byte_value(weights, i) - w_zero.at(i / k_));
}

bool Int8Convolution::write_zeros(const Int8Matrix& weights, const ZeroPoints& w_zero, int32_t* zeros) {
  const int32_t shift = int8_shift(weights.is_signed, true);
  bool any = false;
  for (int64_t o = 0; o < channels_.out; ++o) {
    zeros[o] = w_zero.at(o) + shift;
    any |= zeros[o] != 0;
    many_zeros_ |= zeros[o] != zeros[0];
  }
  return any;
}

void Int8Convolution::write_rows(const Int8Matrix& weights, int64_t group, uint8_t* rows) const {
  const int64_t taps = window_.kernel_size(), padded = int8_groups(segment_) * kInt8Group;
  std::fill_n(rows, out_ * packed_rows(), int8_flip(weights.is_signed, true));
  const auto* from = static_cast<const uint8_t*>(weights.data) + group * out_ * k_;
  if (in_ == 0) return;
  const int64_t taps_of_segment = segment_ / in_;
  for (int64_t o = 0; o < out_; ++o, from += k_) {
    for (int64_t segment = 0; segment < segments_; ++segment, rows += padded) {
      if (taps == 1) {
        std::copy_n(from, in_, rows);
      } else {
        transpose_bytes(from + segment * taps_of_segment, taps, rows, in_, taps_of_segment, in_);
      }
    }
  }
}

size_t Int8Convolution::weight_bytes() const {
  size_t bytes = values_.size() * sizeof(int16_t) + words_.size() * sizeof(uint32_t) + tap_sums_.size() * sizeof(int32_t);
  for (const PackedInt8Matrix& panels : panels_) bytes += panels.bytes();
  return bytes;
}

void Int8Convolution::run(const Window& window, int64_t batch, const Int8Image& x, const Int8ConvResult& y,
                          const Parallel& parallel) const {
  if (batch <= 0 || channels_.out <= 0 || window.output_size() <= 0) return;
  if (Int8ChannelsCall::fits(*this, window)) {
    Int8ChannelsCall(*this, window, batch, x, y).run(parallel);
  } else if (is_depthwise()) {
    Int8DepthwiseCall(*this, window, batch, x, y).run(parallel);
  } else {
    Int8ConvCall(*this, window, batch, x, y).run(parallel);
  }
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
      if (inside) sum += int8_product(byte_value(x, offset) - x_zero, byte_value(weights, o * in * taps + k) - w_zero.at(o));
    }
    y[i] = static_cast<int32_t>(sum);
  }
}

}  // namespace rh::compute
