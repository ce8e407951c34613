#include "compute/image/pool.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm_reference.h"
#include "compute/image/pool_rows.h"
#include "compute/image/pool_strided.h"
#include "compute/image/pool_windows.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

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

/// The same without indices, and without branches, whose outcome nothing foretells.
template <typename T>
void max_plane(const Window& w, const T* x, T* y) {
  each_window(w, [&](const int64_t(&)[3], const Span(&s)[3]) {
    T best = lowest<T>();
    each_position(w, s, [&](int64_t position) {
      const T value = x[position];
      best = ((value > best) | (value != value)) ? value : best;
    });
    *y++ = best;
  });
}

constexpr const std::nullptr_t* kNoDivisor = nullptr;

/// Pooling of float planes without depth, a row of outputs at a time: first down the window's rows, then along the outputs; with stride 2
/// columns are split by their parity, so that both run over contiguous floats.
class RowPool {
 public:
  /// `divisor(axis, at)`: what the sums of the outputs at a place of an axis are divided by, times that of the other; null for maxima
  /// and plain sums.
  template <typename Divisor>
  RowPool(const Window& window, bool sums, const Divisor* divisor) : w_(window) {
    constexpr int64_t kVector = 16;
    const int64_t reached = (w_.output[2] - 1) * w_.stride[2] + (w_.kernel[2] - 1) * w_.dilation[2] + 1;
    const int64_t extent = std::max(reached, w_.pad_begin[2] + w_.input[2]);
    phases_ = w_.stride[2] == 2 ? 2 : 1;
    phase_ = (extent + phases_ - 1) / phases_ + kVector;
    const int64_t count = kRowsAtOnce * phases_ * phase_;
    float* memory = static_cast<float*>(
        thread_scratch(ScratchSlot::row, static_cast<size_t>(count + w_.output[1] + 2 * w_.output[2] + kVector) * sizeof(float)));
    std::fill_n(memory, count, sums ? 0.0f : lowest<float>());
    factors_ = memory + count;
    set_plane(sums);
    if constexpr (!std::is_same_v<Divisor, std::nullptr_t>) {
      float* columns = factors_ + w_.output[2];
      float* rows = columns + w_.output[2];
      for (int64_t i = 0; i < w_.output[2]; ++i) columns[i] = 1 / static_cast<float>((*divisor)(2, i));
      for (int64_t i = 0; i < w_.output[1]; ++i) rows[i] = 1 / static_cast<float>((*divisor)(1, i));
      plane_.column_factors = columns;
      plane_.row_factors = rows;
    }
    row_.sums = sums;
    row_.row_step = w_.dilation[1] * w_.input[2];
    row_.width = w_.input[2];
    row_.pad = w_.pad_begin[2];
    row_.kernel = w_.kernel[2];
    row_.dilation = w_.dilation[2];
    row_.stride = phases_;
    folded_ = memory;
    row_.outputs = w_.output[2];
    apart_ = {.sums = sums, .kernel = w_.kernel[2], .dilation = w_.dilation[2], .stride = w_.stride[2], .outputs = w_.output[2]};
  }

  static bool suits(const Window& w) {
    return w.input[0] == 1 && w.kernel[0] == 1 && w.pad_begin[0] == 0 && w.output[0] == 1 && w.output_size() > 0;
  }

  void run(const float* x, float* y) {
    if (is_small_ && pool_plane(plane_, x, y)) return;
    row_.numbers = !row_.sums && are_numbers(x, w_.input[1] * w_.input[2]);
    for (int64_t first = 0; first < w_.output[1]; first += kRowsAtOnce) {
      const int64_t last = std::min(first + kRowsAtOnce, w_.output[1]);
      for (int64_t at = first; at < last; ++at) {
        const Span rows = rows_of(at, at - first);
        row_.x = x + rows.begin * w_.input[2];
        if (row_.rows > 0) fold_pool_rows(row_);
      }
      for (int64_t at = first; at < last; ++at) {
        rows_of(at, at - first);
        row_.y = y + at * w_.output[2];
        if (plane_.row_factors) set_factors(at, at == first);
        if (row_.rows > 0) {
          pool_along();
        } else {
          std::fill_n(row_.y, w_.output[2], row_.sums ? 0.0f : lowest<float>());
          if (plane_.row_factors) binary(Binary::mul, row_.y, factors_, row_.y, w_.output[2]);
        }
      }
    }
  }

 private:
  static constexpr int64_t kRowsAtOnce = 8;

  void pool_along() {
    if (w_.stride[2] <= 2) return pool_folded_row(row_);
    apart_.numbers = row_.numbers;
    apart_.x = row_.even;
    apart_.factors = plane_.row_factors ? row_.factors : nullptr;
    apart_.y = row_.y;
    pool_strided(apart_);
  }

  /// Sets the row up for a row of outputs, in the memory of place `slot`; its rows of the plane.
  Span rows_of(int64_t at, int64_t slot) {
    const Span rows = span_of(w_, 1, at);
    row_.rows = std::max<int64_t>(0, rows.count());
    row_.even = folded_ + slot * phases_ * phase_;
    row_.odd = row_.even + phase_;
    return rows;
  }

  void set_factors(int64_t at, bool is_first) {
    if (is_first || plane_.row_factors[at] != plane_.row_factors[at - 1])
      binary_scalar(Binary::mul, plane_.column_factors, plane_.row_factors[at], factors_, w_.output[2]);
    row_.factors = factors_;
  }

  void set_plane(bool sums) {
    plane_ = {.sums = sums,
              .height = w_.input[1],
              .width = w_.input[2],
              .out_height = w_.output[1],
              .out_width = w_.output[2],
              .kernel_height = w_.kernel[1],
              .kernel_width = w_.kernel[2],
              .stride_height = w_.stride[1],
              .stride_width = w_.stride[2],
              .dilation_height = w_.dilation[1],
              .dilation_width = w_.dilation[2],
              .pad_top = w_.pad_begin[1],
              .pad_left = w_.pad_begin[2]};
    constexpr int64_t kWidest = int64_t{1} << 24;
    const bool few_taps = w_.kernel[1] <= kPlaneTaps && w_.kernel[2] <= kPlaneTaps && w_.kernel[1] * w_.kernel[2] <= kPlaneTaps;
    is_small_ = w_.stride[2] <= 2 && (few_taps || slides_down(plane_)) && w_.pad_begin[2] >= 0 &&
                std::max({w_.input[2], w_.output[2], w_.dilation[2], w_.pad_begin[2]}) < kWidest;
  }

  const Window& w_;
  float* factors_;
  float* folded_;
  int64_t phases_, phase_;
  PoolRow row_;
  StridedWindows apart_;
  PoolPlane plane_;
  bool is_small_ = false;
};

/// Pooling of float rows by windows that lie within them, two or more elements apart. Where windows do not overlap and nothing is left
/// over, rows are one.
class RowsApart {
 public:
  RowsApart(const Window& w, bool sums, bool mean) : input_(w.input_size()) {
    const int64_t reach = (w.kernel[2] - 1) * w.dilation[2] + 1;
    const bool is_one = w.input[2] == w.output[2] * w.stride[2] && reach <= w.stride[2];
    rows_ = is_one ? 1 : w.input[0] * w.input[1];
    width_ = input_ / rows_;
    windows_ = {.sums = sums,
                .kernel = w.kernel[2],
                .dilation = w.dilation[2],
                .stride = w.stride[2],
                .factor = mean ? 1 / static_cast<float>(w.kernel[2]) : 1,
                .outputs = w.output_size() / rows_};
  }

  static bool suits(const Window& w) {
    for (int axis = 0; axis < 2; ++axis)
      if (w.kernel[axis] != 1 || w.stride[axis] != 1 || w.pad_begin[axis] != 0 || w.input[axis] != w.output[axis]) return false;
    return w.stride[2] >= 2 && w.pad_begin[2] == 0 && w.output_size() > 0 &&
           (w.output[2] - 1) * w.stride[2] + (w.kernel[2] - 1) * w.dilation[2] < w.input[2];
  }

  void run(const float* x, float* y) {
    windows_.numbers = !windows_.sums && are_numbers(x, input_);
    for (int64_t row = 0; row < rows_; ++row) {
      windows_.x = x + row * width_;
      windows_.y = y + row * windows_.outputs;
      pool_strided(windows_);
    }
  }

 private:
  int64_t input_, rows_, width_;
  StridedWindows windows_;
};

/// The window along height and width alone.
Window without_depth(Window w) {
  w.input[0] = w.kernel[0] = w.output[0] = w.stride[0] = w.dilation[0] = 1;
  w.pad_begin[0] = 0;
  return w;
}

/// Pooling of float planes with depth: the window's planes are combined element by element, and their result pooled as one plane.
class DepthPool {
 public:
  /// `divisor` as of RowPool.
  template <typename Divisor>
  DepthPool(const Window& window, bool sums, const Divisor* divisor)
      : w_(window), plane_(without_depth(window)), pool_(plane_, sums, divisor), sums_(sums) {
    if constexpr (!std::is_same_v<Divisor, std::nullptr_t>)
      for (int64_t at = 0; at < w_.output[0]; ++at) factors_.push_back(1 / static_cast<float>((*divisor)(0, at)));
  }

  static bool suits(const Window& w) {
    if (!RowPool::suits(without_depth(w))) return false;
    for (int64_t at = 0; at < w.output[0]; ++at)
      if (span_of(w, 0, at).count() == 0) return false;
    return w.output[0] > 0;
  }

  void run(const float* x, float* y) {
    const int64_t input = plane_.input_size(), output = plane_.output_size();
    float* combined = scratch_floats(ScratchSlot::image, input);
    for (int64_t at = 0; at < w_.output[0]; ++at, y += output) {
      const Span planes = span_of(w_, 0, at);
      const float* from = x + planes.begin * input;
      for (int64_t i = planes.begin + planes.step; i < planes.end; i += planes.step) {
        binary(sums_ ? Binary::add : Binary::max, from, x + i * input, combined, input);
        from = combined;
      }
      pool_.run(from, y);
      if (!factors_.empty()) binary_scalar(Binary::mul, y, factors_[static_cast<size_t>(at)], y, output);
    }
  }

 private:
  const Window& w_;
  const Window plane_;
  RowPool pool_;
  bool sums_;
  std::vector<float> factors_;
};

/// Planes of sums of magnitudes, or of roots of sums of squares.
void lp_planes(const Window& w, Range planes, int p, const float* x, float* y) {
  RowPool pool(w, true, kNoDivisor);
  const int64_t input = w.input_size(), output = w.output_size();
  float* powers = static_cast<float*>(thread_scratch(ScratchSlot::image, static_cast<size_t>(input) * sizeof(float)));
  for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
    unary(p == 1 ? Unary::abs : Unary::square, x + plane * input, powers, input);
    pool.run(powers, y + plane * output);
    if (p == 2) unary(Unary::sqrt, y + plane * output, y + plane * output, output);
  }
}

constexpr int64_t kByteBlock = 32;  // elements of loops of a known length, which compilers vectorise

/// to[i] = max(to[i], x[i]).
template <typename T>
void raise(T* to, const T* x, int64_t count) {
  int64_t i = 0;
  for (; i + kByteBlock <= count; i += kByteBlock)
    for (int64_t j = 0; j < kByteBlock; ++j) to[i + j] = std::max(to[i + j], x[i + j]);
  for (; i < count; ++i) to[i] = std::max(to[i], x[i]);
}

/// Maxima of planes of bytes without depth, a row of outputs at a time: down the window's rows, then along them for every position, of
/// which those that are outputs are kept.
template <typename T>
class ByteMaxRows {
 public:
  explicit ByteMaxRows(const Window& window) : w_(window) {
    starts_ = (w_.output[2] - 1) * w_.stride[2] + 1;
    width_ = std::max(starts_ + (w_.kernel[2] - 1) * w_.dilation[2], w_.pad_begin[2] + w_.input[2]);
    down_ = static_cast<T*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(width_ + starts_)));
  }

  static bool suits(const Window& w) {
    return w.input[0] == 1 && w.kernel[0] == 1 && w.pad_begin[0] == 0 && w.output[0] == 1 && w.pad_begin[2] >= 0 && w.output_size() > 0;
  }

  void run(const T* x, T* y) {
    T* const along = down_ + width_;
    for (int64_t at = 0; at < w_.output[1]; ++at, y += w_.output[2]) {
      std::fill_n(down_, width_, lowest<T>());
      const Span rows = span_of(w_, 1, at);
      for (int64_t row = rows.begin; row < rows.end; row += rows.step) raise(down_ + w_.pad_begin[2], x + row * w_.input[2], w_.input[2]);
      std::copy_n(down_, starts_, along);
      for (int64_t tap = 1; tap < w_.kernel[2]; ++tap) raise(along, down_ + tap * w_.dilation[2], starts_);
      for (int64_t i = 0; i < w_.output[2]; ++i) y[i] = along[i * w_.stride[2]];
    }
  }

 private:
  const Window& w_;
  int64_t starts_, width_;
  T* down_;
};

}  // namespace

template <typename T>
void fill_empty_windows(const Window& w, int64_t planes, T* y) {
  each_empty(w, [&](int64_t i) {
    for (int64_t plane = 0; plane < planes; ++plane) y[plane * w.output_size() + i] = std::numeric_limits<T>::lowest();
  });
}

template <typename T>
void max_pool_planes(const Window& w, int64_t planes, const T* x, int64_t x_plane, T* y, int64_t y_plane) {
  const auto run = [&](auto&& pool) {
    for (int64_t plane = 0; plane < planes; ++plane) pool.run(x + plane * x_plane, y + plane * y_plane);
  };
  if constexpr (std::is_same_v<T, float>) {
    if (RowsApart::suits(w)) return run(RowsApart(w, false, false));
    if (RowPool::suits(w)) return run(RowPool(w, false, kNoDivisor));
    if (DepthPool::suits(w)) return run(DepthPool(w, false, kNoDivisor));
  }
  if constexpr (sizeof(T) == 1) {
    if (ByteMaxRows<T>::suits(w)) return run(ByteMaxRows<T>(w));
  }
  for (int64_t plane = 0; plane < planes; ++plane) max_plane(w, x + plane * x_plane, y + plane * y_plane);
}

template <typename T>
void max_pool(const Window& w, int64_t planes, const T* x, T* y, int64_t* indices, bool column_major, const Parallel& parallel) {
  const auto fill_empty = [&](Range range) { fill_empty_windows(w, range.size(), y + range.begin * w.output_size()); };
  parallel.for_range(planes, cost_of(w, sizeof(T)), [&](Range range) {
    const int64_t first = range.begin;
    if (!indices) {
      max_pool_planes(w, range.size(), x + first * w.input_size(), w.input_size(), y + first * w.output_size(), w.output_size());
      return fill_empty(range);
    }
    for (int64_t plane = first; plane < range.end; ++plane)
      max_plane(w, x + plane * w.input_size(), y + plane * w.output_size(), indices + plane * w.output_size(), plane * w.input_size(),
                column_major);
    fill_empty(range);
  });
}

template <typename T>
void average_pool(const Window& w, const int64_t (&pad_end)[3], int64_t planes, bool count_padding, const T* x, T* y,
                  const Parallel& parallel) {
  using A = Accumulator<T>;
  const auto count = [&](int axis, int64_t at) {  // at least 1: the mean of nothing is 0
    return std::max<int64_t>(1, count_padding ? padded_count(w, axis, at, pad_end[axis]) : span_of(w, axis, at).count());
  };
  const auto divisor = [&](const int64_t(&at)[3]) { return static_cast<A>(count(0, at[0]) * count(1, at[1]) * count(2, at[2])); };
  parallel.for_range(planes, cost_of(w, sizeof(T)), [&](Range range) {
    if constexpr (std::is_same_v<T, float>) {
      const auto run = [&](auto&& pool) {
        for (int64_t plane = range.begin; plane < range.end; ++plane) pool.run(x + plane * w.input_size(), y + plane * w.output_size());
      };
      if (RowsApart::suits(w)) return run(RowsApart(w, true, true));
      if (RowPool::suits(w)) return run(RowPool(w, true, &count));
      if (DepthPool::suits(w)) return run(DepthPool(w, true, &count));
    }
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const T* in = x + plane * w.input_size();
      T* out = y + plane * w.output_size();
      each_window(w, [&](const int64_t(&at)[3], const Span(&s)[3]) {
        A sum = 0;
        each_position(w, s, [&](int64_t position) { sum += static_cast<A>(in[position]); });
        *out++ = static_cast<T>(sum / divisor(at));
      });
    }
  });
}

template <typename T>
void lp_pool(const Window& w, int64_t planes, int p, const T* x, T* y, const Parallel& parallel) {
  using A = Accumulator<T>;
  parallel.for_range(planes, cost_of(w, sizeof(T)), [&](Range range) {
    if constexpr (std::is_same_v<T, float>) {
      if ((p == 1 || p == 2) && RowPool::suits(w)) return lp_planes(w, range, p, x, y);
    }
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

#define RH_MAX(T)                                                                        \
  template void fill_empty_windows(const Window&, int64_t, T*);                          \
  template void max_pool_planes(const Window&, int64_t, const T*, int64_t, T*, int64_t); \
  template void max_pool(const Window&, int64_t, const T*, T*, int64_t*, bool, const Parallel&);
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
