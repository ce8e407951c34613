#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::gpu {

/// Whether number_of() tells a value of one element once the sizes and the region's inputs in host memory are known.
bool follows_on_host(const Graph& graph, ValueId value);
/// The number that a value of one element has, as arithmetic on constants, sizes and what contents tell; nothing where it is not known.
std::optional<double> number_of(const Graph& graph, ValueId value, const KnownContents& contents);

}  // namespace rh::gpu
