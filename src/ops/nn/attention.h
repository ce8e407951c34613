#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// Attention: ai.onnx 23, 24, 25. Inputs Q, K, V, each [batch, heads, length, depth] or [batch, length, heads depth], a mask, the past keys
/// and values and the numbers of valid keys.
struct Attention {
  enum class Output : uint8_t { products, capped, masked, weights };

  std::optional<float> scale;  ///< absent: 1 / sqrt(depth)
  bool is_causal = false;
  int64_t q_heads = 0, kv_heads = 0;  ///< of inputs with three dimensions
  float softcap = 0;                  ///< 0: none
  DType softmax_precision = DType::undefined;
  Output qk_output = Output::products;          ///< what output 3 has
  int64_t left_window = -1, right_window = -1;  ///< -1: unbounded
  bool pads_mask = true;                        ///< a mask for one key is no mask for all of them

  static Attention read(const NodeView& node);
};

void infer(const Attention& op, InferenceContext& context);

}  // namespace rh::ops
