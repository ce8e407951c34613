#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/inline_vector.h"
#include "ops/inference.h"

namespace rh::ops {

/// Whether each axis is meant.
using AxisMask = InlineVector<bool, 8>;

/// ReduceSum (ai.onnx 1, 11, 13), ReduceMean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare (1, 11, 12, 13, 18, 20, 28).
struct Reduce {
  enum class Function : uint8_t { sum, mean, max, min, prod, l1, l2, log_sum, log_sum_exp, sum_square };
  Function function = Function::sum;
  bool axes_are_input = false;               ///< input 1, which may be left out; before opset 18 (ReduceSum: 13) the attribute
  std::optional<std::vector<int64_t>> axes;  ///< the attribute; as written, may count from the end
  bool keep_dims = true;
  bool none_for_empty_axes = false;  ///< no axes: reduce none of them, else all

  static Reduce read(const NodeView& node);
  /// Whether ai.onnx has an operator of this name that `read` reads.
  static bool is_name(std::string_view op_type);
  /// For each dimension of a tensor of `rank` whether it is reduced. Throws Error{invalid_argument} for an axis out of range.
  AxisMask reduced(std::span<const int64_t> axes, int rank) const;
};

void infer(const Reduce& op, InferenceContext& context);

}  // namespace rh::ops
