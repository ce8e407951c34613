#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/precision/calibration.h"
#include "passes/precision/report.h"

namespace rh::precision {

struct QuantizationOptions {
  DType activations = DType::int8;               ///< or uint8; weights are int8, biases int32
  bool symmetric = true;                         ///< of activations whose entry is a range; weights always are
  bool per_channel = true;                       ///< weights have a scale a channel, from opset 13 on
  std::vector<std::string> keep_operators = {};  ///< left in float32
  std::vector<std::string> keep_nodes = {};      ///< by name
};

/// Puts pairs of QuantizeLinear and DequantizeLinear around the operators of quantize_rules.inc, by the table's scales: before their
/// inputs, behind their results (behind the Relu or Clip that alone takes a result). Constant weights become int8 with scales from their
/// elements, biases int32 with the product of both scales. Types of the graph have been inferred; they are when this returns. An operator
/// without scales stays, with a reason. Throws Error{invalid_argument} where an option names what there is not, or a zero point is no code.
Report insert_quantization(Graph& graph, const Calibration& scales, const QuantizationOptions& options);

}  // namespace rh::precision
