#pragma once

#include <memory>
#include <span>

#include "partition/copies.h"
#include "providers/provider.h"

namespace rh {

/// The kernel of nodes that copy from one memory to another. Throws Error{ep_fail} where no provider does.
std::unique_ptr<Kernel> make_copy_kernel(std::span<const std::shared_ptr<Provider>> providers, Device from, Device to);

}  // namespace rh
