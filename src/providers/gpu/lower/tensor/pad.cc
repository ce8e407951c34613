#include "ops/tensor/pad.h"

#include <bit>

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_pad(const NodeView& node) {
  const ops::Pad op = ops::Pad::read(node);
  if (op.value != 0 && dtype_of_input(node, 0) != DType::float32) {
    return kit::refuse(RhRefusalCode_TYPE, "its kernel of Pad takes a value as an attribute for float alone");
  }
  return {};
}

void lower_pad(const NodeView& node, Lowering& lowering) {
  const ops::Pad op = ops::Pad::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), out = lowering.shape(y), strides = strides_of(in);
  const auto pads = lowering.ints(node, op.pads), axes = lowering.ints(node, op.axes);
  if (!pads) node.fail("its pads are not known before the run");
  if (out.elements() == 0) return;
  if (in.elements() == 0 && op.mode != ops::Pad::Mode::constant) node.fail("there is nothing to pad with");
  PadArguments arguments{};
  arguments.n = out.elements();
  arguments.rank = out.rank();
  arguments.bits = std::bit_cast<uint32_t>(op.value);
  for (int d = 0; d < out.rank(); ++d) {
    const int axis = out.rank() - 1 - d;
    arguments.sizes[d] = static_cast<unsigned>(out[axis]);
    arguments.in[d] = in[axis];
    arguments.strides[d] = strides[axis];
  }
  const size_t count = pads->size() / 2;
  for (size_t i = 0; i < count; ++i) {
    const int axis = axes ? normalize_axis((*axes)[i], in.rank()) : static_cast<int>(i);
    arguments.begins[in.rank() - 1 - axis] = (*pads)[i];
  }
  constexpr std::string_view kModes[] = {"kPadConstant", "kPadReflect", "kPadEdge", "kPadWrap"};
  const Kernel kernel{"pad", fmt::format("pad<{}, rh::{}>", mover_name(lowering.dtype(x)), kModes[static_cast<size_t>(op.mode)])};
  const Operand from{offsetof(PadArguments, x), x}, to{offsetof(PadArguments, y), y, true};
  if (op.pads.input < 0 || !node.has_input(2)) return lowering.launch(kernel, over_elements(arguments.n), arguments, {from, to});
  lowering.launch(kernel, over_elements(arguments.n), arguments, {from, to, {offsetof(PadArguments, value), node.node().inputs[2]}});
}

}  // namespace rh::gpu
