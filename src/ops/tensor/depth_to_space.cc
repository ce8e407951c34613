#include "ops/tensor/depth_to_space.h"

#include "ops/dim_rules.h"
#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

Dim quotient(const InferenceContext& context, const Dim& size, int64_t by) {
  if (size.is_constant() && size.value() % by != 0) fail_when_run(context.node(), "dimension {} is no multiple of {}", size.value(), by);
  return Dim::apply(Dim::Function::floor_div, size, Dim(by));
}

}  // namespace

DepthToSpace DepthToSpace::read(const NodeView& node) {
  const int64_t block = node.required_int("blocksize");
  if (block < 1 || block > 32768) node.fail("blocksize is {}, expected a value in [1, 32768]", block);
  const std::string mode = node.string_or("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") node.fail("mode is '{}', expected DCR or CRD", mode);
  return {.block = block, .column_row_depth = mode == "CRD", .inverse = node.op_type() == "SpaceToDepth"};
}

void infer(const DepthToSpace& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() != 4) context.node().fail("the input has rank {}, expected 4", x.rank());
  const SymbolicShape& d = *x.dims;
  const Dim block(op.block), area(op.block * op.block);
  if (op.inverse) {
    context.set_output(0, x.dtype, SymbolicShape{d[0], d[1] * area, quotient(context, d[2], op.block), quotient(context, d[3], op.block)});
  } else {
    context.set_output(0, x.dtype, SymbolicShape{d[0], quotient(context, d[1], op.block * op.block), d[2] * block, d[3] * block});
  }
}

}  // namespace rh::ops

RH_DEFINE_OP(DepthToSpace)
