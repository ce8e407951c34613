#pragma once

#include "graph/graph.h"
#include "ops/node_view.h"

namespace rh::openvino {

/// Whether rewrite() turns the node, which OpenVINO would compute otherwise, into nodes that it computes right.
bool is_rewritten(const NodeView& node);

/// Whether it is of uint32 and rewrite() has it computed in int32, with the same bits.
bool is_computed_as_signed(const NodeView& node);

/// Whether the divisor is constant and has neither 0 nor -1 among its elements.
bool has_plain_divisor(const NodeView& node);

/// Changes a graph, bodies included, to what OpenVINO computes right: sums of narrow integers go round, uint32 has its order, divisors of
/// 0 give 0, largest and smallest elements may be infinite or not numbers, shifts of narrow integers, recurrent layers whose first
/// dimension is the batch, scales of zeros, boxes whose overlap is the threshold itself.
void rewrite(Graph& graph);

}  // namespace rh::openvino
