#include "providers/openvino/operators.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "providers/openvino/checks.h"
#include "providers/openvino/rewrites.h"

namespace rh::openvino {

namespace {

using kit::Support, kit::refuse;

const std::set<std::pair<std::string_view, std::string_view>>& operators() {
  static const std::set<std::pair<std::string_view, std::string_view>> all = {
#define RH_OPENVINO_OP(domain, name) {domain, name},
#include "providers/openvino/operator_list.inc"
#undef RH_OPENVINO_OP
  };
  return all;
}

/// Types whose values OpenVINO's CPU device keeps: it computes float64 in float32.
bool is_kept(DType type) {
  switch (type) {
    case DType::float32:
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

bool is_empty(const TensorType& type) {
  return type.has_rank() && std::ranges::any_of(*type.dims, [](const Dim& dim) { return dim.is_constant(0); });
}

Support check_type(const ValueType& type, const char* what, int index, bool narrow) {
  if (!type.is_tensor()) return refuse(RhRefusalCode_TYPE, "{} {} is {}, it runs tensors", what, index, type.to_string());
  const DType dtype = type.tensor().dtype;
  if (dtype == DType::undefined) return refuse(RhRefusalCode_TYPE, "{} {} has no known type", what, index);
  const bool is_packed = dtype == DType::int4 || dtype == DType::uint4;
  if (is_kept(dtype) || (narrow && is_packed)) return {};
  return refuse(RhRefusalCode_TYPE, "{} {} is of {}, which OpenVINO would change to another type", what, index, to_string(dtype));
}

DType input_dtype(const NodeView& node, int i) {
  return node.has_input(i) && node.input_type(i).is_tensor() ? node.input_type(i).tensor().dtype : DType::undefined;
}

Support check_types(const NodeView& node) {
  const bool narrow = node.op_type() == "DequantizeLinear";
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    const ValueType& type = node.input_type(i);
    if (i == 1 && is_rewritten(node) && (node.op_type() == "CastLike" || node.op_type().starts_with("Reduce"))) continue;  // it goes
    if (Support refusal = check_type(type, "input", i, narrow)) return refusal;
    const bool may_be_empty = node.constant_input(i) && (i > 0 || node.op_type() == "ConstantOfShape");  // sizes and axes that are left out
    if (is_empty(type.tensor()) && !may_be_empty) {
      return refuse(RhRefusalCode_SHAPE, "input {} has no elements, which ends the process in OpenVINO", i);
    }
  }
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    const ValueType& type = node.graph().value(node.node().outputs[static_cast<size_t>(i)]).type;
    if (Support refusal = check_type(type, "output", i, false)) return refusal;
    if (is_empty(type.tensor())) return refuse(RhRefusalCode_SHAPE, "output {} has no elements", i);
  }
  return {};
}

// --- what OpenVINO is known to get wrong, or to crash on; the official cases show each (tests/vendors/cases.py)

/// Sums and products: OpenVINO's narrow integers end at their limits instead of going round.
Support check_arithmetic(const NodeView& node) {
  const DType type = input_dtype(node, 0);
  if (!is_integer(type) || type == DType::int32 || type == DType::int64) return {};
  return refuse(RhRefusalCode_TYPE, "of {} OpenVINO gives the largest number where the sum or product goes round", to_string(type));
}

Support check_roi_align(const NodeView& node) {
  if (node.string_or("mode", "avg") == "avg") return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has mode max, which OpenVINO computes otherwise");
}

Support check_bit_shift(const NodeView&) { return refuse(RhRefusalCode_OP, "OpenVINO's shifts end at the largest number"); }

Support check_bit_cast(const NodeView&) {
  return refuse(RhRefusalCode_OP, "OpenVINO has no operator BitCast, and its types are not integers of one size");
}

Support check_division(const NodeView& node) {
  if (!is_integer(input_dtype(node, 0)) || has_plain_divisor(node)) return {};
  return refuse(RhRefusalCode_TYPE, "its divisor may be 0 or -1, which would end the process in OpenVINO");
}

Support check_dropout(const NodeView& node) {
  if (node.has_output(1)) return refuse(RhRefusalCode_ATTRIBUTE, "its mask is asked for");
  if (node.has_input(2)) return refuse(RhRefusalCode_ATTRIBUTE, "whether it is in training is known in a run alone");
  return {};
}

Support check_pad(const NodeView& node) {
  if (!node.has_input(2) || node.constant_input(2)) return {};
  return refuse(RhRefusalCode_SHAPE, "its value is known in a run alone");
}

Support check_scatter(const NodeView& node) {
  const ValueId data = node.node().inputs[0];
  if (node.graph().value(data).consumers.size() == 1 && !node.graph().value(data).is_output) return {};
  return refuse(RhRefusalCode_UNIT, "OpenVINO writes into its data, which others take as well");
}

Support check_reduction(const NodeView& node) {
  if (is_rewritten(node)) return {};
  if (!node.flag("noop_with_empty_axes")) return {};
  const Tensor* axes = node.constant_input(1);
  if (axes && axes->elements() > 0) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has noop_with_empty_axes, which OpenVINO leaves out of account");
}

Support check_logarithm(const NodeView& node) {
  if (is_integer(input_dtype(node, 0))) return refuse(RhRefusalCode_TYPE, "of integers OpenVINO rounds between its steps");
  return check_reduction(node);
}

Support check_sum(const NodeView& node) {
  if (Support refusal = check_reduction(node)) return refusal;
  return check_arithmetic(node);
}

Support check_reduced_extreme(const NodeView& node) {
  if (is_rewritten(node)) return {};
  if (Support refusal = check_reduction(node)) return refusal;
  if (!is_floating(input_dtype(node, 0))) return {};
  return refuse(RhRefusalCode_TYPE, "of infinities, and of nothing, OpenVINO gives the largest float instead of infinity");
}

/// Whether an axis may keep its size though its scale is not 1. Those that shrink, or are twice as long or more, never do.
bool may_keep_size(const NodeView& node, const std::vector<float>& scales) {
  const TensorType& data = node.input_type(0).tensor();
  const std::vector<int64_t> axes = node.ints_or("axes");
  for (size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] <= 1 || scales[i] >= 2) continue;
    if (!data.has_rank()) return true;
    const int64_t at = i < axes.size() ? axes[i] + (axes[i] < 0 ? data.rank() : 0) : static_cast<int64_t>(i);
    if (at < 0 || at >= data.rank()) return true;
    const Dim& size = (*data.dims)[static_cast<size_t>(at)];
    if (!size.is_constant() || std::floor(static_cast<float>(size.value()) * scales[i]) <= static_cast<float>(size.value())) return true;
  }
  return false;
}

/// The scales that the model has, by an attribute in Upsample before opset 9.
std::vector<float> scales_of(const NodeView& node, int input) {
  const Tensor* constant = node.constant_input(input);
  if (!constant || constant->dtype() != DType::float32) return node.floats_or("scales");
  return {constant->data<float>(), constant->data<float>() + constant->elements()};
}

/// OpenVINO takes an axis that keeps its size for one that stays as it is.
Support check_scales(const NodeView& node) {
  const int input = node.op_type() == "Resize" && node.opset() >= 11 ? 2 : 1;
  if (node.has_input(3) || node.string_or("coordinate_transformation_mode", "") == "align_corners") return {};  // the sizes say it all
  if (node.has_input(input) && !node.constant_input(input)) {
    return refuse(RhRefusalCode_SHAPE, "its scales are known in a run alone, and OpenVINO leaves an axis as it is that keeps its size");
  }
  if (!may_keep_size(node, scales_of(node, input))) return {};
  return refuse(RhRefusalCode_SHAPE, "its scales resample an axis that may keep its size, which OpenVINO leaves as it is");
}

Support check_upsample(const NodeView& node) {
  const auto is_whole = [](float scale) { return scale == std::floor(scale); };
  if (node.string_or("mode", "nearest") == "nearest" && !std::ranges::all_of(scales_of(node, 1), is_whole)) {
    return refuse(RhRefusalCode_ATTRIBUTE, "its scales are not whole, for which OpenVINO takes other elements");
  }
  return check_scales(node);
}

Support check_resize(const NodeView& node) {
  if (node.opset() == 10 && node.string_or("mode", "nearest") == "nearest") {
    const Tensor* scales = node.constant_input(1);
    const bool only_grows =
        scales && scales->dtype() == DType::float32 &&
        std::all_of(scales->data<float>(), scales->data<float>() + scales->elements(), [](float by) { return by >= 1; });
    if (!only_grows) return refuse(RhRefusalCode_OPSET, "in opset 10 it may shrink to other elements than OpenVINO takes");
  }
  if (node.flag("antialias")) return refuse(RhRefusalCode_ATTRIBUTE, "it has antialias, which OpenVINO computes otherwise");
  if (node.flag("exclude_outside")) return refuse(RhRefusalCode_ATTRIBUTE, "it has exclude_outside, which OpenVINO leaves out of account");
  if (node.string_or("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return refuse(RhRefusalCode_ATTRIBUTE, "it has keep_aspect_ratio_policy, which OpenVINO leaves out of account");
  }
  return check_scales(node);
}

bool are_ones(const Tensor& numbers) {
  const auto holds = [&](const auto* data) { return std::all_of(data, data + numbers.elements(), [](auto x) { return x == 1; }); };
  return numbers.dtype() == DType::int32 ? holds(numbers.data<int32_t>()) : holds(numbers.data<int64_t>());
}

/// Whether all numbers are constant and -1 or more.
bool begins_within(const Tensor* starts) {
  const auto holds = [&](const auto* data) { return std::all_of(data, data + starts->elements(), [](auto x) { return x >= -1; }); };
  if (!starts) return false;
  return starts->dtype() == DType::int32 ? holds(starts->data<int32_t>()) : holds(starts->data<int64_t>());
}

bool has_negative(const Tensor& numbers) {
  const auto holds = [&](const auto* data) { return std::any_of(data, data + numbers.elements(), [](auto x) { return x < 0; }); };
  return numbers.dtype() == DType::int32 ? holds(numbers.data<int32_t>()) : holds(numbers.data<int64_t>());
}

Support check_slice(const NodeView& node) {
  if (!node.has_input(4)) return {};
  const Tensor* steps = node.constant_input(4);
  if (!steps) return refuse(RhRefusalCode_SHAPE, "its steps are known in a run alone");
  if (has_negative(*steps) && (!begins_within(node.constant_input(1)) || !node.constant_input(2))) {
    return refuse(RhRefusalCode_SHAPE, "it goes backwards from where OpenVINO may take for another place");
  }
  if (!node.has_input(3) || node.constant_input(3) || are_ones(*steps)) return {};
  return refuse(RhRefusalCode_SHAPE, "it has steps and its axes are known in a run alone, which may end the process in OpenVINO");
}

Support check_space_to_depth(const NodeView& node) {
  if (node.string_or("mode", "DCR") == "DCR") return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it has mode CRD, which OpenVINO leaves out of account");
}

Support check_tile(const NodeView& node) {
  if (node.constant_input(1)) return {};
  return refuse(RhRefusalCode_SHAPE, "its repeats are known in a run alone, and OpenVINO then leaves its result unwritten");
}

/// What OpenVINO's CPU computes with channels last, for which it moves a Transpose before it.
bool is_laid_out_anew(std::string_view op) {
  constexpr std::string_view kOps[] = {"AveragePool",   "Conv",    "ConvInteger", "ConvTranspose", "GlobalAveragePool",
                                       "GlobalMaxPool", "MaxPool", "QLinearConv", "Resize",        "Upsample"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

Support check_transpose(const NodeView& node) {
  const Graph& graph = node.graph();
  const auto is_taken_by = [&](ValueId id, auto&& is_such) {
    return std::ranges::any_of(graph.value(id).consumers, [&](NodeId consumer) { return is_such(graph.node(consumer).op_type); });
  };
  const Node& self = node.node();
  if (!is_taken_by(self.inputs[0], [](std::string_view op) { return op == "Concat"; })) return {};
  if (!is_taken_by(self.outputs[0], is_laid_out_anew)) return {};
  return refuse(RhRefusalCode_UNIT, "a Concat takes its data as well, and OpenVINO then reads it elsewhere for what follows");
}

Support check_top_k(const NodeView&) { return refuse(RhRefusalCode_OP, "OpenVINO orders equal values otherwise than the standard says"); }

Support check_suppression(const NodeView&) {
  return refuse(RhRefusalCode_OP, "OpenVINO suppresses boxes whose overlap is the threshold itself, which the standard keeps");
}

/// Of the opsets in which an operator meant something else, what OpenVINO computes by a newer one's rules.
Support check_batch_norm(const NodeView& node) {
  if (node.opset() < 9 && !node.flag("spatial", true)) return refuse(RhRefusalCode_ATTRIBUTE, "it has parameters for each element");
  if (node.opset() >= 7 || node.flag("is_test")) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it takes the batch's own mean and variance, which OpenVINO leaves out of account");
}

Support check_one_hot(const NodeView& node) {
  if (node.opset() >= 11) return {};
  return refuse(RhRefusalCode_OPSET, "before opset 11 a negative index has no place, which OpenVINO gives one");
}

Support check_softmax(const NodeView& node) {
  if (node.opset() < 11 || node.opset() >= 13) return {};
  const TensorType& type = node.input_type(0).tensor();
  const int64_t axis = node.int_or("axis", 1);
  if (axis == -1 || (type.has_rank() && axis == static_cast<int64_t>(type.rank()) - 1)) return {};
  return refuse(RhRefusalCode_OPSET, "before opset 13 it is over all dimensions from its axis on, for OpenVINO over that one");
}

Support check_split(const NodeView& node) {
  if (node.opset() >= 2 || !node.has_input(1)) return {};
  return refuse(RhRefusalCode_OPSET, "it is of opset 1 and has its parts as an input, which OpenVINO leaves out of account");
}

struct Check {
  std::string_view op_type;
  Support (*check)(const NodeView&);
};
constexpr Check kChecks[] = {
    {"Add", check_arithmetic},
    {"BatchNormalization", check_batch_norm},
    {"BitCast", check_bit_cast},
    {"BitShift", check_bit_shift},
    {"CumSum", check_arithmetic},
    {"Div", check_division},
    {"Dropout", check_dropout},
    {"Mean", check_arithmetic},
    {"Mod", check_division},
    {"Mul", check_arithmetic},
    {"Neg", check_arithmetic},
    {"NonMaxSuppression", check_suppression},
    {"OneHot", check_one_hot},
    {"Pad", check_pad},
    {"Pow", check_arithmetic},
    {"ReduceL1", check_reduction},
    {"ReduceL2", check_reduction},
    {"ReduceLogSum", check_logarithm},
    {"ReduceLogSumExp", check_logarithm},
    {"ReduceMax", check_reduced_extreme},
    {"ReduceMean", check_reduction},
    {"ReduceMin", check_reduced_extreme},
    {"QuantizeLinear", check_quantize},
    {"ReduceProd", check_sum},
    {"ReduceSum", check_sum},
    {"ReduceSumSquare", check_reduction},
    {"Resize", check_resize},
    {"RoiAlign", check_roi_align},
    {"ScatterElements", check_scatter},
    {"ScatterND", check_scatter},
    {"Slice", check_slice},
    {"Softmax", check_softmax},
    {"SpaceToDepth", check_space_to_depth},
    {"Split", check_split},
    {"Sub", check_arithmetic},
    {"Sum", check_arithmetic},
    {"Tile", check_tile},
    {"TopK", check_top_k},
    {"Transpose", check_transpose},
    {"Upsample", check_upsample},
};

}  // namespace

Support supports_alone(const NodeView& node) {
  if (!operators().contains({node.domain(), node.op_type()})) {
    return refuse(RhRefusalCode_OP, "OpenVINO has no operator {}", node.node().op_text());
  }
  if (Support refusal = check_types(node)) return refusal;
  if (node.opset() < 7 && node.flag("broadcast") && node.has("axis")) {
    return refuse(RhRefusalCode_ATTRIBUTE,
                  "its operands are broadcast from an axis, which OpenVINO leaves out of account in many operators");
  }
  if (Support refusal = check_layer(node)) return refusal;
  if (Support refusal = check_attention(node)) return refusal;
  if (Support refusal = check_integers(node)) return refusal;
  if (is_rewritten(node) && !node.op_type().starts_with("Reduce")) return {};
  const auto at = std::ranges::find(kChecks, node.op_type(), &Check::op_type);
  return at == std::end(kChecks) || !node.domain().empty() ? Support() : at->check(node);
}

}  // namespace rh::openvino
