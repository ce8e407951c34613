#pragma once

#include <cstdint>
#include <span>

namespace rh::compute {

/// A step of a chain of operations on floats: it changes the value at hand, v, of which a block stays in registers from step to step.
/// Operands a, b and c are inputs of the chain or, by numbers from kMaxChainInputs on, values kept. Results are those of the loops of
/// vector_math.h and activation.h, of comparisons and choices those of C.
enum class ChainOp : uint8_t {
  load,  ///< v = a
  keep,  ///< a = v, which is a value kept
  add,
  sub,       ///< v - a
  sub_from,  ///< a - v
  mul,
  square,
  div,       ///< v / a
  div_into,  ///< a / v
  min,       ///< of v and a, in this order
  min_from,  ///< of a and v
  max,
  max_from,
  equal,  ///< comparisons give truth values, which only choices take
  less,   ///< v < a
  more,   ///< a < v
  less_equal,
  more_equal,
  choose,           ///< v ? a : b
  choose_first,     ///< a ? v : b
  choose_other,     ///< a ? b : v
  choose_if_equal,  ///< a == b ? v : c
  choose_if_less,   ///< a < b ? v : c
  choose_if_less_equal,
  choose_unless_equal,  ///< a == b ? c : v
  choose_unless_less,
  choose_unless_less_equal,
  neg,
  abs,
  sign,
  sqrt,
  reciprocal,
  floor,
  ceil,
  round,
  relu,
  leaky_relu,  ///< slope alpha
  hard_swish,
  hard_sigmoid,  ///< alpha v + beta between 0 and 1
  softsign,
  exp,
  log,
  tanh,
  sigmoid,
  erf,
  silu,  ///< v sigmoid(v)
  sin,
  cos,
  clip,  ///< between alpha and beta, alpha <= beta
};

inline constexpr int kMaxChainInputs = 16, kMaxKeptValues = 32, kMaxChainSteps = 96;

struct ChainStep {
  ChainOp op = ChainOp::load;
  uint8_t a = 0, b = 0;
  float alpha = 0, beta = 0;
  uint8_t c = 0;
};

/// Elements one after the other (step 1), or one for all (step 0).
struct ChainInput {
  const float* data = nullptr;
  int64_t step = 1;
};

/// Whether inputs of which `streams` have an element for each of y's, `bytes` with y in all, are worth bringing near ahead of their use:
/// processors see one stream's next lines by themselves, but not those of several that are read by blocks.
bool chain_is_far(int64_t streams, double bytes);

/// y[i] = the value after all steps, from elements i of the inputs. y may be an input with step 1. `far`: what comes next of each input,
/// behind `count` too, is brought near. Serial.
void run_chain(std::span<const ChainStep> steps, std::span<const ChainInput> inputs, float* y, int64_t count, bool far = false);

}  // namespace rh::compute
