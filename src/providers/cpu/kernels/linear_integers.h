// Linear interpolation of integers along up to three axes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "providers/cpu/numbers.h"
#include "tensor/tensor.h"

namespace rh::cpu {

constexpr int64_t kSumsAtOnce = 16;  // of integers, for which compilers have vectors

/// kSumsAtOnce sums as integers, their fractions cut off: where all fit, without a look at each.
template <typename T>
void cut_fractions(const float* sums, T* to) {
  constexpr float kLeast = static_cast<float>(std::numeric_limits<T>::min());
  constexpr float kMost = sizeof(T) <= 2 ? static_cast<float>(std::numeric_limits<T>::max()) : 0x1p30f;
  float low = sums[0], high = sums[0];
  for (int64_t i = 0; i < kSumsAtOnce; ++i) {
    low = sums[i] < low ? sums[i] : low;
    high = sums[i] > high ? sums[i] : high;
  }
  if (sizeof(T) <= 4 && low >= kLeast && high <= kMost) {
    T cut[kSumsAtOnce];
    for (int64_t i = 0; i < kSumsAtOnce; ++i) cut[i] = static_cast<T>(static_cast<int32_t>(sums[i]));
    std::copy_n(cut, kSumsAtOnce, to);
  } else {
    for (int64_t i = 0; i < kSumsAtOnce; ++i) to[i] = narrowed<T>(sums[i]);
  }
}

/// The first `count` of kSumsAtOnce sums.
template <typename T>
void store_cut(const float* sums, int64_t count, T* to) {
  if (count == kSumsAtOnce) return cut_fractions(sums, to);
  T some[kSumsAtOnce];
  cut_fractions(sums, some);
  std::copy_n(some, count, to);
}

/// What is made of an axis: each output from two neighbours.
struct LinearAxis {
  int axis = 0;
  std::span<const int64_t> index;  ///< [outputs, 2]
  std::span<const float> weight;   ///< [outputs, 2]
};

/// Sums over the corners around each output in the order of ONNX Runtime (the last axis fastest, the weight's factors from the last axis
/// on), so that what is cut off is the same.
template <typename T>
class LinearIntegers {
 public:
  static constexpr size_t kMostAxes = 3;

  /// `axes`: one to kMostAxes, ascending. `x` and `y` have the shapes before and after.
  LinearIntegers(const T* x, const Shape& from, T* y, const Shape& to, std::span<const LinearAxis> axes)
      : x_(x), y_(y), from_(from), to_(to), axes_(axes), last_(axes.back()) {}

  int64_t lines() const { return to_.product(0, last_.axis); }
  int64_t line_elements() const { return to_.product(last_.axis, to_.rank()); }

  void run(Range lines) const {
    const int64_t inner = to_.product(last_.axis + 1, to_.rank()), outputs = to_[last_.axis];
    for (int64_t line = lines.begin; line < lines.end; ++line) {
      Corner corners[kMostCorners];
      const size_t count = corners_of(line, corners);
      T* const to = y_ + line * outputs * inner;
      inner == 1 ? along_line({corners, count}, outputs, to) : across_line({corners, count}, outputs, inner, to);
    }
  }

 private:
  static constexpr size_t kMostCorners = 4;

  /// Where a line of inputs begins, and its weights along the axes above the last one.
  struct Corner {
    const T* line;
    float near, far;
  };

  size_t corners_of(int64_t line, Corner* corners) const {
    const size_t upper = axes_.size() - 1, count = size_t{1} << upper;
    std::fill_n(corners, count, Corner{x_, 1, 1});
    int64_t step = from_.product(last_.axis, from_.rank());
    size_t left = upper;
    for (int axis = last_.axis - 1; axis >= 0; step *= from_[axis], --axis) {
      const auto at = static_cast<size_t>(line % to_[axis]);
      line /= to_[axis];
      const bool is_resized = left > 0 && axes_[left - 1].axis == axis;
      for (size_t c = 0; c < count; ++c) {
        if (!is_resized) {
          corners[c].line += static_cast<int64_t>(at) * step;
          continue;
        }
        const bool is_nearest = left == upper;  // of the axes above the last one
        const size_t side = 2 * at + (c >> (upper - left) & 1);
        corners[c].line += axes_[left - 1].index[side] * step;
        (is_nearest ? corners[c].near : corners[c].far) = axes_[left - 1].weight[side];
      }
      if (is_resized) --left;
    }
    return count;
  }

  void along_line(std::span<const Corner> corners, int64_t outputs, T* to) const {
    const int64_t* index = last_.index.data();
    const float* weight = last_.weight.data();
    for (int64_t i = 0; i < outputs; i += kSumsAtOnce, index += 2 * kSumsAtOnce, weight += 2 * kSumsAtOnce) {
      const int64_t count = std::min(kSumsAtOnce, outputs - i);
      float sums[kSumsAtOnce] = {};
      for (const Corner& corner : corners) {
        const auto add = [&](int64_t k) {
          sums[k] += weight[2 * k] * corner.near * corner.far * static_cast<float>(corner.line[index[2 * k]]);
          sums[k] += weight[2 * k + 1] * corner.near * corner.far * static_cast<float>(corner.line[index[2 * k + 1]]);
        };
        if (count == kSumsAtOnce) {
          for (int64_t k = 0; k < kSumsAtOnce; ++k) add(k);
        } else {
          for (int64_t k = 0; k < count; ++k) add(k);
        }
      }
      store_cut(sums, count, to + i);
    }
  }

  void across_line(std::span<const Corner> corners, int64_t outputs, int64_t inner, T* to) const {
    for (int64_t i = 0; i < outputs; ++i, to += inner) {
      const int64_t* const index = last_.index.data() + 2 * i;
      const float* const weight = last_.weight.data() + 2 * i;
      for (int64_t c = 0; c < inner; c += kSumsAtOnce) {
        const int64_t count = std::min(kSumsAtOnce, inner - c);
        float sums[kSumsAtOnce] = {};
        for (const Corner& corner : corners) {
          for (int side = 0; side < 2; ++side) {
            const float factor = weight[side] * corner.near * corner.far;
            const T* const row = corner.line + index[side] * inner + c;
            if (count == kSumsAtOnce) {
              for (int64_t k = 0; k < kSumsAtOnce; ++k) sums[k] += factor * static_cast<float>(row[k]);
            } else {
              for (int64_t k = 0; k < count; ++k) sums[k] += factor * static_cast<float>(row[k]);
            }
          }
        }
        store_cut(sums, count, to + c);
      }
    }
  }

  const T* x_;
  T* y_;
  Shape from_, to_;
  std::span<const LinearAxis> axes_;
  LinearAxis last_;
};

}  // namespace rh::cpu
