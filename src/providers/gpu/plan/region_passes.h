#pragma once

#include "graph/graph.h"

namespace rh::gpu {

/// A region whose activations, normalisations and attention that nodes spell out are one node each, where the device has kernels for all
/// that comes of it; else as it was. Outputs may be other values.
std::shared_ptr<Graph> recognised(const Graph& region);

}  // namespace rh::gpu
