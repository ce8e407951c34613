#include "compute/quant/int8_conv.h"

#include <algorithm>

#include "compute/quant/int8_conv_impl.h"
#include "compute/quant/int8_kernels.h"

namespace rh::compute {
namespace {

int32_t byte_value(const Int8Matrix& matrix, int64_t at) {
  return matrix.is_signed ? static_cast<const int8_t*>(matrix.data)[at] : static_cast<const uint8_t*>(matrix.data)[at];
}

}  // namespace

Int8Convolution::Int8Convolution(const ConvChannels& channels, const Window& window, const Int8Matrix& weights, const ZeroPoints& w_zero,
                                 const int32_t* bias)
    : channels_(channels),
      window_(window),
      in_(channels.in / channels.groups),
      out_(channels.out / channels.groups),
      k_(in_ * window.kernel_size()) {
  const int64_t taps = window.kernel_size();
  const bool joins_taps = window.dilation[2] == 1;  // neighbours along a row
  segments_ = joins_taps ? taps / window.kernel[2] : taps;
  segment_ = joins_taps ? window.kernel[2] * in_ : in_;
  if (bias) bias_.assign(bias, bias + channels.out);
  if (is_depthwise()) {
    values_.resize(static_cast<size_t>(channels.out * taps));
    for (int64_t i = 0; i < channels.out * taps; ++i) {
      values_[static_cast<size_t>(i)] = static_cast<int16_t>(byte_value(weights, i) - w_zero.at(i / taps));
    }
    return;
  }
  const int32_t shift = int8_shift(weights.is_signed, true);
  bool any_zero = false;
  for (int64_t o = 0; o < channels.out; ++o) {
    w_zero_.push_back(w_zero.at(o) + shift);
    any_zero |= w_zero_.back() != 0;
    many_zeros_ |= w_zero_.back() != w_zero_.front();
  }
  if (!any_zero) w_zero_.clear();
  pack(weights);
}

void Int8Convolution::pack(const Int8Matrix& weights) {
  const int64_t taps = window_.kernel_size(), padded = int8_groups(segment_) * kInt8Group, k = segments_ * padded;
  const uint8_t nothing = int8_flip(weights.is_signed, true);  // becomes 0
  std::vector<uint8_t> rows(static_cast<size_t>(out_ * k), nothing);
  const auto* from = static_cast<const uint8_t*>(weights.data);
  for (int64_t group = 0; group < channels_.groups; ++group) {
    for (int64_t o = 0; o < out_; ++o, from += k_) {
      uint8_t* row = rows.data() + o * k;
      for (int64_t segment = 0, tap = 0; segment < segments_; ++segment, row += padded) {
        for (uint8_t* at = row; at < row + segment_; at += in_, ++tap) {
          for (int64_t c = 0; c < in_; ++c) at[c] = from[c * taps + tap];
        }
      }
    }
    panels_.emplace_back(Int8Matrix{rows.data(), weights.is_signed}, k, out_, true);
  }
}

size_t Int8Convolution::weight_bytes() const {
  size_t bytes = values_.size() * sizeof(int16_t);
  for (const PackedInt8Matrix& panels : panels_) bytes += panels.bytes();
  return bytes;
}

void Int8Convolution::run(const Window& window, int64_t batch, const Int8Image& x, const Int8ConvResult& y,
                          const Parallel& parallel) const {
  if (batch <= 0 || channels_.out <= 0 || window.output_size() <= 0) return;
  if (is_depthwise()) {
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
