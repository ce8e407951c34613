#pragma once

#include <span>

#include "passes/driver/pass.h"

namespace rh {

/// Passes of pass_list.inc for the whole graph before it is placed, in order: standard ONNX in, standard ONNX out.
std::span<const Pass> standard_passes();
/// Those for the nodes that no other provider has after placement, in order.
std::span<const Pass> cpu_passes();

}  // namespace rh
