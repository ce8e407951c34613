#include "passes/layout/order_planner.h"

namespace rh::passes {

/// Transposes go where they move the fewest elements: through element-wise operators, sums, joins and parts, normalisations and products
/// over other dimensions, and out where they cancel.
Edit move_transposes(const Graph& graph, PassContext& context) { return plan_orders(graph, context, Conversions::none); }

}  // namespace rh::passes
