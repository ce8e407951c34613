#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

kit::Support supports_matmul(const NodeView& node) { return require_types(node, 0, kFloats); }

void lower_matmul(const NodeView& node, Lowering& lowering) {
  lower_product(lowering, product_of(lowering, node.node().inputs[0], node.node().inputs[1], node.node().outputs[0]));
}

}  // namespace rh::gpu
