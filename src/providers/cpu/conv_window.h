#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "compute/conv/conv.h"
#include "ops/nn/window.h"
#include "providers/kernel.h"
#include "tensor/shape.h"

namespace rh::cpu {

/// An operator's window with lists for `spatial` axes where the model left them out; the kernel's sizes are those of the weights.
ops::Window with_kernel(const ops::Window& window, std::span<const int64_t> kernel);

/// Geometry for compute: up to three spatial axes, the last ones of `input` ([N, C, spatial...]) and `output_spatial`. Pads are those at
/// the beginning, then those at the end. An error where an axis that has elements gives no output.
Status conv_window(const ops::Window& window, std::span<const int64_t> input_spatial, std::span<const int64_t> output_spatial,
                   std::span<const int64_t> pads, compute::Window& result);

/// Throws Error where the status is one: for kernels that are being made.
void throw_if_wrong(const Status& status);

/// The declared spatial sizes of a value [N, C, spatial...] of this rank; empty where one is not a number, or they are not plausible.
ops::Sizes spatial_sizes(const ValueType& type, size_t rank);

/// Spatial sizes that a value [N, C, spatial..., ...] may have, the likeliest first, none of them empty: the declared ones, those of planes
/// that follow from images of usual sizes (ops/nn/likely_sizes.h), and for what is not known those of ordinary planes, rows and volumes.
std::vector<ops::Sizes> likely_sizes(const ValueType& type, const ops::Window& window);

/// The geometries that go with them; one of sizes of 1 where there are none.
std::vector<compute::Window> likely_windows(const ValueType& type, const ops::Window& window);

/// Whether planes of these sizes may be met: models can name any, which costs are not to be worked out for.
bool is_plausible(const ops::Sizes& sizes);

/// Geometry of a convolution whose input is expected to have these spatial sizes; of sizes of 1 where they are empty, for not known. Throws
/// Error.
compute::Window expected_window(const ops::Window& window, ops::Sizes sizes);

/// Whether the last dimension has one element, over which the window does nothing.
bool is_column(const compute::Window& window);

/// The window of a column with that dimension first: elements lie where they did, in rows as long as the column.
compute::Window turned(const compute::Window& column);

/// What tuning knows a convolution by: operator, type, channels, geometry.
std::string conv_problem(std::string_view op, DType dtype, const compute::ConvChannels& channels, const compute::Window& window,
                         bool sizes_known);

/// What a session's precision asks of convolutions.
compute::ConvAccuracy conv_accuracy(Precision precision);

/// Bytes of the weights that one of several packed convolutions holds; 0 where none is.
template <typename... Packed>
size_t weight_bytes(const std::variant<std::monostate, Packed...>& packed) {
  return std::visit(
      [](const auto& convolution) -> size_t {
        if constexpr (requires { convolution.weight_bytes(); }) return convolution.weight_bytes();
        return 0;
      },
      packed);
}

}  // namespace rh::cpu
