#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "providers/openvino/checks.h"
#include "providers/openvino/rewrites.h"

namespace rh::openvino {

namespace {

using kit::Support, kit::refuse;
using Names = std::span<const std::string_view>;

constexpr int64_t kMostExact = 1 << 24;  ///< of what float32 has as it is
constexpr int kMostValues = 64;          ///< that are looked at for where one comes from

constexpr std::string_view kMoves[] = {"Compress",
                                       "Concat",
                                       "ConstantOfShape",
                                       "DepthToSpace",
                                       "Equal",
                                       "Expand",
                                       "Flatten",
                                       "Gather",
                                       "GatherElements",
                                       "GatherND",
                                       "Identity",
                                       "If",
                                       "Loop",
                                       "Pad",
                                       "Reshape",
                                       "ReverseSequence",
                                       "Scan",
                                       "ScatterElements",
                                       "ScatterND",
                                       "Shape",
                                       "Size",
                                       "Slice",
                                       "SpaceToDepth",
                                       "Split",
                                       "Squeeze",
                                       "Tile",
                                       "Transpose",
                                       "Trilu",
                                       "Unsqueeze",
                                       "Where"};
/// What gives no values beyond those that it takes, none of which passes 31 bits.
constexpr std::string_view kKeeps[] = {"BitwiseAnd", "BitwiseOr",   "BitwiseXor", "Greater", "GreaterOrEqual",
                                       "Less",       "LessOrEqual", "Max",        "Min"};
/// What may pass 32 bits though its inputs do not.
constexpr std::string_view kGrows[] = {"Add",      "CumSum",     "Einsum",    "MatMul",          "Mul", "Neg", "Pow",
                                       "ReduceL1", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Sub", "Sum"};
/// What goes by float32.
constexpr std::string_view kByFloats[] = {"Div", "Mod", "ReduceMax", "ReduceMin", "Relu", "ReverseSequence", "Trilu"};
constexpr std::string_view kDecides[] = {"And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual",
                                         "Not", "Or",    "Xor"};
constexpr std::string_view kCompares[] = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"};
/// What gives sizes and places.
constexpr std::string_view kCounts[] = {"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero", "Shape", "Size"};
constexpr std::string_view kTakesFirst[] = {"Ceil",      "Expand",    "Flatten",    "Floor",     "Gather",    "GatherElements", "Identity",
                                            "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Reshape",   "Round",          "Slice",
                                            "Split",     "Sqrt",      "Squeeze",    "Tile",      "Transpose", "Unsqueeze"};
constexpr std::string_view kTakesAll[] = {"Abs", "Add", "Concat", "Div", "Max", "Min", "Mod", "Mul", "Neg", "Range", "Sub"};

bool is_among(std::string_view op, Names names) { return std::ranges::find(names, op) != names.end(); }

DType dtype_of(const ValueType& type) { return type.is_tensor() ? type.tensor().dtype : DType::undefined; }

bool may_pass_31_bits(DType type) { return type == DType::int64 || type == DType::uint64 || type == DType::uint32; }

/// Whether all elements are within -most .. most - 1.
bool is_within(const Tensor& given, int64_t most) {
  const Tensor tensor = given.aligned();
  const auto holds = [&](const auto* data) {
    return std::all_of(data, data + tensor.elements(), [&](auto x) { return x >= -most && x < most; });
  };
  if (tensor.dtype() == DType::int64) return holds(tensor.data<int64_t>());
  if (tensor.dtype() == DType::int32) return holds(tensor.data<int32_t>());
  if (tensor.dtype() == DType::float32) return holds(tensor.data<float>());
  const auto unsigned_holds = [&](const auto* data) {
    return std::all_of(data, data + tensor.elements(), [&](uint64_t x) { return x < static_cast<uint64_t>(most); });
  };
  if (tensor.dtype() == DType::uint32) return unsigned_holds(tensor.data<uint32_t>());
  return tensor.dtype() != DType::uint64 || unsigned_holds(tensor.data<uint64_t>());
}

/// Follows a value back to sizes, places and small constants.
class Origin {
 public:
  explicit Origin(const Graph& graph) : graph_(graph) {}

  bool is_index(const NodeView& consumer, int i) {
    if (const Tensor* constant = consumer.constant_input(i)) return is_within(*constant, kMostExact);
    const DType type = dtype_of(consumer.input_type(i));
    if (type == DType::boolean || (is_integer(type) && bits_of(type) <= 16)) return true;
    const Node* producer = graph_.producer(consumer.node().inputs[static_cast<size_t>(i)]);
    if (!producer || !producer->domain.empty() || --left_ < 0) return false;
    return gives_index(NodeView(graph_, *producer), consumer.node().inputs[static_cast<size_t>(i)]);
  }

 private:
  bool gives_index(const NodeView& node, ValueId value) {
    const std::string_view op = node.op_type();
    if (is_among(op, kCounts)) return true;
    if (op == "TopK") return node.has_output(1) && node.node().outputs[1] == value;
    if (op == "Cast" || is_among(op, kTakesFirst)) return is_index(node, 0);
    if (op == "Where") return is_index(node, 1) && is_index(node, 2);
    if (op == "ConstantOfShape") return !node.tensor("value") || is_within(*node.tensor("value"), kMostExact);
    if (!is_among(op, kTakesAll)) return false;
    for (int i = 0; i < node.input_count(); ++i) {
      if (node.has_input(i) && !is_index(node, i)) return false;
    }
    return true;
  }

  const Graph& graph_;
  int left_ = kMostValues;
};

bool is_index_arithmetic(const NodeView& node) {
  Origin origin(node.graph());
  for (int i = 0; i < node.input_count(); ++i) {
    if (node.has_input(i) && !origin.is_index(node, i)) return false;
  }
  return true;
}

/// Whether all constants of what clips are such as float32 has as they are: then what is between them is so as well.
bool has_small_limits(const NodeView& node) {
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor* constant = node.constant_input(i);
    if (constant && !is_within(*constant, kMostExact)) return false;
  }
  return true;
}

/// What OpenVINO computes or compares in float32, and what it may join to a Clip, which it computes so.
Support check_long(const NodeView& node) {
  const std::string_view op = node.op_type();
  const bool compares = is_among(op, kCompares);
  if (is_among(op, kByFloats) && !(op == "Trilu" && is_rewritten(node)) && !is_index_arithmetic(node)) {
    return refuse(RhRefusalCode_TYPE, "OpenVINO computes it in float32, and its integers are neither sizes nor indices");
  }
  if (compares && !is_rewritten(node) && !has_index_operand(node)) {
    return refuse(RhRefusalCode_TYPE, "OpenVINO compares in float32, and before opset 13 its integers have to be sizes or indices");
  }
  const bool is_between = op == "Clip" && node.constant_input(1) && node.constant_input(2) && has_small_limits(node);
  const bool may_join = (op == "Max" || op == "Min") && !has_small_limits(node);
  if ((op != "Clip" && !may_join) || is_between || is_index_arithmetic(node)) return {};
  return refuse(RhRefusalCode_TYPE, "OpenVINO clips in float32, and its limits may be beyond 2^24");
}

/// A choice among integers by what is computed before it, with which OpenVINO may join it, and then has them in float32.
Support check_choice(const NodeView& node) {
  const Node* condition = node.has_input(0) ? node.graph().producer(node.node().inputs[0]) : nullptr;
  if (node.op_type() != "Where" || !is_long(dtype_of(node.input_type(1))) || !condition || !is_among(condition->op_type, kDecides))
    return {};
  Origin origin(node.graph());
  if (origin.is_index(node, 1) && origin.is_index(node, 2)) return {};
  return refuse(RhRefusalCode_TYPE,
                "OpenVINO may choose in float32, as its condition is computed, and its integers are neither sizes nor indices");
}

/// Where a slice begins and ends, between what values are clipped, and how many boxes are kept: the largest integer stands for all.
bool may_be_endless(const NodeView& node, int i) {
  return i > 0 && (node.op_type() == "Slice" || node.op_type() == "Clip" || node.op_type() == "NonMaxSuppression");
}

Support check_unsigned(const NodeView& node) {
  if (is_among(node.op_type(), kMoves) || is_computed_as_signed(node)) return {};
  if (is_among(node.op_type(), kKeeps) && dtype_of(node.input_type(0)) == DType::uint64) return {};
  if (node.op_type() == "Pow" && is_floating(dtype_of(node.input_type(0))) && dtype_of(node.input_type(1)) == DType::uint64) return {};
  const auto is_such = [](const ValueType& type) { return dtype_of(type) == DType::uint32 || dtype_of(type) == DType::uint64; };
  bool any = false;
  for (int i = 0; i < node.input_count(); ++i) any |= node.has_input(i) && is_such(node.input_type(i));
  for (const ValueId output : node.node().outputs) any |= output != kNoValue && is_such(node.graph().value(output).type);
  if (!any) return {};
  return refuse(RhRefusalCode_TYPE, "of uint32 and uint64 OpenVINO takes values from 2^31 on for negative ones");
}

}  // namespace

bool is_long(DType type) { return type == DType::int32 || type == DType::int64 || type == DType::uint32 || type == DType::uint64; }

bool has_index_operand(const NodeView& node) {
  for (int i = 0; i < node.input_count(); ++i) {
    if (node.has_input(i) && Origin(node.graph()).is_index(node, i)) return true;
  }
  return false;
}

Support check_integers(const NodeView& node) {
  if (!node.domain().empty()) return {};
  if (Support refusal = check_unsigned(node)) return refusal;
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor* constant = node.has_input(i) && !may_be_endless(node, i) ? node.constant_input(i) : nullptr;
    if (!constant || !may_pass_31_bits(constant->dtype()) || is_within(*constant, int64_t{1} << 31)) continue;
    if (is_computed_as_signed(node)) continue;
    return refuse(RhRefusalCode_TYPE, "input {} has integers beyond those of 32 bits with a sign, which OpenVINO takes for others", i);
  }
  const DType type = node.has_input(0) ? dtype_of(node.input_type(0)) : DType::undefined;
  if (type == DType::int64 && is_among(node.op_type(), kGrows) && !is_index_arithmetic(node)) {
    return refuse(RhRefusalCode_TYPE, "OpenVINO computes int64 in 32 bits, and its values are neither sizes nor indices");
  }
  return is_long(type) ? check_long(node) : check_choice(node);
}

}  // namespace rh::openvino
