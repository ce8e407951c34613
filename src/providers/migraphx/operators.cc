#include "providers/migraphx/operators.h"

#include <algorithm>
#include <string_view>

#include "providers/kit/shapes/computed_sizes.h"

namespace rh::migraphx {

namespace {

using kit::Support, kit::refuse;

/// Those of ONNX that MIGraphX's parser has; its Attention is another operator's.
constexpr std::string_view kOperators =
    "Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization BitwiseAnd Cast CastLike Ceil "
    "Celu Clip Concat Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh CumSum DepthToSpace DequantizeLinear "
    "Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements "
    "GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization "
    "HardSigmoid HardSwish Hardmax Identity If InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less "
    "LessOrEqual Log LogSoftmax Loop LpNormalization LpPool MatMul MatMulInteger Max MaxPool Mean MeanVarianceNormalization "
    "Min Mod Mul Neg NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Or PRelu Pad Pow QLinearConv QLinearMatMul "
    "QuantizeLinear RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
    "ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize ReverseSequence RoiAlign RotaryEmbedding Round Scan Scatter "
    "ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax SoftmaxCrossEntropyLoss Softplus "
    "Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze "
    "Upsample Where Xor";

bool has_word(std::string_view list, std::string_view word) {
  for (std::string_view rest = list; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == word) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
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

Support check_type(const ValueType& type, const char* what, int index, bool may_be_empty) {
  if (!type.is_tensor()) return refuse(RhRefusalCode_TYPE, "{} {} is {}, it runs tensors", what, index, type.to_string());
  const TensorType& tensor = type.tensor();
  if (!has_type(tensor.dtype)) return refuse(RhRefusalCode_TYPE, "{} {} is of {}, which it has not", what, index, to_string(tensor.dtype));
  if (Support refusal = kit::refuse_computed_sizes(type, what, index)) return refusal;
  return may_be_empty ? Support() : kit::refuse_no_elements(type, what, index);
}

bool is_reduction(const NodeView& node) { return node.op_type().starts_with("Reduce"); }

Support check_types(const NodeView& node) {
  const bool may_be_empty = is_reduction(node);  // which then give what they begin with
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    if (const Tensor* constant = node.constant_input(i); constant && constant->elements() == 0)
      continue;                                            // sizes and axes that are left out
    if (i == 1 && node.op_type() == "CastLike") continue;  // of which it takes the type alone
    if (Support refusal = check_type(node.input_type(i), "input", i, may_be_empty)) return refusal;
  }
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    if (Support refusal = check_type(node.graph().value(node.node().outputs[static_cast<size_t>(i)]).type, "output", i, may_be_empty))
      return refusal;
  }
  return {};
}

// --- what MIGraphX is known to get wrong, or to end the process on: the official cases and generated nodes show each (tests/vendors)

DType type_of(const NodeView& node, int input = 0) { return node.input_type(input).tensor().dtype; }
bool is_float(const NodeView& node) { return is_floating(type_of(node)); }
bool is_always(const NodeView&) { return true; }
bool has_axis(const NodeView& node) { return node.opset() < 7 && node.has("broadcast") && node.has("axis"); }
bool has_ignored(const NodeView& node) { return node.has("ignore_index"); }
bool has_zero_points(const NodeView& node) { return node.has_input(2) || node.has_input(3); }
bool has_uint8(const NodeView& node) { return type_of(node) != DType::int8 || type_of(node, 1) != DType::int8; }
bool has_clip(const NodeView& node) { return node.has("clip") || node.flag("input_forget"); }

bool is_unsigned(const NodeView& node) {
  const DType type = type_of(node);
  return type == DType::uint8 || type == DType::uint16 || type == DType::uint32 || type == DType::uint64;
}
bool adds_output(const NodeView& node) {
  return std::ranges::any_of(node.ints_or("output_padding"), [](int64_t size) { return size != 0; });
}
bool may_train(const NodeView& node) {
  if (!node.has_input(2)) return false;
  const Tensor* training = node.constant_input(2);
  return !training || training->dtype() != DType::boolean || training->elements() != 1 || *training->data<bool>();
}
/// By pytorch_half_pixel a size of 1 is read at the first place.
bool may_become_one(const NodeView& node) {
  if (node.string_or("coordinate_transformation_mode", "") != "pytorch_half_pixel") return false;
  const SymbolicShape& before = *node.input_type(0).tensor().dims;
  const SymbolicShape& after = *node.graph().value(node.node().outputs[0]).type.tensor().dims;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i] != after[i] && (!after[i].is_constant() || after[i].is_constant(1))) return true;
  }
  return false;
}
bool is_half_pixel(const NodeView& node) {
  return node.string_or("coordinate_transformation_mode", node.opset() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
}
bool is_open_cubic(const NodeView& node) {
  if (!node.string_or("mode", "").ends_with("cubic")) return false;
  return std::ranges::any_of(*node.input_type(0).tensor().dims, [](const Dim& dim) { return !dim.is_constant(); }) ||
         std::ranges::any_of(*node.input_type(1).tensor().dims, [](const Dim& dim) { return !dim.is_constant(); });
}
bool is_of_elements(const NodeView& node) { return node.opset() < 9 && !node.flag("spatial", true); }
bool is_flat(const NodeView& node) {
  const auto last = static_cast<int64_t>(node.input_type(0).tensor().dims->size()) - 1;
  const int64_t axis = node.int_or("axis", 1);
  return node.opset() < 13 && axis != -1 && axis != last;
}

struct Wrong {
  std::string_view op_types;
  bool (*is)(const NodeView&);
  RhRefusalCode code;
  std::string_view why;
};
constexpr Wrong kWrong[] = {
    {"Abs", is_unsigned, RhRefusalCode_TYPE, "of numbers without a sign MIGraphX takes the upper half for negative"},
    {"Add And Div Equal Greater Less Mul Or Pow Sub Xor", has_axis, RhRefusalCode_ATTRIBUTE,
     "it has broadcast along an axis, which MIGraphX leaves out of account"},
    {"BatchNormalization", is_of_elements, RhRefusalCode_ATTRIBUTE, "it has parameters for each element"},
    {"ConvInteger", has_zero_points, RhRefusalCode_ATTRIBUTE, "it has zero points, of which MIGraphX takes account otherwise"},
    {"ConvInteger MatMulInteger", has_uint8, RhRefusalCode_TYPE, "of uint8 MIGraphX gives other results"},
    {"ConvTranspose", adds_output, RhRefusalCode_ATTRIBUTE, "it has output_padding, which MIGraphX fills with nothing"},
    {"Dropout", may_train, RhRefusalCode_ATTRIBUTE, "it may be in training, which MIGraphX leaves out of account"},
    {"DynamicQuantizeLinear", is_always, RhRefusalCode_OP, "MIGraphX gives 0 where the largest number is rounded up beyond 255"},
    {"GRU LSTM RNN", has_clip, RhRefusalCode_ATTRIBUTE, "it has clip or input_forget, of which MIGraphX takes account otherwise"},
    {"LRN", is_always, RhRefusalCode_OP, "MIGraphX sums over other channels"},
    {"Mod", [](const NodeView& node) { return is_float(node) && !node.flag("fmod"); }, RhRefusalCode_TYPE,
     "of floats MIGraphX gives no number where the divisor is infinite"},
    {"GridSample", is_open_cubic, RhRefusalCode_SHAPE, "it is cubic with open sizes, which MIGraphX's parser takes minutes for"},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", has_ignored, RhRefusalCode_ATTRIBUTE,
     "it has ignore_index, which MIGraphX counts in the mean, and which may end the process in it"},
    {"QLinearConv", [](const NodeView& node) { return node.has_input(8); }, RhRefusalCode_ATTRIBUTE,
     "it has a bias, which MIGraphX adds otherwise"},
    {"ReduceLogSumExp", [](const NodeView& node) { return !is_float(node); }, RhRefusalCode_TYPE,
     "of integers MIGraphX rounds before the sum"},
    {"Resize", may_become_one, RhRefusalCode_ATTRIBUTE,
     "its mode is pytorch_half_pixel, which MIGraphX takes otherwise where a size becomes 1"},
    {"RoiAlign", is_half_pixel, RhRefusalCode_ATTRIBUTE, "its mode is half_pixel, where MIGraphX gives other results for small boxes"},
    {"Hardmax LogSoftmax Softmax", is_flat, RhRefusalCode_ATTRIBUTE,
     "before opset 13 it is over all axes from its own on, of which MIGraphX takes one"},
    {"SpaceToDepth", [](const NodeView& node) { return node.string_or("mode", "DCR") != "DCR"; }, RhRefusalCode_ATTRIBUTE,
     "it has mode CRD, which MIGraphX leaves out of account"},
};

}  // namespace

Support supports_alone(const NodeView& node) {
  if (!node.domain().empty() || !has_word(kOperators, node.op_type())) {
    return refuse(RhRefusalCode_OP, "MIGraphX has no operator {}", node.node().op_text());
  }
  if (Support refusal = check_types(node)) return refusal;
  for (const Wrong& row : kWrong) {
    if (has_word(row.op_types, node.op_type()) && row.is(node)) return refuse(row.code, "{}", row.why);
  }
  return {};
}

}  // namespace rh::migraphx
