#pragma once

#include <span>

#include "passes/driver/pass.h"

namespace rh {

/// pass_list.inc, in order: standard ONNX in, standard ONNX out, before the graph is placed.
std::span<const Pass> standard_passes();
/// cpu_pass_list.inc, in order: after placement, for the nodes that no other provider has.
std::span<const Pass> cpu_passes();

}  // namespace rh
