#include "ops/quant/quantize_linear.h"

#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

DType dtype_attribute(const NodeView& node, std::string_view attribute) {
  const int64_t number = node.int_or(attribute, 0);
  if (number == 0) return DType::undefined;
  if (number < 0 || number >= kDTypeCount) node.fail("{} is {}, expected the number of an element type", attribute, number);
  return static_cast<DType>(number);
}

namespace {

int axis_of_scales(const InferenceContext& context, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    fail_when_run(context.node(), "axis is {}, expected a value in [{}, {}] for rank {}", axis, -rank, rank - 1, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace

void check_scales(InferenceContext& context, int64_t axis, int64_t block_size) {
  const TensorType &x = context.input_tensor(0), &scale = context.input_tensor(1);
  if (context.has_input(2)) {
    const TensorType& zero_point = context.input_tensor(2);
    const bool ranks = scale.has_rank() && zero_point.has_rank();
    // A number and a list of one number mean the same.
    const bool single = ranks && scale.rank() <= 1 && zero_point.rank() <= 1;
    if (ranks && !single && scale.rank() != zero_point.rank()) {
      fail_when_run(context.node(), "the scale has shape {} and the zero point {}, expected the same", to_string(*scale.dims),
                    to_string(*zero_point.dims));
    }
  }
  if (!x.has_rank() || !scale.has_rank()) return;
  if (block_size == 0) {
    if (scale.rank() > 1) fail_when_run(context.node(), "the scale has shape {}, expected a number or a list", to_string(*scale.dims));
    const bool is_list = scale.rank() == 1 && (*scale.dims)[0].is_constant() && (*scale.dims)[0].value() != 1;
    if (!is_list) return;
    const Dim& size = (*x.dims)[static_cast<size_t>(axis_of_scales(context, axis, x.rank()))];
    if (size.is_constant() && size.value() != (*scale.dims)[0].value()) {
      fail_when_run(context.node(), "the scale has {} elements, expected {}: the size of axis {} of {}", (*scale.dims)[0].value(),
                    size.value(), axis, to_string(*x.dims));
    }
    return;
  }
  if (scale.rank() != x.rank()) {
    fail_when_run(context.node(), "the scale has shape {} and the input {}, expected the same rank with block_size {}",
                  to_string(*scale.dims), to_string(*x.dims), block_size);
  }
  const int blocked = axis_of_scales(context, axis, x.rank());
  for (int i = 0; i < x.rank(); ++i) {
    const Dim &size = (*x.dims)[static_cast<size_t>(i)], &scales = (*scale.dims)[static_cast<size_t>(i)];
    if (!size.is_constant() || !scales.is_constant()) continue;
    const int64_t expected = i == blocked ? size.value() / block_size + (size.value() % block_size != 0) : size.value();
    if (scales.value() != expected) {
      fail_when_run(context.node(), "the scale has shape {}, expected {} along axis {}: the input has shape {} and block_size is {}",
                    to_string(*scale.dims), expected, i, to_string(*x.dims), block_size);
    }
  }
}

QuantizeLinear QuantizeLinear::read(const NodeView& node) {
  const QuantizeLinear op{.axis = node.int_or("axis", 1),
                          .block_size = node.int_or("block_size", 0),
                          .saturate = node.flag("saturate", true),
                          .to = dtype_attribute(node, "output_dtype"),
                          .precision = dtype_attribute(node, "precision")};
  if (op.block_size < 0) node.fail("block_size is {}, expected at least 0", op.block_size);
  const bool known = op.precision == DType::undefined || op.precision == DType::float32 || op.precision == DType::float16 ||
                     op.precision == DType::bfloat16;
  if (!known) node.fail("precision is {}, expected float, float16 or bfloat16", to_string(op.precision));
  return op;
}

void infer(const QuantizeLinear& op, InferenceContext& context) {
  check_scales(context, op.axis, op.block_size);
  DType to = op.to;
  if (context.has_input(2)) {
    const DType zero_point = context.input_dtype(2);
    if (to != DType::undefined && zero_point != DType::undefined && to != zero_point) {
      context.node().fail("output_dtype is {} and the zero point {}, expected the same", to_string(to), to_string(zero_point));
    }
    if (to == DType::undefined) to = zero_point;
  } else if (to == DType::undefined) {
    to = DType::uint8;
  }
  context.set_output(0, to, context.input_tensor(0).dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(QuantizeLinear)
