#include "compute/move/strided_copy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "compute/move/copy.h"

namespace rh::compute {

namespace {

constexpr int64_t kTile = 16;           // elements a side of a transposed tile
constexpr int64_t kFewElements = 8192;  // that one thread copies
constexpr int64_t kShortRow = 4;        // elements; shorter rows, and those as long, are copied column by column

// A copy with as few dimensions as its strides allow; the last one is the inner loop.
struct Loop {
  Shape shape, x, y;
  int rank() const { return shape.rank(); }
};

Loop simplify(const Shape& shape, std::span<const int64_t> x, std::span<const int64_t> y) {
  Loop loop;
  for (int k = 0; k < shape.rank(); ++k) {
    if (shape[k] == 1) continue;
    const int last = loop.rank() - 1;
    if (last >= 0 && loop.x[last] == x[k] * shape[k] && loop.y[last] == y[k] * shape[k]) {
      loop.shape[last] *= shape[k];
      loop.x[last] = x[k];
      loop.y[last] = y[k];
    } else {
      loop.shape.push_back(shape[k]);
      loop.x.push_back(x[k]);
      loop.y.push_back(y[k]);
    }
  }
  if (loop.rank() == 0) {
    loop.shape.push_back(1);
    loop.x.push_back(1);
    loop.y.push_back(1);
  }
  return loop;
}

// Offsets of an index that counts through the first `rank` dimensions in row-major order.
class Walk {
 public:
  Walk(const Loop& loop, int rank, int64_t flat) : loop_(loop), index_(static_cast<size_t>(rank), 0) {
    for (int k = rank - 1; k >= 0; --k) {
      index_[k] = flat % loop.shape[k];
      flat /= loop.shape[k];
      x += index_[k] * loop.x[k];
      y += index_[k] * loop.y[k];
    }
  }
  /// By `steps` of the innermost dimension, which do not lead beyond its end.
  void next(int64_t steps = 1) {
    for (int k = index_.rank() - 1; k >= 0; --k, steps = 1) {
      x += steps * loop_.x[k];
      y += steps * loop_.y[k];
      if ((index_[k] += steps) < loop_.shape[k]) return;
      x -= loop_.x[k] * loop_.shape[k];
      y -= loop_.y[k] * loop_.shape[k];
      index_[k] = 0;
    }
  }
  /// Steps to the end of the innermost dimension.
  int64_t left() const { return index_.rank() == 0 ? 1 : loop_.shape[index_.rank() - 1] - index_[index_.rank() - 1]; }

  int64_t x = 0, y = 0;

 private:
  const Loop& loop_;
  Shape index_;
};

// Of 64 bytes at a time, where there are as many.
template <typename T>
void fill_row(const T& value, T* y, int64_t count) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    constexpr int64_t kBlock = 64 / sizeof(T);
    if (count >= kBlock) {
      T block[kBlock];
      std::fill_n(block, kBlock, value);
      for (int64_t i = 0; i + kBlock <= count; i += kBlock) std::copy_n(block, kBlock, y + i);
      std::copy_n(block, kBlock, y + count - kBlock);
      return;
    }
  }
  std::fill_n(y, count, value);
}

template <typename T>
void copy_row(const T* x, int64_t x_stride, T* y, int64_t y_stride, int64_t count) {
  if (x_stride == 1 && y_stride == 1) {
    copy_items(x, count, y);
  } else if (x_stride == 0 && y_stride == 1) {
    fill_row(*x, y, count);
  } else if (y_stride == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[i * x_stride];
  } else {
    for (int64_t i = 0; i < count; ++i) y[i * y_stride] = x[i * x_stride];
  }
}

// Of the whole that y is part of, where the copy is a good part of it: others then write the rest.
double output_elements(const Loop& loop) {
  constexpr double kGoodPart = 0.25;
  const double copied = static_cast<double>(loop.shape.elements());
  double all = copied;
  for (int k = 0; k < loop.rank(); ++k) all = std::max(all, static_cast<double>(loop.shape[k]) * std::fabs(static_cast<double>(loop.y[k])));
  return copied >= kGoodPart * all ? all : copied;
}

// Rows of the last dimension; a piece may begin and end within a row.
template <typename T>
void copy_by_rows(const Loop& loop, const T* x, T* y, const Parallel& parallel) {
  const int last = loop.rank() - 1;
  const int64_t length = loop.shape[last], x_stride = loop.x[last], y_stride = loop.y[last];
  const bool contiguous = x_stride == 1 && y_stride == 1;
  constexpr int64_t kItem = sizeof(T);
  const bool past_caches = leaves_caches(sizeof(T) * output_elements(loop));
  parallel.for_range(loop.shape.elements(), {2.0 * sizeof(T), contiguous ? 0.1 : 1.0}, [&](Range part) {
    Walk walk(loop, last, part.begin / length);
    int64_t begin = part.begin % length;
    for (int64_t left = part.size(); left > 0; walk.next()) {
      if constexpr (std::is_trivially_copyable_v<T>) {
        const int64_t rows = contiguous && begin == 0 ? std::min(left / length, walk.left()) : 0;
        if (rows > (past_caches ? 0 : 1)) {
          copy_rows(x + walk.x, loop.x[last - 1] * kItem, y + walk.y, loop.y[last - 1] * kItem, rows, static_cast<size_t>(length * kItem),
                    past_caches);
          left -= rows * length;
          if (left > 0) walk.next(rows - 1);
          continue;
        }
      }
      const int64_t count = std::min(left, length - begin);
      copy_row(x + walk.x + begin * x_stride, x_stride, y + walk.y + begin * y_stride, y_stride, count);
      left -= count;
      begin = 0;
    }
    if (past_caches) end_past_caches();
  });
}

// The last two dimensions in square tiles: one is contiguous in x, the other in y.
template <typename T>
void copy_by_tiles(const Loop& loop, const T* x, T* y, const Parallel& parallel) {
  const int outer = loop.rank() - 2;
  const int64_t rows = loop.shape[outer], columns = loop.shape[outer + 1];
  const int64_t row_tiles = (rows + kTile - 1) / kTile, column_tiles = (columns + kTile - 1) / kTile;
  const int64_t x_row = loop.x[outer], x_column = loop.x[outer + 1], y_row = loop.y[outer], y_column = loop.y[outer + 1];
  const int64_t tiles = row_tiles * column_tiles;
  const int64_t count = loop.shape.product(0, outer) * tiles;
  const auto elements = static_cast<double>(std::min(rows, kTile) * std::min(columns, kTile));
  parallel.for_range(count, {2.0 * sizeof(T) * elements, elements}, [&](Range part) {
    Walk walk(loop, outer, part.begin / tiles);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t tile = item % tiles;
      const int64_t r0 = tile / column_tiles * kTile, c0 = tile % column_tiles * kTile;
      const int64_t r1 = std::min(r0 + kTile, rows), c1 = std::min(c0 + kTile, columns);
      for (int64_t r = r0; r < r1; ++r) {
        copy_row(x + walk.x + r * x_row + c0 * x_column, x_column, y + walk.y + r * y_row + c0 * y_column, y_column, c1 - c0);
      }
      if (tile == tiles - 1) walk.next();
    }
  });
}

// Moves the dimension along which x is contiguous next to the last one; false where tiles would not pay.
bool arrange_tiles(Loop& loop) {
  const int last = loop.rank() - 1;
  if (last < 1 || std::abs(loop.x[last]) <= 1 || loop.shape[last] < 4) return false;
  for (int k = last - 1; k >= 0; --k) {
    if (loop.x[k] != 1 || loop.shape[k] < 4) continue;
    for (int j = k; j + 1 < last; ++j) {
      std::swap(loop.shape[j], loop.shape[j + 1]);
      std::swap(loop.x[j], loop.x[j + 1]);
      std::swap(loop.y[j], loop.y[j + 1]);
    }
    return true;
  }
  return false;
}

// Many rows of few elements become few rows of many; false where the rows are long.
bool arrange_columns(Loop& loop) {
  const int last = loop.rank() - 1;
  if (last < 1 || loop.shape[last] > kShortRow || loop.shape[last - 1] < kTile || loop.x[last] == 0) return false;
  for (Shape* list : {&loop.shape, &loop.x, &loop.y}) std::swap((*list)[last - 1], (*list)[last]);
  return true;
}

// Of rows of few contiguous elements, the dimension with the most of them comes next to them, whatever lies between: they go by one call.
void arrange_rows(Loop& loop, size_t element_bytes) {
  constexpr int64_t kFewRows = 8, kShortBytes = 64;
  const int last = loop.rank() - 1;
  if (last < 2 || loop.x[last] != 1 || loop.y[last] != 1 || loop.shape[last - 1] >= kFewRows) return;
  if (loop.shape[last] * static_cast<int64_t>(element_bytes) > kShortBytes) return;
  const int most = static_cast<int>(std::max_element(loop.shape.begin(), loop.shape.end() - 1) - loop.shape.begin());
  for (Shape* list : {&loop.shape, &loop.x, &loop.y}) std::swap((*list)[last - 1], (*list)[most]);
}

// Rows of 2, 4 or 8 contiguous elements that make a wider one, where all lie at multiples of it, become one such element each.
ElementKind widened(ElementKind kind, Loop& loop, const void* x, const void* y) {
  const int last = loop.rank() - 1;
  const int64_t length = loop.shape[last], bytes = length * static_cast<int64_t>(element_bytes(kind));
  if (last < 1 || loop.x[last] != 1 || loop.y[last] != 1 || length < 2 || bytes > 16 || (bytes & (bytes - 1)) != 0) return kind;
  const auto is_multiple = [&](const void* address) { return reinterpret_cast<uintptr_t>(address) % static_cast<uintptr_t>(bytes) == 0; };
  if (!is_multiple(x) || !is_multiple(y)) return kind;
  for (int k = 0; k < last; ++k)
    if (loop.x[k] % length != 0 || loop.y[k] % length != 0) return kind;
  loop.shape.resize(static_cast<size_t>(last), 1);
  loop.x.resize(static_cast<size_t>(last), 0);
  loop.y.resize(static_cast<size_t>(last), 0);
  for (int k = 0; k < last; ++k) {
    loop.x[k] /= length;
    loop.y[k] /= length;
  }
  while (static_cast<int64_t>(element_bytes(kind)) < bytes) kind = static_cast<ElementKind>(static_cast<int>(kind) + 1);
  return kind;
}

}  // namespace

void strided_copy(ElementKind kind, const Shape& shape, const void* x, std::span<const int64_t> x_strides, void* y,
                  std::span<const int64_t> y_strides, const Parallel& parallel) {
  const int64_t elements = shape.elements();
  if (elements == 0) return;
  const bool rows = shape.rank() == 2 && shape[1] > kShortRow && x_strides[1] == 1 && y_strides[1] == 1;
  if (kind != ElementKind::string && rows && elements < kFewElements) {
    const int64_t item = static_cast<int64_t>(element_bytes(kind));
    return copy_rows(x, x_strides[0] * item, y, y_strides[0] * item, shape[0], static_cast<size_t>(shape[1] * item));
  }
  Loop loop = simplify(shape, x_strides, y_strides);
  const bool is_string = kind == ElementKind::string;
  if (!is_string) kind = widened(kind, loop, x, y);
  if (!is_string) arrange_rows(loop, element_bytes(kind));
  const bool tiles = !is_string && (arrange_tiles(loop) || arrange_columns(loop));
  dispatch_kind(kind, [&]<typename T>() {
    if (tiles) {
      copy_by_tiles(loop, static_cast<const T*>(x), static_cast<T*>(y), parallel);
    } else {
      copy_by_rows(loop, static_cast<const T*>(x), static_cast<T*>(y), parallel);
    }
  });
}

}  // namespace rh::compute
