#pragma once

#include "graph/graph.h"

namespace rh::onnx {

/// Operators of `com.microsoft.nchwc`, whose channels are in blocks of 8 or 16 and which ONNX Runtime writes at its highest level of
/// optimisation, become those of the standard, in the graph and its subgraphs: weights are put in order, channels that only fill a block up
/// go where nothing needs them. The file does not name the block size: it is what numbers of channels say, else weights
/// (BlockSizeEvidence), else what ONNX Runtime would take on this processor, 16 with AVX-512 and on Arm, else 8.
/// Throws Error{invalid_graph} and Error{not_implemented} where the operators are not as ONNX Runtime writes them.
void undo_nchwc_blocks(Graph& graph);

}  // namespace rh::onnx
