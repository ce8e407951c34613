#pragma once

#include <string_view>

#include "ops/node_view.h"
#include "passes/precision/half_type.h"

namespace rh::precision {

enum class Role : uint8_t {
  plain,       ///< computes in whatever its neighbours do
  gains,       ///< a reason to convert at all
  loses,       ///< stays in float32
  overflows,   ///< stays in float32 where the type has a smaller range
  reads_none,  ///< takes any type
};

/// What operator_table.inc says of an operator.
struct OperatorRow {
  std::string_view domain, op_type;
  Role role;
  bool (*is_harmless)(const NodeView& node);
  std::string_view reason;
};

std::span<const OperatorRow> operator_rows();
/// A row of role `plain` where the table has none.
const OperatorRow& operator_row(const Node& node);
/// Why the node stays in float32 though its schema has the half type; empty where the table does not say so.
std::string_view why_lossy(const NodeView& node, DType half);
/// Why this input stays in float32 though its schema has the half type; empty where it does not have to.
std::string_view why_held(const Node& node, int input);
/// Which elements of a constant input have to keep their precision.
Needed needed_elements(const Node& node, int input, const Tensor& constant);

}  // namespace rh::precision
