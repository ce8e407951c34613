// Pattern: Transposes around element-wise operators, sums, joins, parts, normalisations over other dimensions, and products.
// Replacement: the same operators over the dimensions as they lie, with Transposes where they move the fewest elements, and none where they
//   cancel.
// Not: where little or nothing is gained; nodes that work in one order alone keep it.

#include "passes/layout/order_planner.h"

namespace rh::passes {

Edit move_transposes(const Graph& graph, PassContext& context) { return plan_orders(graph, context, Conversions::none); }

}  // namespace rh::passes
