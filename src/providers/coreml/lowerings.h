#pragma once

#include "providers/coreml/lowering.h"
#include "providers/kit/regions/refusals.h"

namespace rh::coreml {

// For the table of operators (operator_list.inc): what a check refuses of a node whose types and sizes are taken, and how a node becomes
// operators of a program. `mil` is the row's operator.
#define RH_COREML_LOWERING(name) void lower_##name(Lowering& to, const NodeView& node, std::string_view mil)
#define RH_COREML_CHECK(name) kit::Support check_##name(const NodeView& node)

// --- element by element (elementwise.cc, activations.cc)
RH_COREML_LOWERING(unary);
RH_COREML_LOWERING(negation);
RH_COREML_LOWERING(reciprocal);
RH_COREML_LOWERING(binary);
RH_COREML_LOWERING(comparison);
RH_COREML_LOWERING(power);
RH_COREML_LOWERING(variadic);
RH_COREML_LOWERING(cast);
RH_COREML_LOWERING(choice);
RH_COREML_LOWERING(clip);
RH_COREML_LOWERING(activation);
RH_COREML_LOWERING(slopes);
RH_COREML_CHECK(activation);

// --- layers (layers.cc, pools.cc, normalizations.cc)
RH_COREML_LOWERING(convolution);
RH_COREML_CHECK(convolution);
RH_COREML_LOWERING(transposed_convolution);
RH_COREML_CHECK(transposed_convolution);
RH_COREML_LOWERING(matmul);
RH_COREML_CHECK(matmul);
RH_COREML_LOWERING(gemm);
RH_COREML_LOWERING(pool);
RH_COREML_CHECK(pool);
RH_COREML_LOWERING(global_pool);
RH_COREML_CHECK(global_pool);
RH_COREML_LOWERING(softmax);
RH_COREML_CHECK(softmax);
RH_COREML_LOWERING(batch_normalization);
RH_COREML_CHECK(batch_normalization);
RH_COREML_LOWERING(group_normalization);
RH_COREML_CHECK(group_normalization);
RH_COREML_LOWERING(layer_normalization);
RH_COREML_CHECK(layer_normalization);
RH_COREML_LOWERING(local_response);
RH_COREML_CHECK(local_response);

// --- reductions (reductions.cc)
RH_COREML_LOWERING(reduction);
RH_COREML_CHECK(reduction);
RH_COREML_LOWERING(extreme_index);
RH_COREML_CHECK(extreme_index);
RH_COREML_LOWERING(cumulative_sum);
RH_COREML_CHECK(cumulative_sum);

// --- what moves elements (shapes.cc, indices.cc, images.cc)
RH_COREML_LOWERING(reshape);
RH_COREML_LOWERING(identity);
RH_COREML_CHECK(dropout);
RH_COREML_LOWERING(constant);
RH_COREML_CHECK(constant);
RH_COREML_LOWERING(shape);
RH_COREML_LOWERING(filled);
RH_COREML_LOWERING(transpose);
RH_COREML_LOWERING(concat);
RH_COREML_LOWERING(split);
RH_COREML_CHECK(split);
RH_COREML_LOWERING(slice);
RH_COREML_CHECK(slice);
RH_COREML_LOWERING(expand);
RH_COREML_LOWERING(tile);
RH_COREML_CHECK(tile);
RH_COREML_LOWERING(pad);
RH_COREML_CHECK(pad);
RH_COREML_LOWERING(gather);
RH_COREML_LOWERING(gather_elements);
RH_COREML_LOWERING(gather_nd);
RH_COREML_CHECK(gather_nd);
RH_COREML_LOWERING(scatter_elements);
RH_COREML_LOWERING(scatter_nd);
RH_COREML_CHECK(scatter);
RH_COREML_LOWERING(depth_to_space);
RH_COREML_CHECK(depth_to_space);
RH_COREML_LOWERING(resize);
RH_COREML_CHECK(resize);
RH_COREML_LOWERING(grid_sample);
RH_COREML_CHECK(grid_sample);

#undef RH_COREML_LOWERING
#undef RH_COREML_CHECK

/// Nothing to refuse.
inline kit::Support no_check(const NodeView&) { return {}; }

}  // namespace rh::coreml
