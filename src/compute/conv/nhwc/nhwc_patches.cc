#include "compute/conv/nhwc/nhwc_patches.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "compute/conv/conv_impl.h"
#include "compute/move/copy.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kBandBytes = 256 << 10;  // of patches that are gathered before they are multiplied
constexpr int64_t kLeastBands = 2;         // a thread, for each to multiply its own

/// Weights [out, in, taps] with the taps before the channels.
std::vector<float> taps_first(const ConvChannels& channels, int64_t taps, const float* weights) {
  std::vector<float> result(static_cast<size_t>(channels.out * channels.in * taps));
  float* to = result.data();
  for (int64_t out = 0; out < channels.out; ++out) {
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t in = 0; in < channels.in; ++in) *to++ = weights[(out * channels.in + in) * taps + tap];
  }
  return result;
}

/// Pieces of kSize floats, `apart` from each other, to places `step` apart.
template <int64_t kSize>
void scatter(const float* x, int64_t apart, int64_t count, float* to, int64_t step) {
  for (int64_t i = 0; i < count; ++i, x += apart, to += step) std::memcpy(to, x, kSize * sizeof(float));
}

void scatter(const float* x, int64_t apart, int64_t count, int64_t size, float* to, int64_t step) {
  switch (size) {
    case 2: return scatter<2>(x, apart, count, to, step);
    case 3: return scatter<3>(x, apart, count, to, step);
    case 4: return scatter<4>(x, apart, count, to, step);
    case 5: return scatter<5>(x, apart, count, to, step);
    case 7: return scatter<7>(x, apart, count, to, step);
    case 8: return scatter<8>(x, apart, count, to, step);
    case 16: return scatter<16>(x, apart, count, to, step);
    default:
      const size_t bytes = static_cast<size_t>(size) * sizeof(float);
      copy_rows(x, apart * static_cast<int64_t>(sizeof(float)), to, step * static_cast<int64_t>(sizeof(float)), count, bytes);
  }
}

/// What kernels read of a line of x, `unit` floats a pixel, for all their places in a row of outputs.
struct Line {
  int64_t taps, stride, pad, width, columns, unit;

  /// Places [first, last) lie within x altogether.
  int64_t first() const { return std::min(columns, pad <= 0 ? 0 : (pad + stride - 1) / stride); }
  int64_t last() const {
    const int64_t room = width + pad - taps;
    return room < 0 ? first() : std::max(first(), std::min(columns, room / stride + 1));
  }

  /// A piece for each place, `step` apart; what lies beyond x is zero, as is all where there is no line.
  void gather(const float* x, float* to, int64_t step) const {
    const int64_t begin = x ? first() : 0, end = x ? last() : 0;
    for (int64_t i = 0; i < begin; ++i) gather_part(x, i, to + i * step);
    if (x) scatter(x + (begin * stride - pad) * unit, stride * unit, end - begin, taps * unit, to + begin * step, step);
    for (int64_t i = end; i < columns; ++i) gather_part(x, i, to + i * step);
  }

 private:
  void gather_part(const float* x, int64_t place, float* to) const {
    const int64_t left = place * stride - pad, begin = std::clamp<int64_t>(-left, 0, taps),
                  end = x ? std::clamp<int64_t>(width - left, begin, taps) : begin;
    std::fill_n(to, begin * unit, 0.0f);
    if (end > begin) std::copy_n(x + (left + begin) * unit, (end - begin) * unit, to + begin * unit);
    std::fill(to + end * unit, to + taps * unit, 0.0f);
  }
};

}  // namespace

bool NhwcPatches::fits(const ConvChannels& channels, const Window& window) {
  const bool plane = window.kernel[0] == 1 && window.stride[0] == 1 && window.pad_begin[0] == 0 && window.input[0] == 1;
  return channels.groups == 1 && plane && window.dilation[1] == 1 && window.dilation[2] == 1;
}

NhwcPatches::NhwcPatches(const ConvChannels& channels, const Window& window, const float* weights, const float* bias,
                         const Activation& activation, ChannelsOfInput input, PackedUse use)
    : channels_(channels), window_(window), activation_(activation), input_(input), taps_(channels.in * window.kernel_size()) {
  if (input == ChannelsOfInput::first) {
    weights_ = PackedMatrix<float>(weights, taps_, channels.out, true, 0, use);
  } else {
    weights_ = PackedMatrix<float>(taps_first(channels, window.kernel_size(), weights).data(), taps_, channels.out, true, 0, use);
  }
  if (bias) bias_.assign(bias, bias + channels.out);
}

void NhwcPatches::run(const Window& w, int64_t batch, const float* x, const float* residual, float* y, const Parallel& parallel,
                      const float* addend) const {
  constexpr int64_t kBytes = sizeof(float);
  const int64_t rows = batch * w.output[1], row = w.output[2] * taps_;
  const int64_t bands = std::min(rows, (rows * row * kBytes + kBandBytes - 1) / kBandBytes), of_band = (rows + bands - 1) / bands;
  const Cost gathering{.bytes = 8.0 * static_cast<double>(row)};
  if (bands < kLeastBands * parallel.threads() && parallel.threads() > 1) {
    float* patches = scratch_floats(ScratchSlot::image, rows * row);
    parallel.for_range(rows, gathering, [&](Range range) { gather(w, x, {range.begin, range.end}, patches + range.begin * row); });
    return multiply(w, {0, rows}, patches, residual, addend, y, parallel);
  }
  const double products = static_cast<double>(of_band * row * channels_.out);
  parallel.for_range(bands, {.bytes = gathering.bytes * static_cast<double>(of_band), .operations = 0.25 * products}, [&](Range range) {
    float* patches = scratch_floats(ScratchSlot::image, of_band * row);
    for (int64_t band = range.begin; band < range.end; ++band) {
      const Rows part{band * rows / bands, (band + 1) * rows / bands};
      gather(w, x, part, patches);
      multiply(w, part, patches, residual, addend, y, Parallel());
    }
  });
}

void NhwcPatches::gather(const Window& w, const float* x, Rows rows, float* patches) const {
  for (int64_t row = rows.begin; row < rows.end; ++row, patches += w.output[2] * taps_) gather_lines(w, x, row, patches);
}

/// The patches of a row of outputs.
void NhwcPatches::gather_lines(const Window& w, const float* x, int64_t row, float* patches) const {
  const bool last = input_ == ChannelsOfInput::last;
  const int64_t image = row / w.output[1], top = row % w.output[1] * window_.stride[1] - w.pad_begin[1];
  const int64_t planes = last ? 1 : channels_.in, unit = last ? channels_.in : 1, line = w.input[2] * unit;
  const Line lines{window_.kernel[2], window_.stride[2], w.pad_begin[2], w.input[2], w.output[2], unit};
  for (int64_t plane = 0; plane < planes; ++plane) {
    const float* from = x + (image * planes + plane) * w.input[1] * line;
    for (int64_t i = top; i < top + window_.kernel[1]; ++i, patches += window_.kernel[2] * unit)
      lines.gather(i >= 0 && i < w.input[1] ? from + i * line : nullptr, patches, taps_);
  }
}

void NhwcPatches::multiply(const Window& w, Rows rows, const float* patches, const float* residual, const float* addend, float* y,
                           const Parallel& parallel) const {
  const int64_t first = rows.begin * w.output[2] * channels_.out;
  const int64_t fold = input_ == ChannelsOfInput::first ? kImageFold : kPatchFold;
  GemmArgs<float> args{.m = (rows.end - rows.begin) * w.output[2], .n = channels_.out, .k = taps_, .fold = fold};
  if (!bias_.empty()) {
    args.epilogue.bias_kind = BiasKind::per_column;
    args.epilogue.bias = bias_.data();
  }
  if (residual) args.epilogue.residual = residual + first;
  args.epilogue.activation = activation_;
  gemm(args, patches, weights_, y + first, parallel);
  if (!addend) return;
  parallel.for_range(args.m, {.bytes = 12.0 * static_cast<double>(args.n)}, [&](Range part) {
    const int64_t at = first + part.begin * args.n;
    finish_values(false, activation_, y + at, part.size() * args.n, addend + at);
  });
}

}  // namespace rh::compute
