#pragma once

#include <span>
#include <string_view>

#include "passes/driver/pass.h"

namespace rh {

/// Passes of pass_list.inc for the whole graph before it is placed, in order: standard ONNX in, standard ONNX out.
std::span<const Pass> standard_passes();
/// Those for the nodes that no other provider has after placement, in order.
std::span<const Pass> cpu_passes();
/// Those that only providers which ask for them have.
std::span<const Pass> vendor_passes();
/// The first of that name in the lists; null where there is none.
const Pass* find_pass(std::string_view name);

}  // namespace rh
