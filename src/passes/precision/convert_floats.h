#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/precision/calibration.h"
#include "passes/precision/report.h"

namespace rh::precision {

struct FloatConversion {
  DType to = DType::float16;  ///< or bfloat16
  bool keep_inputs = true;    ///< inputs of the graph stay float32
  bool keep_outputs = true;
  std::vector<std::string> keep_values = {};                                 ///< inputs and outputs that stay float32 whatever the two say
  std::vector<std::string> keep_operators = {};                              ///< "Softmax", "com.microsoft::Gelu": stay float32
  std::vector<std::string> keep_nodes = {};                                  ///< by name
  std::vector<std::string> convert_operators = {};                           ///< converted though they lose precision (operator_table.inc)
  std::function<bool(const Graph& graph, const Node& node)> in_region = {};  ///< empty: everywhere
  const Calibration* ranges = nullptr;  ///< nodes whose values were seen beyond the type's range stay float32
};

/// Has the graph and its bodies compute in a type of 16 bits instead of float32 where that pays and loses little, with Casts at the
/// borders: each value is cast once, constants are converted once. Types of the graph have been inferred; they are when this returns. Names
/// of inputs and outputs stay. Throws Error{invalid_argument} where an option names what there is not.
///
/// Converted are products of matrices and convolutions, large tables of which rows are gathered, and what takes a value that is in the half
/// type already. Kept, with a reason, is what the options or operator_table.inc keep, what the schema of its opset does not allow, what has
/// a constant that overflows or is flushed to zero, or takes a value that such a constant made large, what computes on quantised values or
/// on integers (positions), and what has no neighbour that converts.
Report convert_floats(Graph& graph, const FloatConversion& options);

}  // namespace rh::precision
