#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ops/node_view.h"
#include "providers/kit/regions/refusals.h"

namespace rh::gpu {

class Lowering;

/// Operators that are functions of single elements: their domains and names.
std::vector<std::pair<std::string_view, std::string_view>> elementwise_names();
bool is_elementwise(std::string_view domain, std::string_view op_type);

kit::Support supports_elementwise(const NodeView& node);
void lower_elementwise(const NodeView& node, Lowering& lowering);

}  // namespace rh::gpu
