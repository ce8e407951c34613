#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// GatedDeltaNet: com.microsoft 1. Linear attention of packed tokens [tokens, heads, depth], or [batch, length, heads, depth], whose states
/// [batch, value heads, value depth, depth] go from request to request. Inputs query (or query, key and value in one), key, value,
/// cu_seqlens (where requests begin), decay, beta, initial_state, a_log, dt_bias, capture_count, state_update_active.
struct GatedDeltaNet {
  enum class Gate : uint8_t { none, softplus, sigmoid };

  bool gated = true, delta = true;
  Gate gate = Gate::none;       ///< how decays are made of the input decay, a_log and dt_bias
  bool beta_sigmoid = false;    ///< beta goes through a sigmoid
  bool normalized = false;      ///< queries and keys are divided by their norms
  float scale = 0;              ///< 0: 1 / sqrt(depth)
  float gate_lower_bound = -5;  ///< of sigmoid gates
  int64_t capacity = 0;         ///< first tokens of a request whose decays, keys and changes output 2 has

  /// What is added to the squares of a norm: ONNX Runtime's numbers.
  double norm_epsilon() const { return gate == Gate::sigmoid ? 1e-6 : 1e-12; }

  static GatedDeltaNet read(const NodeView& node);
};

void infer(const GatedDeltaNet& op, InferenceContext& context);

}  // namespace rh::ops
