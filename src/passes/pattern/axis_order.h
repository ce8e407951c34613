#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/dim.h"
#include "ops/node_view.h"
#include "tensor/tensor.h"

namespace rh::passes {

using Permutation = std::vector<int64_t>;

Permutation inverse(const Permutation& permutation);
/// Of a Transpose; nothing where it is left out and the rank is not known, or is none.
std::optional<Permutation> permutation_of(const NodeView& transpose);

/// The two orders in which the dimensions of a value can stand: axis i of the second is axis permutation[i] of the first.
struct AxisOrder {
  Permutation permutation;
  bool second = false;  ///< which of the two they have in the graph

  /// Axis i of the order that they do not have is axis [i] of the one that they have.
  Permutation other() const { return second ? inverse(permutation) : permutation; }
  AxisOrder turned() const { return {permutation, !second}; }
  friend bool operator==(const AxisOrder&, const AxisOrder&) = default;
};

/// Whether there is such an axis, which may count from the end.
bool is_axis(const AxisOrder& order, int64_t axis);
/// Where it stands in the other order, counted from the front.
int64_t moved_axis(const AxisOrder& order, int64_t axis);
/// Whether the dimensions from this axis on stand where they are in either order.
bool keeps_last(const AxisOrder& order, int64_t axis);

/// The elements in another order of dimensions, of which the tensor's own are the last and the others 1. Elements are whole bytes.
Tensor permuted(const Tensor& x, const Permutation& permutation);

/// The dimensions in the order that they do not have.
SymbolicShape in_other_order(const AxisOrder& order, const SymbolicShape& dims);

/// The order of a view `to` of a value `from`, which splits and joins its dimensions, so that the same view of the value in its other order
/// is `to` in its own other order. Nothing where dimensions that are joined would not stay together.
std::optional<AxisOrder> order_of_view(const AxisOrder& order, const SymbolicShape& from, const SymbolicShape& to);

/// The dimensions that two shapes of one value have in common once those of either are taken apart as far as the other's ask for.
struct CommonDims {
  SymbolicShape dims;
  std::vector<size_t> from, to;  ///< where each dimension of the one and of the other begins among them; one entry more at the end
};
/// Nothing where there are none, or where sizes do not tell.
std::optional<CommonDims> common_dims(const SymbolicShape& from, const SymbolicShape& to);

/// What Reshape takes to make `to` of `from`; nothing where more than one size would have to be found in a run.
std::optional<std::vector<int64_t>> reshape_target(const SymbolicShape& from, const SymbolicShape& to);

}  // namespace rh::passes
