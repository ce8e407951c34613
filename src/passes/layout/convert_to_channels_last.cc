// Pattern: convolutions, and products of rows by weights, around Transposes.
// Replacement: convolutions of single pixels become products, or NhwcConv, where channels are last; products become convolutions where
//   channels come first.
// Not: where it costs more Transposes than it saves.

#include "passes/layout/order_planner.h"

namespace rh::passes {

Edit convert_to_channels_last(const Graph& graph, PassContext& context) { return plan_orders(graph, context, Conversions::all); }

}  // namespace rh::passes
