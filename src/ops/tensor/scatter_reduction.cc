#include "ops/tensor/scatter_reduction.h"

namespace rh::ops {

ScatterReduction read_scatter_reduction(const NodeView& node) {
  const std::string name = node.string_or("reduction", "none");
  if (name == "none") return ScatterReduction::none;
  if (name == "add") return ScatterReduction::add;
  if (name == "mul") return ScatterReduction::mul;
  if (name == "min") return ScatterReduction::min;
  if (name == "max") return ScatterReduction::max;
  node.fail("reduction is '{}', expected none, add, mul, min or max", name);
}

}  // namespace rh::ops
