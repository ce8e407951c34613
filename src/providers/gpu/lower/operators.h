#pragma once

#include <initializer_list>
#include <string_view>

#include "ops/node_view.h"
#include "providers/kit/regions/refusals.h"

namespace rh::gpu {

class Lowering;

/// An operator that runs on the device: a row of operator_list.inc. `supports` looks at a node whose sizes may be open, `lower` at one
/// whose sizes are numbers.
struct Operator {
  std::string_view domain, op_type;
  kit::Support (*supports)(const NodeView&);
  void (*lower)(const NodeView&, Lowering&);
};

/// Null where there is no such row.
const Operator* find_operator(std::string_view domain, std::string_view op_type);

/// Whether the device runs a node: by its row, its types, its ranks, and whether its results' sizes are known before a run.
kit::Support supports_node(const NodeView& node);

/// Bits of the inputs that say what a node does: sizes and the like, which are known on the host before it runs.
uint64_t host_inputs_of(const NodeView& node);

// What rows check alike.
kit::Support require_types(const NodeView& node, int input, std::initializer_list<DType> types);
inline constexpr std::initializer_list<DType> kFloats = {DType::float32, DType::float16, DType::bfloat16, DType::float64};
/// Whether an input that says what the operator does is known on the host, or computed there; its values need no check.
int rank_of(const NodeView& node, int input);
/// kNoValue where it is left out.
ValueId input_of(const NodeView& node, int i);
ValueId output_of(const NodeView& node, int i);
DType dtype_of_input(const NodeView& node, int input);

}  // namespace rh::gpu
