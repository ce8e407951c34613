#include "compute/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "compute/gemm_reference.h"

namespace rh::compute {
namespace {

/// Input positions [begin, end) in steps of `step` that a window covers along one axis.
struct Span {
  int64_t begin, end, step;
  int64_t count() const { return end > begin ? (end - begin + step - 1) / step : 0; }
};

Span span_of(const Window& w, int axis, int64_t at) {
  const int64_t start = at * w.stride[axis] - w.pad_begin[axis], step = w.dilation[axis];
  const int64_t begin = start >= 0 ? start : start + (-start + step - 1) / step * step;
  return {begin, std::min(w.input[axis], start + w.kernel[axis] * step), step};
}

/// How many positions of the window lie at or before the end of the padding.
int64_t padded_count(const Window& w, int axis, int64_t at, int64_t pad_end) {
  const int64_t start = at * w.stride[axis] - w.pad_begin[axis], step = w.dilation[axis];
  const int64_t end = std::min(w.input[axis] + pad_end, start + w.kernel[axis] * step);
  return end > start ? (end - start + step - 1) / step : 0;
}

/// Calls f(at, spans) for every output position of a plane, in row-major order.
template <typename F>
void each_window(const Window& w, F f) {
  int64_t at[3];
  Span s[3];
  for (at[0] = 0; at[0] < w.output[0]; ++at[0]) {
    s[0] = span_of(w, 0, at[0]);
    for (at[1] = 0; at[1] < w.output[1]; ++at[1]) {
      s[1] = span_of(w, 1, at[1]);
      for (at[2] = 0; at[2] < w.output[2]; ++at[2]) {
        s[2] = span_of(w, 2, at[2]);
        f(at, s);
      }
    }
  }
}

template <typename F>
void each_position(const Window& w, const Span (&s)[3], F f) {
  for (int64_t i = s[0].begin; i < s[0].end; i += s[0].step)
    for (int64_t j = s[1].begin; j < s[1].end; j += s[1].step)
      for (int64_t k = s[2].begin; k < s[2].end; k += s[2].step) f((i * w.input[1] + j) * w.input[2] + k);
}

Cost cost_of(const Window& w, size_t element) {
  const double outputs = static_cast<double>(w.output_size());
  return {.bytes = static_cast<double>(w.input_size()) * static_cast<double>(element),
          .operations = 4 * outputs * static_cast<double>(w.kernel_size())};
}

template <typename T>
constexpr T lowest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::lowest();
  else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
    return T(-std::numeric_limits<float>::infinity());
  else
    return -std::numeric_limits<T>::infinity();
}

int64_t column_major_position(const Window& w, int64_t position) {
  const int64_t k = position % w.input[2], j = position / w.input[2] % w.input[1], i = position / (w.input[1] * w.input[2]);
  return (k * w.input[1] + j) * w.input[0] + i;
}

template <typename T>
void max_plane(const Window& w, const T* x, T* y, int64_t* indices, int64_t offset, bool column_major) {
  each_window(w, [&](const int64_t(&)[3], const Span(&s)[3]) {
    T best = lowest<T>();
    int64_t where = -1;
    each_position(w, s, [&](int64_t position) {
      const T value = x[position];
      const bool nan = value != value, held = where >= 0 && best != best;
      if (where < 0 || value > best || (nan && !held)) {
        best = value;
        where = position;
      }
    });
    *y++ = best;
    if (indices) *indices++ = where < 0 ? -1 : offset + (column_major ? column_major_position(w, where) : where);
  });
}

/// Two-dimensional, no dilation: maxima of one output row, a kernel row at a time, so that the inner loop runs along the output.
void max_plane_fast(const Window& w, const float* x, float* y) {
  const int64_t width = w.output[2], stride = w.stride[2];
  for (int64_t row = 0; row < w.output[1]; ++row, y += width) {
    const Span s = span_of(w, 1, row);
    std::fill(y, y + width, -std::numeric_limits<float>::infinity());
    for (int64_t j = s.begin; j < s.end; ++j) {
      const float* in = x + j * w.input[2] - w.pad_begin[2];
      for (int64_t k = 0; k < w.kernel[2]; ++k) {
        const int64_t first = std::max<int64_t>(0, (w.pad_begin[2] - k + stride - 1) / stride);
        const int64_t last = std::min(width, (w.input[2] - 1 + w.pad_begin[2] - k) / stride + 1);
        const float* from = in + k;
        for (int64_t o = first; o < last; ++o) {
          const float value = from[o * stride];
          y[o] = value > y[o] || value != value ? value : y[o];
        }
      }
    }
  }
}

}  // namespace

template <typename T>
void max_pool(const Window& w, int64_t planes, const T* x, T* y, int64_t* indices, bool column_major, const Parallel& parallel) {
  const bool fast = std::is_same_v<T, float> && !indices && w.input[0] == 1 && w.kernel[0] == 1 && w.dilation[1] == 1 &&
                    w.dilation[2] == 1 && w.pad_begin[0] == 0 && w.output[0] == 1 && w.input[2] >= w.kernel[2];
  parallel.for_range(planes, cost_of(w, sizeof(T)), [&](Range range) {
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const T* in = x + plane * w.input_size();
      T* out = y + plane * w.output_size();
      if constexpr (std::is_same_v<T, float>) {
        if (fast) {
          max_plane_fast(w, in, out);
          continue;
        }
      }
      max_plane(w, in, out, indices ? indices + plane * w.output_size() : nullptr, plane * w.input_size(), column_major);
    }
  });
}

template <typename T>
void average_pool(const Window& w, const int64_t (&pad_end)[3], int64_t planes, bool count_padding, const T* x, T* y,
                  const Parallel& parallel) {
  using A = Accumulator<T>;
  parallel.for_range(planes, cost_of(w, sizeof(T)), [&](Range range) {
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const T* in = x + plane * w.input_size();
      T* out = y + plane * w.output_size();
      each_window(w, [&](const int64_t(&at)[3], const Span(&s)[3]) {
        A sum = 0;
        each_position(w, s, [&](int64_t position) { sum += static_cast<A>(in[position]); });
        int64_t count = 1;
        for (int d = 0; d < 3; ++d) count *= count_padding ? padded_count(w, d, at[d], pad_end[d]) : s[d].count();
        *out++ = static_cast<T>(sum / static_cast<A>(count));
      });
    }
  });
}

template <typename T>
void lp_pool(const Window& w, int64_t planes, int p, const T* x, T* y, const Parallel& parallel) {
  using A = Accumulator<T>;
  parallel.for_range(planes, cost_of(w, sizeof(T)), [&](Range range) {
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const T* in = x + plane * w.input_size();
      T* out = y + plane * w.output_size();
      each_window(w, [&](const int64_t(&)[3], const Span(&s)[3]) {
        A sum = 0;
        each_position(w, s, [&](int64_t position) {
          const A value = std::abs(static_cast<A>(in[position]));
          sum += p == 1 ? value : p == 2 ? value * value : std::pow(value, static_cast<A>(p));
        });
        *out++ = static_cast<T>(p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, A(1) / static_cast<A>(p)));
      });
    }
  });
}

#define RH_MAX(T) template void max_pool(const Window&, int64_t, const T*, T*, int64_t*, bool, const Parallel&);
#define RH_INSTANTIATE(T)                                                                                       \
  RH_MAX(T)                                                                                                     \
  template void average_pool(const Window&, const int64_t(&)[3], int64_t, bool, const T*, T*, const Parallel&); \
  template void lp_pool(const Window&, int64_t, int, const T*, T*, const Parallel&);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
RH_MAX(int8_t)
RH_MAX(uint8_t)
#undef RH_INSTANTIATE
#undef RH_MAX

}  // namespace rh::compute
