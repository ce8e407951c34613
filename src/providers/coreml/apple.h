#pragma once

#include <string>

#include "providers/coreml/bridge.h"

namespace rh::coreml {

/// The system's Core ML, by the Objective-C run time, which is opened and never linked. Null where there is none; then `problem` is a
/// sentence.
const Bridge* apple_bridge(std::string& problem);

}  // namespace rh::coreml
