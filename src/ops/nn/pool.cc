#include "ops/nn/pool.h"

#include "ops/registry.h"

namespace rh::ops {

Pool Pool::read(const NodeView& node) {
  Pool op;
  const std::string_view type = node.op_type();
  op.global = type.starts_with("Global");
  op.kind = type.ends_with("MaxPool") ? Kind::max : type.ends_with("AveragePool") ? Kind::average : Kind::lp;
  op.count_include_pad = node.flag("count_include_pad");
  op.column_major_indices = node.flag("storage_order");
  op.p = node.opset() < 2 ? static_cast<int64_t>(node.float_or("p", 2)) : node.int_or("p", 2);  // a float in opset 1
  if (op.kind == Kind::lp && op.p < 1) node.fail("p is {}, expected at least 1", op.p);
  if (op.global) return op;
  op.window = Window::read(node);
  op.window.pools = true;
  if (op.window.kernel.empty()) node.fail("attribute 'kernel_shape' is missing, expected a list of integers");
  op.window.complete(node, static_cast<int>(op.window.kernel.size()));
  return op;
}

void infer(const Pool& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) {
    context.set_output(0, x.dtype);
    return context.set_output(1, DType::int64);
  }
  if (x.rank() < 2) context.node().fail("input has rank {}, expected at least 2: [N, C, spatial...]", x.rank());
  SymbolicShape dims{(*x.dims)[0], (*x.dims)[1]};
  if (!op.global && op.window.kernel.size() + 2 != x.dims->size()) {
    context.node().fail("kernel_shape has {} values, expected {} for input {}", op.window.kernel.size(), x.rank() - 2, to_string(*x.dims));
  }
  for (size_t i = 2; i < x.dims->size(); ++i) dims.push_back(op.global ? Dim(1) : op.window.output_dim(i - 2, (*x.dims)[i]));
  if (op.kind == Pool::Kind::max && !op.global) context.set_output(1, DType::int64, dims);
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(Pool)
