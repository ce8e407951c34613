#include "ops/nn/conv_transpose.h"

#include <algorithm>

#include "ops/impossible_shapes.h"
#include "ops/nn/filters.h"
#include "ops/registry.h"

namespace rh::ops {

constexpr int64_t kMostPadding = (int64_t{1} << 31) - 1;

ConvTranspose ConvTranspose::read(const NodeView& node) {
  ConvTranspose op{.window = Window::read(node), .group = read_group(node)};
  op.activation = FusedActivation::read_of_channels(node);
  if (node.op_type() == "ConvTransposeWithDynamicPads") op.bias_input = 3, op.pads_are_input = node.has_input(2);
  op.output_padding = Sizes(node.ints_or("output_padding"));
  op.output_shape = Sizes(node.ints_or("output_shape"));
  for (const int64_t value : op.output_padding) {
    if (value < 0 || value > kMostPadding) node.fail("output_padding has the value {}, expected one in [0, {}]", value, kMostPadding);
  }
  for (const int64_t size : op.output_shape) {
    if (size < 0 || size > kMostSize) node.fail("output_shape has the size {}, expected one in [0, {}]", size, kMostSize);
  }
  const TensorType* weights = node.input_type(1).is_tensor() ? &node.input_type(1).tensor() : nullptr;
  if (!weights || !weights->has_rank()) return op;
  if (weights->rank() < 3) node.fail("weights have rank {}, expected at least 3: [C, M/group, kernel...]", weights->rank());
  const size_t spatial = static_cast<size_t>(weights->rank() - 2);
  for (size_t i = 0; i < spatial; ++i) {
    const Dim& dim = (*weights->dims)[i + 2];
    if (dim.is_constant() && op.window.kernel.size() == i) op.window.kernel.push_back(dim.value());
  }
  if (op.window.kernel.size() == spatial) op.window.complete(node, static_cast<int>(spatial));
  if (op.output_padding.empty()) op.output_padding = Sizes(spatial, 0);
  if (op.output_padding.size() != spatial) node.fail("output_padding has {} values, expected {}", op.output_padding.size(), spatial);
  // Some exporters write the whole output shape, batch and channels included.
  if (op.output_shape.size() == spatial + 2) op.output_shape = Sizes(op.output_shape.begin() + 2, op.output_shape.end());
  if (!op.output_shape.empty() && op.output_shape.size() != spatial) {
    node.fail("output_shape has {} values, expected {}", op.output_shape.size(), spatial);
  }
  return op;
}

int64_t ConvTranspose::output_size(size_t axis, int64_t input) const {
  if (!output_shape.empty()) return output_shape[axis];
  const size_t n = window.strides.size();
  if (window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower) return strided(axis, input);
  return reach(axis, input) - window.pads[axis] - window.pads[n + axis];
}

int64_t ConvTranspose::strided(size_t axis, int64_t count) const {
  return count > kMostSize / window.strides[axis] ? kMostSize : count * window.strides[axis];
}

int64_t ConvTranspose::reach(size_t axis, int64_t input) const {
  return strided(axis, input - 1) + output_padding[axis] + window.effective_kernel(axis);
}

Sizes ConvTranspose::pads_for(std::span<const int64_t> spatial) const {
  Sizes pads = window.pads;
  const bool same = window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower;
  if (output_shape.empty() && !same) return pads;
  const size_t n = spatial.size();
  for (size_t i = 0; i < n; ++i) {
    const int64_t needed = reach(i, spatial[i]) - output_size(i, spatial[i]);
    const int64_t total = std::max<int64_t>(needed, 0);  // a larger output than the inputs reach is filled up at the end
    const int64_t small = total / 2, large = total - small;
    const bool upper = window.auto_pad == AutoPad::same_upper;
    pads[i] = upper ? small : large;
    pads[n + i] = upper ? large : small;
  }
  return pads;
}

void infer(const ConvTranspose& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &w = context.input_tensor(1);
  if (!x.has_rank() || !w.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() != w.rank() || x.rank() < 3) {
    context.node().fail("input {} and weights {} have ranks that do not fit, expected the same rank, at least 3", to_string(*x.dims),
                        to_string(*w.dims));
  }
  if ((*x.dims)[1].is_constant() && (*w.dims)[0].is_constant() && (*x.dims)[1].value() != (*w.dims)[0].value()) {
    fail_when_run(context.node(), "input has {} channels, expected {} (weights {})", (*x.dims)[1].value(), (*w.dims)[0].value(),
                  to_string(*w.dims));
  }
  SymbolicShape dims{(*x.dims)[0], (*w.dims)[1] * Dim(op.group)};
  const bool complete = !op.pads_are_input && op.window.is_complete(x.dims->size() - 2);
  for (size_t i = 2; i < x.dims->size(); ++i) {
    const Dim& input = (*x.dims)[i];
    if (!complete || (!input.is_constant() && op.output_shape.empty() && input.is_unknown())) {
      dims.emplace_back();
    } else if (input.is_constant() || !op.output_shape.empty()) {
      dims.emplace_back(op.output_size(i - 2, input.is_constant() ? input.value() : 1));
    } else {
      // The size is linear in the input's.
      const int64_t at_zero = op.output_size(i - 2, 0), slope = op.output_size(i - 2, 1) - at_zero;
      dims.push_back(input * Dim(slope) + Dim(at_zero));
    }
  }
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(ConvTranspose)
