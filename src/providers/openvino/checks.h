#pragma once

#include "ops/node_view.h"
#include "providers/kit/regions/refusals.h"

namespace rh::openvino {

/// Of layers with weights, of pools and of quantized operators: what OpenVINO computes otherwise.
kit::Support check_layer(const NodeView& node);

/// Of attention: what OpenVINO computes otherwise, leaves unwritten or fails for.
kit::Support check_attention(const NodeView& node);

/// Of integers of 32 and 64 bits: OpenVINO has 32 signed ones, and divides them in float32. What computes sizes and indices is within that.
kit::Support check_integers(const NodeView& node);

/// Of QuantizeLinear: what OpenVINO joins it with wrongly.
kit::Support check_quantize(const NodeView& node);

/// Whether OpenVINO, where it computes in bytes, would move scales by channel wrongly past a Reshape.
bool loses_scales(const Graph& graph);

/// Of 32 and 64 bits, with a sign or without.
bool is_long(DType type);

/// Whether an input is a size, an index or a small number, which float32 has as it is: compared with it, others may be rounded.
bool has_index_operand(const NodeView& node);

}  // namespace rh::openvino
