#include "ops/nn/pool.h"

#include "providers/coreml/lowerings.h"

namespace rh::coreml {

namespace {

using kit::Support, kit::refuse;

/// How far the last window reaches beyond the padded axis, where sizes are rounded up.
int64_t overhang(const ops::Window& window, const ops::Sizes& pads, size_t axis, int64_t input, int64_t output) {
  const size_t n = window.strides.size();
  const int64_t reach = (output - 1) * window.strides[axis] + window.kernel[axis];
  return std::max<int64_t>(reach - (input + pads[axis] + pads[n + axis]), 0);
}

}  // namespace

Support check_pool(const NodeView& node) {
  const ops::Pool op = ops::Pool::read(node);
  const int rank = node.input_type(0).tensor().rank();
  if (rank < 3) return refuse(RhRefusalCode_SHAPE, "input 0 is of rank {}, its layers take 3 to 5", rank);
  if (node.has_output(1)) return refuse(RhRefusalCode_ATTRIBUTE, "it gives the indices of the largest elements, which Core ML does not");
  if (!ops::all_are(op.window.dilations, 1)) return refuse(RhRefusalCode_ATTRIBUTE, "it has dilations, which Core ML's pools have not");
  const size_t n = op.window.kernel.size();
  for (size_t i = 0; i < op.window.pads.size(); ++i) {
    const int64_t pad = op.window.pads[i];
    if (pad < 0 || pad >= op.window.kernel[i % n])
      return refuse(RhRefusalCode_ATTRIBUTE, "pads has {}, with windows of {}", pad, op.window.kernel[i % n]);
  }
  if (op.window.ceil_mode && op.count_include_pad) {
    return refuse(RhRefusalCode_ATTRIBUTE,
                  "it has ceil_mode and count_include_pad, of which Core ML counts what lies beyond the pads as well");
  }
  return {};
}

void lower_pool(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Pool op = ops::Pool::read(node);
  const Mil x = to.input(node, 0);
  const Shape shape = to.output_shape(node);
  const std::span<const int64_t> spatial{x.shape.begin() + 2, x.shape.end()};
  const ops::Sizes pads = op.window.pads_for(spatial);
  std::vector<int64_t> pairs;
  for (size_t i = 0; i < spatial.size(); ++i) {
    const int64_t more = overhang(op.window, pads, i, spatial[i], shape[i + 2]);
    if (more > 0 && op.count_include_pad) node.fail("its windows reach beyond the pads, which Core ML would count");
    pairs.insert(pairs.end(), {pads[i], pads[spatial.size() + i] + more});
  }
  Program& program = to.program;
  Arguments arguments = {{"x", x},
                         {"kernel_sizes", program.ints({op.window.kernel.begin(), op.window.kernel.end()})},
                         {"strides", program.ints({op.window.strides.begin(), op.window.strides.end()})},
                         {"pad_type", program.text("custom")},
                         {"pad", program.ints(pairs)},
                         {"ceil_mode", program.flag(false)}};
  if (op.kind == ops::Pool::Kind::average) arguments.emplace_back("exclude_padding_from_average", program.flag(!op.count_include_pad));
  to.give(node, program.op(mil, arguments, x.dtype, shape));
}

Support check_global_pool(const NodeView& node) {
  const int rank = node.input_type(0).tensor().rank();
  if (rank >= 3) return {};
  return refuse(RhRefusalCode_SHAPE, "input 0 is of rank {}, its layers take 3 to 5", rank);
}

void lower_global_pool(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  std::vector<int64_t> axes;
  for (int axis = 2; axis < x.shape.rank(); ++axis) axes.push_back(axis);
  to.give(node, to.reduce(mil, x, axes, true));
}

}  // namespace rh::coreml
