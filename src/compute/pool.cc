#include "compute/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "compute/conv_impl.h"
#include "compute/gemm_reference.h"
#include "compute/scratch.h"
#include "compute/vector_math.h"

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

/// Pooling of float planes without depth, by whole rows: first down the window's rows, then along the outputs, with columns split by their
/// remainder modulo the stride so that both run over contiguous floats.
class RowPool {
 public:
  RowPool(const Window& window, Binary op, float neutral) : w_(window), op_(op), neutral_(neutral) {
    const int64_t reached = (w_.output[2] - 1) * w_.stride[2] + (w_.kernel[2] - 1) * w_.dilation[2] + 1;
    extent_ = std::max(reached, w_.pad_begin[2] + w_.input[2]);
    phase_width_ = (extent_ + w_.stride[2] - 1) / w_.stride[2];
    row_ =
        static_cast<float*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(extent_ + w_.stride[2] * phase_width_) * sizeof(float)));
  }

  static bool suits(const Window& w) { return w.input[0] == 1 && w.kernel[0] == 1 && w.pad_begin[0] == 0 && w.output[0] == 1; }

  void run(const float* x, float* y) const {
    for (int64_t row = 0; row < w_.output[1]; ++row, y += w_.output[2]) {
      const float* phases = gather(x, span_of(w_, 1, row));
      for (int64_t k = 0; k < w_.kernel[2]; ++k) {
        const int64_t shift = k * w_.dilation[2];
        const float* from = phases + shift % w_.stride[2] * phase_width_ + shift / w_.stride[2];
        if (k == 0)
          std::copy(from, from + w_.output[2], y);
        else
          binary(op_, y, from, y, w_.output[2]);
      }
    }
  }

 private:
  /// The window's rows folded into one padded row, split into phases.
  const float* gather(const float* x, const Span& rows) const {
    float* folded = row_;
    const int64_t pad = w_.pad_begin[2], width = w_.input[2], stride = w_.stride[2];
    std::fill(folded, folded + extent_, neutral_);
    if (rows.begin < rows.end) std::copy(x + rows.begin * width, x + (rows.begin + 1) * width, folded + pad);
    for (int64_t j = rows.begin + rows.step; j < rows.end; j += rows.step) binary(op_, folded + pad, x + j * width, folded + pad, width);
    if (stride == 1) return folded;
    float* phases = folded + extent_;
    if (stride == 2) {
      conv_kernels<float>().split_pairs(folded, extent_ / 2, phases, phases + phase_width_);
      if (extent_ % 2 == 1) phases[extent_ / 2] = folded[extent_ - 1];
    } else {
      for (int64_t i = 0; i < extent_; ++i) phases[i % stride * phase_width_ + i / stride] = folded[i];
    }
    return phases;
  }

  const Window& w_;
  const Binary op_;
  const float neutral_;
  int64_t extent_, phase_width_;
  float* row_;  // of the calling thread
};

}  // namespace

template <typename T>
void max_pool(const Window& w, int64_t planes, const T* x, T* y, int64_t* indices, bool column_major, const Parallel& parallel) {
  parallel.for_range(planes, cost_of(w, sizeof(T)), [&](Range range) {
    if constexpr (std::is_same_v<T, float>) {
      if (!indices && RowPool::suits(w)) {
        const RowPool pool(w, Binary::max, lowest<float>());
        for (int64_t plane = range.begin; plane < range.end; ++plane) pool.run(x + plane * w.input_size(), y + plane * w.output_size());
        return;
      }
    }
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      max_plane(w, x + plane * w.input_size(), y + plane * w.output_size(), indices ? indices + plane * w.output_size() : nullptr,
                plane * w.input_size(), column_major);
    }
  });
}

template <typename T>
void average_pool(const Window& w, const int64_t (&pad_end)[3], int64_t planes, bool count_padding, const T* x, T* y,
                  const Parallel& parallel) {
  using A = Accumulator<T>;
  const auto divisor = [&](const int64_t(&at)[3], const Span(&s)[3]) {
    int64_t count = 1;
    for (int d = 0; d < 3; ++d) count *= count_padding ? padded_count(w, d, at[d], pad_end[d]) : s[d].count();
    return static_cast<A>(count);
  };
  parallel.for_range(planes, cost_of(w, sizeof(T)), [&](Range range) {
    if constexpr (std::is_same_v<T, float>) {
      if (RowPool::suits(w)) {
        const RowPool pool(w, Binary::add, 0);
        for (int64_t plane = range.begin; plane < range.end; ++plane) {
          float* out = y + plane * w.output_size();
          pool.run(x + plane * w.input_size(), out);
          each_window(w, [&](const int64_t(&at)[3], const Span(&s)[3]) { *out++ /= divisor(at, s); });
        }
        return;
      }
    }
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const T* in = x + plane * w.input_size();
      T* out = y + plane * w.output_size();
      each_window(w, [&](const int64_t(&at)[3], const Span(&s)[3]) {
        A sum = 0;
        each_position(w, s, [&](int64_t position) { sum += static_cast<A>(in[position]); });
        *out++ = static_cast<T>(sum / divisor(at, s));
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
RH_MAX(int8_t)
RH_MAX(uint8_t)
#undef RH_INSTANTIATE
#undef RH_MAX

}  // namespace rh::compute
