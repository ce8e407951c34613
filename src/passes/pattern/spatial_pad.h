#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "ops/nn/window.h"

namespace rh::passes {

/// A Pad by constants, of spatial axes alone.
struct SpatialPad {
  const Node* node = nullptr;
  double value = 0;
  std::vector<int64_t> pads;  ///< all begins, then all ends, of the spatial axes
};

/// Nothing where the node, a Pad, is none.
std::optional<SpatialPad> spatial_pad(const Graph& graph, const Node& node);

/// The pads of both; nothing where the window's own follow from the size of its input.
std::optional<std::vector<int64_t>> joined_pads(const ops::Window& window, const SpatialPad& pad);

}  // namespace rh::passes
