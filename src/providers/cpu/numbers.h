#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "providers/kernel.h"
#include "tensor/dispatch.h"
#include "tensor/narrowed.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// The type in which plain kernels compute: double for double, float for narrower floats, the type itself for integers.
template <typename T>
using Compute = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

/// Elements of a real tensor as doubles: parameters of kernels, one a channel or so.
inline std::vector<double> as_doubles(const TensorView& view) {
  std::vector<double> values(static_cast<size_t>(view.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = element_as_double(view, static_cast<int64_t>(i));
  return values;
}

/// The same in memory of the run.
inline std::span<const double> as_doubles(RunContext& context, const TensorView& view) {
  double* const values = context.scratch_array<double>(view.elements());
  for (int64_t i = 0; i < view.elements(); ++i) values[i] = element_as_double(view, i);
  return {values, static_cast<size_t>(view.elements())};
}

}  // namespace rh::cpu
