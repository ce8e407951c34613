// Pattern: DequantizeLinear of constants.
// Replacement: its result as a constant, which kernels pack as floats.
// Not: as long as another pass changes something, which may take the weights as they are; results above the limits of folding.

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/simplify/fold_constants.h"

namespace rh::passes {

Edit fold_dequantized_weights(const Graph& graph, PassContext& context) {
  if (!context.is_settled()) return Edit(graph);
  return folded(graph, context, [](const Node& node) { return is_op(node, "DequantizeLinear"); });
}

}  // namespace rh::passes
