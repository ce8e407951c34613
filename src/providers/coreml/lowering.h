#pragma once

#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "ops/node_view.h"
#include "providers/coreml/mil.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::coreml {

/// The sizes of a value's type, all of them known. Throws Error where they do not follow from those of the inputs.
using ShapeOf = FunctionRef<Shape(const TensorType&)>;

/// A region on its way into a program, for one size of each symbol.
class Lowering {
 public:
  Lowering(const Graph& graph, ShapeOf shape_of) : graph_(graph), shape_of_(shape_of) {}

  /// What a node takes, as it is in the program.
  Mil input(const NodeView& node, int i);
  Mil value(ValueId id);
  /// What a node gives. A value of another type than the node's is cast.
  void give(const NodeView& node, const Mil& result, int output = 0);
  void set(ValueId id, Mil value) { values_[id] = std::move(value); }

  Shape shape(ValueId id) const { return shape_of_(graph_.value(id).type.tensor()); }
  Shape output_shape(const NodeView& node, int i = 0) const { return shape(node.node().outputs[static_cast<size_t>(i)]); }

  /// Operators of one input whose result is like it, and of two that are broadcast.
  Mil unary(std::string_view type, const Mil& x) { return program.op(type, {{"x", x}}, x.dtype, x.shape); }
  Mil binary(std::string_view type, const Mil& x, const Mil& y) {
    return program.op(type, {{"x", x}, {"y", y}}, x.dtype, broadcast(x.shape, y.shape));
  }
  Mil compare(std::string_view type, const Mil& x, const Mil& y) {
    return program.op(type, {{"x", x}, {"y", y}}, DType::boolean, broadcast(x.shape, y.shape));
  }
  Mil reshape(const Mil& x, const Shape& shape);
  /// The reduction over some axes.
  Mil reduce(std::string_view type, const Mil& x, std::span<const int64_t> axes, bool keep_dims);
  /// A number of the value's type.
  Mil real(double number, const Mil& like) {
    return like.dtype == DType::int32 ? program.number(static_cast<int64_t>(number)) : program.real(number, like.dtype);
  }
  /// Booleans as numbers, for operators that have none.
  Mil as_number(const Mil& x) { return x.dtype == DType::boolean ? program.cast(x, DType::int32) : x; }

  Program program;

 private:
  const Graph& graph_;
  ShapeOf shape_of_;
  std::map<ValueId, Mil> values_;
};

/// The region in a program: its inputs and outputs are the region's, in their order. Throws Error with the node.
Program lower(const kit::Region& region, ShapeOf shape_of);

}  // namespace rh::coreml
