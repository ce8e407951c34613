#include "passes/pattern/spatial_pad.h"

#include <algorithm>

#include "ops/tensor/pad.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int64_t kMostPad = int64_t{1} << 30;

std::optional<double> padding_value(const NodeView& pad, const ops::Pad& op) {
  if (op.pads.input < 0) return static_cast<double>(op.value);
  return pad.has_input(2) ? constant_number(pad.graph(), pad.node().inputs[2]) : 0.0;
}

/// The pads of every axis, begins and then ends; nothing where they are not all known or any crops.
std::optional<std::vector<int64_t>> pads_of_axes(const NodeView& pad, const ops::Pad& op, int rank) {
  if (!op.pads.values || (pad.has_input(3) && !op.axes.values)) return std::nullopt;
  const size_t axes = static_cast<size_t>(rank), count = op.axes.values ? op.axes.values->size() : axes;
  if (op.pads.values->size() != 2 * count) return std::nullopt;
  std::vector<int64_t> pads(2 * axes, 0);
  for (size_t i = 0; i < count; ++i) {
    const int64_t given = op.axes.values ? (*op.axes.values)[i] : static_cast<int64_t>(i), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) return std::nullopt;
    for (size_t end = 0; end < 2; ++end) {
      const int64_t size = (*op.pads.values)[i + end * count];
      if (size < 0 || size > kMostPad) return std::nullopt;
      pads[static_cast<size_t>(axis) + end * axes] = size;
    }
  }
  return pads;
}

}  // namespace

std::optional<SpatialPad> spatial_pad(const Graph& graph, const Node& node) {
  const TensorType& x = tensor_type(graph, node.inputs[0]);
  const NodeView view(graph, node);
  const ops::Pad op = ops::Pad::read(view);
  const auto number = padding_value(view, op);
  if (!x.has_rank() || x.rank() < 3 || op.mode != ops::Pad::Mode::constant || !number) return std::nullopt;
  const auto pads = pads_of_axes(view, op, x.rank());
  const size_t rank = static_cast<size_t>(x.rank());
  if (!pads || (*pads)[0] + (*pads)[1] + (*pads)[rank] + (*pads)[rank + 1] != 0) return std::nullopt;
  SpatialPad result{.node = &node, .value = *number};
  for (size_t end = 0; end < 2; ++end) {
    for (size_t axis = 2; axis < rank; ++axis) result.pads.push_back((*pads)[axis + end * rank]);
  }
  return result;
}

std::optional<std::vector<int64_t>> joined_pads(const ops::Window& window, const SpatialPad& pad) {
  const bool are_given = window.auto_pad == ops::AutoPad::notset || window.auto_pad == ops::AutoPad::valid;
  if (!are_given || (!window.pads.empty() && window.pads.size() != pad.pads.size())) return std::nullopt;
  std::vector<int64_t> pads = pad.pads;
  if (window.auto_pad == ops::AutoPad::notset) {
    for (size_t i = 0; i < window.pads.size(); ++i) pads[i] += window.pads[i];
  }
  return std::ranges::all_of(pads, [](int64_t size) { return size >= 0 && size <= kMostPad; }) ? std::optional(pads) : std::nullopt;
}

}  // namespace rh::passes
