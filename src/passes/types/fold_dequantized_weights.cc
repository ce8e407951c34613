#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/simplify/fold_constants.h"

namespace rh::passes {

/// DequantizeLinear of constants that no quantised operator has taken is computed once: what takes the weights packs them as floats.
Edit fold_dequantized_weights(const Graph& graph, PassContext& context) {
  if (!context.is_settled()) return Edit(graph);
  return folded(graph, context, [](const Node& node) { return is_op(node, "DequantizeLinear"); });
}

}  // namespace rh::passes
