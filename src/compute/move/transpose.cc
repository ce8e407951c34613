#include "compute/move/transpose.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/inline_vector.h"
#include "compute/move/copy.h"
#include "compute/move/transpose_words.h"

namespace rh::compute {
namespace {

struct Bytes16 {
  uint64_t word[2];
};

using Dims = InlineVector<int64_t, 8>;

/// A copy from strided to contiguous memory: output dimension i has `size[i]` elements that lie `stride[i]` apart in the input.
struct Walk {
  Dims size, stride;
};

/// Output order, with axes of one element dropped and axes that stay neighbours merged.
Walk walk_of(std::span<const int64_t> dims, std::span<const int64_t> permutation) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  Walk walk;
  for (const int64_t axis : permutation) {
    const int64_t size = dims[static_cast<size_t>(axis)], stride = strides[static_cast<size_t>(axis)];
    if (size == 1) continue;
    if (!walk.size.empty() && walk.stride.back() == stride * size) {
      walk.size.back() *= size;
      walk.stride.back() = stride;
    } else {
      walk.size.push_back(size);
      walk.stride.push_back(stride);
    }
  }
  return walk;
}

/// Takes contiguous axes that end the output, a few bytes together, as single elements where both sides are aligned for those.
void widen_elements(Walk& walk, size_t& element_bytes, const void* x, const void* y) {
  constexpr size_t kWidest = 16;
  const int64_t size = walk.size.back();
  const size_t bytes = element_bytes * static_cast<size_t>(size);
  const auto is_aligned = [&](const void* p) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; };
  if (walk.size.size() < 2 || walk.stride.back() != 1 || bytes > kWidest || (bytes & (bytes - 1)) != 0 || !is_aligned(x) || !is_aligned(y))
    return;
  walk.size.pop_back();
  walk.stride.pop_back();
  for (int64_t& stride : walk.stride) stride /= size;
  element_bytes = bytes;
}

/// y[r * columns + c] = x[r + c * x_stride] for a tile at a time, so that both sides stay in the cache.
template <typename T>
void tile_2d(const T* x, int64_t x_stride, T* y, int64_t y_stride, int64_t rows, int64_t columns) {
  if constexpr (sizeof(T) == sizeof(uint32_t)) return transpose_words(x, x_stride, y, y_stride, rows, columns);
  if constexpr (sizeof(T) == 1) return transpose_bytes(x, x_stride, y, y_stride, rows, columns);
  constexpr int64_t kTile = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const int64_t r1 = std::min(rows, r0 + kTile);
    for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const int64_t c1 = std::min(columns, c0 + kTile);
      if (r1 - r0 == kTile && c1 - c0 == kTile) {
        for (int64_t r = 0; r < kTile; ++r) {
          T* out = y + (r0 + r) * y_stride + c0;
          const T* in = x + (r0 + r) + c0 * x_stride;
          for (int64_t c = 0; c < kTile; ++c) out[c] = in[c * x_stride];
        }
        continue;
      }
      for (int64_t r = r0; r < r1; ++r)
        for (int64_t c = c0; c < c1; ++c) y[r * y_stride + c] = x[r + c * x_stride];
    }
  }
}

template <typename T>
class Transposer {
 public:
  Transposer(const Walk& walk, const T* x, T* y) : walk_(walk), x_(x), y_(y), rank_(walk.size.size()) {
    out_stride_.resize(rank_, 1);
    for (size_t i = rank_; i-- > 1;) out_stride_[i - 1] = out_stride_[i] * walk.size[i];
    rows_ = rank_ - 1;
    // The axis that is contiguous in the input, if it is not the last: with the last one it makes the plane of a 2-D transpose.
    for (size_t i = 0; i + 1 < rank_; ++i)
      if (walk.stride[i] == 1) rows_ = i;
  }

  void run(const Parallel& parallel) const {
    int64_t outer = 1;
    for (size_t i = 0; i + 1 < rank_; ++i)
      if (i != rows_) outer *= walk_.size[i];
    const bool planes = rows_ != rank_ - 1;
    if (!planes && walk_.stride[rank_ - 1] == 1 && rank_ > 1) return run_rows(outer, parallel);
    // A plane is cut along its rows so that a lone one can be shared.
    const int64_t slices = planes ? std::max<int64_t>(1, (walk_.size[rows_] + kSliceRows - 1) / kSliceRows) : 1;
    const double bytes =
        2.0 * sizeof(T) * static_cast<double>(walk_.size[rank_ - 1]) * (planes ? static_cast<double>(walk_.size[rows_]) : 1.0) / slices;
    parallel.for_range(outer * slices, {.bytes = bytes * (planes ? 4 : 1)}, [&](Range range) {
      Place place = place_of(range.begin / slices);
      int64_t slice = range.begin % slices;
      for (int64_t i = range.begin; i < range.end; ++i) {
        one(place, slice, planes);
        if (++slice < slices) continue;
        slice = 0;
        advance(place);
      }
    });
  }

 private:
  static constexpr int64_t kSliceRows = 64;

  /// Rows that are contiguous on both sides, as many at a time as follow each other along one axis.
  void run_rows(int64_t outer, const Parallel& parallel) const {
    const size_t axis = rank_ - 2;
    const int64_t bytes = walk_.size[rank_ - 1] * static_cast<int64_t>(sizeof(T)), item = static_cast<int64_t>(sizeof(T));
    parallel.for_range(outer, {.bytes = 2.0 * static_cast<double>(bytes)}, [&](Range range) {
      Place place = place_of(range.begin);
      for (int64_t left = range.size(); left > 0;) {
        const int64_t count = std::min(left, walk_.size[axis] - place.index[axis]);
        copy_rows(x_ + place.x, walk_.stride[axis] * item, y_ + place.y, bytes, count, static_cast<size_t>(bytes));
        left -= count;
        if (left > 0) advance(place, count);
      }
    });
  }

  /// Where an index of the outer dimensions lies on both sides.
  struct Place {
    Dims index;
    int64_t x = 0, y = 0;
  };

  Place place_of(int64_t outer) const {
    Place place{Dims(rank_, 0)};
    for (size_t i = rank_ - 1; i-- > 0;) {
      if (i == rows_) continue;
      place.index[i] = outer % walk_.size[i];
      outer /= walk_.size[i];
      place.x += place.index[i] * walk_.stride[i];
      place.y += place.index[i] * out_stride_[i];
    }
    return place;
  }

  /// By `steps` of the innermost one, which do not lead beyond its end.
  void advance(Place& place, int64_t steps = 1) const {
    for (size_t i = rank_ - 1; i-- > 0; steps = 1) {
      if (i == rows_) continue;
      place.x += steps * walk_.stride[i];
      place.y += steps * out_stride_[i];
      if ((place.index[i] += steps) < walk_.size[i]) return;
      place.x -= walk_.stride[i] * walk_.size[i];
      place.y -= out_stride_[i] * walk_.size[i];
      place.index[i] = 0;
    }
  }

  void one(const Place& place, int64_t slice, bool planes) const {
    const T* x = x_ + place.x;
    T* y = y_ + place.y;
    const int64_t columns = walk_.size[rank_ - 1], stride = walk_.stride[rank_ - 1];
    if (planes) {
      const int64_t first = slice * kSliceRows, rows = std::min(kSliceRows, walk_.size[rows_] - first);
      tile_2d(x + first, stride, y + first * out_stride_[rows_], out_stride_[rows_], rows, columns);
    } else if (stride == 1) {
      copy_items(x, columns, y);  // the only row
    } else {
      for (int64_t c = 0; c < columns; ++c) y[c] = x[c * stride];
    }
  }

  const Walk& walk_;
  const T* x_;
  T* y_;
  size_t rank_;
  size_t rows_;
  Dims out_stride_;
};

template <typename T>
void run(const Walk& walk, const void* x, void* y, const Parallel& parallel) {
  Transposer<T>(walk, static_cast<const T*>(x), static_cast<T*>(y)).run(parallel);
}

}  // namespace

void transpose(const void* x, std::span<const int64_t> dims, std::span<const int64_t> permutation, size_t element_bytes, void* y,
               const Parallel& parallel) {
  for (const int64_t dim : dims)
    if (dim == 0) return;
  Walk walk = walk_of(dims, permutation);
  if (walk.size.empty()) {
    std::memcpy(y, x, element_bytes);
    return;
  }
  widen_elements(walk, element_bytes, x, y);
  switch (element_bytes) {
    case 1: return run<uint8_t>(walk, x, y, parallel);
    case 2: return run<uint16_t>(walk, x, y, parallel);
    case 4: return run<uint32_t>(walk, x, y, parallel);
    case 8: return run<uint64_t>(walk, x, y, parallel);
    case 16: return run<Bytes16>(walk, x, y, parallel);
    default: fail(ErrorCode::invalid_argument, "transpose: elements of {} bytes, expected 1, 2, 4, 8 or 16", element_bytes);
  }
}

}  // namespace rh::compute
