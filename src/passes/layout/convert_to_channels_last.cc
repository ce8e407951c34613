#include "passes/layout/order_planner.h"

namespace rh::passes {

/// Around Transposes, products of rows by weights become convolutions of single pixels where values have their channels before the pixels,
/// convolutions become such products or NhwcConv where channels are last, whichever saves more Transposes than it costs.
Edit convert_to_channels_last(const Graph& graph, PassContext& context) { return plan_orders(graph, context, Conversions::all); }

}  // namespace rh::passes
