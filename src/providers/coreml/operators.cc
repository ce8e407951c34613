#include "providers/coreml/operators.h"

#include <algorithm>

#include "providers/coreml/lowerings.h"
#include "providers/kit/shapes/computed_sizes.h"

namespace rh::coreml {

namespace {

using kit::Support, kit::refuse;

enum class Types : uint8_t { floats, numbers, truths, any };

struct OperatorRow {
  std::string_view op_type;
  int opset;
  Types types;
  std::string_view mil;
  Support (*check)(const NodeView&);
  void (*lower)(Lowering&, const NodeView&, std::string_view);
};

constexpr OperatorRow kOperators[] = {
#define RH_COREML_OP(name, opset, types, mil, check, lower) {name, opset, Types::types, mil, check, lower},
#include "providers/coreml/operator_list.inc"
#undef RH_COREML_OP
};

constexpr int kMostRank = 5;  // of Core ML's arrays

const OperatorRow* row_of(const NodeView& node) {
  if (!node.domain().empty()) return nullptr;
  const auto at = std::ranges::lower_bound(kOperators, node.op_type(), {}, &OperatorRow::op_type);
  return at != std::end(kOperators) && at->op_type == node.op_type() ? at : nullptr;
}

bool is_among(DType dtype, Types types) {
  switch (dtype) {
    case DType::float16:
    case DType::float32: return types == Types::floats || types == Types::numbers || types == Types::any;
    case DType::int32: return types == Types::numbers || types == Types::any;
    case DType::boolean: return types == Types::truths || types == Types::any;
    case DType::int64: return types == Types::any;
    default: return false;
  }
}

std::string_view names_of(Types types) {
  switch (types) {
    case Types::floats: return "float and float16";
    case Types::numbers: return "float, float16 and int32";
    case Types::truths: return "bool";
    default: return "float, float16, int32, int64 and bool";
  }
}

Support check_sizes(const ValueType& type, const char* what, int index) {
  if (Support refusal = kit::refuse_computed_sizes(type, what, index)) return refusal;
  if (Support refusal = kit::refuse_no_elements(type, what, index)) return refusal;
  const int rank = type.tensor().rank();
  if (rank > 0 && rank <= kMostRank) return {};
  return refuse(RhRefusalCode_SHAPE, "{} {} is of rank {}, Core ML's arrays have 1 to {}", what, index, rank, kMostRank);
}

Support check_type(const ValueType& type, const char* what, int index, Types types) {
  if (!type.is_tensor()) return refuse(RhRefusalCode_TYPE, "{} {} is {}, it runs tensors", what, index, type.to_string());
  if (is_among(type.tensor().dtype, types)) return {};
  return refuse(RhRefusalCode_TYPE, "{} {} is of {}, it runs {}", what, index, to_string(type.tensor().dtype), names_of(types));
}

Support check_values(const NodeView& node, const OperatorRow& row) {
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    const Tensor* constant = node.constant_input(i);
    if (constant && constant->elements() == 0) continue;   // sizes and axes that are left out
    if (i == 1 && node.op_type() == "CastLike") continue;  // of which it takes the type alone
    if (Support refusal = check_type(node.input_type(i), "input", i, i == 0 ? row.types : Types::any)) return refusal;
    if (constant) continue;
    if (Support refusal = check_sizes(node.input_type(i), "input", i)) return refusal;
  }
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    const ValueType& type = node.graph().value(node.node().outputs[static_cast<size_t>(i)]).type;
    if (Support refusal = check_type(type, "output", i, Types::any)) return refusal;
    if (Support refusal = check_sizes(type, "output", i)) return refusal;
  }
  return {};
}

}  // namespace

Support supports_alone(const NodeView& node) {
  const OperatorRow* row = row_of(node);
  if (!row) return refuse(RhRefusalCode_OP, "Core ML has no operator {}", node.node().op_text());
  if (node.opset() < row->opset) return refuse(RhRefusalCode_OPSET, "it runs {} of opset {} and newer", row->op_type, row->opset);
  if (Support refusal = check_values(node, *row)) return refusal;
  return row->check(node);
}

void lower_node(Lowering& to, const NodeView& node) {
  const OperatorRow* row = row_of(node);
  if (!row) node.fail("Core ML has no such operator");
  row->lower(to, node, row->mil);
}

}  // namespace rh::coreml
