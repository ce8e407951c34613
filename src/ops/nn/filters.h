#pragma once

#include <optional>

#include "ops/nn/window.h"

namespace rh::ops {

/// Attribute `group` of a convolution; throws Error{invalid_graph} below 1.
int64_t read_group(const NodeView& node);

/// The window of a convolution whose filters [M, C/group, kernel...] are input `weights`: complete where their kernel sizes are known.
/// Throws Error{invalid_graph} where kernel_shape says otherwise.
Window read_filter_window(const NodeView& node, int weights);

/// The output shape of a convolution of input 0, each [N, C, spatial...] or [N, spatial..., C]; nothing where a rank is not known. Throws
/// Error{invalid_graph} where channels, filters and groups do not fit.
std::optional<SymbolicShape> filtered_shape(const Window& window, int64_t group, const InferenceContext& context, int weights,
                                            bool x_channels_last = false, bool y_channels_last = false);

}  // namespace rh::ops
