#include "ops/tensor/gather.h"
#include "ops/tensor/gather_elements.h"
#include "ops/tensor/gather_nd.h"
#include "ops/tensor/scatter_elements.h"
#include "ops/tensor/scatter_nd.h"
#include "providers/coreml/lowerings.h"

namespace rh::coreml {

namespace {

using kit::Support, kit::refuse;
using ops::ScatterReduction;

std::string_view mode_of(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::add: return "add";
    case ScatterReduction::mul: return "mul";
    case ScatterReduction::min: return "min";
    case ScatterReduction::max: return "max";
    default: return "update";
  }
}

/// Indices that count from the end for some of a run's values count from the front. `sizes`: of what they count.
Mil from_the_front(Lowering& to, const Mil& indices, const Mil& sizes) {
  const Mil is_negative = to.compare("less", indices, to.program.number(0));
  const Mil moved = to.binary("add", indices, sizes);
  return to.program.op("select", {{"cond", is_negative}, {"a", moved}, {"b", indices}}, DType::int32, indices.shape);
}

/// Of places: the last axis has an index for each of the first axes.
Mil places_of(Lowering& to, const NodeView& node, const Shape& shape) {
  const Mil places = to.input(node, 1);
  const auto count = static_cast<size_t>(places.shape[places.shape.size() - 1]);
  return from_the_front(to, places, to.program.ints({shape.begin(), count}));
}

Mil indices_of(Lowering& to, const NodeView& node, int64_t size) {
  const Tensor* constant = node.constant_input(1);
  if (!constant) return from_the_front(to, to.input(node, 1), to.program.number(size));
  Tensor moved(DType::int64, constant->shape());
  for (int64_t i = 0; i < constant->elements(); ++i) {
    const int64_t index = element_as_int(constant->view(), i);
    if (index < -size || index >= size) node.fail("the index {} is outside of {} elements", index, size);
    moved.data<int64_t>()[i] = index < 0 ? index + size : index;
  }
  return to.program.constant(moved);
}

/// MIL's indices of single elements lie along the axis alone: in the other axes there are as many as elements.
void check_along(const NodeView& node, const Mil& x, const Mil& indices, int axis) {
  for (int i = 0; i < x.shape.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (i != axis && indices.shape[at] != x.shape[at])
      node.fail("its indices are {} of {}", indices.shape.to_string(), x.shape.to_string());
  }
}

}  // namespace

void lower_gather(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.as_number(to.input(node, 0));
  const int axis = normalize_axis(ops::Gather::read(node).axis, x.shape.rank());
  const auto at = static_cast<size_t>(axis);
  const Mil indices = indices_of(to, node, x.shape[at]);
  const Mil flat = indices.shape.rank() == 0 ? to.reshape(indices, {1}) : indices;
  Shape shape(x.shape.begin(), x.shape.begin() + at);
  for (const int64_t size : flat.shape) shape.push_back(size);
  for (size_t i = at + 1; i < x.shape.size(); ++i) shape.push_back(x.shape[i]);
  const Mil gathered = to.program.op(mil, {{"x", x}, {"indices", flat}, {"axis", to.program.number(axis)}}, x.dtype, shape);
  to.give(node, to.reshape(gathered, to.output_shape(node)));
}

void lower_gather_elements(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.as_number(to.input(node, 0));
  const int axis = normalize_axis(ops::GatherElements::read(node).axis, x.shape.rank());
  const Mil indices = indices_of(to, node, x.shape[static_cast<size_t>(axis)]);
  check_along(node, x, indices, axis);
  to.give(node, to.program.op(mil, {{"x", x}, {"indices", indices}, {"axis", to.program.number(axis)}}, x.dtype, indices.shape));
}

Support check_gather_nd(const NodeView& node) {
  if (ops::GatherND::read(node).batch_dims == 0) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has batch_dims, which Core ML has from iOS 16 on");
}

void lower_gather_nd(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.as_number(to.input(node, 0));
  to.give(node, to.program.op(mil, {{"x", x}, {"indices", places_of(to, node, x.shape)}}, x.dtype, to.output_shape(node)));
}

Support check_scatter(const NodeView& node) {
  if (node.input_type(0).tensor().dtype != DType::boolean) return {};
  return refuse(RhRefusalCode_TYPE, "input 0 is of bool, it scatters numbers");
}

void lower_scatter_elements(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::ScatterElements op = ops::ScatterElements::read(node);
  const Mil x = to.input(node, 0);
  const int axis = normalize_axis(op.axis, x.shape.rank());
  const Mil indices = indices_of(to, node, x.shape[static_cast<size_t>(axis)]);
  check_along(node, x, indices, axis);
  const Arguments arguments = {{"data", x},
                               {"indices", indices},
                               {"updates", to.input(node, 2)},
                               {"axis", to.program.number(axis)},
                               {"mode", to.program.text(mode_of(op.reduction))}};
  to.give(node, to.program.op(mil, arguments, x.dtype, x.shape));
}

void lower_scatter_nd(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  const Arguments arguments = {{"data", x},
                               {"indices", places_of(to, node, x.shape)},
                               {"updates", to.input(node, 2)},
                               {"mode", to.program.text(mode_of(ops::ScatterND::read(node).reduction))}};
  to.give(node, to.program.op(mil, arguments, x.dtype, x.shape));
}

}  // namespace rh::coreml
