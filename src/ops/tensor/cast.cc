#include "ops/tensor/cast.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

DType target_of(const NodeView& node) {
  if (node.op_type() == "CastLike") {
    const ValueType& like = node.input_type(1);
    return like.is_tensor() ? like.tensor().dtype : DType::undefined;
  }
  // Opset 1 spells the type out.
  if (node.opset() < 6) {
    std::string name = node.required_string("to");
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    const DType dtype = dtype_from_string(name);
    if (dtype == DType::undefined) node.fail("to is '{}', expected the name of an element type", name);
    return dtype;
  }
  const int64_t to = node.required_int("to");
  if (to <= 0 || to >= kDTypeCount) node.fail("to is {}, expected the number of an element type, 1 to {}", to, kDTypeCount - 1);
  return static_cast<DType>(to);
}

}  // namespace

Cast Cast::read(const NodeView& node) {
  Cast op{.to = target_of(node), .saturate = node.flag("saturate", true)};
  const std::string mode = node.string_or("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") node.fail("round_mode is '{}', expected up, down or nearest", mode);
  op.rounding = mode == "up" ? Rounding::up : mode == "down" ? Rounding::down : Rounding::nearest;
  return op;
}

void infer(const Cast& op, InferenceContext& context) {
  context.set_output(0, op.to, context.input_tensor(0).dims);
  switch (op.to) {
    case DType::int32:
    case DType::int64: return infer_contents(context, 1, [](std::span<const Dim> x) { return x[0]; });
    case DType::boolean: return infer_contents(context, 1, [](std::span<const Dim> x) { return Dim(1) - equal_contents(x[0], Dim(0)); });
    default: return;
  }
}

}  // namespace rh::ops

RH_DEFINE_OP(Cast)
