#include "providers/cpu/few_terms.h"

#include <algorithm>

namespace rh::cpu {

namespace {

// Axes along which the window has one tap and moves by one element are one with that before them, where the same is true of that.
compute::Window with_long_lines(compute::Window w) {
  const auto is_plain = [&](int axis) {
    return w.kernel[axis] == 1 && w.stride[axis] == 1 && w.pad_begin[axis] == 0 && w.input[axis] == w.output[axis];
  };
  if (!is_plain(1) || !is_plain(2)) return w;
  w.input[2] *= w.input[1];
  w.output[2] *= w.output[1];
  w.input[1] = w.output[1] = 1;
  return w;
}

struct Outputs {
  int64_t begin, end;  // whose element under a tap lies in the image
};

Outputs outputs_of(const compute::Window& w, int axis, int64_t tap) {
  const int64_t shift = tap * w.dilation[axis] - w.pad_begin[axis], stride = w.stride[axis];  // of the element under it
  const int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t last = w.input[axis] - 1 - shift;
  return {begin, last < 0 ? 0 : std::min(w.output[axis], last / stride + 1)};
}

// One tap of one channel, added to a plane of results.
void add_tap(const compute::Window& w, int64_t depth, int64_t row, int64_t column, int16_t weight, const int16_t* x, int32_t* y) {
  const Outputs planes = outputs_of(w, 0, depth), lines = outputs_of(w, 1, row), places = outputs_of(w, 2, column);
  const int64_t count = places.end - places.begin, stride = w.stride[2];
  if (count <= 0) return;
  for (int64_t d = planes.begin; d < planes.end; ++d) {
    const int64_t from_depth = d * w.stride[0] + depth * w.dilation[0] - w.pad_begin[0];
    for (int64_t h = lines.begin; h < lines.end; ++h) {
      const int64_t line = from_depth * w.input[1] + h * w.stride[1] + row * w.dilation[1] - w.pad_begin[1];
      const int16_t* from = x + line * w.input[2] + places.begin * stride + column * w.dilation[2] - w.pad_begin[2];
      int32_t* to = y + (d * w.output[1] + h) * w.output[2] + places.begin;
      if (stride == 1) {
        add_scaled(weight, from, count, to);
      } else {
        for (int64_t i = 0; i < count; ++i) to[i] += static_cast<int32_t>(weight) * from[i * stride];
      }
    }
  }
}

}  // namespace

void add_scaled(int16_t a, const int16_t* x, int64_t count, int32_t* y) {
  constexpr int kAtOnce = 8;  // for vectors
  int64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    int32_t sums[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) sums[k] = y[i + k] + static_cast<int32_t>(a) * x[i + k];
    std::copy_n(sums, kAtOnce, y + i);
  }
  for (; i < count; ++i) y[i] += static_cast<int32_t>(a) * x[i];
}

void FewTermConvolution::run(const compute::Window& window, int64_t batch, const int16_t* x, int32_t* y, const Parallel& parallel) const {
  const compute::Window w = with_long_lines(window);
  const int64_t inputs = channels_.in / channels_.groups, outputs = channels_.out / channels_.groups;
  const int64_t taps = w.kernel_size(), pixels = w.output_size();
  const double terms = static_cast<double>(inputs * taps * pixels);
  parallel.for_range(batch * channels_.out, {2 * terms, terms}, [&](Range part) {
    for (int64_t plane = part.begin; plane < part.end; ++plane) {
      const int64_t image = plane / channels_.out, filter = plane % channels_.out;
      const int16_t* weight = weights_.data() + filter * inputs * taps;
      const int16_t* from = x + (image * channels_.in + filter / outputs * inputs) * w.input_size();
      int32_t* to = y + plane * pixels;
      std::fill_n(to, pixels, 0);
      for (int64_t channel = 0; channel < inputs; ++channel, from += w.input_size()) {
        for (int64_t tap = 0; tap < taps; ++tap, ++weight) {
          const int64_t column = tap % w.kernel[2], row = tap / w.kernel[2] % w.kernel[1], depth = tap / (w.kernel[2] * w.kernel[1]);
          if (*weight != 0) add_tap(w, depth, row, column, *weight, from, to);
        }
      }
    }
  });
}

}  // namespace rh::cpu
