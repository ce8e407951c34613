#pragma once

#include "ops/inference.h"
#include "tensor/packed_format.h"

namespace rh::ops {

/// GatherPacked: com.microsoft 1. Rows of a table [rows, bytes] that is packed in blocks, widened to `columns` elements of `dtype`; an
/// index out of range takes row 0. Inputs data, indices.
struct GatherPacked {
  const PackedLayout* layout;
  int64_t columns;
  DType dtype;

  int64_t blocks() const { return columns / layout->block; }
  int64_t row_bytes() const { return blocks() * layout->bytes; }
  static GatherPacked read(const NodeView& node);
};

void infer(const GatherPacked& op, InferenceContext& context);

}  // namespace rh::ops
