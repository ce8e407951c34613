#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// What operators whose weights are quantised in blocks have in common.

/// A block size, a power of two from 16 on; throws Error{invalid_graph} for others.
int64_t checked_block_size(const NodeView& node, int64_t block_size);
inline int64_t required_block_size(const NodeView& node) { return checked_block_size(node, node.required_int("block_size")); }
/// K and N from 1 to 2^31, or Error{invalid_graph}.
void check_weight_sizes(const NodeView& node, int64_t k, int64_t n);
/// Output 0 is A [..., columns] with `y_columns` as its last dimension; `name` is what the node calls `columns`.
void infer_product(InferenceContext& context, const char* name, int64_t columns, int64_t y_columns);

}  // namespace rh::ops
