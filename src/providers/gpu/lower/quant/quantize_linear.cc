#include "ops/quant/quantize_linear.h"
#include "ops/quant/dequantize_linear.h"
#include "ops/quant/dynamic_quantize_linear.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

namespace {

/// The codes of a type: their least and their largest.
std::string_view range_of(DType dtype) {
  switch (dtype) {
    case DType::int8: return "-128, 127";
    case DType::uint8: return "0, 255";
    case DType::int16: return "-32768, 32767";
    case DType::uint16: return "0, 65535";
    default: return {};
  }
}

/// Scales of all elements, of those along an axis, or of blocks of them.
QuantizeArguments arguments_of(const Shape& shape, const Shape& scales, int64_t given_axis, int64_t block) {
  QuantizeArguments arguments{};
  arguments.n = shape.elements();
  arguments.outer = std::max<int64_t>(arguments.n, 1);
  arguments.inner = arguments.size = arguments.block = arguments.blocks = arguments.inner_scales = 1;
  if (scales.elements() == 1 && block == 0) return arguments;
  const int axis = normalize_axis(given_axis, shape.rank());
  arguments.inner = shape.product(axis + 1, shape.rank());
  arguments.size = shape[axis];
  if (block == 0) {
    arguments.blocks = 0;
    return arguments;
  }
  arguments.outer = arguments.inner * arguments.size;
  arguments.block = block;
  arguments.blocks = scales[axis];
  arguments.inner_scales = arguments.inner;
  return arguments;
}

void launch(const NodeView& node, Lowering& lowering, const QuantizeArguments& arguments, std::string call) {
  if (arguments.n == 0) return;
  const Operand x{offsetof(QuantizeArguments, x), node.node().inputs[0]}, scale{offsetof(QuantizeArguments, scale), node.node().inputs[1]};
  std::vector<Operand> operands = {x, scale, {offsetof(QuantizeArguments, y), node.node().outputs[0], true}};
  if (node.has_input(2)) operands.push_back({offsetof(QuantizeArguments, zero), node.node().inputs[2]});
  lowering.launch({"quantize", std::move(call)}, over_elements(arguments.n), arguments, std::move(operands));
}

kit::Support require_floats(const NodeView& node, int input) {
  return require_types(node, input, {DType::float32, DType::float16, DType::bfloat16});
}

}  // namespace

kit::Support supports_quantize_linear(const NodeView& node) {
  const DType to = node.graph().value(node.node().outputs[0]).type.tensor().dtype;
  if (range_of(to).empty()) return kit::refuse(RhRefusalCode_TYPE, "its kernel of QuantizeLinear does not give {}", to_string(to));
  if (dtype_of_input(node, 0) != dtype_of_input(node, 1)) {
    return kit::refuse(RhRefusalCode_TYPE, "its kernel of QuantizeLinear takes a scale of the input's type");
  }
  return require_floats(node, 0);
}

void lower_quantize_linear(const NodeView& node, Lowering& lowering) {
  const ops::QuantizeLinear op = ops::QuantizeLinear::read(node);
  const ValueId x = node.node().inputs[0];
  const DType to = lowering.dtype(node.node().outputs[0]);
  launch(node, lowering, arguments_of(lowering.shape(x), lowering.shape(node.node().inputs[1]), op.axis, op.block_size),
         fmt::format("quantize<{}, {}, {}>", element_name(lowering.dtype(x)), element_name(to), range_of(to)));
}

kit::Support supports_dequantize_linear(const NodeView& node) {
  const DType to = node.graph().value(node.node().outputs[0]).type.tensor().dtype;
  if (to != dtype_of_input(node, 1)) return kit::refuse(RhRefusalCode_TYPE, "its kernel of DequantizeLinear gives the scale's type");
  if (kit::Support refusal = require_floats(node, 1)) return refusal;
  return require_types(node, 0, {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32});
}

void lower_dequantize_linear(const NodeView& node, Lowering& lowering) {
  const ops::DequantizeLinear op = ops::DequantizeLinear::read(node);
  const ValueId x = node.node().inputs[0], scale = node.node().inputs[1];
  launch(node, lowering, arguments_of(lowering.shape(x), lowering.shape(scale), op.axis, op.block_size),
         fmt::format("dequantize<{}, {}>", element_name(lowering.dtype(x)), element_name(lowering.dtype(scale))));
}

kit::Support supports_dynamic_quantize_linear(const NodeView& node) {
  if (!node.has_output(1) || !node.has_output(2))
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel gives the scale and the zero point");
  return require_types(node, 0, {DType::float32});
}

void lower_dynamic_quantize_linear(const NodeView& node, Lowering& lowering) {
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0], scale = node.node().outputs[1], zero = node.node().outputs[2];
  QuantizeArguments arguments = arguments_of(lowering.shape(x), {}, 0, 0);
  constexpr unsigned kThreads = 256;
  const Operand from{offsetof(QuantizeArguments, x), x};
  lowering.launch({"quantize", "dynamic_range"}, over_blocks(1, kThreads, kThreads * sizeof(float)), arguments,
                  {from, {offsetof(QuantizeArguments, scale), scale, true}, {offsetof(QuantizeArguments, zero), zero, true}});
  if (arguments.n == 0) return;
  lowering.launch({"quantize", "quantize<float, unsigned char, 0, 255>"}, over_elements(arguments.n), arguments,
                  {from,
                   {offsetof(QuantizeArguments, scale), scale},
                   {offsetof(QuantizeArguments, zero), zero},
                   {offsetof(QuantizeArguments, y), y, true}});
}

}  // namespace rh::gpu
