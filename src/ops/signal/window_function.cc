#include "ops/signal/window_function.h"

#include "ops/dtype_attribute.h"
#include "ops/registry.h"

namespace rh::ops {

WindowFunction WindowFunction::read(const NodeView& node) {
  const DType dtype = read_dtype(node, "output_datatype", DType::float32);
  if (dtype == DType::undefined) node.fail("attribute 'output_datatype' is 0, expected the number of an element type");
  WindowFunction op{.periodic = node.flag("periodic", true), .dtype = dtype};
  const auto set = [&](double a, double b, double c) { op.terms[0] = a, op.terms[1] = b, op.terms[2] = c; };
  if (node.op_type() == "HannWindow") set(0.5, 0.5, 0);
  if (node.op_type() == "HammingWindow") set(25.0 / 46, 21.0 / 46, 0);
  if (node.op_type() == "BlackmanWindow") set(0.42, 0.5, 0.08);
  return op;
}

void infer(const WindowFunction& op, InferenceContext& context) {
  const auto size = context.input_contents(0);
  if (size && size->size() == 1 && (*size)[0].is_constant() && (*size)[0].value() < 0) {
    context.node().fail("size is {}, expected at least 0", (*size)[0].value());
  }
  context.set_output(0, op.dtype, SymbolicShape{size && size->size() == 1 ? (*size)[0] : Dim()});
}

}  // namespace rh::ops

RH_DEFINE_OP(WindowFunction)
