#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/inline_vector.h"
#include "ops/inference.h"

namespace rh::ops {

enum class AutoPad : uint8_t { notset, same_upper, same_lower, valid };

/// Larger sizes, which no memory has, count as this: sums with kernels and pads do not overflow.
inline constexpr int64_t kMostSize = int64_t{1} << 61;

/// One or two numbers a spatial axis.
using Sizes = InlineVector<int64_t, 6>;

inline bool all_are(const Sizes& values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

/// The sliding window that convolutions and poolings share: kernel_shape, strides, dilations, pads, auto_pad, ceil_mode. Lists have one
/// entry a spatial axis once `complete` was called; pads have all begins, then all ends.
struct Window {
  Sizes kernel, strides, dilations, pads;
  AutoPad auto_pad = AutoPad::notset;
  bool ceil_mode = false;
  bool pools =
      false;  ///< sizes are rounded towards 0: a window longer than its axis by less than a stride takes the elements that there are

  /// Throws Error{invalid_graph} for values below their minimum or beyond 32 bits. `prefix` stands before the names of all attributes.
  static Window read(const NodeView& node, const std::string& prefix = "");
  /// Fills left-out lists for a number of spatial axes; throws Error{invalid_graph} for lists of other lengths and kernels without size.
  void complete(const NodeView& node, int spatial_rank);
  /// Whether every list has its entry for this many spatial axes: what sizes can be computed from.
  bool is_complete(size_t spatial_rank) const;
  /// Begin and end padding for these spatial sizes, auto_pad resolved.
  Sizes pads_for(std::span<const int64_t> spatial) const;
  int64_t effective_kernel(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// Output size along a spatial axis; 0 or less where the window does not fit.
  int64_t output_size(size_t axis, int64_t input) const;
  /// The same; unknown where a window that does not fit is an error of the run: of a convolution over an axis that has elements, of a pool
  /// where it is longer by two strides and more.
  Dim output_dim(size_t axis, const Dim& input) const;
};

}  // namespace rh::ops
