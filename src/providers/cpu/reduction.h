#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "base/inline_vector.h"
#include "base/thread_pool.h"
#include "compute/reduce/number_reductions.h"
#include "tensor/shape.h"

namespace rh::cpu {

/// A reduction as loops: for each kept index of the outer dimensions, over the reduced outer dimensions, over one innermost group that is
/// either reduced (rows) or kept (columns). Neighbouring dimensions of one sort are merged.
class ReductionLoop {
 public:
  ReductionLoop(const Shape& shape, std::span<const bool> reduced);

  bool inner_is_reduced() const { return inner_is_reduced_; }
  int64_t inner() const { return inner_; }  ///< length of the innermost group
  int64_t outer_kept() const { return kept_.elements(); }
  int64_t outer_reduced() const { return reduced_.elements(); }
  int64_t reduced_count() const { return outer_reduced() * (inner_is_reduced_ ? inner_ : 1); }  ///< elements that make one result
  /// True where the outer dimensions kept are one contiguous run and none is reduced.
  bool is_plain_rows() const { return inner_is_reduced_ && reduced_.empty() && kept_.rank() <= 1; }
  /// True where it is [outer, reduced, inner] with all three contiguous.
  bool is_plain_columns() const { return !inner_is_reduced_ && reduced_.rank() == 1 && kept_.rank() <= 1; }

  /// Where the elements of outer kept index i begin.
  int64_t offset_of(int64_t i) const {
    int64_t offset = 0;
    for (int d = kept_.rank() - 1; d >= 0; i /= kept_[d--]) offset += i % kept_[d] * kept_strides_[d];
    return offset;
  }

  /// Reduced elements that lie beside each other: rows of the innermost group, or of the last reduced dimension, before it.
  int64_t reduced_together() const { return inner_is_reduced_ ? inner_ : last_reduced(); }
  /// Indices of the last reduced outer dimension, which visits follow each other by, and how far apart they are.
  int64_t last_reduced() const { return reduced_.empty() ? 1 : reduced_[reduced_.rank() - 1]; }
  int64_t last_reduced_stride() const { return reduced_.empty() ? inner_ : reduced_strides_[reduced_.rank() - 1]; }

  /// Calls visit(offset) for each index of the reduced outer dimensions.
  template <typename F>
  void for_each_reduced(int64_t offset, F visit) const {
    Shape position(reduced_.size(), 0);
    for (int64_t left = outer_reduced(); left > 0; --left) {
      visit(offset);
      for (int d = reduced_.rank() - 1; d >= 0; --d) {
        offset += reduced_strides_[d];
        if (++position[d] < reduced_[d]) break;
        offset -= reduced_[d] * reduced_strides_[d];
        position[d] = 0;
      }
    }
  }

 private:
  bool inner_is_reduced_ = false;
  int64_t inner_ = 1;
  Shape kept_, kept_strides_, reduced_, reduced_strides_;
};

/// The result of a row of elements that R has as a whole, R::of_row(x, count), or whose steps the numeric library has as R::kFold.
template <typename R, typename T>
concept ReducesRows = requires(const T* x) { R::of_row(x, 0); };
template <typename R, typename T>
concept Folds = requires { R::kFold; } && (std::is_same_v<T, double> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>);

template <typename R, typename T>
typename R::Accumulator reduced_row(const T* x, int64_t count) {
  if constexpr (ReducesRows<R, T>) {
    return R::of_row(x, count);
  } else {
    std::conditional_t<std::is_floating_point_v<T>, T, int64_t> result;
    compute::fold_rows(R::kFold, x, 1, count, &result);
    return static_cast<typename R::Accumulator>(result);
  }
}

/// Rows [begin, end) of `length` elements that follow each other.
template <typename T, typename Y, typename R>
void reduce_plain_rows(const T* x, Y* y, const R& reducer, int64_t length, Range rows) {
  constexpr int64_t kAtOnce = 64;
  std::conditional_t<std::is_floating_point_v<T>, T, int64_t> results[kAtOnce];
  for (int64_t row = rows.begin; row < rows.end; row += kAtOnce) {
    const int64_t count = std::min(kAtOnce, rows.end - row);
    compute::fold_rows(R::kFold, x + row * length, count, length, results);
    for (int64_t i = 0; i < count; ++i) y[row + i] = reducer.finish(static_cast<typename R::Accumulator>(results[i]), length);
  }
}

/// One row in pieces of a fixed length, so that the result does not depend on the number of threads.
template <typename R, typename T>
typename R::Accumulator reduced_long_row(const Parallel& parallel, const T* x, int64_t count, double operations) {
  constexpr int64_t kPiece = 32768;
  std::vector<typename R::Accumulator> parts(static_cast<size_t>((count + kPiece - 1) / kPiece), R::identity());
  const auto pieces = static_cast<int64_t>(parts.size());
  parallel.for_range(pieces, {1.0 * sizeof(T) * kPiece, operations * kPiece}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i)
      parts[static_cast<size_t>(i)] = reduced_row<R>(x + i * kPiece, std::min(kPiece, count - i * kPiece));
  });
  auto all = R::identity();
  for (const auto& part : parts) R::merge(all, part);
  return all;
}

/// A few columns of [outer, count, inner]: so many rows as fill a vector's loop count as one, and what they give is merged.
template <typename T, typename Y, typename R>
void reduce_few_columns(const Parallel& parallel, const ReductionLoop& loop, const T* x, Y* y, const R& reducer, double operations) {
  using A = typename R::Accumulator;
  constexpr int64_t kWidth = 256;
  const int64_t inner = loop.inner(), count = loop.reduced_count(), rows = kWidth / inner, width = rows * inner;
  const double elements = static_cast<double>(count * inner);
  parallel.for_range(loop.outer_kept(), {sizeof(T) * elements, operations * elements}, [&](Range part) {
    for (int64_t outer = part.begin; outer < part.end; ++outer) {
      const T *block = x + outer * count * inner, *rest = block + count / rows * width;
      A sums[kWidth];
      std::fill_n(sums, width, R::identity());
      compute::fold_down(R::kFold, block, width, count / rows, sums, width);
      for (int64_t i = 0; i < count % rows * inner; ++i) R::step(sums[i], rest[i]);
      for (int64_t i = inner; i < width; ++i) R::merge(sums[i % inner], sums[i]);
      for (int64_t k = 0; k < inner; ++k) y[outer * inner + k] = reducer.finish(sums[k], count);
    }
  });
}

/// The elements that lie apart, a few together, as one row.
template <typename R, typename T>
typename R::Accumulator reduced_apart(const ReductionLoop& loop, int64_t offset, const T* x) {
  constexpr int64_t kGathered = 512;
  const int64_t inner = loop.inner();
  T row[kGathered];
  int64_t held = 0;
  auto all = R::identity();
  loop.for_each_reduced(offset, [&](int64_t at) {
    if (held + inner > kGathered) {
      R::merge(all, R::of_row(row, held));
      held = 0;
    }
    std::copy_n(x + at, inner, row + held);
    held += inner;
  });
  R::merge(all, R::of_row(row, held));
  return all;
}

/// y[i] = R::finish(sum of R::step over the elements, count). R has an Accumulator type, identity(), step(accumulator, x),
/// merge(accumulator, accumulator) and is passed for what finish needs.
template <typename T, typename Y, typename R>
void reduce(const Parallel& parallel, const ReductionLoop& loop, const T* x, Y* y, const R& reducer, double operations = 1) {
  using A = typename R::Accumulator;
  constexpr int64_t kShortRow = 8;  // elements
  const int64_t inner = loop.inner(), count = loop.reduced_count();
  if constexpr (ReducesRows<R, T> || Folds<R, T>) {
    constexpr int64_t kVeryLong = 65536;  // elements
    if (loop.inner_is_reduced() && inner >= kShortRow) {
      if (loop.outer_kept() == 1 && loop.outer_reduced() == 1 && inner > kVeryLong) {
        *y = reducer.finish(reduced_long_row<R>(parallel, x, inner, operations), count);
        return;
      }
      parallel.for_range(loop.outer_kept(), {static_cast<double>(sizeof(T) * count), operations * count}, [&](Range part) {
        if constexpr (!ReducesRows<R, T>) {
          if (loop.is_plain_rows()) return reduce_plain_rows(x, y, reducer, inner, part);
        }
        for (int64_t i = part.begin; i < part.end; ++i) {
          if constexpr (ReducesRows<R, T>) {
            constexpr int64_t kFew = 128;  // elements
            if (inner <= kFew && count > inner) {
              y[i] = reducer.finish(reduced_apart<R>(loop, loop.offset_of(i), x), count);
              continue;
            }
          }
          A all = R::identity();
          loop.for_each_reduced(loop.offset_of(i), [&](int64_t offset) { R::merge(all, reduced_row<R>(x + offset, inner)); });
          y[i] = reducer.finish(all, count);
        }
      });
      return;
    }
  }
  if (loop.is_plain_rows() && inner < kShortRow) {
    parallel.for_range(loop.outer_kept(), {static_cast<double>(sizeof(T) * count), operations * count}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        A all = R::identity();
        for (const T* at = x + i * inner; at < x + (i + 1) * inner; ++at) R::step(all, *at);
        y[i] = reducer.finish(all, count);
      }
    });
    return;
  }
  if (loop.inner_is_reduced()) {
    constexpr int kLanes = std::is_floating_point_v<T> ? 8 : 1;
    parallel.for_range(loop.outer_kept(), {static_cast<double>(sizeof(T) * count), operations * count}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        A lanes[kLanes];
        for (A& lane : lanes) lane = R::identity();
        loop.for_each_reduced(loop.offset_of(i), [&](int64_t offset) {
          const T* row = x + offset;
          int64_t k = 0;
          for (; k + kLanes <= inner; k += kLanes) {
            for (int lane = 0; lane < kLanes; ++lane) R::step(lanes[lane], row[k + lane]);
          }
          for (; k < inner; ++k) R::step(lanes[0], row[k]);
        });
        for (int half = kLanes / 2; half > 0; half /= 2) {
          for (int lane = 0; lane < half; ++lane) R::merge(lanes[lane], lanes[lane + half]);
        }
        y[i] = reducer.finish(lanes[0], count);
      }
    });
    return;
  }
  if constexpr (Folds<R, T> && std::is_same_v<A, T>) {
    constexpr int64_t kFewColumns = 16, kManyRows = 512;
    if (loop.is_plain_columns() && inner < kFewColumns && count >= kManyRows)
      return reduce_few_columns(parallel, loop, x, y, reducer, operations);
  }
  constexpr int64_t kColumns = 256;
  const int64_t blocks = (inner + kColumns - 1) / kColumns;
  const double elements = static_cast<double>(count) * static_cast<double>(std::min(inner, kColumns));
  parallel.for_range(loop.outer_kept() * blocks, {sizeof(T) * elements, operations * elements}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t outer = i / blocks, first = i % blocks * kColumns, columns = std::min(kColumns, inner - first);
      A sums[kColumns];
      std::fill_n(sums, columns, R::identity());
      const auto step_columns = [&](int64_t offset) {
        const T* row = x + offset;
        for (int64_t k = 0; k < columns; ++k) R::step(sums[k], row[k]);
      };
      if constexpr (Folds<R, T> && std::is_same_v<A, T>) {
        const int64_t together = loop.reduced_together();
        int64_t visited = 0;
        loop.for_each_reduced(loop.offset_of(outer) + first, [&](int64_t offset) {
          if (visited++ % together == 0) compute::fold_down(R::kFold, x + offset, inner, together, sums, columns);
        });
      } else {
        loop.for_each_reduced(loop.offset_of(outer) + first, step_columns);
      }
      Y* out = y + outer * inner + first;
      for (int64_t k = 0; k < columns; ++k) out[k] = reducer.finish(sums[k], count);
    }
  });
}

}  // namespace rh::cpu
