#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "providers/openvino/checks.h"

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
/// What may pass 32 bits though its inputs do not.
constexpr std::string_view kGrows[] = {"Add",      "CumSum",     "Einsum",    "MatMul",          "Mul", "Neg", "Pow",
                                       "ReduceL1", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Sub", "Sum"};
/// What goes by float32.
constexpr std::string_view kByFloats[] = {"Div", "Mod", "ReduceMax", "ReduceMin", "Relu"};
/// What gives sizes and places.
constexpr std::string_view kCounts[] = {"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero", "Shape", "Size"};
constexpr std::string_view kTakesFirst[] = {"Ceil",      "Expand",    "Flatten",    "Floor",     "Gather",    "GatherElements", "Identity",
                                            "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Reshape",   "Round",          "Slice",
                                            "Split",     "Sqrt",      "Squeeze",    "Tile",      "Transpose", "Unsqueeze"};
constexpr std::string_view kTakesAll[] = {"Abs", "Add", "Concat", "Div", "Max", "Min", "Mod", "Mul", "Neg", "Range", "Sub"};

bool is_among(std::string_view op, Names names) { return std::ranges::find(names, op) != names.end(); }

DType dtype_of(const ValueType& type) { return type.is_tensor() ? type.tensor().dtype : DType::undefined; }

bool is_wide(DType type) { return type == DType::int64 || type == DType::uint64; }

/// Whether all elements are within -most .. most - 1.
bool is_within(const Tensor& tensor, int64_t most) {
  const auto holds = [&](const auto* data) {
    return std::all_of(data, data + tensor.elements(), [&](auto x) { return x >= -most && x < most; });
  };
  if (tensor.dtype() == DType::int64) return holds(tensor.data<int64_t>());
  if (tensor.dtype() == DType::int32) return holds(tensor.data<int32_t>());
  if (tensor.dtype() == DType::float32) return holds(tensor.data<float>());
  if (tensor.dtype() != DType::uint64) return true;
  const auto* data = tensor.data<uint64_t>();
  return std::all_of(data, data + tensor.elements(), [&](uint64_t x) { return x < static_cast<uint64_t>(most); });
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

/// Where a slice begins and ends, between what values are clipped, and how many boxes are kept: the largest integer stands for all.
bool may_be_endless(const NodeView& node, int i) {
  return i > 0 && (node.op_type() == "Slice" || node.op_type() == "Clip" || node.op_type() == "NonMaxSuppression");
}

Support check_unsigned(const NodeView& node) {
  if (is_among(node.op_type(), kMoves)) return {};
  const auto is_such = [](const ValueType& type) { return dtype_of(type) == DType::uint32 || dtype_of(type) == DType::uint64; };
  bool any = false;
  for (int i = 0; i < node.input_count(); ++i) any |= node.has_input(i) && is_such(node.input_type(i));
  for (const ValueId output : node.node().outputs) any |= output != kNoValue && is_such(node.graph().value(output).type);
  if (!any) return {};
  return refuse(RhRefusalCode_TYPE, "of uint32 and uint64 OpenVINO takes values from 2^31 on for negative ones");
}

}  // namespace

Support check_integers(const NodeView& node) {
  if (!node.domain().empty()) return {};
  if (Support refusal = check_unsigned(node)) return refusal;
  for (int i = 0; i < node.input_count(); ++i) {
    const Tensor* constant = node.has_input(i) && !may_be_endless(node, i) ? node.constant_input(i) : nullptr;
    if (!constant || !is_wide(constant->dtype()) || is_within(*constant, int64_t{1} << 31)) continue;
    return refuse(RhRefusalCode_TYPE, "input {} has integers beyond 32 bits, in which OpenVINO computes them", i);
  }
  const DType type = node.has_input(0) ? dtype_of(node.input_type(0)) : DType::undefined;
  if (type == DType::int64 && is_among(node.op_type(), kGrows) && !is_index_arithmetic(node)) {
    return refuse(RhRefusalCode_TYPE, "OpenVINO computes int64 in 32 bits, and its values are neither sizes nor indices");
  }
  if ((type == DType::int64 || type == DType::int32) && is_among(node.op_type(), kByFloats) && !is_index_arithmetic(node)) {
    return refuse(RhRefusalCode_TYPE, "OpenVINO computes it in float32, and its integers are neither sizes nor indices");
  }
  return {};
}

}  // namespace rh::openvino
