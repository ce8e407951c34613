#include "providers/gpu/lower/elementwise/elementwise.h"

#include <algorithm>
#include <iterator>

#include "providers/gpu/lower/elementwise/expressions.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

namespace {

using kit::Support, kit::refuse;

enum class Types : uint8_t { floats, numbers, signed_numbers, integers, booleans, all };

struct Row {
  std::string_view domain, op_type;
  Types types;
  std::string_view text;
};
constexpr Row kRows[] = {
#define RH_ELEMENTWISE(domain, op_type, types, text) {domain, op_type, Types::types, text},
#include "providers/gpu/lower/elementwise/elementwise_list.inc"
#undef RH_ELEMENTWISE
};

const Row* row_of(std::string_view domain, std::string_view op_type) {
  const auto* at = std::ranges::find_if(kRows, [&](const Row& row) { return row.domain == domain && row.op_type == op_type; });
  return at == std::end(kRows) ? nullptr : at;
}

bool is_among(Types types, DType dtype) {
  const bool is_float = std::ranges::find(kFloats, dtype) != kFloats.end();
  switch (types) {
    case Types::floats: return is_float;
    case Types::numbers: return dtype != DType::boolean;
    case Types::signed_numbers: return is_float || is_signed_integer(dtype);
    case Types::integers: return is_integer(dtype);
    case Types::booleans: return dtype == DType::boolean;
    case Types::all: return true;
  }
  return false;
}

constexpr int kNumpyBroadcast = 7;  ///< the opset from which operands are broadcast from their last dimension on

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> elementwise_names() {
  std::vector<std::pair<std::string_view, std::string_view>> names;
  for (const Row& row : kRows) names.emplace_back(row.domain, row.op_type);
  return names;
}

bool is_elementwise(std::string_view domain, std::string_view op_type) { return row_of(domain, op_type) != nullptr; }

Support supports_elementwise(const NodeView& node) {
  const Row& row = *row_of(node.domain(), node.op_type());
  if (node.domain().empty() && node.opset() < kNumpyBroadcast && node.input_count() > 1) {
    return refuse(RhRefusalCode_OPSET, "its kernel of {} is for opset {} and newer", row.op_type, kNumpyBroadcast);
  }
  if (node.input_count() > kMostOperands) {
    return refuse(RhRefusalCode_SHAPE, "it has {} operands, its kernels take at most {}", node.input_count(), kMostOperands);
  }
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    if (!is_among(row.types, dtype_of_input(node, i))) {
      return refuse(RhRefusalCode_TYPE, "its kernel of {} does not take {} for input {}", row.op_type, to_string(dtype_of_input(node, i)),
                    i);
    }
  }
  if (row.op_type == "Pow" && is_integer(dtype_of_input(node, 0)) && !is_integer(dtype_of_input(node, 1))) {
    return refuse(RhRefusalCode_TYPE, "its kernel of Pow takes no powers of integers that are no integers");
  }
  if (row.op_type == "Cast" || row.op_type == "CastLike") {
    const ValueType& to = node.graph().value(node.node().outputs[0]).type;
    if (element_name(to.tensor().dtype).empty()) {
      return refuse(RhRefusalCode_TYPE, "its kernel of {} gives no {}", row.op_type, to_string(to.tensor().dtype));
    }
  }
  return {};
}

void lower_elementwise(const NodeView& node, Lowering& lowering) {
  lower_expression(node.node(), lowering, expression_of(node, row_of(node.domain(), node.op_type())->text));
}

}  // namespace rh::gpu
