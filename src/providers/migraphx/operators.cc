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
    if (const Tensor* constant = node.constant_input(i); constant && constant->elements() == 0)
      continue;                                            // sizes and axes that are left out
    if (i == 1 && node.op_type() == "CastLike") continue;  // of which it takes the type alone
    if (Support refusal = check_type(node.input_type(i), "input", i)) return refusal;
  }
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    if (Support refusal = check_type(node.graph().value(node.node().outputs[static_cast<size_t>(i)]).type, "output", i)) return refusal;
  }
  return {};
}

// --- what MIGraphX is known to get wrong, or to end the process on; the official cases show each (tests/vendors/cases.py)

Support check_conv_integer(const NodeView& node) {
  if (!node.has_input(2) && !node.has_input(3)) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has zero points, of which MIGraphX takes account otherwise");
}

Support check_conv_transpose(const NodeView& node) {
  const std::vector<int64_t> padding = node.ints_or("output_padding");
  if (std::ranges::all_of(padding, [](int64_t size) { return size == 0; })) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has output_padding, which MIGraphX fills with nothing");
}

Support check_dropout(const NodeView& node) {
  if (!node.has_input(2)) return {};
  const Tensor* training = node.constant_input(2);
  if (training && training->dtype() == DType::boolean && training->elements() == 1 && !*training->data<bool>()) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it may be in training, which MIGraphX leaves out of account");
}

Support check_loss(const NodeView& node) {
  if (!node.has("ignore_index")) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has ignore_index, which MIGraphX counts in the mean, and which may end the process in it");
}

Support check_reduction(const NodeView& node) {
  if (!node.has_input(1) || node.constant_input(1)) return {};
  return refuse(RhRefusalCode_SHAPE, "its axes are known in a run alone, where negative ones end the process in MIGraphX");
}

Support check_remainder(const NodeView& node) {
  if (node.flag("fmod") || !is_floating(node.input_type(0).tensor().dtype)) return {};
  return refuse(RhRefusalCode_TYPE, "of floats MIGraphX gives no number where the divisor is infinite");
}

Support check_space_to_depth(const NodeView& node) {
  if (node.string_or("mode", "DCR") == "DCR") return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has mode CRD, which MIGraphX leaves out of account");
}

struct Check {
  std::string_view op_type;
  Support (*check)(const NodeView&);
};
constexpr Check kChecks[] = {
    {"ConvInteger", check_conv_integer},
    {"ConvTranspose", check_conv_transpose},
    {"Dropout", check_dropout},
    {"Mod", check_remainder},
    {"NegativeLogLikelihoodLoss", check_loss},
    {"SoftmaxCrossEntropyLoss", check_loss},
    {"SpaceToDepth", check_space_to_depth},
};

}  // namespace

Support supports_alone(const NodeView& node) {
  if (!node.domain().empty() || !operators().contains(node.op_type())) {
    return refuse(RhRefusalCode_OP, "MIGraphX has no operator {}", node.node().op_text());
  }
  if (Support refusal = check_types(node)) return refusal;
  if (node.op_type().starts_with("Reduce")) return check_reduction(node);
  const auto at = std::ranges::find(kChecks, node.op_type(), &Check::op_type);
  return at == std::end(kChecks) ? Support() : at->check(node);
}

}  // namespace rh::migraphx
