#pragma once

#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

/// A tensor of matrices as attention sees it, in elements.
struct Matrices {
  int64_t batch = 1, heads = 1, rows = 0, columns = 0;
  int64_t batch_stride = 0, head_stride = 0, row_stride = 0, column_stride = 1;
  int64_t offset = 0;  ///< of the first
};

/// [batch, heads, rows, columns], with rows before heads where `length_first`; [batch, rows, columns]; or one part of [batch, rows, parts,
/// heads, columns].
Matrices matrices_of(const Shape& shape, bool length_first = false, int64_t part = 0);
/// [batch, rows, heads columns].
Matrices matrices_of_heads(const Shape& shape, int64_t heads);

/// softmax(scale q k' + masks) v.
struct AttentionCall {
  ValueId q, k, v, y;
  ValueId mask = kNoValue, key_mask = kNoValue;
  Matrices q_at, k_at, v_at, y_at;
  Shape mask_strides = {}, key_mask_strides = {};  ///< of batch, head, query and key
  AttentionArguments arguments = {};               ///< what is neither an address, a size nor a stride
};

/// Adds the launch. Sizes are those of the result and the keys.
void lower_attention_call(Lowering& lowering, AttentionCall call);

}  // namespace rh::gpu
