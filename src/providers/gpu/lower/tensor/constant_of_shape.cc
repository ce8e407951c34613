#include "ops/tensor/constant_of_shape.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_constant_of_shape(const NodeView&) { return {}; }

void lower_constant_of_shape(const NodeView& node, Lowering& lowering) {
  const Tensor value = ops::ConstantOfShape::read(node).value;
  const ValueId y = node.node().outputs[0];
  FillArguments arguments{};
  arguments.n = lowering.shape(y).elements();
  if (arguments.n == 0) return;
  const bool is_integral = is_integer(value.dtype()) || value.dtype() == DType::boolean;
  if (is_integral) {
    arguments.integer = element_as_int(value.view(), 0);
  } else {
    arguments.value = element_as_double(value.view(), 0);
  }
  lowering.launch({"move", fmt::format("fill<{}, {}>", element_name(lowering.dtype(y)), is_integral)}, over_elements(arguments.n),
                  arguments, {{offsetof(FillArguments, y), y, true}});
}

}  // namespace rh::gpu
