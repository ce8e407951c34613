#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Pad: ai.onnx 1 (attribute paddings), 2 (pads), 11 (inputs), 13, 18 (axes), 19 (wrap) on.
struct Pad {
  enum class Mode : uint8_t { constant, reflect, edge, wrap };
  Mode mode = Mode::constant;
  IntsOperand pads;  ///< begins, then ends; negative ones crop
  IntsOperand axes;  ///< left out: all
  float value = 0;   ///< before opset 11; later input 2

  static Pad read(const NodeView& node);
};

void infer(const Pad& op, InferenceContext& context);

}  // namespace rh::ops
