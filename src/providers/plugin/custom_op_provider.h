#pragma once

#include <span>
#include <string>
#include <utility>

#include "providers/custom_operators.h"
#include "providers/plugin/custom_op.h"

namespace rh::plugin {

/// The operators of some domains, for one session; null where there are none. Throws Error where one is malformed, or two are for the same
/// nodes.
std::shared_ptr<const CustomOperators> make_custom_operators(std::span<const std::pair<std::string, const OrtCustomOp*>> ops,
                                                             std::shared_ptr<const CustomOpHost> host);

}  // namespace rh::plugin
