#include "ops/math/gemm.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "providers/coreml/lowerings.h"

namespace rh::coreml {

namespace {

using kit::Support, kit::refuse;

/// A window with what the weights say of it. Throws Error.
ops::Window window_of(const NodeView& node, ops::Window window, const Shape& weights) {
  if (window.kernel.empty()) window.kernel = ops::Sizes(weights.begin() + 2, weights.end());
  window.complete(node, weights.rank() - 2);
  return window;
}

std::vector<int64_t> by_axis(const ops::Sizes& pads) {
  std::vector<int64_t> pairs;
  const size_t n = pads.size() / 2;
  for (size_t i = 0; i < n; ++i) pairs.insert(pairs.end(), {pads[i], pads[n + i]});
  return pairs;
}

std::span<const int64_t> as_span(const ops::Sizes& sizes) { return {sizes.begin(), sizes.end()}; }

/// What convolutions and transposed ones share; `pads` are two for each axis.
Arguments window_arguments(Lowering& to, const Mil& x, const Mil& weights, const ops::Window& window, const ops::Sizes& pads,
                           int64_t group) {
  Program& program = to.program;
  return {{"x", x},
          {"weight", weights},
          {"strides", program.ints(as_span(window.strides))},
          {"pad_type", program.text("custom")},
          {"pad", program.ints(by_axis(pads))},
          {"dilations", program.ints(as_span(window.dilations))},
          {"groups", program.number(group)}};
}

/// The result with a bias for each channel, which is no argument of the operator where a run alone tells it.
void give_biased(Lowering& to, const NodeView& node, int bias, std::string_view mil, Arguments arguments, const Shape& shape) {
  const DType dtype = arguments.front().second.values.front().dtype;
  if (!node.has_input(bias) || node.constant_input(bias)) {
    if (node.has_input(bias)) arguments.emplace_back("bias", to.input(node, bias));
    return to.give(node, to.program.op(mil, arguments, dtype, shape));
  }
  const Mil added = to.input(node, bias);
  Shape channels(static_cast<size_t>(shape.rank()) - 1, 1);
  channels[0] = shape[1];
  to.give(node, to.binary("add", to.program.op(mil, arguments, dtype, shape), to.reshape(added, channels)));
}

Support check_ranks(const NodeView& node) {
  const int rank = node.input_type(0).tensor().rank();
  if (rank >= 3) return {};
  return refuse(RhRefusalCode_SHAPE, "input 0 is of rank {}, its layers take 3 to 5", rank);
}

Support check_pads(const ops::Window& window) {
  for (const int64_t pad : window.pads) {
    if (pad < 0) return refuse(RhRefusalCode_ATTRIBUTE, "pads has {}: Core ML pads, and cuts nothing off", pad);
  }
  return {};
}

}  // namespace

Support check_convolution(const NodeView& node) {
  if (Support refusal = check_ranks(node)) return refusal;
  return check_pads(ops::Conv::read(node).window);
}

void lower_convolution(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Conv op = ops::Conv::read(node);
  const Mil x = to.input(node, 0), weights = to.input(node, 1);
  const ops::Window window = window_of(node, op.window, weights.shape);
  const ops::Sizes pads = window.pads_for({x.shape.begin() + 2, x.shape.end()});
  give_biased(to, node, 2, mil, window_arguments(to, x, weights, window, pads, op.group), to.output_shape(node));
}

Support check_transposed_convolution(const NodeView& node) {
  if (Support refusal = check_ranks(node)) return refusal;
  if (!node.constant_input(1)) return refuse(RhRefusalCode_SHAPE, "its weights are known in a run alone");
  const ops::ConvTranspose op = ops::ConvTranspose::read(node);
  if (!ops::all_are(op.output_padding, 0)) return refuse(RhRefusalCode_ATTRIBUTE, "it has output_padding, for which Core ML has no place");
  return check_pads(op.window);
}

void lower_transposed_convolution(Lowering& to, const NodeView& node, std::string_view mil) {
  ops::ConvTranspose op = ops::ConvTranspose::read(node);
  const Mil x = to.input(node, 0), weights = to.input(node, 1);
  op.window = window_of(node, op.window, weights.shape);
  const size_t n = op.window.kernel.size();
  if (op.output_padding.empty()) op.output_padding = ops::Sizes(n, 0);
  const std::span<const int64_t> spatial{x.shape.begin() + 2, x.shape.end()};
  const ops::Sizes pads = op.pads_for(spatial);
  const Shape shape = to.output_shape(node);
  for (size_t i = 0; i < n; ++i) {
    const int64_t reach = (spatial[i] - 1) * op.window.strides[i] + op.window.effective_kernel(i) - pads[i] - pads[n + i];
    if (reach != shape[i + 2]) node.fail("its output_shape {} is beyond what its windows reach", shape.to_string());
  }
  give_biased(to, node, 2, mil, window_arguments(to, x, weights, op.window, pads, op.group), shape);
}

Support check_matmul(const NodeView& node) {
  for (const int i : {0, 1}) {
    const TensorType& type = node.input_type(i).tensor();
    if (!type.has_rank() || type.rank() < 2)
      return refuse(RhRefusalCode_SHAPE, "input {} is {}, its products are of matrices", i, type.to_string());
  }
  return {};
}

void lower_matmul(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0), y = to.input(node, 1);
  const Mil no = to.program.flag(false);
  to.give(node, to.program.op(mil, {{"x", x}, {"y", y}, {"transpose_x", no}, {"transpose_y", no}}, x.dtype, to.output_shape(node)));
}

void lower_gemm(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Gemm op = ops::Gemm::read(node);
  const Mil x = to.input(node, 0), y = to.input(node, 1);
  const Shape shape = to.output_shape(node);
  const Tensor* bias = node.has_input(2) ? node.constant_input(2) : nullptr;
  const bool has_rows = bias && bias->shape() == Shape{shape[1]};
  if (node.constant_input(1) && op.transpose_b && !op.transpose_a && op.alpha == 1 && op.beta == 1 && (has_rows || !node.has_input(2))) {
    Arguments arguments = {{"x", x}, {"weight", y}};
    if (bias) arguments.emplace_back("bias", to.input(node, 2));
    return to.give(node, to.program.op("linear", arguments, x.dtype, shape));
  }
  const Mil a = to.program.flag(op.transpose_a), b = to.program.flag(op.transpose_b);
  Mil result = to.program.op(mil, {{"x", x}, {"y", y}, {"transpose_x", a}, {"transpose_y", b}}, x.dtype, shape);
  if (op.alpha != 1) result = to.binary("mul", result, to.real(op.alpha, x));
  if (node.has_input(2)) {
    Mil added = to.input(node, 2);
    if (op.beta != 1) added = to.binary("mul", added, to.real(op.beta, x));
    result = to.binary("add", result, added);
  }
  to.give(node, result);
}

}  // namespace rh::coreml
