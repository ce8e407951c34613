#pragma once

#include "graph/edit.h"
#include "passes/pattern/axis_order.h"

namespace rh::passes {

/// A node under way to its other order.
struct Turn {
  const Graph& graph;
  Edit& edit;
  const Node& node;
  const AxisOrder& order;
  bool inputs_stay;  ///< in the order that they have
  Node made;

  int rank() const { return static_cast<int>(order.permutation.size()); }
  ValueId constant(size_t input, Tensor value) { return edit.add_constant(graph.value(node.inputs[input]).name, std::move(value)); }
};

/// What a product by weights or a convolution becomes where its values have their dimensions in the other order.
enum class Conversion : uint8_t {
  none,       ///< it stays a product
  pointwise,  ///< a product becomes a convolution of single pixels
  product,    ///< the other way round
  depthwise,  ///< a convolution of each channel by itself has its channels last
  patches,    ///< a convolution takes and gives its channels last
  images,     ///< the same, or it takes planes
};

/// Nothing where it cannot work so.
std::optional<Conversion> conversion_of(const NodeView& node, const AxisOrder& order);
/// How many elements could be moved in the time that it takes more.
int64_t conversion_cost(const NodeView& node, Conversion conversion);
void convert_product(Turn& turn, Conversion conversion);

}  // namespace rh::passes
