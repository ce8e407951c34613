#pragma once

#include <memory>

#include "providers/fake_device/kernels.h"
#include "providers/kit/host/host.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::fake_device {

/// Tensors of numbers in and out, and attributes that a model file can have; of nodes with bodies nothing is said of what is in those.
kit::Support emulation_support(const NodeView& node);

/// A region of any operators: a session of the host computes it on the CPU, over the device's memory. Its constants are uploaded, but for
/// small ones, and those of bodies.
std::unique_ptr<kit::Executable> emulate(const kit::Host& host, const Session& session, const kit::Region& region);

}  // namespace rh::fake_device
