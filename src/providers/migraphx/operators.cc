#include "providers/migraphx/operators.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace rh::migraphx {

namespace {

using kit::Support, kit::refuse;

const std::set<std::string_view>& operators() {
  static const std::set<std::string_view> all = {
#define RH_MIGRAPHX_OP(name) name,
#include "providers/migraphx/operator_list.inc"
#undef RH_MIGRAPHX_OP
  };
  return all;
}

bool has_type(DType type) {
  switch (type) {
    case DType::float32:
    case DType::float64:
    case DType::float16:
    case DType::bfloat16:
    case DType::int8:
    case DType::uint8:
    case DType::int16:
    case DType::uint16:
    case DType::int32:
    case DType::uint32:
    case DType::int64:
    case DType::uint64:
    case DType::boolean: return true;
    default: return false;
  }
}

Support check_type(const ValueType& type, const char* what, int index) {
  if (!type.is_tensor()) return refuse(RhRefusalCode_TYPE, "{} {} is {}, it runs tensors", what, index, type.to_string());
  const TensorType& tensor = type.tensor();
  if (!has_type(tensor.dtype)) return refuse(RhRefusalCode_TYPE, "{} {} is of {}, which it has not", what, index, to_string(tensor.dtype));
  if (!tensor.has_rank()) return refuse(RhRefusalCode_SHAPE, "{} {} is of a rank that is known in a run alone", what, index);
  for (const Dim& dim : *tensor.dims) {
    bool is_computed = dim.is_unknown();
    dim.for_each_symbol([&](std::string_view name) { is_computed |= is_computed_symbol(name); });
    if (is_computed) return refuse(RhRefusalCode_SHAPE, "{} {} is {}: a size that the run computes", what, index, type.to_string());
    if (dim.is_constant(0)) return refuse(RhRefusalCode_SHAPE, "{} {} has no elements", what, index);
  }
  return {};
}

Support check_types(const NodeView& node) {
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    if (const Tensor* constant = node.constant_input(i); constant && constant->elements() == 0) continue;  // sizes and axes that are left out
    if (Support refusal = check_type(node.input_type(i), "input", i)) return refusal;
  }
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    if (Support refusal = check_type(node.graph().value(node.node().outputs[static_cast<size_t>(i)]).type, "output", i)) return refusal;
  }
  return {};
}

}  // namespace

Support supports_alone(const NodeView& node) {
  if (!node.domain().empty() || !operators().contains(node.op_type())) {
    return refuse(RhRefusalCode_OP, "MIGraphX has no operator {}", node.node().op_text());
  }
  return check_types(node);
}

}  // namespace rh::migraphx
